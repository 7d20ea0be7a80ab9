//! The trait that a driver implements, and the requests of its methods, which are in the driver's types.

#[cfg(feature = "server")]
pub(crate) mod calls;
mod target;

use crate::fields::{Address, Fields};
#[cfg(feature = "openapi")]
use crate::fields::{DriverSchemas, schema_of};
use crate::specification::rules::rules_of;
use crate::webhook::{KubernetesObject, LoadBalancer, StringMap, WebhookInfo};
use crate::{HookError, Rejection};
use request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, JudgePodDeregister, ListBackends, ListedBackend, ValidateBackend,
    ValidateLoadBalancer,
};
use std::future::Future;

pub mod request {
    //! The requests of a [`Driver`](super::Driver)'s methods: those of [`webhook`](crate::webhook), in the
    //! driver's types.
    //!
    //! The router converts each request before it calls the method. If a value does not fit its type,
    //! the method is not called: validations refuse and operations fail, with the field, the value and
    //! the expectation. A validation accepts an update that does not change the invalid value. `dry_run` is
    //! never set unless the driver [accepts dry runs](super::Driver::accepts_dry_run).

    use super::Driver;
    pub use super::target::{Backend, Target};
    use crate::webhook;
    pub use crate::webhook::JudgePodDeregister;

    type LbSpec<D> = <D as Driver>::LbSpec;
    type LbInfo<D> = <D as Driver>::LbInfo;
    type Attributes<D> = <D as Driver>::Attributes;
    type Parameters<D> = <D as Driver>::Parameters;
    type BackendAddr<D> = <D as Driver>::BackendAddr;

    /// Validates a load balancer.
    ///
    /// `old_attributes` is `None` for a creation, and where the old settings do not fit the type.
    pub type ValidateLoadBalancer<D> =
        webhook::ValidateLoadBalancer<LbSpec<D>, Attributes<D>, Option<Attributes<D>>>;
    /// Creates a load balancer, or adopts the existing one that `lb_spec` names. Called until it succeeds, and
    /// again with the same `record_id` if a response was lost.
    pub type CreateLoadBalancer<D> = webhook::CreateLoadBalancer<LbSpec<D>, Attributes<D>>;
    /// Updates the load balancer's attributes.
    pub type EnsureLoadBalancer<D> = webhook::EnsureLoadBalancer<LbInfo<D>, Attributes<D>>;
    /// Deletes a load balancer. Succeeds if it does not exist.
    ///
    /// `lb_info` is `None` where the controller never received one: a creation that has started all the same
    /// has to be found another way, or cancelled. `attributes` is `None` where they do not fit the type, which
    /// must not prevent the deletion.
    pub type DeleteLoadBalancer<D> =
        webhook::DeleteLoadBalancer<Option<LbInfo<D>>, Option<Attributes<D>>>;
    /// Validates the parameters of backends.
    ///
    /// `lb_info` is `None` until the load balancer is created, and where the value does not fit the type: for a
    /// Bind the controller sends `lbSpec`. `old_parameters` is `None` for a creation, and where they do not
    /// fit the type.
    pub type ValidateBackend<D> =
        webhook::ValidateBackend<Option<LbInfo<D>>, Parameters<D>, Option<Parameters<D>>>;
    /// Returns the address that identifies a [`backend`](webhook::GenerateBackendAddr::backend).
    ///
    /// `parameters` is `None` if the request has none and the type requires some: the original controller never
    /// sends them.
    pub type GenerateBackendAddr<D> =
        webhook::GenerateBackendAddr<LbInfo<D>, Attributes<D>, Option<Parameters<D>>>;
    /// Registers a backend, or updates its parameters if it is registered.
    ///
    /// `backend_addr` is what `generate_backend_addr` returned, `injected_info` the map that the last successful
    /// call returned.
    pub type EnsureBackend<D> = webhook::EnsureBackend<LbInfo<D>, Parameters<D>, BackendAddr<D>>;
    /// Deregisters a backend. Succeeds if it is not registered, or its load balancer does not exist.
    ///
    /// Not called if `lbInfo` is empty or the address does not fit the type: such a backend was never
    /// registered. `parameters` is `None` where they do not fit the type, which must not prevent the
    /// deregistration. A driver that returns `Running` while connections drain measures from
    /// `first_requested_at`, and needs no memory of its own for a deadline.
    pub type DeregisterBackend<D> =
        webhook::DeregisterBackend<LbInfo<D>, Option<Parameters<D>>, BackendAddr<D>>;
    /// Lists the backends that are registered with a load balancer. Each listing has another `record_id`, which
    /// is the same until the listing is done.
    pub type ListBackends<D> = webhook::ListBackends<LbInfo<D>>;
    /// A backend that is registered. `parameters` is `None` if they are not known or do not fit the type.
    pub type ListedBackend<D> = webhook::ListedBackend<Option<Parameters<D>>, BackendAddr<D>>;
}

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
/// To receive a map unchanged, use [`StringMap`] as the type. A driver that wraps another one has that one's
/// types, so that the requests pass through.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a driver",
    note = "implement `lbcf_driver_sdk::Driver` for it"
)]
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
    ///
    #[doc = rules_of!(Clb)]
    fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> impl Future<Output = Result<Self::LbInfo, HookError>> + Send;

    /// Deletes the load balancer; succeeds if it does not exist. One that the driver did not create
    /// is left unchanged.
    ///
    #[doc = rules_of!(Dlb)]
    fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> impl Future<Output = Result<(), HookError>> + Send;

    /// Returns the address that identifies this backend.
    ///
    #[doc = rules_of!(Gen)]
    fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> impl Future<Output = Result<Self::BackendAddr, HookError>> + Send;

    /// Registers the backend, or updates its parameters if it is registered. The controller stores
    /// the returned map and sends it in later calls as `injectedInfo`.
    ///
    #[doc = rules_of!(Ens)]
    fn ensure_backend(
        &self,
        request: EnsureBackend<Self>,
    ) -> impl Future<Output = Result<StringMap, HookError>> + Send;

    /// Deregisters the backend; succeeds if it is not registered, or its load balancer does not
    /// exist.
    ///
    #[doc = rules_of!(Drg)]
    fn deregister_backend(
        &self,
        request: DeregisterBackend<Self>,
    ) -> impl Future<Output = Result<(), HookError>> + Send;

    /// The most backends that [`ensure_backends`](Self::ensure_backends) and
    /// [`deregister_backends`](Self::deregister_backends) get at once: as many as one call of the cloud's API
    /// takes. Above 1, the default, these two are called instead of those for one backend, for every load
    /// balancer with a [serial key](Self::serial_key): the first call gets what is there, and while it runs the
    /// others wait, of which the next one takes along as many as this. The guide shows
    /// [a cloud that limits calls](crate::guide::real_cloud).
    fn batch_size(&self, _webhook: WebhookInfo) -> usize {
        1
    }

    /// [`ensure_backend`](Self::ensure_backend) for several backends that share a serial key, no two with the
    /// same address: an outcome for each, in their order. What fails for one must not fail for the others; what
    /// fails for all, such as the call, is the outcome of each. Requests whose values do not fit are not in it.
    /// By default one after the other.
    fn ensure_backends(
        &self,
        batch: Vec<EnsureBackend<Self>>,
    ) -> impl Future<Output = Vec<Result<StringMap, HookError>>> + Send {
        async move {
            let mut outcomes = Vec::new();
            for request in batch {
                outcomes.push(self.ensure_backend(request).await);
            }
            outcomes
        }
    }

    /// [`deregister_backend`](Self::deregister_backend) for several backends, as
    /// [`ensure_backends`](Self::ensure_backends) does it. A backend whose connections drain is `Running`, and
    /// must not make the others wait.
    fn deregister_backends(
        &self,
        batch: Vec<DeregisterBackend<Self>>,
    ) -> impl Future<Output = Vec<Result<(), HookError>>> + Send {
        async move {
            let mut outcomes = Vec::new();
            for request in batch {
                outcomes.push(self.deregister_backend(request).await);
            }
            outcomes
        }
    }

    /// Updates the load balancer's attributes to those of the request. The default does nothing.
    ///
    #[doc = rules_of!(Elb)]
    fn ensure_load_balancer(
        &self,
        _request: EnsureLoadBalancer<Self>,
    ) -> impl Future<Output = Result<(), HookError>> + Send {
        async { Ok(()) }
    }

    /// Validates a load balancer before the user's object is stored. Must be fast and must not
    /// change anything. The default accepts every value that fits the types.
    ///
    #[doc = rules_of!(Vlb)]
    fn validate_load_balancer(
        &self,
        _request: ValidateLoadBalancer<Self>,
    ) -> impl Future<Output = Result<(), Rejection>> + Send {
        async { Ok(()) }
    }

    /// Validates the parameters of backends before the user's object is stored. Must be fast and
    /// must not change anything. The default accepts every value that fits the types.
    ///
    #[doc = rules_of!(Vbe)]
    fn validate_backend(
        &self,
        _request: ValidateBackend<Self>,
    ) -> impl Future<Output = Result<(), Rejection>> + Send {
        async { Ok(()) }
    }

    /// Returns those of the request's pods that stay registered although they are not ready. The
    /// default refuses, and the controller then applies the group's `failurePolicy`.
    ///
    #[doc = rules_of!(Jpd)]
    fn judge_pod_deregister(
        &self,
        _request: JudgePodDeregister,
    ) -> impl Future<Output = Result<Vec<KubernetesObject>, Rejection>> + Send {
        async { Err(Rejection::not_judged()) }
    }

    /// Returns all backends that are registered with the load balancer, from which the router makes the
    /// pages of the wire. The default refuses. The controller calls it only if the driver's
    /// `LoadBalancerDriver` lists `listBackends` in `spec.webhooks`, and reports the backends that no
    /// BackendRecord accounts for.
    ///
    #[doc = rules_of!(Lst)]
    fn list_backends(
        &self,
        _request: ListBackends<Self>,
    ) -> impl Future<Output = Result<Vec<ListedBackend<Self>>, HookError>> + Send {
        async { Err(HookError::not_listed()) }
    }

    /// Reports the driver's health. By default it is healthy.
    ///
    #[doc = rules_of!(Hlth)]
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

    /// True if the driver supports dry runs: operations with `dry_run` check everything and change
    /// nothing. By default it does not, and the router responds to such operations with `Fail`. A driver
    /// that does must also set `acceptDryRunCall` in its `LoadBalancerDriver`.
    fn accepts_dry_run(&self) -> bool {
        false
    }

    /// True if `ensure_backend` cancels a deregistration of the same load balancer and address that was
    /// answered with `Running`: the target stays, or is registered again, with the new parameters, and nothing
    /// that the deregistration had left to do happens afterwards. The next `deregister_backend` begins a new
    /// one. By default it does not, and the controller calls `ensure_backend` only when the deregistration has
    /// ended. `healthz` says it as [`CANCEL`](crate::webhook::HealthzResponse::CANCEL); the guide shows it for
    /// [drains](crate::guide::draining) and for [jobs](crate::jobs).
    fn cancels_deregistrations(&self) -> bool {
        false
    }

    /// The schemas of the maps, for the driver's OpenAPI document. By default any keys and values. If the
    /// types derive `schemars::JsonSchema`, return [`DriverSchemas::of`].
    #[cfg(feature = "openapi")]
    fn schemas(&self) -> DriverSchemas {
        DriverSchemas::default()
    }
}

#[cfg(feature = "openapi")]
impl DriverSchemas {
    /// The schemas of a driver's types.
    #[must_use]
    pub fn of<D>() -> Self
    where
        D: Driver<
                LbSpec: schemars::JsonSchema,
                LbInfo: schemars::JsonSchema,
                Attributes: schemars::JsonSchema,
                Parameters: schemars::JsonSchema,
            > + ?Sized,
    {
        Self {
            lb_spec: schema_of::<D::LbSpec>(),
            lb_info: schema_of::<D::LbInfo>(),
            attributes: schema_of::<D::Attributes>(),
            parameters: schema_of::<D::Parameters>(),
        }
    }
}
