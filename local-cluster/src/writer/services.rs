//! The addresses of services, of which no two may be given the same.

use std::sync::{MutexGuard, PoisonError};

use super::Cluster;
use crate::addresses;
use crate::field_error::FieldError;
use crate::object::{self, Object};
use crate::resources::Kind;
use crate::rules::taken_addresses;
use crate::status::ApiError;

/// What keeps others from giving addresses to services; nothing for any other kind.
pub(super) type Held<'a> = Option<MutexGuard<'a, ()>>;

impl Cluster {
    /// Keeps others from giving addresses to services.
    pub(super) fn hold_addresses(&self, kind: &Kind) -> Held<'_> {
        kind.is("", "services").then(|| {
            self.service_addresses
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        })
    }

    /// Gives a service its addresses; what is returned keeps others from taking the same.
    pub(super) fn assign_addresses(
        &self,
        kind: &Kind,
        object: &mut Object,
        before: Option<&Object>,
    ) -> Result<Held<'_>, ApiError> {
        let Some(held) = self.hold_addresses(kind) else {
            return Ok(None);
        };
        let (services, _) = self.store.list(&kind.storage, None);
        let own = object::uid(before.unwrap_or(object)).to_owned();
        let others = services
            .iter()
            .map(|s| &s.object)
            .filter(|s| object::uid(s) != own);
        let taken = taken_addresses(object, before, others.clone());
        if !taken.is_empty() {
            return Err(ApiError::invalid(
                "",
                "Service",
                object::name(object),
                &taken,
            ));
        }
        addresses::assign(object, before, others).map_err(|(field, why)| {
            let error = FieldError::forbidden(field, &why);
            ApiError::invalid("", "Service", object::name(object), &[error])
        })?;
        Ok(Some(held))
    }

    /// Whether another service has one of this one's addresses.
    pub(super) fn clashes(&self, kind: &Kind, service: &Object) -> bool {
        if !kind.is("", "services") {
            return false;
        }
        let (services, _) = self.store.list(&kind.storage, None);
        let own = object::uid(service);
        let mut others = services.iter().filter(|other| other.uid() != own);
        others.any(|other| addresses::shared(service, &other.object))
    }
}
