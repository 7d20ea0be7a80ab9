//! A backend of a check, and the calls about it.

use super::call::Call;
use super::load_balancer::LoadBalancer;
use lbcf_driver_sdk::webhook::{
    BackendType, DeregisterBackend, DeregisterBackendRequest, EnsureBackend, EnsureBackendRequest,
    GenerateBackendAddr, GenerateBackendAddrRequest, Operation, StringMap, ValidateBackend,
    ValidateBackendRequest,
};
use serde_json::Value;

/// What stands behind a backend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    /// `podBackend`: a pod with its port.
    Pod(Value),
    /// `serviceBackend`: a service's node port on a node.
    Service(Value),
    /// An address that a user wrote down: nobody generates it.
    Static,
}

/// A backend of a check.
#[derive(Debug, Clone)]
pub(crate) struct Backend {
    /// The uid of the BackendRecord in Kubernetes, from which its recordIDs are made.
    pub(crate) uid: String,
    /// What stands behind it.
    pub(crate) source: Source,
    /// The identity of its load balancer.
    pub(crate) lb_info: StringMap,
    /// The attributes of its load balancer.
    pub(crate) lb_attributes: StringMap,
    /// Its address; empty before it is generated.
    pub(crate) addr: String,
    /// What it is registered with.
    pub(crate) parameters: StringMap,
    /// What the last `ensureBackend` gave to remember.
    pub(crate) injected_info: StringMap,
}

impl Backend {
    /// By which address does the load balancer know it? Without parameters, as controllers in the
    /// field ask.
    pub(crate) fn generate(&self) -> Call {
        let call = Call::of::<GenerateBackendAddr>(&GenerateBackendAddrRequest {
            record_id: format!("generateBackendAddr({})", self.uid),
            lb_info: self.lb_info.clone(),
            lb_attributes: self.lb_attributes.clone(),
            ..Default::default()
        });
        match &self.source {
            Source::Pod(backend) => call.with("podBackend", backend.clone()),
            Source::Service(backend) => call.with("serviceBackend", backend.clone()),
            Source::Static => call,
        }
    }

    /// Register it with its parameters.
    pub(crate) fn ensure(&self) -> Call {
        self.ensure_with(&self.parameters)
    }

    /// Register it with these parameters.
    pub(crate) fn ensure_with(&self, parameters: &StringMap) -> Call {
        Call::of::<EnsureBackend>(&EnsureBackendRequest {
            record_id: format!("ensureBackend({})", self.uid),
            lb_info: self.lb_info.clone(),
            backend_addr: self.addr.clone(),
            parameters: parameters.clone(),
            injected_info: self.injected_info.clone(),
            ..Default::default()
        })
    }

    /// Take it away.
    pub(crate) fn deregister(&self) -> Call {
        Call::of::<DeregisterBackend>(&DeregisterBackendRequest {
            record_id: format!("deregisterBackend({})", self.uid),
            lb_info: self.lb_info.clone(),
            backend_addr: self.addr.clone(),
            parameters: self.parameters.clone(),
            injected_info: self.injected_info.clone(),
            ..Default::default()
        })
    }
}

/// May backends of this type be registered with these parameters?
pub(crate) fn validate_backend(
    load_balancer: &LoadBalancer,
    backend_type: &str,
    parameters: &StringMap,
) -> Call {
    Call::of::<ValidateBackend>(&ValidateBackendRequest {
        backend_type: BackendType::from(backend_type.to_owned()),
        lb_info: load_balancer.lb_info.clone(),
        operation: Operation::Create,
        parameters: parameters.clone(),
        ..Default::default()
    })
}

/// May the parameters `old` be changed to these? With the spelling `OldParameters` only, as the
/// controllers in the field write it.
pub(crate) fn validate_backend_update(
    load_balancer: &LoadBalancer,
    backend_type: &str,
    parameters: &StringMap,
    old: &StringMap,
) -> Call {
    Call::of::<ValidateBackend>(&ValidateBackendRequest {
        backend_type: BackendType::from(backend_type.to_owned()),
        lb_info: load_balancer.lb_info.clone(),
        operation: Operation::Update,
        parameters: parameters.clone(),
        old_parameters: old.clone(),
        ..Default::default()
    })
    .without("oldParameters")
}
