//! The trait that a driver implements, with types of its own or with the wire's maps.

mod listed;
mod raw;
pub mod request;
mod typed_as_raw;

pub use listed::ListedBackend;
pub use raw::RawDriver;

use crate::fields::{Address, DriverSchemas, Fields};
use crate::webhook::{JudgePodDeregisterRequest, LoadBalancer, StringMap, WebhookInfo};
use crate::{HookError, Rejection};
use k8s_openapi::api::core::v1::Pod;
use request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, ListBackends, ValidateBackend, ValidateLoadBalancer,
};
use std::future::Future;

/// A load balancer's driver: one method for each webhook, with types of its own.
///
/// Define five types and five methods; the others have defaults. Write the methods as `async fn`
/// that do not block: blocking code belongs into `tokio::task::spawn_blocking`, or the response
/// `Running` is late.
///
/// Every operation may be called again at any time: after a lost response, a restart of the
/// controller, or a change of parameters. So each method reconciles the load balancer with the
/// request, and succeeds if nothing is left to do. The router does the rest: a repeated call joins
/// the running one, a call that takes too long is answered with `Running` and the next call gets the
/// result, and values that do not fit the types are refused before a method is called.
///
/// To receive a map unchanged, use [`StringMap`] as the type, or implement
/// [`RawDriver`](crate::RawDriver).
pub trait Driver: Send + Sync + 'static {
    /// `lbSpec`: identifies a load balancer, or the parameters to create one.
    type LbSpec: Fields;
    /// `lbInfo`: identifies a created load balancer. An empty `lbInfo` stands for `lbSpec`, so use
    /// the same type for both where `lbSpec` is the identity.
    type LbInfo: Fields;
    /// `attributes`: settings of a load balancer that do not identify it.
    type Attributes: Fields;
    /// `parameters`: how a backend is registered, such as its weight.
    type Parameters: Fields;
    /// `backendAddr`: identifies a backend of a load balancer.
    type BackendAddr: Address;

    /// Creates the load balancer, or adopts an existing one, and returns its identity.
    fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> impl Future<Output = Result<Self::LbInfo, HookError>> + Send;

    /// Deletes the load balancer; succeeds if it does not exist. One that the driver did not create
    /// is left unchanged.
    fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> impl Future<Output = Result<(), HookError>> + Send;

    /// Returns the address that identifies this backend: not empty, the same in every call, and
    /// different for other backends. Must not register anything.
    fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> impl Future<Output = Result<Self::BackendAddr, HookError>> + Send;

    /// Registers the backend, or updates its parameters if it is registered. The controller stores
    /// the returned map and sends it in later calls as `injectedInfo`.
    fn ensure_backend(
        &self,
        request: EnsureBackend<Self>,
    ) -> impl Future<Output = Result<StringMap, HookError>> + Send;

    /// Deregisters the backend; succeeds if it is not registered, or its load balancer does not
    /// exist.
    fn deregister_backend(
        &self,
        request: DeregisterBackend<Self>,
    ) -> impl Future<Output = Result<(), HookError>> + Send;

    /// Updates the load balancer's attributes to those of the request. The default does nothing.
    fn ensure_load_balancer(
        &self,
        _request: EnsureLoadBalancer<Self>,
    ) -> impl Future<Output = Result<(), HookError>> + Send {
        async { Ok(()) }
    }

    /// Validates a load balancer before the user's object is stored. Must be fast and must not
    /// change anything. The default accepts every value that fits the types.
    fn validate_load_balancer(
        &self,
        _request: ValidateLoadBalancer<Self>,
    ) -> impl Future<Output = Result<(), Rejection>> + Send {
        async { Ok(()) }
    }

    /// Validates the parameters of backends before the user's object is stored. Must be fast and
    /// must not change anything. The default accepts every value that fits the types.
    fn validate_backend(
        &self,
        _request: ValidateBackend<Self>,
    ) -> impl Future<Output = Result<(), Rejection>> + Send {
        async { Ok(()) }
    }

    /// Returns those of the request's pods that stay registered although they are not ready. The
    /// default refuses, and the controller then applies the group's `failurePolicy` (d89).
    fn judge_pod_deregister(
        &self,
        _request: JudgePodDeregisterRequest,
    ) -> impl Future<Output = Result<Vec<Pod>, Rejection>> + Send {
        async { Err(Rejection::not_judged()) }
    }

    /// Returns all backends that are registered with the load balancer, also those that were
    /// registered by hand, and changes nothing. The default refuses. The controller calls it only if
    /// the driver's `LoadBalancerDriver` lists `listBackends` in `spec.webhooks`, and reports the
    /// backends that no BackendRecord accounts for.
    fn list_backends(
        &self,
        _request: ListBackends<Self>,
    ) -> impl Future<Output = Result<Vec<ListedBackend<Self>>, HookError>> + Send {
        async { Err(HookError::not_listed()) }
    }

    /// Whether the driver is healthy. The default is.
    fn healthz(&self) -> impl Future<Output = bool> + Send {
        async { true }
    }

    /// Operations with equal keys run one after the other. Many cloud APIs accept only one change of
    /// a load balancer at a time: return a key made from its identity, and `None` for webhooks that
    /// [change nothing](WebhookInfo::changes_load_balancer), so that they need not wait for one that
    /// takes long. By default all operations run concurrently.
    fn serial_key(
        &self,
        _webhook: WebhookInfo,
        _load_balancer: LoadBalancer<&Self::LbSpec, &Self::LbInfo>,
    ) -> Option<String> {
        None
    }

    /// Whether the driver supports dry runs: operations with `dry_run` check everything and change
    /// nothing. By default it does not, and the router responds to such operations with `Fail`. A driver
    /// that does must also set `acceptDryRunCall` in its `LoadBalancerDriver`.
    fn accepts_dry_run(&self) -> bool {
        false
    }

    /// The schemas of the maps, for the driver's OpenAPI document. They follow from the types;
    /// override this to add descriptions with [`DriverSchemas::describe`].
    fn schemas(&self) -> DriverSchemas {
        DriverSchemas::of::<Self>()
    }
}
