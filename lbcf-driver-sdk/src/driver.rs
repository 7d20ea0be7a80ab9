//! The trait that a driver's author implements, in types of the driver's own or raw.

mod raw;
pub mod request;
mod typed_as_raw;

pub use raw::RawDriver;

use crate::fields::{Address, DriverSchemas, Fields};
use crate::webhook::{JudgePodDeregisterRequest, LoadBalancer, StringMap};
use crate::{HookError, Rejection};
use k8s_openapi::api::core::v1::Pod;
use request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, ValidateBackend, ValidateLoadBalancer,
};
use std::future::Future;

/// A load balancer's driver: what to do for each webhook, in types of its own.
///
/// Name five types and write five functions; whatever else the specification has comes with a
/// default. Write the methods as plain `async fn` that do not block: what has to, goes to
/// `tokio::task::spawn_blocking`, or the answer `Running` comes too late.
///
/// Every operation may be called again at any time: because an answer was lost, because the
/// controller was restarted, because parameters changed. So each method brings the load balancer
/// to what the request says, and succeeds when it already is there. The router sees to the rest:
/// a call that is repeated while it runs joins the running one, one that takes too long is
/// answered with `Running` and collected by the next call, and values that do not fit the types
/// are refused before a method sees them.
///
/// A driver that wants the maps as they are takes [`StringMap`] for a type, or implements
/// [`RawDriver`](crate::RawDriver).
pub trait Driver: Send + Sync + 'static {
    /// What identifies a load balancer, or what one is created from: `lbSpec`.
    type LbSpec: Fields;
    /// What a load balancer is known by once it is there: `lbInfo`. Where `lbSpec` is the identity
    /// name the same type here: an empty `lbInfo` stands for `lbSpec`, which this then has to
    /// read.
    type LbInfo: Fields;
    /// Settings of a load balancer that do not identify it: `attributes`.
    type Attributes: Fields;
    /// What a backend is registered with: `parameters`.
    type Parameters: Fields;
    /// What the load balancer knows a backend by: `backendAddr`.
    type BackendAddr: Address;

    /// Makes the load balancer, or takes the existing one into use, and gives its identity.
    fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> impl Future<Output = Result<Self::LbInfo, HookError>> + Send;

    /// Deletes the load balancer; one that does not exist is deleted. One that somebody else made
    /// is left as it is.
    fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> impl Future<Output = Result<(), HookError>> + Send;

    /// The address by which the load balancer knows this backend: its text is never empty, the
    /// same whenever it is asked for, another for another backend. Nothing is registered by
    /// asking.
    fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> impl Future<Output = Result<Self::BackendAddr, HookError>> + Send;

    /// Registers the backend with these parameters; one that is registered gets the parameters.
    /// The map is kept by the controller and sent along from now on, as `injectedInfo`.
    fn ensure_backend(
        &self,
        request: EnsureBackend<Self>,
    ) -> impl Future<Output = Result<StringMap, HookError>> + Send;

    /// Takes the backend away; one that is not registered is gone, and so is one on a load
    /// balancer that does not exist.
    fn deregister_backend(
        &self,
        request: DeregisterBackend<Self>,
    ) -> impl Future<Output = Result<(), HookError>> + Send;

    /// Brings the load balancer's attributes to what is wanted. The default has none to bring.
    fn ensure_load_balancer(
        &self,
        _request: EnsureLoadBalancer<Self>,
    ) -> impl Future<Output = Result<(), HookError>> + Send {
        async { Ok(()) }
    }

    /// Is this load balancer acceptable? Called before the user's object is stored, so it must
    /// answer soon and must change nothing. What fits the types is, unless it says otherwise.
    fn validate_load_balancer(
        &self,
        _request: ValidateLoadBalancer<Self>,
    ) -> impl Future<Output = Result<(), Rejection>> + Send {
        async { Ok(()) }
    }

    /// May backends be registered like this? Called before the user's object is stored, so it
    /// must answer soon and must change nothing. What fits the types may, unless it says
    /// otherwise.
    fn validate_backend(
        &self,
        _request: ValidateBackend<Self>,
    ) -> impl Future<Output = Result<(), Rejection>> + Send {
        async { Ok(()) }
    }

    /// Which of these pods stay registered although they are not ready? The default refuses, and
    /// the controller then does what the group's `failurePolicy` says.
    fn judge_pod_deregister(
        &self,
        _request: JudgePodDeregisterRequest,
    ) -> impl Future<Output = Result<Vec<Pod>, Rejection>> + Send {
        async { Err(Rejection::not_judged()) }
    }

    /// Can this driver work? Yes, unless it says otherwise.
    fn healthz(&self) -> impl Future<Output = bool> + Send {
        async { true }
    }

    /// Names what must not be worked on by two operations at a time. Many cloud APIs take one
    /// change of a load balancer after the other: give a key made of the identity, and operations
    /// with the same key run one after the other. By default all run side by side.
    fn serial_key(
        &self,
        _load_balancer: LoadBalancer<&Self::LbSpec, &Self::LbInfo>,
    ) -> Option<String> {
        None
    }

    /// Whether this driver can rehearse: do all but act for operations whose `dry_run` is set.
    /// By default it cannot, and is not asked: such operations are answered with `Fail` for it.
    /// A driver that can says so in `acceptDryRunCall` of its `LoadBalancerDriver` too.
    fn accepts_dry_run(&self) -> bool {
        false
    }

    /// What the maps hold, for the driver's OpenAPI document. The types tell it; override this to
    /// add words for people with [`DriverSchemas::describe`].
    fn schemas(&self) -> DriverSchemas {
        DriverSchemas::of::<Self>()
    }
}
