//! The load balancers and backends of a check, and their calls.

use super::WebhookCall;
use crate::fixture::LoadBalancerSample;
use lbcf_driver_sdk::webhook::{
    BackendType, CreateLoadBalancer, CreateLoadBalancerRequest, DeleteLoadBalancer,
    DeleteLoadBalancerRequest, DeregisterBackend, DeregisterBackendRequest, EnsureBackend,
    EnsureBackendRequest, EnsureLoadBalancer, EnsureLoadBalancerRequest, GenerateBackendAddr,
    GenerateBackendAddrRequest, Operation, StringMap, ValidateBackend, ValidateBackendRequest,
    ValidateLoadBalancer, ValidateLoadBalancerRequest,
};
use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct LoadBalancer {
    /// The uid of the object in Kubernetes, which its recordIDs contain.
    pub(crate) uid: String,
    pub(crate) sample: LoadBalancerSample,
    /// The identity: the `lbInfo` of the driver, or else `lbSpec`. Empty before the creation.
    pub(crate) lb_info: StringMap,
}

impl LoadBalancer {
    /// `validateLoadBalancer` with the operation Create.
    pub(crate) fn validate(&self) -> WebhookCall {
        WebhookCall::of::<ValidateLoadBalancer>(&ValidateLoadBalancerRequest {
            lb_spec: self.sample.lb_spec.clone(),
            attributes: self.sample.attributes.clone(),
            operation: Operation::Create,
            ..Default::default()
        })
    }

    /// `validateLoadBalancer` with the operation Update to these attributes.
    pub(crate) fn validate_update(&self, attributes: &StringMap) -> WebhookCall {
        WebhookCall::of::<ValidateLoadBalancer>(&ValidateLoadBalancerRequest {
            lb_spec: self.sample.lb_spec.clone(),
            attributes: attributes.clone(),
            old_attributes: self.sample.attributes.clone(),
            operation: Operation::Update,
            ..Default::default()
        })
    }

    pub(crate) fn create(&self) -> WebhookCall {
        WebhookCall::of::<CreateLoadBalancer>(&CreateLoadBalancerRequest {
            record_id: format!("createLoadBalancer({})", self.uid),
            lb_spec: self.sample.lb_spec.clone(),
            attributes: self.sample.attributes.clone(),
            ..Default::default()
        })
    }

    pub(crate) fn ensure_with(&self, attributes: &StringMap) -> WebhookCall {
        WebhookCall::of::<EnsureLoadBalancer>(&EnsureLoadBalancerRequest {
            record_id: format!("ensureLoadBalancer({})", self.uid),
            lb_info: self.lb_info.clone(),
            attributes: attributes.clone(),
            ..Default::default()
        })
    }

    /// The same one for another object in Kubernetes, not created yet.
    pub(crate) fn renewed(&self, uid: String) -> Self {
        let lb_info = StringMap::new();
        Self {
            uid,
            lb_info,
            ..self.clone()
        }
    }

    /// `ensureLoadBalancer` with the attributes of the creation.
    pub(crate) fn ensure(&self) -> WebhookCall {
        self.ensure_with(&self.sample.attributes)
    }

    pub(crate) fn delete(&self) -> WebhookCall {
        WebhookCall::of::<DeleteLoadBalancer>(&DeleteLoadBalancerRequest {
            record_id: format!("deleteLoadBalancer({})", self.uid),
            lb_info: self.lb_info.clone(),
            attributes: self.sample.attributes.clone(),
            ..Default::default()
        })
    }
}

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

    /// The check for the existence of its address.
    pub(crate) const fn prerequisite(&self) -> &'static str {
        match self {
            Self::Service(_) => "GEN-02",
            Self::Endpoint(_) => "GEN-10",
            Self::Pod(_) | Self::Static => "GEN-01",
        }
    }

    /// The field of the request, and its value; `None` for a static address.
    pub(crate) fn field(&self) -> Option<(&'static str, &Value)> {
        match self {
            Self::Pod(sent) => Some(("podBackend", sent)),
            Self::Service(sent) => Some(("serviceBackend", sent)),
            Self::Endpoint(sent) => Some(("endpointBackend", sent)),
            Self::Static => None,
        }
    }

    /// Its part of the request; `None` for a static address.
    pub(crate) fn sent(&self) -> Option<&Value> {
        self.field().map(|(_, sent)| sent)
    }

    pub(crate) const fn sent_mut(&mut self) -> Option<&mut Value> {
        match self {
            Self::Pod(sent) | Self::Service(sent) | Self::Endpoint(sent) => Some(sent),
            Self::Static => None,
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
        match self.source.field() {
            Some((field, sent)) => call.with(field, sent.clone()),
            None => call,
        }
    }

    /// The same backend with another source.
    pub(crate) fn of(self, source: Source) -> Self {
        Self { source, ..self }
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
    lb: &LoadBalancer,
    backend_type: &str,
    parameters: &StringMap,
) -> WebhookCall {
    WebhookCall::of::<ValidateBackend>(&ValidateBackendRequest {
        backend_type: BackendType::from(backend_type.to_owned()),
        lb_info: lb.lb_info.clone(),
        operation: Operation::Create,
        parameters: parameters.clone(),
        ..Default::default()
    })
}

/// `validateBackend` with the operation Update and `OldParameters`, as controllers in the field
/// spell it.
pub(crate) fn validate_backend_update(
    lb: &LoadBalancer,
    backend_type: &str,
    parameters: &StringMap,
    old: &StringMap,
) -> WebhookCall {
    validate_backend(lb, backend_type, parameters)
        .with("operation", "Update")
        .with("OldParameters", serde_json::json!(old))
        .without("oldParameters")
}
