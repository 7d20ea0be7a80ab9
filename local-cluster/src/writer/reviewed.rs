//! What a write by request has besides one by an agent: a review by admission webhooks.
//!
//! Nothing is locked while a webhook is asked, so what is decided may be out of date afterwards: the
//! store refuses it then, and the write is decided, and reviewed, anew.

use super::Cluster;
use super::services::Held;
use crate::admission::{Asked, Operation, Options, Review};
use crate::object::Object;
use crate::resources::Kind;
use crate::rules::{Part, WriteOptions};
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
