//! The table of webhooks: the one place that lists them.

use super::{Class, Obligation, Webhook, WebhookInfo};

/// Calls `$callback!` with every row: marker type, wire name, trait method, class, obligation.
/// The request is the marker's name with `Request` behind it, the response likewise.
macro_rules! for_each_webhook {
    ($callback:ident) => {
        $callback! {
            /// Asks whether the driver can work (b156).
            Healthz("healthz", healthz, Health, Optional, HealthzRequest, HealthzResponse);
            /// Asks whether a load balancer's specification and attributes are acceptable.
            ValidateLoadBalancer("validateLoadBalancer", validate_load_balancer, Verdict, Mandatory, ValidateLoadBalancerRequest, ValidateLoadBalancerResponse);
            /// Creates a load balancer, or takes an existing one into use.
            CreateLoadBalancer("createLoadBalancer", create_load_balancer, Operation, Mandatory, CreateLoadBalancerRequest, CreateLoadBalancerResponse);
            /// Brings a load balancer's attributes to what is wanted.
            EnsureLoadBalancer("ensureLoadBalancer", ensure_load_balancer, Operation, Mandatory, EnsureLoadBalancerRequest, EnsureLoadBalancerResponse);
            /// Deletes a load balancer.
            DeleteLoadBalancer("deleteLoadBalancer", delete_load_balancer, Operation, Mandatory, DeleteLoadBalancerRequest, DeleteLoadBalancerResponse);
            /// Asks whether backends may be registered with these parameters.
            ValidateBackend("validateBackend", validate_backend, Verdict, Mandatory, ValidateBackendRequest, ValidateBackendResponse);
            /// Turns a pod or a node port into the address that the load balancer knows it by.
            GenerateBackendAddr("generateBackendAddr", generate_backend_addr, Operation, Mandatory, GenerateBackendAddrRequest, GenerateBackendAddrResponse);
            /// Registers a backend, or brings its parameters to what is wanted.
            EnsureBackend("ensureBackend", ensure_backend, Operation, Mandatory, EnsureBackendRequest, EnsureBackendResponse);
            /// Takes a backend away.
            DeregisterBackend("deregisterBackend", deregister_backend, Operation, Mandatory, DeregisterBackendRequest, DeregisterBackendResponse);
            /// Asks which pods that are not ready keep their place.
            JudgePodDeregister("judgePodDeregister", judge_pod_deregister, Verdict, OnRequest, JudgePodDeregisterRequest, JudgePodDeregisterResponse);
        }
    };
}
#[cfg(any(feature = "server", feature = "openapi"))]
pub(crate) use for_each_webhook;

macro_rules! declare {
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $request:ident, $response:ident);)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub struct $hook;

            impl Webhook for $hook {
                const INFO: WebhookInfo = WebhookInfo {
                    name: $name,
                    class: Class::$class,
                    obligation: Obligation::$obligation,
                };
                type Request = super::$request;
                type Response = super::$response;
            }
        )*

        /// Every webhook of the specification, in its order.
        pub const ALL: &[WebhookInfo] = &[$(<$hook as Webhook>::INFO),*];
    };
}

for_each_webhook!(declare);
