//! The table of webhooks: the one place that lists them.

use super::{Class, Obligation, OperationResponse, Status, VerdictResponse, Webhook, WebhookInfo};

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
#[cfg(any(feature = "client", feature = "openapi", feature = "server"))]
pub(crate) use for_each_webhook;

/// Whether an answer of a class says no.
macro_rules! is_fail {
    (Health, $response:ident) => {
        !$response.healthy
    };
    (Verdict, $response:ident) => {
        !$response.succ()
    };
    (Operation, $response:ident) => {
        $response.status() == Status::Fail
    };
}

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

                fn is_fail(response: &Self::Response) -> bool {
                    is_fail!($class, response)
                }
            }
        )*

        /// Every webhook of the specification, in its order.
        pub const ALL: &[WebhookInfo] = &[$(<$hook as Webhook>::INFO),*];
    };
}

for_each_webhook!(declare);

#[cfg(test)]
mod tests {
    use super::super::{EnsureBackendResponse, HealthzResponse, ValidateBackendResponse};
    use super::*;

    #[test]
    fn b145_no_fail_and_not_healthy_are_fails_and_running_is_none() {
        assert!(Healthz::is_fail(&HealthzResponse { healthy: false }));
        assert!(!Healthz::is_fail(&HealthzResponse { healthy: true }));
        let refused = ValidateBackendResponse::refused("no".into());
        assert!(ValidateBackend::is_fail(&refused));
        let accepted = ValidateBackendResponse {
            succ: true,
            ..refused
        };
        assert!(!ValidateBackend::is_fail(&accepted));
        let failed = EnsureBackendResponse::fail("no".into(), None);
        assert!(EnsureBackend::is_fail(&failed));
        let running = EnsureBackendResponse::running("wait".into(), None);
        assert!(!EnsureBackend::is_fail(&running));
    }
}
