//! Validation errors of single fields.

use serde_json::Value;

/// Why a field is invalid: one entry of `details.causes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldError {
    pub(crate) reason: &'static str,
    pub(crate) field: String,
    pub(crate) message: String,
}

impl FieldError {
    fn new(reason: &'static str, field: impl Into<String>, message: String) -> Self {
        Self {
            reason,
            field: field.into(),
            message,
        }
    }

    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Self {
        let message = match detail {
            "" => "Required value".to_owned(),
            detail => format!("Required value: {detail}"),
        };
        Self::new("FieldValueRequired", field, message)
    }

    pub(crate) fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        let message = format!("Invalid value: {value}: {detail}");
        Self::new("FieldValueInvalid", field, message)
    }

    pub(crate) fn not_supported(
        field: impl Into<String>,
        value: &Value,
        supported: &[&str],
    ) -> Self {
        let supported: Vec<String> = supported.iter().map(|s| format!("{s:?}")).collect();
        let supported = supported.join(", ");
        let message = format!("Unsupported value: {value}: supported values: {supported}");
        Self::new("FieldValueNotSupported", field, message)
    }

    pub(crate) fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self::new(
            "FieldValueDuplicate",
            field,
            format!("Duplicate value: {value}"),
        )
    }

    /// The value has too many bytes, items or properties, so the message does not contain it.
    pub(crate) fn too_long(field: impl Into<String>, detail: &str) -> Self {
        Self::new("FieldValueTooLong", field, format!("Too long: {detail}"))
    }

    /// The list is longer than `most`, which is over 1.
    pub(crate) fn too_many(field: impl Into<String>, count: usize, most: usize) -> Self {
        let message = format!("Too many: {count}: must have at most {most} items");
        Self::new("FieldValueTooMany", field, message)
    }

    /// The field must not be set or changed.
    pub(crate) fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {detail}"))
    }
}
