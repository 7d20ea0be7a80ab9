//! What a write by request has besides one by an agent: a review by admission webhooks.
//!
//! Nothing is locked while a webhook is asked, so what is decided may be out of date afterwards: the
//! store refuses it then, and the write is decided, and reviewed, anew.

use super::Cluster;
use super::services::Held;
use crate::admission::{Asked, Operation, Options, Review};
use crate::object::{Object, managers, set_managers};
use crate::patch::managers_error;
use crate::resources::Kind;
use crate::rules::{FieldValidation, Part, WriteOptions};
use crate::status::ApiError;
use crate::store::Stored;

impl Cluster {
    /// The review of a create or an update.
    pub(super) fn review<'a>(
        &'a self,
        (kind, part, operation): (&'a Kind, Part, Operation),
        (namespace, name): (&'a str, &'a str),
        options: &'a WriteOptions<'a>,
    ) -> Review<'a> {
        let asked = Asked {
            kind,
            part,
            operation,
            namespace,
            name,
            options: Options::Write(options),
        };
        self.admission.review(asked, &self.registry)
    }

    /// Lets webhooks change an object in presented form. Who manages its fields is theirs to change as
    /// well, if it makes sense afterwards.
    pub(super) async fn mutated(
        &self,
        review: &mut Review<'_>,
        object: Object,
        before: Option<&Stored>,
        validation: FieldValidation,
    ) -> Result<Object, ApiError> {
        let managers = managers(&object).to_vec();
        let mut object = review.mutate(object, before, validation).await?;
        if let Some(why) = managers_error(&object) {
            set_managers(&mut object, managers);
            review.warn(vec![format!(
                ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: {why}"
            )]);
        }
        Ok(object)
    }

    /// Lets webhooks judge an object in stored form, with what it was before, while others may give
    /// addresses to services. `None` when one of this service's went to another meanwhile, so that
    /// all is to be decided anew; `clashed` says that its user wants it to share one.
    pub(super) async fn judged(
        &self,
        review: &mut Review<'_>,
        kind: &Kind,
        (object, before): (&Object, Option<&Stored>),
        clashed: bool,
    ) -> Result<Option<Held<'_>>, ApiError> {
        let shown = kind.present_object(object.clone());
        review.validate(Some(&shown), before).await?;
        let held = self.hold_addresses(kind);
        let went = !clashed && self.clashes(kind, object);
        Ok((!went).then_some(held))
    }
}
