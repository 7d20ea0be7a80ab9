//! The table of webhooks, the only place that lists them.

use super::{
    Class, GenerateBackendAddr, ListBackends, Obligation, OperationResponse, Status,
    VerdictResponse, Webhook, WebhookInfo,
};
use crate::wire::{self, DecodeError};

/// Calls `$callback!` with every row: request, wire name, trait method, class, obligation and response.
macro_rules! for_each_webhook {
    ($callback:ident) => {
        $callback! {
            /// Checks whether the driver is healthy.
            Healthz("healthz", healthz, Health, Optional, HealthzResponse);
            /// Validates a load balancer's specification and attributes.
            ValidateLoadBalancer("validateLoadBalancer", validate_load_balancer, Verdict, Mandatory, ValidateLoadBalancerResponse);
            /// Creates a load balancer, or adopts an existing one.
            CreateLoadBalancer("createLoadBalancer", create_load_balancer, Operation, Mandatory, CreateLoadBalancerResponse);
            /// Updates a load balancer's attributes.
            EnsureLoadBalancer("ensureLoadBalancer", ensure_load_balancer, Operation, Mandatory, EnsureLoadBalancerResponse);
            /// Deletes a load balancer.
            DeleteLoadBalancer("deleteLoadBalancer", delete_load_balancer, Operation, Mandatory, DeleteLoadBalancerResponse);
            /// Validates the parameters of backends.
            ValidateBackend("validateBackend", validate_backend, Verdict, Mandatory, ValidateBackendResponse);
            /// Returns the address that identifies a pod or a node port.
            GenerateBackendAddr("generateBackendAddr", generate_backend_addr, Operation, Mandatory, GenerateBackendAddrResponse);
            /// Registers a backend, or updates its parameters.
            EnsureBackend("ensureBackend", ensure_backend, Operation, Mandatory, EnsureBackendResponse);
            /// Deregisters a backend; succeeds if it is not registered.
            DeregisterBackend("deregisterBackend", deregister_backend, Operation, Mandatory, DeregisterBackendResponse);
            /// Returns the pods that stay registered although they are not ready.
            JudgePodDeregister("judgePodDeregister", judge_pod_deregister, Verdict, OnRequest, JudgePodDeregisterResponse);
            /// Returns the backends that are registered with a load balancer.
            ListBackends("listBackends", list_backends, Operation, Listed, ListBackendsResponse);
        }
    };
}
#[cfg(any(feature = "openapi", feature = "server"))]
pub(crate) use for_each_webhook;

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
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $response:ident);)*) => {
        $(
            impl Webhook for super::$hook {
                const INFO: WebhookInfo = WebhookInfo {
                    name: $name,
                    class: Class::$class,
                    obligation: Obligation::$obligation,
                };
                type Response = super::$response;

                fn is_fail(response: &Self::Response) -> bool {
                    is_fail!($class, response)
                }

                fn read_request(body: &[u8]) -> Result<Self, DecodeError> {
                    wire::from_slice(body)
                }

                fn read_response(body: &[u8]) -> Result<Self::Response, DecodeError> {
                    wire::from_slice(body)
                }

                fn write_request(&self) -> serde_json::Result<Vec<u8>> {
                    serde_json::to_vec(self)
                }

                fn write_response(response: &Self::Response) -> serde_json::Result<Vec<u8>> {
                    serde_json::to_vec(response)
                }
            }
        )*

        /// Every webhook of the specification, in its order.
        pub const ALL: &[WebhookInfo] = &[$(<super::$hook as Webhook>::INFO),*];
    };
}

for_each_webhook!(declare);

impl WebhookInfo {
    /// True if it may change a load balancer or its backends: every operation but
    /// `generateBackendAddr` and `listBackends`.
    #[must_use]
    pub fn changes_load_balancer(self) -> bool {
        let reads = self == <GenerateBackendAddr>::INFO || self == <ListBackends>::INFO;
        self.class == Class::Operation && !reads
    }

    /// True for `ensureBackend` and `deregisterBackend`, of which a driver may get many at once.
    #[cfg(feature = "server")]
    pub(crate) fn is_batched(self) -> bool {
        self == <super::EnsureBackend>::INFO || self == <super::DeregisterBackend>::INFO
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        EnsureBackend, EnsureBackendResponse, Healthz, HealthzResponse, ValidateBackend,
        ValidateBackendResponse,
    };
    use super::*;

    #[test]
    fn b145_no_fail_and_not_healthy_are_fails_and_running_is_none() {
        assert!(Healthz::is_fail(&HealthzResponse::default()));
        let healthy = HealthzResponse {
            healthy: true,
            ..HealthzResponse::default()
        };
        assert!(!Healthz::is_fail(&healthy));
        let refused = ValidateBackendResponse::refused("no".into());
        assert!(<ValidateBackend>::is_fail(&refused));
        let accepted = ValidateBackendResponse {
            succ: true,
            ..refused
        };
        assert!(!<ValidateBackend>::is_fail(&accepted));
        let failed = EnsureBackendResponse::fail("no".into(), None);
        assert!(<EnsureBackend>::is_fail(&failed));
        let running = EnsureBackendResponse::running("wait".into(), None);
        assert!(!<EnsureBackend>::is_fail(&running));
    }
}
