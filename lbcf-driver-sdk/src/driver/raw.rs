//! A driver that takes the wire's maps of strings as they are.

use crate::fields::DriverSchemas;
use crate::webhook::{
    CreateLoadBalancerRequest, DeleteLoadBalancerRequest, DeregisterBackendRequest,
    EnsureBackendRequest, EnsureLoadBalancerRequest, GenerateBackendAddrRequest, HealthzRequest,
    HealthzResponse, JudgePodDeregisterRequest, LoadBalancer, StringMap, ValidateBackendRequest,
    ValidateLoadBalancerRequest,
};
use crate::{HookError, Rejection};
use k8s_openapi::api::core::v1::Pod;
use std::future::Future;

/// A load balancer's driver that takes the wire's requests as they are, maps of strings and all.
///
/// [`Driver`](crate::Driver) is the same with types of the driver's own, and what most drivers
/// want; every one of those is a `RawDriver` too, and this is what the server takes. Implement it
/// for a driver whose fields are not known when it is compiled, or for what stands between the
/// router and another driver.
///
/// Write the methods as plain `async fn`. What the specification leaves optional has a default.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no driver",
    note = "implement `lbcf_driver_sdk::Driver` for it, or `RawDriver` to take the wire's maps as they are"
)]
pub trait RawDriver: Send + Sync + 'static {
    /// Can this driver work? Yes, unless it says otherwise.
    fn healthz(&self, _request: HealthzRequest) -> impl Future<Output = HealthzResponse> + Send {
        async { HealthzResponse { healthy: true } }
    }

    /// Is this load balancer acceptable? Called before the user's object is stored, so it must
    /// answer soon and must change nothing. Everything is, unless it says otherwise.
    fn validate_load_balancer(
        &self,
        _request: ValidateLoadBalancerRequest,
    ) -> impl Future<Output = Result<(), Rejection>> + Send {
        async { Ok(()) }
    }

    /// Makes the load balancer, or takes the existing one into use, and gives its identity. An
    /// empty identity means that `lbSpec` is the identity. The default does just that.
    fn create_load_balancer(
        &self,
        _request: CreateLoadBalancerRequest,
    ) -> impl Future<Output = Result<StringMap, HookError>> + Send {
        async { Ok(StringMap::new()) }
    }

    /// Brings the load balancer's attributes to what is wanted. The default has none to bring.
    fn ensure_load_balancer(
        &self,
        _request: EnsureLoadBalancerRequest,
    ) -> impl Future<Output = Result<(), HookError>> + Send {
        async { Ok(()) }
    }

    /// Deletes the load balancer; one that does not exist is deleted. The default leaves it, as
    /// is right for one that somebody else made.
    fn delete_load_balancer(
        &self,
        _request: DeleteLoadBalancerRequest,
    ) -> impl Future<Output = Result<(), HookError>> + Send {
        async { Ok(()) }
    }

    /// May backends be registered like this? Called before the user's object is stored, so it
    /// must answer soon and must change nothing. They may, unless it says otherwise.
    fn validate_backend(
        &self,
        _request: ValidateBackendRequest,
    ) -> impl Future<Output = Result<(), Rejection>> + Send {
        async { Ok(()) }
    }

    /// The address by which the load balancer knows this backend: never empty, the same whenever
    /// it is asked for, another for another backend. Nothing is registered by asking.
    fn generate_backend_addr(
        &self,
        request: GenerateBackendAddrRequest,
    ) -> impl Future<Output = Result<String, HookError>> + Send;

    /// Registers the backend with these parameters; one that is registered gets the parameters.
    /// The map is kept by the controller and sent along from now on.
    fn ensure_backend(
        &self,
        request: EnsureBackendRequest,
    ) -> impl Future<Output = Result<StringMap, HookError>> + Send;

    /// Takes the backend away; one that is not registered is gone, and so is one on a load
    /// balancer that does not exist.
    fn deregister_backend(
        &self,
        request: DeregisterBackendRequest,
    ) -> impl Future<Output = Result<(), HookError>> + Send;

    /// Which of these pods stay registered although they are not ready? The default refuses, and
    /// the controller then does what the group's `failurePolicy` says.
    fn judge_pod_deregister(
        &self,
        _request: JudgePodDeregisterRequest,
    ) -> impl Future<Output = Result<Vec<Pod>, Rejection>> + Send {
        async { Err(Rejection::not_judged()) }
    }

    /// Names what must not be worked on by two operations at a time. Many cloud APIs take one
    /// change of a load balancer after the other: give a key made of the identity, and operations
    /// with the same key run one after the other. By default all run side by side.
    fn serial_key(&self, _load_balancer: LoadBalancer<&StringMap, &StringMap>) -> Option<String> {
        None
    }

    /// Whether this driver can rehearse: do all but act for operations whose `dry_run` is set.
    /// By default it cannot, and is not asked: such operations are answered with `Fail` for it.
    /// A driver that can says so in `acceptDryRunCall` of its `LoadBalancerDriver` too.
    fn accepts_dry_run(&self) -> bool {
        false
    }

    /// What the maps hold, for the driver's OpenAPI document. By default any keys with any texts.
    fn schemas(&self) -> DriverSchemas {
        DriverSchemas::default()
    }
}
