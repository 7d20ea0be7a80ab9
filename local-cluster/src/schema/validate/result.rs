//! The errors of a validation, and how much matched.

use crate::field_error::FieldError;
use crate::schema::message::ErrorType;
use crate::schema::path::FieldPath;

/// Further errors are dropped.
const MAX_ERRORS: usize = 1000;

/// `Result` of Kubernetes' validator.
#[derive(Debug, Default)]
pub(super) struct ValidatorResult {
    pub(super) list: Vec<FieldError>,
    /// Counts passed checks as Kubernetes' validator does.
    pub(super) match_count: usize,
}

impl ValidatorResult {
    pub(super) fn add(&mut self, error: FieldError) {
        if self.list.len() < MAX_ERRORS {
            self.list.push(error);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.match_count += other.match_count;
        let room = MAX_ERRORS.saturating_sub(self.list.len());
        self.list.extend(other.list.into_iter().take(room));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// An error of the root value that names the path in its message only.
    pub(super) fn add_about(&mut self, path: &FieldPath<'_>, detail: &str) {
        let field = path.root_field();
        self.add(ErrorType::Invalid.at(field, Some("\"\""), detail));
    }
}
