//! A driver that takes the wire's maps of strings unchanged.

#[cfg(feature = "openapi")]
use crate::fields::DriverSchemas;
use crate::webhook::{
    CreateLoadBalancerRequest, DeleteLoadBalancerRequest, DeregisterBackendRequest,
    EnsureBackendRequest, EnsureLoadBalancerRequest, GenerateBackendAddrRequest, HealthzRequest,
    HealthzResponse, JudgePodDeregisterRequest, KubernetesObject, ListBackendsRequest,
    ListedBackend, LoadBalancer, StringMap, ValidateBackendRequest, ValidateLoadBalancerRequest,
    WebhookInfo,
};
use crate::{HookError, Rejection};
use std::future::Future;

/// A load balancer's driver that takes the wire's requests unchanged, with maps of strings.
///
/// Most drivers implement [`Driver`](crate::Driver) instead, with types of their own; each of them is
/// a `RawDriver` too, which is what the server takes. Implement this one for a driver whose fields
/// are not known at compile time, or for a wrapper of another driver.
///
/// Methods that the specification makes optional have a default.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a driver",
    note = "implement `lbcf_driver_sdk::Driver` for it, or `RawDriver` to take the wire's maps unchanged"
)]
pub trait RawDriver: Send + Sync + 'static {
    /// Reports the driver's health. By default it is healthy.
    fn healthz(&self, _request: HealthzRequest) -> impl Future<Output = HealthzResponse> + Send {
        async { HealthzResponse { healthy: true } }
    }

    /// Validates a load balancer before the user's object is stored. Must be fast and must not
    /// change anything. The default accepts everything.
    fn validate_load_balancer(
        &self,
        _request: ValidateLoadBalancerRequest,
    ) -> impl Future<Output = Result<(), Rejection>> + Send {
        async { Ok(()) }
    }

    /// Creates the load balancer, or adopts an existing one, and returns its identity. An empty map,
    /// which the default returns, means that `lbSpec` is the identity.
    fn create_load_balancer(
        &self,
        _request: CreateLoadBalancerRequest,
    ) -> impl Future<Output = Result<StringMap, HookError>> + Send {
        async { Ok(StringMap::new()) }
    }

    /// Updates the load balancer's attributes to those of the request. The default does nothing.
    fn ensure_load_balancer(
        &self,
        _request: EnsureLoadBalancerRequest,
    ) -> impl Future<Output = Result<(), HookError>> + Send {
        async { Ok(()) }
    }

    /// Deletes the load balancer; succeeds if it does not exist. The default leaves it unchanged,
    /// which is right for one that the driver did not create.
    fn delete_load_balancer(
        &self,
        _request: DeleteLoadBalancerRequest,
    ) -> impl Future<Output = Result<(), HookError>> + Send {
        async { Ok(()) }
    }

    /// Validates the parameters of backends before the user's object is stored. Must be fast and
    /// must not change anything. The default accepts everything.
    fn validate_backend(
        &self,
        _request: ValidateBackendRequest,
    ) -> impl Future<Output = Result<(), Rejection>> + Send {
        async { Ok(()) }
    }

    /// Returns the address that identifies this backend: not empty, the same in every call, and
    /// different for other backends. Must not register anything.
    fn generate_backend_addr(
        &self,
        request: GenerateBackendAddrRequest,
    ) -> impl Future<Output = Result<String, HookError>> + Send;

    /// Registers the backend, or updates its parameters if it is registered. The controller stores
    /// the returned map and sends it in later calls as `injectedInfo`.
    fn ensure_backend(
        &self,
        request: EnsureBackendRequest,
    ) -> impl Future<Output = Result<StringMap, HookError>> + Send;

    /// Deregisters the backend; succeeds if it is not registered, or its load balancer does not
    /// exist.
    fn deregister_backend(
        &self,
        request: DeregisterBackendRequest,
    ) -> impl Future<Output = Result<(), HookError>> + Send;

    /// Returns those of the request's pods that stay registered although they are not ready. The
    /// default refuses, and the controller then applies the group's `failurePolicy`.
    fn judge_pod_deregister(
        &self,
        _request: JudgePodDeregisterRequest,
    ) -> impl Future<Output = Result<Vec<KubernetesObject>, Rejection>> + Send {
        async { Err(Rejection::not_judged()) }
    }

    /// Returns all backends that are registered with the load balancer, also those that were
    /// registered by hand, and changes nothing. The default refuses. See
    /// [`Driver::list_backends`](crate::Driver::list_backends).
    fn list_backends(
        &self,
        _request: ListBackendsRequest,
    ) -> impl Future<Output = Result<Vec<ListedBackend>, HookError>> + Send {
        async { Err(HookError::not_listed()) }
    }

    /// Operations with equal keys run one after the other. See
    /// [`Driver::serial_key`](crate::Driver::serial_key). By default all run concurrently.
    fn serial_key(
        &self,
        _webhook: WebhookInfo,
        _load_balancer: LoadBalancer<&StringMap, &StringMap>,
    ) -> Option<String> {
        None
    }

    /// True if the driver supports dry runs; false by default. See
    /// [`Driver::accepts_dry_run`](crate::Driver::accepts_dry_run).
    fn accepts_dry_run(&self) -> bool {
        false
    }

    /// The schemas of the maps, for the driver's OpenAPI document. By default any keys and values.
    #[cfg(feature = "openapi")]
    fn schemas(&self) -> DriverSchemas {
        DriverSchemas::default()
    }
}
