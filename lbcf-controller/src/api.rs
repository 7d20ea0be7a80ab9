//! The resource kinds of LBCF as Rust types, from which the CRDs are generated.
//!
//! Field names, defaults and `null`s are the documents' and the original's (section 1 of the
//! behaviour list): what Go clients wrote reads here, and what is written here reads there.

// The derive names each column's type anew.
#![allow(clippy::duplicated_attributes)]

mod backend_group;
mod backend_record;
mod bind;
mod condition;
mod crd_rules;
mod crds;
mod ensure_policy;
mod kind;
mod load_balancer;
mod load_balancer_driver;
mod port;
mod string_map;

pub use backend_group::{
    BackendGroup, BackendGroupSpec, BackendGroupStatus, DeregisterPolicy, DeregisterWebhook,
    FailurePolicy, PodSelection, SelectPodByLabel, ServiceSelection,
};
pub use backend_record::{
    BackendRecord, BackendRecordSpec, BackendRecordStatus, PodBackendRecord, ServiceBackendRecord,
};
pub use bind::{
    Bind, BindEnsurePolicy, BindSpec, BindStatus, TargetLoadBalancer, TargetLoadBalancerStatus,
};
pub use condition::{Condition, ConditionStatus, Conditions, condition_types, reasons};
pub use crds::{crds, crds_yaml};
pub use ensure_policy::{EnsurePolicy, EnsurePolicyType};
pub use kind::NamespacedKind;
pub use load_balancer::{LoadBalancer, LoadBalancerSpec, LoadBalancerStatus};
pub use load_balancer_driver::{
    LoadBalancerDriver, LoadBalancerDriverSpec, LoadBalancerDriverStatus, WebhookConfig,
};
pub use port::PortSelector;
pub use string_map::StringMap;

use serde::{Deserialize, Deserializer};

/// The API group of all kinds (b1, b4).
pub const GROUP: &str = "lbcf.tkestack.io";

/// `null` and absence both mean "empty" (b5).
fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
