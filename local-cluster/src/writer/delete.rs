//! Deletions: those that requests ask for, and those of the cluster's own agents.

use std::sync::Arc;

use super::{ATTEMPTS, Cluster, Deleted, Left, settled};
use crate::admission::{Asked, Operation, Options};
use crate::clock;
use crate::object::at;
use crate::resources::Kind;
use crate::rules::{DeleteOptions, Deletion, Part, decide_deletion};
use crate::status::ApiError;
use crate::store::{Stored, WriteError};

impl Cluster {
    /// Deletes an object, or begins to, as a request asks for; returns warnings too.
    ///
    /// Where many are deleted at once, the request names none of them.
    pub(crate) async fn delete_reviewed(
        &self,
        kind: &Kind,
        (namespace, name): (&str, &str),
        options: &DeleteOptions,
        one_of_many: bool,
    ) -> Result<(Deleted, Vec<String>), ApiError> {
        let asked = Asked {
            kind,
            part: Part::Main,
            operation: Operation::Delete,
            namespace,
            name: if one_of_many { "" } else { name },
            options: Options::Delete(options),
        };
        let mut review = self.admission.review(asked, &self.registry);
        for _ in 0..ATTEMPTS {
            let current = self.read(kind, namespace, name)?;
            let mut deletion = decide_deletion(kind, &current, options, clock::in_seconds)?;
            let asks = review.mutates() || review.validates();
            if asks && !is_under_way(&current, &deletion) {
                review.delete(&current).await?;
                // Its time begins now.
                deletion = decide_deletion(kind, &current, options, clock::in_seconds)?;
            }
            let done = self.carry_out(kind, current, deletion, options.dry_run);
            if let Some(deleted) = settled(done)? {
                return Ok((deleted, review.into_warnings()));
            }
        }
        Err(ApiError::modified(kind, name))
    }

    /// Deletes an object, or begins to, without a review: for the cluster's own agents.
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
            let done = self.carry_out(kind, current, deletion, options.dry_run);
            if let Some(deleted) = settled(done)? {
                return Ok(deleted);
            }
        }
        Err(ApiError::modified(kind, name))
    }

    fn carry_out(
        &self,
        kind: &Kind,
        current: Arc<Stored>,
        deletion: Deletion,
        dry_run: bool,
    ) -> Result<Deleted, WriteError> {
        match deletion {
            Deletion::Unchanged => Ok(Deleted::Waiting(Left::Stored(current))),
            Deletion::Remove(last) if dry_run => Ok(Deleted::Gone(last)),
            Deletion::Mark(next) if dry_run => Ok(Deleted::Waiting(Left::Loose(next))),
            Deletion::Remove(last) => self
                .store
                .remove(&kind.storage, &current, last)
                .map(|gone| Deleted::Gone(gone.object.clone())),
            Deletion::Mark(next) => self
                .store
                .replace(&kind.storage, &current, next)
                .map(|stored| Deleted::Waiting(Left::Stored(stored))),
        }
    }
}

/// Whether a deletion only waits for a grace that runs already: nobody is asked twice for that.
fn is_under_way(current: &Stored, deletion: &Deletion) -> bool {
    let grace = at(&current.object, &["metadata", "deletionGracePeriodSeconds"]);
    let grace = grace.and_then(serde_json::Value::as_i64).unwrap_or(0);
    *deletion == Deletion::Unchanged && grace > 0
}
