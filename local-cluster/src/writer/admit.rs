//! Reviews of creates and updates by admission webhooks.
//!
//! Nothing is locked while a webhook is called. If the object is written meanwhile, the store rejects the
//! write, which is then decided and reviewed again.

use super::Cluster;
use super::service_addresses::AddressLock;
use crate::admission::{Attributes, Operation, Options, Review};
use crate::object::{Object, managers, set_managers};
use crate::patch::managers_error;
use crate::resources::Kind;
use crate::rules::{Part, WriteOptions};
use crate::status::ApiError;
use crate::store::Stored;

impl Cluster {
    pub(super) fn review<'a>(
        &'a self,
        (kind, part, operation): (&'a Kind, Part, Operation),
        (namespace, name): (&'a str, &'a str),
        options: &'a WriteOptions<'a>,
    ) -> Review<'a> {
        let attributes = Attributes {
            kind,
            part,
            operation,
            namespace,
            name,
            options: Options::Write(options),
        };
        self.admission.review(attributes, &self.registry)
    }

    /// Calls the mutating webhooks; the object is in presented form. Their changes of `managedFields` are
    /// discarded if invalid.
    pub(super) async fn mutated(
        &self,
        review: &mut Review<'_>,
        object: Object,
        before: Option<&Stored>,
    ) -> Result<Object, ApiError> {
        let managers = managers(&object).to_vec();
        let mut object = review.mutate(object, before).await?;
        if let Some(why) = managers_error(&object) {
            set_managers(&mut object, managers);
            review.warn(vec![format!(
                ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: {why}"
            )]);
        }
        Ok(object)
    }

    /// Calls the validating webhooks; the object is in stored form.
    ///
    /// Service addresses are not locked meanwhile. `None` if another service took one of this one's, so
    /// that the write must be decided again; `clashed`: the client itself set an address in use.
    pub(super) async fn validated(
        &self,
        review: &mut Review<'_>,
        kind: &Kind,
        (object, before): (&Object, Option<&Stored>),
        clashed: bool,
    ) -> Result<Option<AddressLock<'_>>, ApiError> {
        let presented = kind.present_object(object.clone());
        review.validate(Some(&presented), before).await?;
        let lock = self.lock_addresses(kind);
        let taken = !clashed && self.clashes(kind, object);
        Ok((!taken).then_some(lock))
    }
}
