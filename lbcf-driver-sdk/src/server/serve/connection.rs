//! One connection, from its first byte to its last, with a deadline for whatever it waits for.

use super::impatient::{Impatient, Requests};
use super::limits::Limits;
use crate::server::tls;
use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::future::pending;
use std::io;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How long a connection without a request may take to end.
const LAST_BYTES: Duration = Duration::from_millis(500);
/// How much of what a client sends that does not speak TLS is read, so that it hears the answer.
const DISCARD: u64 = 64 << 10;

const NOT_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n\
    Content-Length: 56\r\nConnection: close\r\n\r\n\
    {\"error\": \"this port speaks HTTPS: call it https://...\"}";

/// What the connections of a port share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) service: TowerToHyperService<Router>,
    pub(super) tls: Option<watch::Receiver<tls::Current>>,
    pub(super) limits: Limits,
    /// Whether the port is closed.
    pub(super) closed: watch::Receiver<bool>,
}

/// Answers what comes, until peer or server has had enough.
pub(super) async fn connection(stream: TcpStream, shared: Shared) {
    // Answers are small: waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let Shared {
        service,
        tls,
        limits,
        mut closed,
    } = shared;
    let closed = async move { drop(closed.wait_for(|closed| *closed).await) };
    let mut closed = pin!(closed);
    let Some(mut tls) = tls else {
        return requests(stream, service, limits, closed).await;
    };
    let (config, clients) = {
        let current = tls.borrow_and_update();
        (current.config.clone(), current.clients)
    };
    let opened = tokio::select! {
        opened = timeout(limits.handshake, handshake(stream, config.into())) => opened,
        () = &mut closed => return,
    };
    let stream = match opened {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%error, "a handshake failed"),
        Err(_) => return tracing::debug!("a handshake took too long"),
    };
    let other_clients = async {
        let other = tls.wait_for(|current| current.clients != clients);
        if other.await.is_err() {
            // Nobody looks at the files any more.
            pending::<()>().await;
        }
    };
    let end = async {
        tokio::select! {
            () = &mut closed => {}
            () = other_clients => {}
        }
    };
    requests(stream, service, limits, end).await;
}

async fn handshake(stream: TcpStream, tls: TlsAcceptor) -> io::Result<TlsStream<TcpStream>> {
    let mut first = [0];
    // Methods begin with a capital letter, handshakes do not.
    if stream.peek(&mut first).await? > 0 && first[0].is_ascii_uppercase() {
        turn_away(stream).await?;
        return Err(io::Error::other("the client sent HTTP without TLS"));
    }
    tls.accept(stream).await
}

/// Tells a client without TLS what it did wrong.
async fn turn_away(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(NOT_TLS).await?;
    stream.shutdown().await?;
    // Closing a connection with unread bytes would take back what was said.
    tokio::io::copy(&mut stream.take(DISCARD), &mut tokio::io::sink()).await?;
    Ok(())
}

/// Serves requests until `end`, then finishes the one that is being answered.
async fn requests<S>(
    stream: S,
    service: TowerToHyperService<Router>,
    limits: Limits,
    end: impl Future<Output = ()>,
) where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let requests = Requests::default();
    let stream = Impatient::new(stream, limits, requests.clone());
    let counted = {
        let requests = requests.clone();
        service_fn(move |request| {
            let answering = requests.begin();
            let answer = service.call(request);
            async move {
                let answer = answer.await;
                drop(answering);
                answer
            }
        })
    };
    let mut connection = pin!(
        http1::Builder::new()
            // The stream has its own, which costs less.
            .header_read_timeout(None)
            .max_buf_size(limits.buffer)
            .serve_connection(TokioIo::new(stream), counted)
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = end => {
            connection.as_mut().graceful_shutdown();
            match timeout(LAST_BYTES, connection.as_mut()).await {
                Ok(ended) => ended,
                // Half the head of a request: it may never become a whole one.
                Err(_) if requests.is_none() => return,
                Err(_) => connection.await,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_without_tls_has_the_length_that_it_says() {
        let text = std::str::from_utf8(NOT_TLS).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains(&format!("Content-Length: {}\r\n", body.len())),
            "{head}"
        );
        serde_json::from_str::<serde_json::Value>(body).unwrap();
    }
}
