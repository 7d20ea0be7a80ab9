//! One connection, from its first byte to its last.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::Request;
use http::header::AUTHORIZATION;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tower::Service as _;

use super::gate;
use super::impatient::Impatient;
use super::options::ConnectionLimits;
use super::places::Place;
use super::token::Token;
use crate::http::{BodyBudget, Cut, Stop, unauthorized, with_guard};

/// How much of a request's head may wait in memory to be taken apart: an address can have 64 KiB,
/// as selectors are part of it.
const MAX_HEAD: usize = 128 * 1024;
/// How long a connection that has to end may go on answering.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
/// The same for one that answers nothing.
const LAST_BYTES: Duration = Duration::from_millis(200);
/// What Go's server says, and so Kubernetes.
const NOT_TLS: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/// What the connections of a server share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) router: Router,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) token: Option<Token>,
    pub(super) limits: ConnectionLimits,
    pub(super) bodies: BodyBudget,
}

/// Answers what comes, until the peer or the server has had enough.
pub(super) async fn connection(stream: TcpStream, shared: Arc<Shared>, place: Place) {
    // A watch sends small frames; none should wait for the other side's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection sends in large pieces only");
    }
    let stall = shared.limits.stall;
    let Some(tls) = shared.tls.clone() else {
        return requests(Impatient::new(stream, stall), shared, place).await;
    };
    let opening = timeout(shared.limits.handshake, async {
        let mut first = [0];
        if stream.peek(&mut first).await? > 0 && first[0].is_ascii_uppercase() {
            turn_away(stream).await;
            return Err(std::io::Error::other("the client sent HTTP without TLS"));
        }
        tls.accept(Impatient::new(stream, stall)).await
    });
    let opened = tokio::select! {
        opened = opening => opened,
        () = place.leave().cancelled() => return,
    };
    match opened {
        Ok(Ok(stream)) => requests(stream, shared, place).await,
        Ok(Err(error)) => tracing::debug!(%error, "a handshake failed"),
        Err(_) => tracing::debug!("a handshake took too long"),
    }
}

/// Tells a client without TLS what it did wrong.
async fn turn_away(mut stream: TcpStream) {
    let telling = async {
        stream.write_all(NOT_TLS).await?;
        stream.shutdown().await?;
        // What is not read would have the system take back what was said.
        let mut rest = stream.take(64 * 1024);
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await
    };
    // It may be gone by then.
    let _ = timeout(LAST_ANSWERS, telling).await;
}

async fn requests<S>(stream: S, shared: Arc<Shared>, place: Place)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let head = shared.limits.head;
    let place = &place;
    let service = service_fn(|request| answer(Arc::clone(&shared), place, request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = place.leave().cancelled() => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            let patience = if place.is_idle() {
                LAST_BYTES
            } else {
                LAST_ANSWERS
            };
            match timeout(patience, connection).await {
                Ok(ended) => ended,
                Err(_) => return tracing::debug!("a connection had to end"),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Answers one request. An error ends the connection without an answer.
fn answer(
    shared: Arc<Shared>,
    place: &Place,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response, Cut>> + use<> {
    let work = place.work();
    let leave = place.leave().clone();
    async move {
        let mut request = request.map(Body::new);
        if let Some(token) = &shared.token {
            if !gate::admits(token, request.uri().path(), request.headers()) {
                return Ok(unauthorized(&request));
            }
            // From here on nobody needs it, and nobody can show it by mistake.
            request.headers_mut().remove(AUTHORIZATION);
        }
        request.extensions_mut().insert(Stop(leave));
        request.extensions_mut().insert(shared.bodies.clone());
        let Ok(response) = shared.router.clone().call(request).await;
        if response.extensions().get::<Cut>().is_some() {
            return Err(Cut);
        }
        Ok(response.map(|body| with_guard(body, work)))
    }
}
