//! Deletes objects, for requests and for the cluster's own controllers.

use std::sync::Arc;

use super::{ATTEMPTS, Cluster, Deleted, Written};
use crate::admission::{Attributes, Operation, Options};
use crate::clock;
use crate::object::at;
use crate::resources::Kind;
use crate::rules::{DeleteOptions, Deletion, Part, decide_deletion};
use crate::status::ApiError;
use crate::store::{Stored, WriteError};

impl Cluster {
    /// Deletes an object, or starts to, for a request. Returns warnings too.
    ///
    /// The reviews of a delete collection do not name the object.
    pub(crate) async fn delete_reviewed(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        options: &DeleteOptions,
    ) -> Result<(Deleted, Vec<String>), ApiError> {
        let attributes = Attributes {
            kind,
            part: Part::Main,
            operation: Operation::Delete,
            namespace,
            name: if options.collection { "" } else { name },
            options: Options::Delete(options),
        };
        let mut review = self.admission.review(attributes, &self.registry);
        for _ in 0..ATTEMPTS {
            let current = self.read(kind, namespace, name)?;
            let mut deletion = decide_deletion(kind, &current, options, clock::in_seconds)?;
            let reviewed = review.mutates() || review.validates();
            if reviewed && !is_under_way(&current, &deletion) {
                review.delete(&current).await?;
                // The grace period starts after the review.
                deletion = decide_deletion(kind, &current, options, clock::in_seconds)?;
            }
            let result = self.perform_deletion(kind, current, deletion, options.dry_run);
            if let Some(deleted) = self.or_stale(result, kind, (namespace, name))? {
                return Ok((deleted, review.into_warnings()));
            }
        }
        Err(ApiError::modified(kind, name))
    }

    /// Deletes an object, or starts to, without a review, for the cluster's own controllers.
    pub(crate) fn delete(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<Deleted, ApiError> {
        for _ in 0..ATTEMPTS {
            let current = self.read(kind, namespace, name)?;
            let deletion = decide_deletion(kind, &current, options, clock::in_seconds)?;
            let result = self.perform_deletion(kind, current, deletion, options.dry_run);
            if let Some(deleted) = self.or_stale(result, kind, (namespace, name))? {
                return Ok(deleted);
            }
        }
        Err(ApiError::modified(kind, name))
    }

    fn perform_deletion(
        &self,
        kind: &Kind,
        current: Arc<Stored>,
        deletion: Deletion,
        dry_run: bool,
    ) -> Result<Deleted, WriteError> {
        match deletion {
            Deletion::Unchanged => Ok(Deleted::Waiting(Written::Stored(current))),
            Deletion::Remove(last) if dry_run => Ok(Deleted::Gone(last)),
            Deletion::Mark(next) if dry_run => Ok(Deleted::Waiting(Written::Unstored(next))),
            Deletion::Remove(last) => {
                // Watches see a pod with its deletion timestamp first.
                let current = if kind.is("", "pods") && last != current.object {
                    self.store.replace(&kind.storage, &current, last.clone())?
                } else {
                    current
                };
                let gone = self.store.remove(&kind.storage, &current, last);
                gone.map(|gone| Deleted::Gone(gone.object.clone()))
            }
            Deletion::Mark(next) => self
                .store
                .replace(&kind.storage, &current, next)
                .map(|stored| Deleted::Waiting(Written::Stored(stored))),
        }
    }
}

/// The grace period of an earlier deletion runs, so that it is not reviewed again.
fn is_under_way(current: &Stored, deletion: &Deletion) -> bool {
    let grace = at(&current.object, &["metadata", "deletionGracePeriodSeconds"]);
    let grace = grace.and_then(serde_json::Value::as_i64).unwrap_or(0);
    *deletion == Deletion::Unchanged && grace > 0
}
