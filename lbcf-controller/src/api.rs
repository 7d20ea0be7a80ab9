//! The resource kinds of LBCF as Rust types, from which the CRDs are generated.
//!
//! Field names, defaults and `null` values are those of the original: the types read what
//! Go clients wrote, and Go clients read what is written here.

// The derive repeats the type of each printer column.
#![allow(clippy::duplicated_attributes)]

pub(crate) mod allowed;
mod backend_group;
mod backend_owner;
mod backend_record;
mod bind;
mod condition;
mod crd_rules;
mod crds;
pub(crate) mod earlier_fields;
mod ensure_policy;
mod load_balancer;
mod load_balancer_driver;
pub mod names;
mod object;
pub(crate) mod placeholders;
mod port;
pub mod reasons;
mod service_class;
mod string_map;
pub(crate) mod syntax;

pub use allowed::DRIVER_TYPE;
pub use backend_group::{
    AddressFamily, BackendGroup, BackendGroupSpec, BackendGroupStatus, DeregisterPolicy,
    DeregisterWebhook, FailurePolicy, PodSelection, SelectPodByLabel, ServiceMode,
    ServiceSelection,
};
pub(crate) use backend_owner::BackendOwner;
pub use backend_record::{
    BackendRecord, BackendRecordSpec, BackendRecordStatus, EndpointBackendRecord, PodBackendRecord,
    ServiceBackendRecord,
};
pub use bind::{
    Bind, BindEnsurePolicy, BindSpec, BindStatus, TargetLoadBalancer, TargetLoadBalancerStatus,
};
pub use condition::{Condition, ConditionStatus, Conditions, condition_types};
pub use crds::{crds, crds_yaml};
pub use ensure_policy::{EnsurePolicy, EnsurePolicyType};
pub use load_balancer::{LoadBalancer, LoadBalancerSpec, LoadBalancerStatus};
pub use load_balancer_driver::{
    LoadBalancerDriver, LoadBalancerDriverSpec, LoadBalancerDriverStatus, WebhookConfig,
};
pub use object::{NamespacedKind, ObjectKey};
pub(crate) use object::{ObjectExt, key_of};
pub use port::{PortSelector, ServicePortSelector};
pub use service_class::{ClassPolicy, IngressKeys, LoadBalancersOfService, ServiceClass};
pub use string_map::StringMap;

/// The API group of all kinds.
pub const GROUP: &str = "lbcf.tkestack.io";

/// For serde's attribute `with`: reads `null` like an absent field, as the default.
mod nullable {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn deserialize<'de, D, T>(deserializer: D) -> Result<T, D::Error>
    where
        D: Deserializer<'de>,
        T: Default + Deserialize<'de>,
    {
        Ok(Option::deserialize(deserializer)?.unwrap_or_default())
    }

    pub(super) fn serialize<S: Serializer>(
        value: &impl Serialize,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }
}
