//! Allocates the addresses of services, each to one service.

use std::sync::{MutexGuard, PoisonError};

use super::Cluster;
use crate::addresses;
use crate::field_error::FieldError;
use crate::object::{self, Object};
use crate::resources::Kind;
use crate::rules::Part;
use crate::status::ApiError;

/// The lock on service addresses; `None` for other kinds.
pub(super) type AddressLock<'a> = Option<MutexGuard<'a, ()>>;

impl Cluster {
    pub(super) fn lock_addresses(&self, kind: &Kind) -> AddressLock<'_> {
        kind.is("", "services").then(|| {
            self.service_addresses
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        })
    }

    /// Allocates the addresses of a service, which is to be stored while the lock is held.
    pub(super) fn assign_addresses(
        &self,
        kind: &Kind,
        part: Part,
        object: &mut Object,
        before: Option<&Object>,
    ) -> Result<AddressLock<'_>, ApiError> {
        let Some(lock) = self.lock_addresses(kind) else {
            return Ok(None);
        };
        if part != Part::Main && before.is_none() {
            return Ok(Some(lock));
        }
        let (services, _) = self.store.list(&kind.storage, None);
        let own = object::uid(before.unwrap_or(object)).to_owned();
        let others = services
            .iter()
            .map(|s| &s.object)
            .filter(|s| object::uid(s) != own);
        let taken = addresses::taken(object, before, others.clone());
        ApiError::check(kind, object::name(object), &taken)?;
        if let Err((field, why)) = addresses::assign(object, before, others) {
            let error = FieldError::forbidden(field, &why);
            ApiError::check(kind, object::name(object), &[error])?;
        }
        Ok(Some(lock))
    }

    /// Another service has an address of this one.
    pub(super) fn clashes(&self, kind: &Kind, service: &Object) -> bool {
        if !kind.is("", "services") {
            return false;
        }
        let (services, _) = self.store.list(&kind.storage, None);
        let own = object::uid(service);
        let mut others = services.iter().filter(|other| other.uid() != own);
        others.any(|other| addresses::overlap(service, &other.object))
    }
}
