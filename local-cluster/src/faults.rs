//! Fault injection: what networks and API servers do to their clients, for tests of clients.
//!
//! A fault has an effect, a filter and a schedule. It is selected when a request arrives and applied
//! around its response, in process and over TCP alike.

mod error_response;
mod fault;
mod inject;
mod request;
mod schedule;
mod watch_body;

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::error_response::ErrorResponse;
pub use self::fault::{Fault, WatchEnd};
pub use self::request::{RequestFilter, Verb};

pub(crate) use self::inject::Disconnect;
pub(crate) use self::request::RequestInfo;

use self::fault::Effect;
use self::schedule::FaultProgress;
use self::watch_body::WatchRegistry;

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
    /// How many requests the fault has hit so far.
    pub fn hits(&self) -> u64 {
        self.active.progress.borrow().hits
    }

    /// How many requests its filter has matched so far, hit or not.
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
