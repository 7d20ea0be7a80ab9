//! The life cycle of a load balancer, which a LoadBalancer or a Bind declares: creating, ensuring,
//! deleting.
//!
//! [`decide`] has the rules and [`reconcile`] carries them out; [`ManagedLoadBalancer`] is what
//! differs between the two kinds.

mod calls;
mod decide;
mod reconcile;
mod report;

pub(crate) use decide::{Creation, LoadBalancerPhase, LoadBalancerState, Observations, has_failed};
#[cfg(test)]
pub(crate) use decide::{LoadBalancerAction, decide};
pub(crate) use reconcile::reconcile;

use crate::api::reasons::ReportReason;
use crate::api::{EnsurePolicy, NamespacedKind, ObjectKey, TargetLoadBalancerStatus};
use crate::cluster::FromWatched;
use crate::index::{Indexed, RequestKey};
use crate::runtime::{Context, Error};

/// A load balancer as its life cycle sees it. Its status is that of a Bind's load balancer, of
/// which a LoadBalancer's is a part.
pub(crate) trait ManagedLoadBalancer: Sync {
    type Object: Indexed + NamespacedKind + FromWatched;

    /// The type of the condition that is true if the driver has the attributes.
    const SYNCED: &'static str;
    /// The type of the condition that explains why one that is being deleted still exists.
    const DELETION: &'static str;
    /// The conditions' reasons for `Fail` as a response to creating and ensuring.
    const FAILED: [&'static ReportReason; 2];
    /// True if the status also reports running calls and when a failed call is repeated.
    const IS_STATUS_DETAILED: bool;

    /// The object that declares it.
    fn object(&self) -> &Self::Object;

    /// Its name in events if the object declares several.
    fn part(&self) -> &str;

    fn key(&self) -> RequestKey;

    fn ensure_policy(&self) -> Option<EnsurePolicy>;

    /// The field that names its driver, and the driver that the next call is sent to.
    fn driver(&self) -> (String, ObjectKey);

    fn state(&self, observations: Observations) -> LoadBalancerState;

    fn status(&self) -> TargetLoadBalancerStatus;

    /// The status that is stored before the first call, with what creating begins from.
    fn initial_status(&self) -> TargetLoadBalancerStatus {
        self.status()
    }

    fn write_status(
        &self,
        context: &Context,
        status: TargetLoadBalancerStatus,
    ) -> impl Future<Output = Result<(), Error>> + Send;

    /// Removes what keeps the object from being deleted because of this load balancer.
    fn remove(&self, context: &Context) -> impl Future<Output = Result<(), Error>> + Send;
}
