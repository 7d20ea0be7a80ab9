//! Calls of webhooks, written down by what matters of them.

use crate::fields::{self, Fields};
use crate::webhook::{
    self, BackendType, Class, Operation, PodBackend, ServiceBackend, StringMap, Webhook,
    for_each_webhook,
};
use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A call of one webhook. What is not said is empty.
///
/// Made by the functions that are named after the webhooks, such as [`ensure_backend`]. The same
/// call may be made as often as one likes: each time it has another `retryID`. Its `recordID`
/// follows from what it is about, so that calls about the same thing have the same and calls about
/// other things another; [`record_id`](Self::record_id) names one.
pub struct WebhookCall<W: Webhook> {
    request: W::Request,
    record_id: Option<String>,
}

macro_rules! declare {
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $request:ident, $response:ident);)*) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $method() -> WebhookCall<webhook::$hook> {
                WebhookCall::of(webhook::$request::default())
            }
        )*
    };
}

for_each_webhook!(declare);

impl<W: Webhook> WebhookCall<W> {
    /// A call with this request.
    #[must_use]
    pub const fn of(request: W::Request) -> Self {
        Self {
            request,
            record_id: None,
        }
    }

    /// What is sent, but for `recordID` and `retryID`.
    #[must_use]
    pub const fn request(&self) -> &W::Request {
        &self.request
    }

    /// The operation's name, such as `ensureBackend(42)`; nothing happens where a webhook does not
    /// send one.
    #[must_use]
    pub fn record_id(mut self, record_id: impl Into<String>) -> Self {
        self.record_id = Some(record_id.into());
        self
    }

    /// The request's body.
    pub(super) fn body(&self, retry_id: String) -> Value {
        let mut body = match serde_json::to_value(&self.request) {
            Ok(body) => body,
            Err(error) => panic!("{}: the request is no JSON: {error}", W::INFO.name),
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

/// A name that follows from what a request is about, in the form that controllers use.
fn derived_record_id(webhook: &str, body: &Value) -> String {
    let mut hasher = DefaultHasher::new();
    for about in [
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
    ] {
        body.pointer(about).map(Value::to_string).hash(&mut hasher);
    }
    format!("{webhook}({:016x})", hasher.finish())
}

/// Setters of a request's maps: one key of it, and the whole of it.
macro_rules! maps {
    ($($hook:ident { $($one:ident, $all:ident: $field:ident = $name:literal;)* })*) => {
        $(impl WebhookCall<webhook::$hook> {
            $(
                #[doc = concat!("One key of `", $name, "`.")]
                #[must_use]
                pub fn $one(mut self, key: impl Into<String>, value: impl ToString) -> Self {
                    self.request.$field.insert(key.into(), value.to_string());
                    self
                }

                #[doc = concat!("The whole of `", $name, "`: a map, or the driver's own type for it.")]
                #[must_use]
                #[track_caller]
                pub fn $all(mut self, map: &impl Fields) -> Self {
                    self.request.$field = written($name, map);
                    self
                }
            )*

            /// Asks for a check only: nothing may change.
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
}

#[track_caller]
fn written(name: &str, map: &impl Fields) -> StringMap {
    match fields::write(name, map) {
        Ok(map) => map,
        Err(error) => panic!("{name} cannot be sent: {error}"),
    }
}

impl WebhookCall<webhook::ValidateLoadBalancer> {
    /// One key of the attributes before the change, which makes it an update.
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
    /// One key of the parameters before the change, which makes it an update.
    #[must_use]
    pub fn old_parameter(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.request.operation = Operation::Update;
        self.request
            .old_parameters
            .insert(key.into(), value.to_string());
        self
    }

    /// What kind of backends; pods, unless it is said.
    #[must_use]
    pub fn backend_type(mut self, backend_type: BackendType) -> Self {
        self.request.backend_type = backend_type;
        self
    }
}

impl WebhookCall<webhook::GenerateBackendAddr> {
    /// The backend is a pod, by one of its ports.
    #[must_use]
    pub fn pod(mut self, pod: impl Into<PodBackend>) -> Self {
        self.request.pod_backend = Some(pod.into());
        self
    }

    /// The backend is a service's node port on one node.
    #[must_use]
    pub fn service(mut self, service: impl Into<ServiceBackend>) -> Self {
        self.request.service_backend = Some(service.into());
        self
    }
}

impl WebhookCall<webhook::EnsureBackend> {
    /// The backend's address.
    #[must_use]
    pub fn addr(mut self, addr: impl ToString) -> Self {
        self.request.backend_addr = addr.to_string();
        self
    }
}

impl WebhookCall<webhook::DeregisterBackend> {
    /// The backend's address.
    #[must_use]
    pub fn addr(mut self, addr: impl ToString) -> Self {
        self.request.backend_addr = addr.to_string();
        self
    }
}

impl WebhookCall<webhook::JudgePodDeregister> {
    /// One more pod that is not ready.
    #[must_use]
    pub fn pod(mut self, pod: impl Into<Pod>) -> Self {
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
