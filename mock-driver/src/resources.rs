//! The resources of both clouds and how they change: plain data and synchronous functions, with the time
//! as an argument. No lock, file or socket is involved.

pub(crate) mod azure;
mod creation;
mod document;
mod endpoint;
mod error;
mod incidental;
mod load_balancer;
mod model;
mod quota;
mod restore;

pub use creation::{Creation, CreationPace, CreationStage, CreationState, NewLoadBalancer};
pub use document::{
    CloudState, Ids, ListenerState, LoadBalancerState, RuleState, StateVersion, TargetGroupState,
    TargetState,
};
pub use endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
pub use error::{
    AddListenerError, BindError, CloudError, CreateError, NotFound, QuotaExceeded,
    SetAttributesError, TooManyTargets, Unavailable,
};
pub use incidental::Incidental;
pub use load_balancer::Target;
pub(crate) use load_balancer::{TargetGroup, is_prepaid};
pub(crate) use model::Model;
pub(crate) use quota::QuotaUse;
pub use quota::Quotas;
