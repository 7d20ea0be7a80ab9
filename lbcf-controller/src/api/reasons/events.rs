//! Reasons of events that no condition has: results of webhooks, and what happens once.

use super::row::{ReportReason, reasons};

reasons! { EVENTS:
    ADOPTED_RECORDS "AdoptedBackendRecords", [BackendGroup Bind]
        "BackendRecords without an owner belong to this one now.",
        "Nothing to do.";
    DELETED "DeletedLoadBalancer", [Service]
        "The load balancers of the Service are deleted.",
        "Nothing to do.";
    DELETED_WITHOUT_OWNER "DeletedWithoutOwner", [BackendRecord]
        "No BackendGroup or Bind adopted it in time, so that its backend is deregistered.",
        "Nothing to do.";
    DELETING "DeletingLoadBalancer", [Service]
        "The load balancers of the Service are being deleted.",
        "Wait. If it lasts, see the conditions of the LoadBalancers with the label `lbcf.tkestack.io/service`.";
    DRIFT_RESOLVED "DriftResolved", [LoadBalancer Bind]
        "BackendRecords account for all registered backends again.",
        "Nothing to do.";
    DRIVER_RECOVERED "DriverRecovered", [LoadBalancerDriver]
        "The driver is healthy again, and what failed is repeated.",
        "Nothing to do.";
    DRIVER_UNHEALTHY "DriverUnhealthy", [LoadBalancerDriver]
        "The driver does not respond to `healthz`, or says that it is not healthy.",
        "See that the driver runs and can be reached at its URL: the condition Healthy has the error.";
    ENSURED "EnsuredLoadBalancer", [Service]
        "The load balancers of the Service are as it asks for.",
        "Nothing to do.";
    ENSURING_OF_SERVICE "EnsuringLoadBalancer", [Service]
        "The load balancers of the Service are being created or changed.",
        "Wait. If it lasts, see the conditions of the LoadBalancers with the label `lbcf.tkestack.io/service`.";
    NO_READINESS_GATE "NoReadinessGate", [BackendGroup Bind]
        "The driver fails, and pods without the readiness gate would be replaced by ones that are not registered.",
        "Label the namespace `lbcf.tkestack.io/pod-readiness-gate-inject=enabled`, which new pods follow.";
    OWNER_MISSING "OwnerMissing", [BackendRecord]
        "No BackendGroup or Bind controls it; its backend is deregistered unless one adopts it soon.",
        "Create the owner again if the backend is to stay.";
    PARAMETERS_CONFLICT "ParametersConflict", [BackendRecord BackendGroup Bind]
        "Owners register the same address at the same load balancer with different parameters.",
        "Give all owners of the address the same parameters, or let only one register it.";
    PARAMETERS_CONFLICT_RESOLVED "ParametersConflictResolved", [BackendRecord]
        "No other owner registers the address with different parameters any more.",
        "Nothing to do.";
    REMOVED_ORPHANS "RemovedOrphanedBackends", [LoadBalancer Bind]
        "Backends that no BackendRecord accounts for were deregistered.",
        "Nothing to do. If it happens again, find who registers them.";
    SKIPPED_DEREGISTER "SkippedDeregister", [BackendRecord]
        "Another BackendRecord keeps the address registered.",
        "Nothing to do.";
    SUCC_CREATE "SuccCreateLoadBalancer", [LoadBalancer Bind]
        "The load balancer exists.",
        "Nothing to do.";
    SUCC_ENSURE "SuccEnsureLoadBalancer", [LoadBalancer Bind]
        "The load balancer has its attributes.",
        "Nothing to do.";
    SUCC_SYNCED_GROUP "SuccSyncedBackendGroup", [BackendGroup]
        "All backends are registered.",
        "Nothing to do.";
    SUCC_SYNCED_BIND "SuccSyncedBind", [Bind]
        "All backends are registered.",
        "Nothing to do.";
    UNREADABLE_OBJECT "UnreadableObject", [LoadBalancerDriver]
        "It is being deleted, and waits, because an object that cannot be parsed might use it.",
        "Correct the objects of LBCF that the controller's log names; deleting one is not enough while it has a finalizer.";
    WEBHOOK_FAILED "WebhookFailed", [BackendGroup Bind]
        "The driver gave no verdict about pods that are not Ready, so that `failurePolicy` decides.",
        "See the driver's log: the message has the error of `judgePodDeregister`.";
}

/// An operation of a driver, and the reasons of the events about its results.
#[derive(Debug)]
pub struct Operation {
    pub(crate) running: &'static ReportReason,
    pub(crate) failed: &'static ReportReason,
    pub(crate) invalid: &'static ReportReason,
}

/// Declares each operation, and the list of all of them.
macro_rules! operations {
    ($($constant:ident $name:literal $webhook:literal [$($kind:ident)*];)*) => {
        $(
            #[doc = concat!("Calls of `", $webhook, "`.")]
            pub const $constant: &Operation = &Operation {
                running: &ReportReason {
                    name: concat!("Running", $name),
                    kinds: &[$(stringify!($kind)),*],
                    meaning: concat!("The driver responded to `", $webhook, "` with `Running`."),
                    advice: "Wait: the call is repeated. If it lasts, see the driver's log.",
                },
                failed: &ReportReason {
                    name: concat!("Failed", $name),
                    kinds: &[$(stringify!($kind)),*],
                    meaning: concat!("The driver responded to `", $webhook, "` with `Fail`."),
                    advice: "Read the message, which is the driver's. The call is repeated.",
                },
                invalid: &ReportReason {
                    name: concat!("Invalid", $name),
                    kinds: &[$(stringify!($kind)),*],
                    meaning: concat!("`", $webhook, "` got no response, or one that cannot be used."),
                    advice: "See that the driver runs, and what the message says about its response. The call is repeated.",
                },
            };
        )*

        /// Every operation.
        pub const OPERATIONS: &[&Operation] = &[$($constant),*];
    };
}

operations! {
    CREATE_LOAD_BALANCER "CreateLoadBalancer" "createLoadBalancer" [LoadBalancer Bind];
    DELETE_LOAD_BALANCER "DeleteLoadBalancer" "deleteLoadBalancer" [LoadBalancer Bind];
    DEREGISTER_BACKEND "Deregister" "deregisterBackend" [BackendRecord];
    ENSURE_BACKEND "EnsureBackend" "ensureBackend" [BackendRecord];
    ENSURE_LOAD_BALANCER "EnsureLoadBalancer" "ensureLoadBalancer" [LoadBalancer Bind];
    GENERATE_BACKEND_ADDR "GenerateAddr" "generateBackendAddr" [BackendRecord];
    LIST_BACKENDS "ListBackends" "listBackends" [LoadBalancer Bind];
    REMOVE_ORPHAN "RemoveOrphan" "deregisterBackend" [LoadBalancer Bind];
}
