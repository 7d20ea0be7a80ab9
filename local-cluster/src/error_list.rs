//! `field.ErrorList` of apimachinery: the errors that validation collects.

use serde_json::Value;

use crate::field_error::FieldError;

/// Appends a [`FieldError`] of each type.
pub(crate) trait ErrorList {
    fn add(&mut self, error: FieldError);

    fn required(&mut self, field: impl Into<String>, detail: &str) {
        self.add(FieldError::required(field, detail));
    }

    fn invalid(&mut self, field: impl Into<String>, value: impl Into<Value>, detail: &str) {
        self.add(FieldError::invalid(field, &value.into(), detail));
    }

    fn not_supported(
        &mut self,
        field: impl Into<String>,
        value: impl Into<Value>,
        supported: &[&str],
    ) {
        self.add(FieldError::not_supported(field, &value.into(), supported));
    }

    fn duplicate(&mut self, field: impl Into<String>, value: impl Into<Value>) {
        self.add(FieldError::duplicate(field, &value.into()));
    }

    fn too_many(&mut self, field: impl Into<String>, count: usize, most: usize) {
        self.add(FieldError::too_many(field, count, most));
    }

    fn forbidden(&mut self, field: impl Into<String>, detail: &str) {
        self.add(FieldError::forbidden(field, detail));
    }
}

impl ErrorList for Vec<FieldError> {
    fn add(&mut self, error: FieldError) {
        self.push(error);
    }
}
