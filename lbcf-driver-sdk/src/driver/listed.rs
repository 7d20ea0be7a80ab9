use crate::Driver;
use std::fmt;

/// A backend that is registered with a load balancer, as [`Driver::list_backends`] returns it.
#[non_exhaustive]
pub struct ListedBackend<D: Driver + ?Sized> {
    /// The address that `generate_backend_addr` returned for it.
    pub backend_addr: D::BackendAddr,
    /// How it is registered; `None` if that is not known or does not fit the type.
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
