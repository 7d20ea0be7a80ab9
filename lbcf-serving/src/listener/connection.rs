//! One connection, from its first byte to its last.

use super::activity::Connection;
use super::body::{GuardedBody, RequestBody};
use super::foreign_pages;
use super::limits::Limits;
use super::timed_io::TimedIo;
use crate::tls::{Current, ServerTls};
use http::header::CONNECTION;
use http::{HeaderValue, Request, Response};
use http_body::Body;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::future::pending;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The time that a connection without a request may take to close.
const LAST_BYTES: Duration = Duration::from_millis(500);
/// The number of bytes that are read of a client without TLS, so that it receives the response.
const DISCARD: u64 = 64 << 10;

/// The settings of a listener, for each of its connections.
pub(super) struct Settings<B> {
    pub(super) tls: Option<Arc<ServerTls>>,
    pub(super) not_tls: &'static [u8],
    pub(super) limits: Limits,
    pub(super) hosts: Option<Vec<String>>,
    pub(super) refuse: Option<fn(String) -> Response<B>>,
}

impl<B> Settings<B> {
    /// The response to a request of another site's page.
    fn refusal<T>(&self, request: &Request<T>) -> Option<Response<B>> {
        let refuse = self.refuse?;
        let checked = foreign_pages::check(request, self.hosts.as_deref());
        checked.err().map(refuse)
    }
}

pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// Serves requests until client or server has had enough.
pub(super) async fn serve_connection<S, B>(
    stream: TcpStream,
    service: S,
    connection: &Connection,
    settings: &Settings<B>,
) where
    S: Service<Request<RequestBody>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Body + Send + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    // Responses are small: waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let closing = connection.closing();
    let Some(tls) = &settings.tls else {
        let close = closing.cancelled();
        return requests(stream, reset, service, connection, settings, close).await;
    };
    let mut current = tls.subscribe();
    let Current { config, client_cas } = current.borrow_and_update().clone();
    let opening = timeout(
        settings.limits.handshake,
        handshake(stream, config.into(), settings.not_tls),
    );
    let opened = tokio::select! {
        opened = opening => opened,
        () = closing.cancelled() => return,
    };
    let stream = match opened {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return tracing::debug!(%error, "a handshake failed"),
        Err(_) => return tracing::debug!("a handshake took too long"),
    };
    let other_clients = async {
        let changed = current.wait_for(|current| current.client_cas != client_cas);
        if changed.await.is_err() {
            pending::<()>().await;
        }
    };
    let close = async {
        tokio::select! {
            () = closing.cancelled() => {}
            () = other_clients => {}
        }
    };
    let reset = |stream: &TlsStream<TcpStream>| reset(stream.get_ref().0);
    // In a box, so that connections without TLS do not have room for it.
    let served = requests(stream, reset, service, connection, settings, close);
    Box::pin(served).await;
}

/// Makes the end of a stream a reset, which discards what was not sent.
fn reset(stream: &TcpStream) {
    // A socket that refuses this is closed in order.
    let _ = stream.set_zero_linger();
}

async fn handshake(
    stream: TcpStream,
    tls: TlsAcceptor,
    not_tls: &[u8],
) -> io::Result<TlsStream<TcpStream>> {
    let mut first = [0];
    // Methods begin with a capital letter, handshakes do not.
    if stream.peek(&mut first).await? > 0 && first[0].is_ascii_uppercase() {
        respond_without_tls(stream, not_tls).await?;
        return Err(io::Error::other("the client sent HTTP without TLS"));
    }
    tls.accept(stream).await
}

async fn respond_without_tls(mut stream: TcpStream, response: &[u8]) -> io::Result<()> {
    stream.write_all(response).await?;
    stream.shutdown().await?;
    // Closing a connection with unread bytes would discard the response.
    tokio::io::copy(&mut stream.take(DISCARD), &mut tokio::io::sink()).await?;
    Ok(())
}

/// Serves requests until `close`, then finishes the one that is being answered.
async fn requests<I, S, B>(
    io: I,
    reset: fn(&I),
    service: S,
    connection: &Connection,
    settings: &Settings<B>,
    close: impl Future<Output = ()>,
) where
    I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    S: Service<Request<RequestBody>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: Body + Unpin + 'static,
    B::Error: Into<BoxError>,
{
    let limits = settings.limits;
    let reuse_until = limits.lifetime.map(|it| Instant::now() + it / 2);
    let service = service_fn(move |request: Request<_>| {
        let active = connection.begin();
        let body = |body| RequestBody::new(body, connection.clone());
        let refusal = settings.refusal(&request);
        let response = refusal.map_or_else(|| Ok(service.call(request.map(body))), Err);
        async move {
            let response = match response {
                Ok(response) => response.await?,
                Err(refusal) => refusal,
            };
            let mut response = response.map(|body| GuardedBody::new(body, active));
            if reuse_until.is_some_and(|until| until <= Instant::now()) {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Ok::<_, S::Error>(response)
        }
    });
    let io = TimedIo::new(io, reset, &limits, connection.clone());
    let mut http = pin!(
        http1::Builder::new()
            // The stream has its own, which costs less.
            .header_read_timeout(None)
            .max_buf_size(limits.buffer)
            .serve_connection(TokioIo::new(io), service)
    );
    let serving = async {
        tokio::select! {
            // First, so that a request that has arrived is answered.
            biased;
            ended = http.as_mut() => return ended,
            () = close => {}
            () = after(limits.lifetime) => {}
        }
        http.as_mut().graceful_shutdown();
        let last_bytes = LAST_BYTES.min(limits.drain.unwrap_or(LAST_BYTES));
        if let Ok(ended) = timeout(last_bytes, http.as_mut()).await {
            return ended;
        }
        // Half the head of a request may never become a whole one.
        if connection.is_idle() {
            return Ok(());
        }
        tokio::select! {
            ended = http => ended,
            () = after(limits.drain) => {
                tracing::debug!("a request took too long to finish");
                Ok(())
            }
        }
    };
    let ended = tokio::select! {
        biased;
        ended = serving => ended,
        () = connection.gave_way() => return,
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn after(limit: Option<Duration>) {
    match limit {
        Some(limit) => sleep(limit).await,
        None => pending().await,
    }
}
