//! The specification's eleven webhooks as types, from one table.
//!
//! [`Webhook`] ties a request to its webhook's name, response and class; [`ALL`] lists them. A request is
//! generic over its maps: with the defaults, maps of strings, it is what the wire has; with a driver's types
//! ([`request`](crate::request)) it is what the driver's method receives. Routes, client calls, OpenAPI paths
//! and timeouts are derived from that table, so a new webhook is one new row, and the compiler names the
//! rest.

mod backend;
mod definition;
mod endpoint;
mod health;
mod judge;
mod kubernetes;
mod list;
mod load_balancer;
mod operation;
mod port;
mod reason;
#[cfg(feature = "openapi")]
mod schemas;
mod table;
mod verdict;

pub use backend::{
    BackendType, DeregisterBackend, DeregisterBackendResponse, EnsureBackend,
    EnsureBackendResponse, GenerateBackendAddr, GenerateBackendAddrResponse, PodBackend,
    ServiceBackend, ValidateBackend, ValidateBackendResponse,
};
pub use definition::{Class, Obligation, StringMap, Webhook, WebhookInfo};
pub use endpoint::{AddressType, EndpointBackend, EndpointService};
pub use health::{Healthz, HealthzResponse, SPECIFICATION, SPECIFICATION_HEADER};
pub use judge::{JudgePodDeregister, JudgePodDeregisterResponse};
pub use kubernetes::{KubernetesObject, NodeAddress, ServicePort};
#[cfg(feature = "server")]
pub(crate) use list::page;
pub use list::{ListBackends, ListBackendsResponse, ListedBackend};
pub use load_balancer::{
    CreateLoadBalancer, CreateLoadBalancerResponse, DeleteLoadBalancer, DeleteLoadBalancerResponse,
    EnsureLoadBalancer, EnsureLoadBalancerResponse, ValidateLoadBalancer,
    ValidateLoadBalancerResponse,
};
pub use operation::{LoadBalancer, OperationRequest, OperationResponse, Status, object_id};
pub use port::{BackendPort, Protocol};
pub use reason::Reason;
pub use table::ALL;
#[cfg(any(feature = "openapi", feature = "server"))]
pub(crate) use table::for_each_webhook;
pub use verdict::{Operation, VerdictResponse};
