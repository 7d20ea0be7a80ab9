//! Faults on purpose: what networks and API servers do to their clients, when a test says so.
//!
//! A fault is an effect, a choice of requests, and a schedule. It is decided here, when a request
//! comes in, and carried out around the request's answer: in process and over TCP alike.

mod around;
mod asked;
mod fault;
mod refusal;
mod schedule;
mod watched;

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::asked::{RequestFilter, Verb};
pub use self::fault::{Fault, WatchEnd};
pub use self::refusal::Refusal;

pub(crate) use self::around::Cut;
pub(crate) use self::asked::Asked;

use self::fault::Effect;
use self::schedule::Progress;
use self::watched::Running;

/// The faults of a cluster. Clones are of the same cluster.
///
/// ```
/// use local_cluster::{Fault, LocalCluster, LocalClusterOptions, Refusal, RequestFilter, Verb};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cluster = LocalCluster::start(LocalClusterOptions::default()).await?;
/// let lists = RequestFilter::default().verbs([Verb::List]).resource("nodes");
/// let busy = Fault::refuse(Refusal::too_many_requests(1)).of(lists).times(1);
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
pub struct Faults(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// In the order in which they came.
    active: Mutex<Vec<Arc<Active>>>,
    watches: Arc<Running>,
}

/// A fault that is in force.
#[derive(Debug)]
struct Active {
    fault: Fault,
    /// How far it has got; each hit is told.
    progress: watch::Sender<Progress>,
    ended: CancellationToken,
}

/// What is to happen to a request: effects in order, and what ends those that wait.
type Plan = Vec<(Effect, CancellationToken)>;

impl Faults {
    /// Puts a fault in force until the guard is dropped. Where several concern a request, they come
    /// about in the order in which they were injected, up to the first that keeps the request from
    /// being carried out.
    pub fn inject(&self, fault: Fault) -> FaultGuard {
        let active = Arc::new(Active {
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

    /// Ends watches that are under way, now; returns how many.
    pub fn end_watches(&self, end: WatchEnd, filter: &RequestFilter) -> usize {
        self.0.watches.end(end, filter)
    }

    /// What is to happen to a request.
    fn plan(&self, asked: &Asked<'_>) -> Plan {
        let mut plan = Plan::new();
        for active in self.lock().iter() {
            if !active.fault.concerns(asked) {
                continue;
            }
            let mut strikes = false;
            active.progress.send_if_modified(|progress| {
                strikes = progress.next(&active.fault.schedule);
                strikes
            });
            if !strikes {
                continue;
            }
            plan.push((active.fault.effect.clone(), active.ended.clone()));
            if active.fault.effect.prevents() {
                break;
            }
        }
        plan
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Active>>> {
        self.0.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a fault in force; dropping it ends the fault and lets go of what the fault holds.
#[derive(Debug)]
#[must_use = "the fault ends when this is dropped"]
pub struct FaultGuard {
    faults: Faults,
    active: Arc<Active>,
}

impl FaultGuard {
    /// How many requests it has struck by now.
    pub fn hits(&self) -> u64 {
        self.active.progress.borrow().hits
    }

    /// How many requests it was looked at for by now, struck or not.
    pub fn matched(&self) -> u64 {
        self.active.progress.borrow().matched
    }

    /// Waits until it has struck so many requests.
    pub async fn reached(&self, hits: u64) {
        let mut progress = self.active.progress.subscribe();
        // The sender lives as long as this.
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
