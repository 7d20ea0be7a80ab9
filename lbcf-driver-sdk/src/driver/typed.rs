//! The trait of drivers, and the requests of its methods, which are in the driver's types.

use crate::fields::{Address, Fields};
#[cfg(feature = "openapi")]
use crate::fields::{DriverSchemas, schema_of};
use crate::webhook::{
    BackendType, EndpointBackend, JudgePodDeregisterRequest, KubernetesObject, LoadBalancer,
    Operation, PodBackend, ServiceBackend, StringMap, WebhookInfo, object_id,
};
use crate::{HookError, Rejection};
use std::fmt;
use std::future::Future;
use std::time::SystemTime;

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
    /// default refuses, and the controller then applies the group's `failurePolicy`.
    fn judge_pod_deregister(
        &self,
        _request: JudgePodDeregisterRequest,
    ) -> impl Future<Output = Result<Vec<KubernetesObject>, Rejection>> + Send {
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

    /// Reports the driver's health. By default it is healthy.
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

/// A backend that is registered with a load balancer, as [`Driver::list_backends`] returns it.
#[non_exhaustive]
pub struct ListedBackend<D: Driver + ?Sized> {
    /// The address that `generate_backend_addr` returned for it.
    pub backend_addr: D::BackendAddr,
    /// The parameters with which it is registered; `None` if they are not known or do not fit the type.
    pub parameters: Option<D::Parameters>,
    /// The `record_id` of the `ensure_backend` that registered it; `None` if it is not known or a user
    /// registered the backend. It proves to the controller whose backend it is.
    pub record_id: Option<String>,
}

impl<D: Driver + ?Sized> ListedBackend<D> {
    /// A backend of which only the address is known.
    #[must_use]
    pub const fn new(backend_addr: D::BackendAddr) -> Self {
        Self {
            backend_addr,
            parameters: None,
            record_id: None,
        }
    }

    /// Adds how it is registered.
    #[must_use]
    pub fn with_parameters(mut self, parameters: D::Parameters) -> Self {
        self.parameters = Some(parameters);
        self
    }

    /// Adds the `record_id` of the `ensure_backend` that registered it.
    #[must_use]
    pub fn with_record_id(mut self, record_id: impl Into<String>) -> Self {
        self.record_id = Some(record_id.into());
        self
    }
}

impl<D: Driver + ?Sized> fmt::Debug for ListedBackend<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListedBackend")
            .field("backend_addr", &self.backend_addr)
            .field("parameters", &self.parameters)
            .field("record_id", &self.record_id)
            .finish()
    }
}

/// Declares a request: the fields of its class and its own.
macro_rules! request {
    (operation $(#[$doc:meta])* $name:ident { $($fields:tt)* }) => {
        request! { @declare $(#[$doc])* $name {
            /// Identifies the operation on one object, such as `ensureBackend(<uid>)`: opaque, and
            /// the same in every call, also after parameters change. Suitable as a client token for
            /// creations.
            pub record_id: String,
            /// Different in each call, for logs.
            pub retry_id: String,
            /// True to check only and change nothing. Never set unless the driver
            /// [accepts dry runs](Driver::accepts_dry_run).
            pub dry_run: bool,
            $($fields)*
        } }

        impl<D: Driver + ?Sized> $name<D> {
            /// The object in the cluster that the operation belongs to, from
            /// [`record_id`](Self::record_id): the same for the creation, the updates and the
            /// deletion of one load balancer, and for all operations on one backend. Opaque; a good
            /// name or tag for what is created, so that a deletion without `lbInfo` finds it.
            #[must_use]
            pub fn object_id(&self) -> &str {
                object_id(&self.record_id)
            }
        }
    };
    (decision $(#[$doc:meta])* $name:ident { $($fields:tt)* }) => {
        request! { @declare $(#[$doc])* $name {
            /// True if this is part of a dry run of the controller.
            pub dry_run: bool,
            $($fields)*
        } }
    };
    (@declare $(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* pub $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[non_exhaustive]
        pub struct $name<D: Driver + ?Sized> {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl<D: Driver + ?Sized> fmt::Debug for $name<D> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    $(.field(stringify!($field), &self.$field))*
                    .finish()
            }
        }
    };
}

request! { decision
    /// Validates a load balancer.
    ValidateLoadBalancer {
        /// Tells a creation of the load balancer from an update.
        pub operation: Operation,
        /// Identifies the load balancer, or the parameters to create it.
        pub lb_spec: D::LbSpec,
        /// Settings that do not identify the load balancer.
        pub attributes: D::Attributes,
        /// The settings before the update. `None` for a creation, and where they do not fit the
        /// type.
        pub old_attributes: Option<D::Attributes>,
    }
}

request! { operation
    /// Creates a load balancer, or adopts the existing one that `lb_spec` names. Called until it
    /// succeeds, and again with the same `record_id` if a response was lost.
    CreateLoadBalancer {
        /// Identifies the load balancer, or the parameters to create it.
        pub lb_spec: D::LbSpec,
        /// Settings that do not identify the load balancer.
        pub attributes: D::Attributes,
    }
}

request! { operation
    /// Updates the load balancer's attributes.
    EnsureLoadBalancer {
        /// The load balancer's identity.
        pub lb_info: D::LbInfo,
        /// The desired settings, decoded from `attributes`.
        pub attributes: D::Attributes,
    }
}

request! { operation
    /// Deletes a load balancer. Succeeds if it does not exist.
    DeleteLoadBalancer {
        /// The load balancer's identity. `None` where the controller never received one: a creation
        /// that has started all the same has to be found another way, or cancelled.
        pub lb_info: Option<D::LbInfo>,
        /// The settings; `None` where they do not fit the type, which must not prevent the deletion.
        pub attributes: Option<D::Attributes>,
    }
}

request! { decision
    /// Validates the parameters of backends.
    ValidateBackend {
        /// Tells a creation of the group from an update.
        pub operation: Operation,
        /// The kind of the group's backends.
        pub backend_type: BackendType,
        /// The load balancer's identity; `None` until it is created, and where the value does not
        /// fit the type: for a Bind the controller sends `lbSpec`.
        pub lb_info: Option<D::LbInfo>,
        /// The parameters with which backends are registered.
        pub parameters: D::Parameters,
        /// The parameters before the update. `None` for a creation, and where they do not fit the
        /// type.
        pub old_parameters: Option<D::Parameters>,
    }
}

/// The object to register.
#[derive(Debug, Clone, PartialEq)]
pub enum Backend {
    /// One port of a pod.
    Pod(Box<PodBackend>),
    /// The node port of a service on one node.
    Service(Box<ServiceBackend>),
    /// An endpoint of a service that is no pod, such as an address outside of the cluster.
    Endpoint(Box<EndpointBackend>),
}

request! { operation
    /// Returns the address that identifies a backend.
    GenerateBackendAddr {
        /// The load balancer's identity.
        pub lb_info: D::LbInfo,
        /// The load balancer's settings.
        pub lb_attributes: D::Attributes,
        /// The parameters of the registration. `None` if the request has no parameters and the type
        /// requires some: the original controller never sends them.
        pub parameters: Option<D::Parameters>,
        /// A pod, a service or an endpoint.
        pub backend: Backend,
        /// The endpoint in the service's EndpointSlices, if the backend is one: also of a
        /// [`Backend::Pod`] that was selected by its service. Its address may be another one than the
        /// pod's first, such as an IPv6 address.
        pub endpoint: Option<EndpointBackend>,
    }
}

request! { operation
    /// Registers a backend, or updates its parameters if it is registered.
    EnsureBackend {
        /// The load balancer's identity.
        pub lb_info: D::LbInfo,
        /// The backend's address, as returned by `generate_backend_addr`.
        pub backend_addr: D::BackendAddr,
        /// The desired parameters, decoded from `parameters`.
        pub parameters: D::Parameters,
        /// The map that the last successful call returned.
        pub injected_info: StringMap,
    }
}

request! { operation
    /// Deregisters a backend. Succeeds if it is not registered, or its load balancer does not exist.
    /// Not called if `lbInfo` is empty or the address does not fit the type: such a backend was
    /// never registered.
    DeregisterBackend {
        /// The load balancer's identity.
        pub lb_info: D::LbInfo,
        /// The backend's address, as returned by `generate_backend_addr`.
        pub backend_addr: D::BackendAddr,
        /// The current parameters; `None` where they do not fit the type, which must not prevent the
        /// deregistration.
        pub parameters: Option<D::Parameters>,
        /// The map that the last successful `ensure_backend` returned.
        pub injected_info: StringMap,
        /// When the controller first requested this deregistration: the same in every call about it, so
        /// that a driver which returns `Running` while connections drain needs no memory of its own
        /// for a deadline. `None` if the controller does not know it, or does not send it.
        pub first_requested_at: Option<SystemTime>,
    }
}

request! { operation
    /// Lists the backends that are registered with a load balancer. Each listing has another
    /// `record_id`, which is the same until the listing is done.
    ListBackends {
        /// The load balancer's identity.
        pub lb_info: D::LbInfo,
    }
}
