//! HTTP and HTTPS listeners: each request goes to the backend whose turn it is, by a connection that
//! an earlier request has left, or a new one.

use super::backend::{Lease, RequestBody, Sender};
use super::context::{ListenerContext, OpenConnection};
use super::counts::Count;
use super::group::{Group, NotForwarded, Routes, TRIES};
use super::headers::{Forwarded, host, remove_hop_by_hop};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{Either, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use lbcf_serving::listener::{self, Connection, Limits, Listener};
use lbcf_serving::tls::ServerTls;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout;

/// The limit of waiting for a backend's response to begin.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);
/// The bytes of a head that are kept in memory.
const HEAD_BUFFER: usize = 32 << 10;

/// Why a request gets a response of the load balancer's own.
#[derive(Debug, Clone, Copy, thiserror::Error)]
enum ProxyError {
    #[error("no rule of this listener is for the request's domain and path")]
    NoRule,
    #[error("tunnels are not supported")]
    Tunnel,
    #[error("no backend with a weight above 0 is registered")]
    NoBackend,
    #[error("no backend accepted a connection")]
    Refused,
    #[error("the backend closed the connection before it responded")]
    Closed,
    #[error("the backend did not respond in time")]
    Late,
}

/// Serves until the listener is closed; then its connections are broken off.
pub(super) async fn serve(
    listener: TcpListener,
    tls: Option<Arc<ServerTls>>,
    routes: Arc<Routes>,
    context: Arc<ListenerContext>,
) -> io::Result<()> {
    let is_tls = tls.is_some();
    let mut listener = Listener::try_from(listener)?.limits(Limits {
        connections: context.options.max_connections,
        idle: context.options.idle_timeout,
        // An upload takes as long as it takes.
        body: Duration::MAX,
        buffer: HEAD_BUFFER,
        ..Limits::default()
    });
    if let Some(tls) = tls {
        listener = listener.tls(tls);
    }
    let make_service = |connection: &Connection| {
        let open = Arc::new(OpenConnection::new(&context));
        let client = connection.peer().map(|peer| peer.ip());
        let forwarded = Forwarded::new(client, is_tls);
        let (routes, context) = (Arc::clone(&routes), Arc::clone(&context));
        service_fn(move |request| {
            let _open = Arc::clone(&open);
            let (routes, context) = (Arc::clone(&routes), Arc::clone(&context));
            let forwarded = forwarded.clone();
            async move {
                context.counters.count(Count::Request);
                // In a box, so that an idle connection does not have room for it.
                let response = Box::pin(forward(request, &routes, &forwarded)).await;
                Ok::<_, Infallible>(response.unwrap_or_else(|why| {
                    context.counters.count(Count::Failure);
                    why.response()
                }))
            }
        })
    };
    // Names and pages are the backends' matter.
    let connections = listener.serve(make_service, None, context.closed.cancelled());
    connections.await.abort().await;
    Ok(())
}

async fn forward(
    request: Request<listener::RequestBody>,
    routes: &Routes,
    forwarded: &Forwarded,
) -> Result<Response<ResponseBody>, ProxyError> {
    if request.method() == Method::CONNECT {
        return Err(ProxyError::Tunnel);
    }
    let group = routes.find(host(&request), request.uri().path());
    let group = group.ok_or(ProxyError::NoRule)?;
    let mut request = request.map(|body| match body.is_end_stream() {
        true => Either::Right(Empty::new()),
        false => Either::Left(body),
    });
    forwarded.apply(&mut request);
    let mut tried = Vec::new();
    while tried.len() < TRIES
        && let Some(lease) = group.choose(&tried)
    {
        match exchange(&lease, request).await {
            Ok((response, sender)) => {
                lease.counters.count(Count::Request);
                let (mut parts, body) = response.into_parts();
                remove_hop_by_hop(&mut parts.headers);
                let body = BackendBody {
                    body,
                    has_ended: false,
                    sender: Some(sender),
                    lease,
                };
                return Ok(Response::from_parts(parts, Either::Left(body)));
            }
            Err(Failed::NotSent(unsent)) => request = *unsent,
            Err(Failed::Sent(why)) => {
                lease.counters.count(Count::Failure);
                return Err(why);
            }
        }
        tried.push(lease);
    }
    Err(match Group::not_forwarded(&tried) {
        NotForwarded::NoBackend => ProxyError::NoBackend,
        NotForwarded::Refused => ProxyError::Refused,
    })
}

/// Why a backend has not responded.
enum Failed {
    /// It has not got the request, or may get it again.
    NotSent(Box<Request<RequestBody>>),
    /// It may have begun to work on the request.
    Sent(ProxyError),
}

/// Sends a request to a backend, by idle connections as long as they turn out to be closed.
async fn exchange(
    lease: &Lease,
    mut request: Request<RequestBody>,
) -> Result<(Response<Incoming>, Sender), Failed> {
    loop {
        let (mut sender, is_reused) = match lease.pool.take() {
            Some(sender) => (sender, true),
            None => match connect(lease).await {
                Ok(sender) => (sender, false),
                Err(_) => return Err(Failed::NotSent(request.into())),
            },
        };
        // Its last response may be read, and its task not have noticed.
        if sender.ready().await.is_err() {
            if is_reused {
                continue;
            }
            return Err(Failed::NotSent(request.into()));
        }
        let copy = copy_if_repeatable(&request);
        let response = sender.try_send_request(request);
        let Ok(response) = timeout(RESPONSE_TIMEOUT, response).await else {
            return Err(Failed::Sent(ProxyError::Late));
        };
        match response {
            Ok(response) => return Ok((response, sender)),
            Err(mut error) => {
                let unsent = error.take_message().or(copy);
                request = unsent.ok_or(Failed::Sent(ProxyError::Closed))?;
                if !is_reused || lease.ended.is_cancelled() {
                    return Err(Failed::NotSent(request.into()));
                }
            }
        }
    }
}

/// Opens a connection, which ends with the use of the backend.
async fn connect(lease: &Lease) -> io::Result<Sender> {
    let stream = lease.connect().await?;
    let handshake = http1::Builder::new()
        .max_buf_size(HEAD_BUFFER)
        .handshake(TokioIo::new(stream));
    let (sender, connection) = handshake.await.map_err(io::Error::other)?;
    let ended = lease.ended.clone();
    tokio::spawn(async move {
        tokio::select! {
            result = connection => if let Err(error) = result {
                tracing::debug!(%error, "a connection to a backend ended early");
            },
            () = ended.cancelled() => {}
        }
    });
    Ok(sender)
}

/// A copy of a request without a body that changes nothing: it may be sent again if the connection
/// closes before the response (RFC 9110, section 9.2.2).
fn copy_if_repeatable(request: &Request<RequestBody>) -> Option<Request<RequestBody>> {
    if !request.method().is_safe() || !matches!(request.body(), Either::Right(_)) {
        return None;
    }
    let mut copy = Request::new(RequestBody::Right(Empty::new()));
    copy.method_mut().clone_from(request.method());
    copy.uri_mut().clone_from(request.uri());
    copy.headers_mut().clone_from(request.headers());
    Some(copy)
}

impl ProxyError {
    fn response(self) -> Response<ResponseBody> {
        let text = Bytes::from(format!("{self}\n"));
        let mut response = Response::new(Either::Right(Full::new(text)));
        *response.status_mut() = match self {
            Self::NoRule => StatusCode::NOT_FOUND,
            Self::Tunnel => StatusCode::METHOD_NOT_ALLOWED,
            Self::NoBackend => StatusCode::SERVICE_UNAVAILABLE,
            Self::Refused | Self::Closed => StatusCode::BAD_GATEWAY,
            Self::Late => StatusCode::GATEWAY_TIMEOUT,
        };
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, plain);
        response
    }
}

/// The body of a backend's response, or a text of the load balancer's own.
type ResponseBody = Either<BackendBody, Full<Bytes>>;

/// The body of a backend's response, with the connection to it.
struct BackendBody {
    body: Incoming,
    has_ended: bool,
    sender: Option<Sender>,
    lease: Lease,
}

impl Body for BackendBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        self.has_ended |= matches!(polled, Poll::Ready(None));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for BackendBody {
    /// Keeps the connection for other requests, if nothing of this one is left on it.
    fn drop(&mut self) {
        if (self.has_ended || self.body.is_end_stream())
            && let Some(sender) = self.sender.take()
        {
            self.lease.pool.put(sender);
        }
    }
}
