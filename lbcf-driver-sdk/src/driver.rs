//! The trait that a driver implements, with types of its own or with the wire's maps.

mod raw;
mod read;
mod target;
mod typed;
mod typed_as_raw;

pub use raw::RawDriver;
pub use typed::{Driver, ListedBackend};

pub mod request {
    //! The requests of a [`Driver`](super::Driver)'s methods: those of the webhooks, in the driver's types.
    //!
    //! The router converts each request before it calls the method. If a value does not fit its type,
    //! the method is not called: validations refuse and operations fail, with the field, the value and
    //! the expectation. A validation accepts an update that does not change the invalid value.

    pub use super::target::Target;
    pub use super::typed::{
        Backend, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
        EnsureLoadBalancer, GenerateBackendAddr, ListBackends, ValidateBackend,
        ValidateLoadBalancer,
    };
}
