//! A backend of a check and its calls.

use super::call::WebhookCall;
use super::load_balancer::LoadBalancer;
use lbcf_driver_sdk::webhook::{
    BackendType, DeregisterBackend, DeregisterBackendRequest, EnsureBackend, EnsureBackendRequest,
    GenerateBackendAddr, GenerateBackendAddrRequest, Operation, StringMap, ValidateBackend,
    ValidateBackendRequest,
};
use serde_json::Value;

/// The object behind a backend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    /// `podBackend`: a pod with its port.
    Pod(Value),
    /// `serviceBackend`: a service's node port on a node.
    Service(Value),
    /// `endpointBackend`: an endpoint of a service that is no pod.
    Endpoint(Value),
    /// A static address, which the driver does not generate.
    Static,
}

impl Source {
    /// The value of `backendType`.
    pub(crate) const fn backend_type(&self) -> &'static str {
        match self {
            Self::Pod(_) | Self::Endpoint(_) => "Pod",
            Self::Service(_) => "Service",
            Self::Static => "Static",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Backend {
    /// The uid of the BackendRecord in Kubernetes, which its recordIDs contain.
    pub(crate) uid: String,
    pub(crate) source: Source,
    /// The identity of its load balancer.
    pub(crate) lb_info: StringMap,
    /// The attributes of its load balancer.
    pub(crate) lb_attributes: StringMap,
    /// Empty before it is generated.
    pub(crate) addr: String,
    pub(crate) parameters: StringMap,
    /// `injectedInfo` of the last response to `ensureBackend`.
    pub(crate) injected_info: StringMap,
}

impl Backend {
    /// `generateBackendAddr` without parameters, as controllers in the field send it.
    pub(crate) fn generate(&self) -> WebhookCall {
        let call = WebhookCall::of::<GenerateBackendAddr>(&GenerateBackendAddrRequest {
            record_id: format!("generateBackendAddr({})", self.uid),
            lb_info: self.lb_info.clone(),
            lb_attributes: self.lb_attributes.clone(),
            ..Default::default()
        });
        match &self.source {
            Source::Pod(backend) => call.with("podBackend", backend.clone()),
            Source::Service(backend) => call.with("serviceBackend", backend.clone()),
            Source::Endpoint(backend) => call.with("endpointBackend", backend.clone()),
            Source::Static => call,
        }
    }

    pub(crate) fn ensure(&self) -> WebhookCall {
        self.ensure_with(&self.parameters)
    }

    pub(crate) fn ensure_with(&self, parameters: &StringMap) -> WebhookCall {
        WebhookCall::of::<EnsureBackend>(&EnsureBackendRequest {
            record_id: format!("ensureBackend({})", self.uid),
            lb_info: self.lb_info.clone(),
            backend_addr: self.addr.clone(),
            parameters: parameters.clone(),
            injected_info: self.injected_info.clone(),
            ..Default::default()
        })
    }

    pub(crate) fn deregister(&self) -> WebhookCall {
        WebhookCall::of::<DeregisterBackend>(&DeregisterBackendRequest {
            record_id: format!("deregisterBackend({})", self.uid),
            lb_info: self.lb_info.clone(),
            backend_addr: self.addr.clone(),
            parameters: self.parameters.clone(),
            injected_info: self.injected_info.clone(),
            ..Default::default()
        })
    }
}

/// `validateBackend` with the operation Create.
pub(crate) fn validate_backend(
    load_balancer: &LoadBalancer,
    backend_type: &str,
    parameters: &StringMap,
) -> WebhookCall {
    WebhookCall::of::<ValidateBackend>(&ValidateBackendRequest {
        backend_type: BackendType::from(backend_type.to_owned()),
        lb_info: load_balancer.lb_info.clone(),
        operation: Operation::Create,
        parameters: parameters.clone(),
        ..Default::default()
    })
}

/// `validateBackend` with the operation Update and `OldParameters`, as controllers in the field
/// spell it.
pub(crate) fn validate_backend_update(
    load_balancer: &LoadBalancer,
    backend_type: &str,
    parameters: &StringMap,
    old: &StringMap,
) -> WebhookCall {
    WebhookCall::of::<ValidateBackend>(&ValidateBackendRequest {
        backend_type: BackendType::from(backend_type.to_owned()),
        lb_info: load_balancer.lb_info.clone(),
        operation: Operation::Update,
        parameters: parameters.clone(),
        old_parameters: old.clone(),
        ..Default::default()
    })
    .without("oldParameters")
}
