//! Serves a router over TLS to peers that may do anything.
//!
//! Each connection is a task of its own from its first byte on, with a deadline for each thing that
//! it waits for and a place among a limited number. Where there is no place left, the connection
//! that came first gives up its own: it ends when what it is answering is answered, and at once
//! when it is idle. So nobody who holds connections keeps others out.

use axum::Router;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures::FutureExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How long the server rests when the system has no connection to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);
/// How long a connection that waits for a place gives another the time to end.
const PLACE_PAUSE: Duration = Duration::from_millis(100);
/// How much of a request may wait in memory to be taken apart.
const MAX_BUFFER: usize = 64 * 1024;

/// What a peer may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How many connections there may be.
    pub(super) connections: usize,
    /// How long a handshake may take.
    pub(super) handshake: Duration,
    /// How long a connection may be without a request, or with half the head of one. API servers
    /// let go of idle connections after 90 s; whoever lets go first must not be us, as a request
    /// may be under way just then.
    pub(super) head: Duration,
    /// How long a request may take, its body included. API servers wait for 30 s at most.
    pub(super) request: Duration,
    /// After what time a connection gets no further request; after twice that, it ends.
    pub(super) age: Duration,
    /// How long a connection may take to finish what it is answering when it has to end.
    pub(super) finish: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(120),
            request: Duration::from_secs(35),
            age: Duration::from_secs(600),
            finish: Duration::from_secs(10),
        }
    }
}

/// What connections share.
#[derive(Clone)]
struct Shared {
    tls: TlsAcceptor,
    service: TowerToHyperService<Router>,
    limits: Limits,
    /// Tells the connection that has waited longest that its place is needed.
    crowded: Arc<Notify>,
    stopped: watch::Receiver<bool>,
}

/// Serves until `stop`, then finishes what is being answered.
pub(super) async fn serve(
    listener: TcpListener,
    tls: Arc<rustls::ServerConfig>,
    router: Router,
    limits: Limits,
    stop: impl Future<Output = ()> + Send,
) {
    let (stopping, stopped) = watch::channel(false);
    let shared = Shared {
        tls: tls.into(),
        service: TowerToHyperService::new(router),
        limits,
        crowded: Arc::default(),
        stopped,
    };
    let places = Arc::new(Semaphore::new(limits.connections.max(1)));
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        while let Some(ended) = connections.try_join_next() {
            told(ended);
        }
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener) => accepted,
        };
        let place = tokio::select! {
            () = &mut stop => break,
            place = place(&places, &shared.crowded) => place,
        };
        connections.spawn(connection(accepted, shared.clone(), place));
    }
    drop(listener);
    stopping.send_replace(true);
    let ended = async {
        while let Some(ended) = connections.join_next().await {
            told(ended);
        }
    };
    if timeout(limits.finish, ended).await.is_err() {
        tracing::warn!(
            left = connections.len(),
            "some requests took too long to finish"
        );
    }
}

fn told(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!("answering a request broke off; this is a defect");
    }
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                tracing::warn!(%error, "no connection could be accepted");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Waits for a place, and has other connections end until there is one.
async fn place(places: &Arc<Semaphore>, crowded: &Notify) -> Option<OwnedSemaphorePermit> {
    loop {
        if let Ok(place) = Arc::clone(places).try_acquire_owned() {
            // Where nobody was left to hear it, the next one must not take it for his.
            let _ = crowded.notified().now_or_never();
            return Some(place);
        }
        crowded.notify_one();
        if let Ok(place) = timeout(PLACE_PAUSE, Arc::clone(places).acquire_owned()).await {
            let _ = crowded.notified().now_or_never();
            // The semaphore is never closed.
            return place.ok();
        }
    }
}

async fn connection(stream: TcpStream, shared: Shared, place: Option<OwnedSemaphorePermit>) {
    let _place = place;
    let Shared {
        tls,
        service,
        limits,
        crowded,
        mut stopped,
    } = shared;
    // In line from the first moment on, so that who came first goes first.
    let mut crowded = pin!(crowded.notified());
    crowded.as_mut().enable();
    let mut stopped = pin!(stopped.wait_for(|stopped| *stopped));

    let stream = tokio::select! {
        stream = handshake(&tls, stream, limits.handshake) => match stream {
            Ok(stream) => stream,
            Err(error) => return tracing::debug!(%error, "a handshake failed"),
        },
        () = &mut crowded => return tracing::debug!("a handshake gave way to others"),
        _ = &mut stopped => return,
    };
    let since = Instant::now();
    let service = service_fn(move |request| answer(service.clone(), request, limits, since));
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .max_buf_size(MAX_BUFFER)
            .serve_connection(TokioIo::new(stream), service)
    );
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = &mut crowded => None,
        _ = &mut stopped => None,
        () = sleep(limits.age * 2) => None,
    };
    let ended = match ended {
        Some(ended) => Ok(ended),
        None => {
            connection.as_mut().graceful_shutdown();
            timeout(limits.finish.max(limits.request), connection).await
        }
    };
    match ended {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a connection ended early"),
        Err(_) => tracing::debug!("a connection had to end"),
    }
}

async fn handshake(
    tls: &TlsAcceptor,
    stream: TcpStream,
    limit: Duration,
) -> std::io::Result<TlsStream<TcpStream>> {
    // Answers are small: waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    timeout(limit, tls.accept(stream))
        .await
        .unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()))
}

async fn answer(
    service: TowerToHyperService<Router>,
    request: hyper::Request<Incoming>,
    limits: Limits,
    since: Instant,
) -> Result<Response, Infallible> {
    let (mut response, is_late) = match timeout(limits.request, service.call(request)).await {
        Ok(response) => (response?, false),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE.into_response(), true),
    };
    if is_late || since.elapsed() > limits.age {
        // Told with an answer, so that no request is under way when the connection ends.
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
    }
    Ok(response)
}
