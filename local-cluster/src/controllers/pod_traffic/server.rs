//! The server of a port of a pod.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::respond::PodProgram;

/// Added to ports below 1024, where binding them needs privileges.
const PORT_OFFSET: u16 = 8000;
/// The largest number of connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// The largest number of connections of a port; further ones wait.
const CONNECTIONS: usize = 1024;
/// The time for a request's head, and for a connection without a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(120);
/// The time for requests that were begun when the pod ends.
const LAST_REQUESTS: Duration = Duration::from_secs(1);
/// The part of that in which a client that has connected may send its first request.
const FIRST_REQUEST: Duration = Duration::from_millis(500);
/// The pause of accepting when the operating system refuses.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The bytes of a head that are kept in memory.
const HEAD_BUFFER: usize = 16 << 10;

/// Listens on a port of a pod.
pub(super) fn bind(ip: Ipv4Addr, port: u16) -> io::Result<TcpListener> {
    let bind = |port| {
        let socket = TcpSocket::new_v4()?;
        // A pod of an earlier process has the same address.
        #[cfg(unix)]
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddr::from((ip, port)))?;
        socket.listen(BACKLOG)
    };
    match bind(port) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && port < 1024 => {
            bind(port + PORT_OFFSET)
        }
        result => result,
    }
}

/// Serves until `stop`. A client that has connected before the port is closed is answered.
pub(super) async fn serve(
    listener: TcpListener,
    program: Arc<PodProgram>,
    stop: CancellationToken,
) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            _ = connections.join_next(), if connections.len() >= CONNECTIONS => continue,
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(serve_connection(stream, Arc::clone(&program), stop.clone()));
            }
            Err(error) => {
                tracing::debug!(%error, "a pod cannot accept connections");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    for stream in last_connections(listener) {
        connections.spawn(serve_connection(stream, Arc::clone(&program), stop.clone()));
    }
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = timeout(LAST_REQUESTS, all).await;
}

/// Closes the port. The operating system resets connections that were not accepted, so all that wait are
/// accepted first: with its own call, because the runtime learns of a new connection only later.
fn last_connections(listener: TcpListener) -> Vec<TcpStream> {
    let Ok(listener) = listener.into_std() else {
        return Vec::new();
    };
    let waiting = std::iter::from_fn(|| listener.accept().ok());
    let streams = waiting.take(BACKLOG as usize).filter_map(|(stream, _)| {
        stream.set_nonblocking(true).ok()?;
        TcpStream::from_std(stream).ok()
    });
    streams.collect()
}

async fn serve_connection(stream: TcpStream, program: Arc<PodProgram>, stop: CancellationToken) {
    let _ = stream.set_nodelay(true);
    let Ok(local) = stream.local_addr() else {
        return;
    };
    let (program, closes, begun) = (&program, &stop, &Notify::new());
    let service = service_fn(move |request| async move {
        begun.notify_one();
        Ok::<_, Infallible>(program.respond(request, local, closes).await)
    });
    let closing = async {
        stop.cancelled().await;
        // The first request of a client that has just connected is on its way.
        let _ = timeout(FIRST_REQUEST, begun.notified()).await;
    };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closing => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection to a pod ended early");
    }
}
