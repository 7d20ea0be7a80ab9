//! What the methods of a [`Driver`] are called with: the webhooks' requests in its own types.
//!
//! Each is read from the wire before the method is called. Where a value does not fit, the method
//! is not called: webhooks that decide refuse, those that do work fail, with the field, the value
//! and what is expected. An update that leaves what does not fit as it was is accepted.

mod read;

pub(crate) use read::Question;

use crate::Driver;
use crate::webhook::{BackendType, Operation, PodBackend, ServiceBackend, StringMap};
use std::fmt;

/// Declares a request: its own fields behind those that its class has.
macro_rules! request {
    (operation $(#[$doc:meta])* $name:ident { $($fields:tt)* }) => {
        request! { @declare $(#[$doc])* $name {
            /// Names the operation on one object, such as `ensureBackend(<uid>)`: opaque, and the
            /// same in every call, also when parameters change. Good as the client token that
            /// clouds ask for when something is created.
            pub record_id: String,
            /// New in each call; for logs.
            pub retry_id: String,
            /// Whether only a check is asked for: nothing may change. Never set unless the driver
            /// [accepts dry runs](Driver::accepts_dry_run).
            pub dry_run: bool,
            $($fields)*
        } }
    };
    (decision $(#[$doc:meta])* $name:ident { $($fields:tt)* }) => {
        request! { @declare $(#[$doc])* $name {
            /// Whether the controller only rehearses.
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
    /// Is this load balancer acceptable?
    ValidateLoadBalancer {
        /// Whether it is new or changed.
        pub operation: Operation,
        /// What identifies it, or what it is created from.
        pub lb_spec: D::LbSpec,
        /// Settings that do not identify it.
        pub attributes: D::Attributes,
        /// The settings before the change. None where it is new, and where they do not fit the
        /// type: then there is nothing to keep to.
        pub old_attributes: Option<D::Attributes>,
    }
}

request! { operation
    /// Make this load balancer, or take the existing one that `lb_spec` names into use. Called
    /// until it succeeds, and again with the same `record_id` when an answer was lost.
    CreateLoadBalancer {
        /// What identifies it, or what it is created from.
        pub lb_spec: D::LbSpec,
        /// Settings that do not identify it.
        pub attributes: D::Attributes,
    }
}

request! { operation
    /// Bring the load balancer's attributes to these.
    EnsureLoadBalancer {
        /// The load balancer's identity.
        pub lb_info: D::LbInfo,
        /// The settings that it shall have.
        pub attributes: D::Attributes,
    }
}

request! { operation
    /// Delete the load balancer. One that does not exist is deleted already.
    DeleteLoadBalancer {
        /// The load balancer's identity. None where the controller was never told one: where
        /// creating has begun nevertheless, that has to be found some other way, or ended here.
        pub lb_info: Option<D::LbInfo>,
        /// Its settings; None where they do not fit the type, which must not keep it from being
        /// deleted.
        pub attributes: Option<D::Attributes>,
    }
}

request! { decision
    /// May backends be registered with these parameters?
    ValidateBackend {
        /// Whether the group is new or changed.
        pub operation: Operation,
        /// What kind of backends.
        pub backend_type: BackendType,
        /// The load balancer's identity; None while it is not created, and where what is sent does
        /// not fit the type: for a Bind that is `lbSpec` (b97).
        pub lb_info: Option<D::LbInfo>,
        /// The parameters that backends are registered with.
        pub parameters: D::Parameters,
        /// The parameters before the change. None where the group is new, and where they do not
        /// fit the type: then there is nothing to keep to.
        pub old_parameters: Option<D::Parameters>,
    }
}

/// What is to become a backend.
#[derive(Debug, Clone, PartialEq)]
pub enum Backend {
    /// A pod, by one of its ports.
    Pod(Box<PodBackend>),
    /// A service's node port on one node.
    Service(Box<ServiceBackend>),
}

request! { operation
    /// By which address does the load balancer know this backend?
    GenerateBackendAddr {
        /// The load balancer's identity.
        pub lb_info: D::LbInfo,
        /// The load balancer's settings.
        pub lb_attributes: D::Attributes,
        /// The parameters that the backend is registered with. None where there are none and the
        /// type needs some: the original controller never sends them (d4).
        pub parameters: Option<D::Parameters>,
        /// The backend.
        pub backend: Backend,
    }
}

request! { operation
    /// Register this backend with these parameters. One that is registered already is a success,
    /// and gets the parameters.
    EnsureBackend {
        /// The load balancer's identity.
        pub lb_info: D::LbInfo,
        /// The backend's address, as `generate_backend_addr` gave it.
        pub backend_addr: D::BackendAddr,
        /// The parameters that it shall have.
        pub parameters: D::Parameters,
        /// What the last success gave to remember.
        pub injected_info: StringMap,
    }
}

request! { operation
    /// Take this backend away. One that is not registered, and one on a load balancer that does
    /// not exist, is gone already: a success. One whose address does not fit the type was never
    /// registered, and this is not called for it.
    DeregisterBackend {
        /// The load balancer's identity.
        pub lb_info: D::LbInfo,
        /// The backend's address, as `generate_backend_addr` gave it.
        pub backend_addr: D::BackendAddr,
        /// The parameters that it has; None where they do not fit the type, which must not keep
        /// it from being taken away.
        pub parameters: Option<D::Parameters>,
        /// What the last success of `ensure_backend` gave to remember.
        pub injected_info: StringMap,
    }
}
