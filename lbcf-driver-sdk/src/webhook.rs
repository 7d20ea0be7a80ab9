//! The specification's eleven webhooks as types, from one table.
//!
//! [`Webhook`] ties a webhook's name to its request, its response and its class; [`ALL`] lists
//! them. Routes, client calls, OpenAPI paths and timeouts are derived from that table, so a new
//! webhook is one new row, and the compiler names the rest.

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
mod table;
mod verdict;

pub use backend::{
    BackendType, DeregisterBackendRequest, DeregisterBackendResponse, EnsureBackendRequest,
    EnsureBackendResponse, GenerateBackendAddrRequest, GenerateBackendAddrResponse, PodBackend,
    ServiceBackend, ValidateBackendRequest, ValidateBackendResponse,
};
pub use definition::{Class, Obligation, StringMap, Webhook, WebhookInfo};
pub use endpoint::{AddressType, EndpointBackend, EndpointService};
pub use health::{HealthzRequest, HealthzResponse};
pub use judge::{JudgePodDeregisterRequest, JudgePodDeregisterResponse};
pub use kubernetes::{KubernetesObject, NodeAddress, ServicePort};
pub use list::{ListBackendsRequest, ListBackendsResponse, ListedBackend};
pub use load_balancer::{
    CreateLoadBalancerRequest, CreateLoadBalancerResponse, DeleteLoadBalancerRequest,
    DeleteLoadBalancerResponse, EnsureLoadBalancerRequest, EnsureLoadBalancerResponse,
    ValidateLoadBalancerRequest, ValidateLoadBalancerResponse,
};
pub use operation::{LoadBalancer, OperationRequest, OperationResponse, Status, object_id};
pub use port::{BackendPort, Protocol};
#[cfg(any(feature = "client", feature = "openapi", feature = "server"))]
pub(crate) use table::for_each_webhook;
pub use table::{
    ALL, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
    EnsureLoadBalancer, GenerateBackendAddr, Healthz, JudgePodDeregister, ListBackends,
    ValidateBackend, ValidateLoadBalancer,
};
pub use verdict::{Operation, VerdictRequest, VerdictResponse};
