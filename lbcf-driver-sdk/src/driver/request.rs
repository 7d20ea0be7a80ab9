//! The requests of a [`Driver`]'s methods: those of the webhooks, in the driver's types.
//!
//! The router converts each request before it calls the method. If a value does not fit its type,
//! the method is not called: validations refuse and operations fail, with the field, the value and
//! the expectation. A validation accepts an update that does not change the invalid value.

mod read;
mod target;

pub(crate) use read::ValidationInput;
pub use target::Target;

use crate::Driver;
use crate::webhook::{
    BackendType, EndpointBackend, Operation, PodBackend, ServiceBackend, StringMap, object_of,
};
use std::fmt;
use std::time::SystemTime;

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
            /// Whether to check only and change nothing. Never set unless the driver
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
            pub fn object(&self) -> &str {
                object_of(&self.record_id)
            }
        }
    };
    (decision $(#[$doc:meta])* $name:ident { $($fields:tt)* }) => {
        request! { @declare $(#[$doc])* $name {
            /// Whether this is part of a dry run of the controller.
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
        /// Whether the load balancer is created or updated.
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
        /// Whether the group is created or updated.
        pub operation: Operation,
        /// The kind of the group's backends.
        pub backend_type: BackendType,
        /// The load balancer's identity; `None` until it is created, and where the value does not
        /// fit the type: for a Bind the controller sends `lbSpec` (b97).
        pub lb_info: Option<D::LbInfo>,
        /// How backends are registered.
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
        /// How the backend is registered. `None` if the request has no parameters and the type
        /// requires some: the original controller never sends them (d4).
        pub parameters: Option<D::Parameters>,
        /// A pod, a service or an endpoint.
        pub backend: Backend,
        /// What the service's EndpointSlices say about the backend, if it is an endpoint: also of a
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
