//! Fault injection: what networks and API servers do to their clients, for tests of clients.
//!
//! A fault has an effect, a filter and a schedule. It is selected when a request arrives and applied
//! around its response, in process and over TCP alike.

mod fault;
mod request;
mod watch_body;

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use http::StatusCode;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::fault::{ErrorResponse, Fault, WatchEnd};
pub(crate) use self::request::RequestInfo;
pub use self::request::{RequestFilter, Verb};

use self::fault::{Effect, FaultAction, FaultProgress};
use self::watch_body::{PlannedEnd, WatchBody, WatchRegistry};

/// The faults of a cluster. Clones belong to the same cluster.
///
/// ```
/// use local_cluster::{ErrorResponse, Fault, LocalCluster, LocalClusterOptions, RequestFilter, Verb};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cluster = LocalCluster::start(LocalClusterOptions::default()).await?;
/// let lists = RequestFilter::default().verbs([Verb::List]).resource("nodes");
/// let busy = Fault::abort(ErrorResponse::too_many_requests(1)).of(lists).times(1);
/// let guard = cluster.faults().inject(busy);
///
/// let nodes: kube::Api<k8s_openapi::api::core::v1::Node> = kube::Api::all(cluster.client());
/// assert!(nodes.list(&Default::default()).await.is_err());
/// assert!(nodes.list(&Default::default()).await.is_ok());
/// assert_eq!((guard.hits(), guard.matched()), (1, 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<ClusterFaults>);

#[derive(Debug, Default)]
struct ClusterFaults {
    /// In the order in which they were injected.
    active: Mutex<Vec<Arc<ActiveFault>>>,
    watches: Arc<WatchRegistry>,
}

#[derive(Debug)]
struct ActiveFault {
    fault: Fault,
    /// Every hit is sent.
    progress: watch::Sender<FaultProgress>,
    ended: CancellationToken,
}

/// A connection that ends without a response: an extension of the response in process, and the error
/// of a server's service.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a fault was injected")]
pub(crate) struct Disconnect;

/// The effects on one request in order, each with the end of its fault.
type Effects = Vec<(Effect, CancellationToken)>;

impl Faults {
    /// Activates a fault until the guard is dropped.
    ///
    /// If several faults match a request, they apply in the order in which they were injected, up to the
    /// first that prevents the request.
    pub fn inject(&self, fault: Fault) -> FaultGuard {
        let active = Arc::new(ActiveFault {
            fault,
            progress: watch::Sender::default(),
            ended: CancellationToken::new(),
        });
        self.lock().push(Arc::clone(&active));
        FaultGuard {
            faults: self.clone(),
            active,
        }
    }

    /// Ends the running watches that match the filter. Returns how many.
    pub fn end_watches(&self, end: WatchEnd, filter: &RequestFilter) -> usize {
        self.0.watches.end(end, filter)
    }

    /// Runs `handler`, unless a fault prevents it, with the faults that match the request.
    pub(crate) async fn apply<E>(
        &self,
        request: &RequestInfo<'_>,
        handler: impl Future<Output = Result<Response, E>>,
    ) -> Result<Response, E> {
        let effects = self.select(request);
        for (effect, ended) in &effects {
            if let Effect::Before(action) = effect
                && let Some(response) = perform(action, ended, request).await
            {
                return Ok(response);
            }
        }
        let mut result = handler.await;
        for (effect, ended) in &effects {
            if let Effect::After(action) = effect
                && let Some(response) = perform(action, ended, request).await
            {
                result = Ok(response);
            }
        }
        let is_watch = request.verb == Verb::Watch;
        result.map(|response| {
            if !is_watch || response.status() != StatusCode::OK {
                return response;
            }
            let planned = effects.iter().find_map(|(effect, ended)| match effect {
                Effect::Watch(end, after) => Some(PlannedEnd {
                    end: *end,
                    after: *after,
                    cancelled: ended.clone(),
                }),
                _ => None,
            });
            let watch = watch_body::register(&self.0.watches, request);
            response.map(|body| Body::new(WatchBody::new(body, watch, planned)))
        })
    }

    fn select(&self, request: &RequestInfo<'_>) -> Effects {
        let mut effects = Effects::new();
        for active in self.lock().iter() {
            if !active.fault.matches(request) {
                continue;
            }
            let mut hit = false;
            active.progress.send_if_modified(|progress| {
                hit = progress.next(&active.fault.schedule);
                hit
            });
            if hit {
                effects.push((active.fault.effect.clone(), active.ended.clone()));
                if active.fault.effect.prevents() {
                    break;
                }
            }
        }
        effects
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<ActiveFault>>> {
        self.0.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a fault active; dropping it ends the fault and releases the requests that it holds.
#[derive(Debug)]
#[must_use = "the fault ends when this is dropped"]
pub struct FaultGuard {
    faults: Faults,
    active: Arc<ActiveFault>,
}

impl FaultGuard {
    /// The number of requests that the fault has hit so far.
    pub fn hits(&self) -> u64 {
        self.active.progress.borrow().hits
    }

    /// The number of requests that its filter has matched so far, hit or not.
    pub fn matched(&self) -> u64 {
        self.active.progress.borrow().matched
    }

    /// Waits until the fault has hit this many requests.
    pub async fn reached(&self, hits: u64) {
        let mut progress = self.active.progress.subscribe();
        // The sender lives as long as this guard.
        let _ = progress.wait_for(|progress| progress.hits >= hits).await;
    }
}

impl Drop for FaultGuard {
    fn drop(&mut self) {
        self.faults
            .lock()
            .retain(|active| !Arc::ptr_eq(active, &self.active));
        self.active.ended.cancel();
    }
}

/// Waits, or returns the response to send instead.
async fn perform(
    action: &FaultAction,
    ended: &CancellationToken,
    request: &RequestInfo<'_>,
) -> Option<Response> {
    match action {
        FaultAction::Delay(time) => {
            tokio::select! {
                () = tokio::time::sleep(*time) => {}
                () = ended.cancelled() => {}
            }
            None
        }
        FaultAction::Abort(error) => Some(error.response(request)),
        FaultAction::Disconnect => Some(disconnect()),
    }
}

/// A response that servers replace by the end of the connection; in process, its body fails.
fn disconnect() -> Response {
    let failing = stream::once(async { Err::<Bytes, _>(watch_body::reset()) });
    let mut response = Response::new(Body::from_stream(failing));
    response.extensions_mut().insert(Disconnect);
    response
}
