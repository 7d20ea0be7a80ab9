//! Builders of webhook calls.

use crate::fields::{self, Fields};
use crate::webhook::{
    self, BackendType, Class, EndpointBackend, KubernetesObject, Operation, PodBackend,
    ServiceBackend, StringMap, Webhook, for_each_webhook,
};
use serde_json::Value;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::SystemTime;

/// A call of one webhook, created by a function with the webhook's name, such as [`ensure_backend`].
/// Fields that are not set are empty.
///
/// Each time it is called it has another `retryID`. Its `recordID` is derived from its object, so that
/// calls about the same object have equal ones, unless [`record_id`](Self::record_id) sets it.
pub struct WebhookCall<W: Webhook> {
    request: W,
    record_id: Option<String>,
}

macro_rules! declare {
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $response:ident);)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $method() -> WebhookCall<webhook::$hook> {
                WebhookCall::of(<webhook::$hook>::default())
            }
        )*
    };
}

for_each_webhook!(declare);

impl<W: Webhook> WebhookCall<W> {
    /// A call with a complete request.
    #[must_use]
    pub const fn of(request: W) -> Self {
        Self {
            request,
            record_id: None,
        }
    }

    /// The request, without a derived `recordID` and `retryID`.
    #[must_use]
    pub const fn request(&self) -> &W {
        &self.request
    }

    /// Sets the `recordID`, such as `ensureBackend(42)`; without effect on webhooks that have none.
    #[must_use]
    pub fn record_id(mut self, record_id: impl Into<String>) -> Self {
        self.record_id = Some(record_id.into());
        self
    }

    pub(super) fn body(&self, retry_id: String) -> Value {
        let mut body = match serde_json::to_value(&self.request) {
            Ok(body) => body,
            Err(error) => panic!(
                "{}: the request cannot be written as JSON: {error}",
                W::INFO.name
            ),
        };
        if W::INFO.class == Class::Operation {
            if let Some(record_id) = &self.record_id {
                body["recordID"] = record_id.clone().into();
            } else if body["recordID"] == "" {
                body["recordID"] = derived_record_id(W::INFO.name, &body).into();
            }
            if body["retryID"] == "" {
                body["retryID"] = retry_id.into();
            }
        }
        body
    }
}

/// A `recordID` derived from a request's object, in the format of controllers.
fn derived_record_id(webhook: &str, body: &Value) -> String {
    let mut hasher = DefaultHasher::new();
    for field in [
        "/lbSpec",
        "/lbInfo",
        "/backendAddr",
        "/podBackend/pod/metadata/namespace",
        "/podBackend/pod/metadata/name",
        "/podBackend/port",
        "/serviceBackend/service/metadata/namespace",
        "/serviceBackend/service/metadata/name",
        "/serviceBackend/port",
        "/serviceBackend/nodeName",
        "/endpointBackend/address",
        "/endpointBackend/port",
        "/endpointBackend/protocol",
    ] {
        body.pointer(field).map(Value::to_string).hash(&mut hasher);
    }
    format!("{webhook}({:016x})", hasher.finish())
}

/// Setters of a request's maps: of one key, and of all.
macro_rules! maps {
    ($($hook:ident { $($one:ident, $all:ident: $field:ident = $name:literal;)* })*) => {
        $(impl WebhookCall<webhook::$hook> {
            $(
                #[doc = concat!("Sets one key of `", $name, "`.")]
                #[must_use]
                pub fn $one(mut self, key: impl Into<String>, value: impl ToString) -> Self {
                    self.request.$field.insert(key.into(), value.to_string());
                    self
                }

                #[doc = concat!("Replaces `", $name, "` by a map or the driver's type for it.")]
                #[must_use]
                #[track_caller]
                pub fn $all(mut self, map: &impl Fields) -> Self {
                    self.request.$field = written($name, map);
                    self
                }
            )*

            /// The object that the call is about.
            #[must_use]
            pub fn object(mut self, namespace: &str, name: &str) -> Self {
                namespace.clone_into(&mut self.request.namespace);
                name.clone_into(&mut self.request.name);
                self
            }

            /// Makes it a dry run.
            #[must_use]
            pub const fn dry_run(mut self) -> Self {
                self.request.dry_run = true;
                self
            }
        })*
    };
}

maps! {
    ValidateLoadBalancer {
        spec, lb_spec: lb_spec = "lbSpec";
        attribute, attributes: attributes = "attributes";
    }
    CreateLoadBalancer {
        spec, lb_spec: lb_spec = "lbSpec";
        attribute, attributes: attributes = "attributes";
    }
    EnsureLoadBalancer {
        info, lb_info: lb_info = "lbInfo";
        attribute, attributes: attributes = "attributes";
    }
    DeleteLoadBalancer {
        info, lb_info: lb_info = "lbInfo";
        attribute, attributes: attributes = "attributes";
    }
    ValidateBackend {
        info, lb_info: lb_info = "lbInfo";
        parameter, parameters: parameters = "parameters";
    }
    GenerateBackendAddr {
        info, lb_info: lb_info = "lbInfo";
        attribute, lb_attributes: lb_attributes = "lbAttributes";
        parameter, parameters: parameters = "parameters";
    }
    EnsureBackend {
        info, lb_info: lb_info = "lbInfo";
        parameter, parameters: parameters = "parameters";
        injected, injected_info: injected_info = "injectedInfo";
    }
    DeregisterBackend {
        info, lb_info: lb_info = "lbInfo";
        parameter, parameters: parameters = "parameters";
        injected, injected_info: injected_info = "injectedInfo";
    }
    JudgePodDeregister {}
    ListBackends {
        info, lb_info: lb_info = "lbInfo";
    }
}

#[track_caller]
fn written(name: &str, map: &impl Fields) -> StringMap {
    match fields::write(name, map) {
        Ok(map) => map,
        Err(error) => panic!("{name} cannot be sent: {error}"),
    }
}

impl WebhookCall<webhook::ValidateLoadBalancer> {
    /// Sets one key of the old attributes, and makes the operation an update.
    #[must_use]
    pub fn old_attribute(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.request.operation = Operation::Update;
        self.request
            .old_attributes
            .insert(key.into(), value.to_string());
        self
    }
}

impl WebhookCall<webhook::ValidateBackend> {
    /// Sets one key of the old parameters, and makes the operation an update.
    #[must_use]
    pub fn old_parameter(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.request.operation = Operation::Update;
        self.request
            .old_parameters
            .insert(key.into(), value.to_string());
        self
    }

    /// Sets the kind of the backends (default pods).
    #[must_use]
    pub fn backend_type(mut self, backend_type: BackendType) -> Self {
        self.request.backend_type = backend_type;
        self
    }
}

impl WebhookCall<webhook::GenerateBackendAddr> {
    /// Sets a pod and its port as the backend.
    #[must_use]
    pub fn pod(mut self, pod: impl Into<PodBackend>) -> Self {
        self.request.pod_backend = Some(pod.into());
        self
    }

    /// Sets a service's node port on one node as the backend.
    #[must_use]
    pub fn service(mut self, service: impl Into<ServiceBackend>) -> Self {
        self.request.service_backend = Some(service.into());
        self
    }

    /// Sets an endpoint of a service as the backend, beside the pod that it may be.
    #[must_use]
    pub fn endpoint(mut self, endpoint: impl Into<EndpointBackend>) -> Self {
        self.request.endpoint_backend = Some(endpoint.into());
        self
    }
}

impl WebhookCall<webhook::EnsureBackend> {
    /// Sets the backend's address.
    #[must_use]
    pub fn addr(mut self, addr: impl ToString) -> Self {
        self.request.backend_addr = addr.to_string();
        self
    }
}

impl WebhookCall<webhook::DeregisterBackend> {
    /// Sets the backend's address.
    #[must_use]
    pub fn addr(mut self, addr: impl ToString) -> Self {
        self.request.backend_addr = addr.to_string();
        self
    }

    /// Sets since when the deregistration is requested, as for a backend that drains (default: unknown).
    #[must_use]
    pub const fn first_requested_at(mut self, time: SystemTime) -> Self {
        self.request.first_requested_at = Some(time);
        self
    }
}

impl WebhookCall<webhook::JudgePodDeregister> {
    /// Adds a pod that is not ready.
    #[must_use]
    pub fn pod(mut self, pod: impl Into<KubernetesObject>) -> Self {
        self.request.not_ready_pods.push(pod.into());
        self
    }
}

impl<W: Webhook> Clone for WebhookCall<W> {
    fn clone(&self) -> Self {
        Self {
            request: self.request.clone(),
            record_id: self.record_id.clone(),
        }
    }
}

impl<W: Webhook> fmt::Debug for WebhookCall<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", W::INFO.name, self.body("…".to_owned()))
    }
}
