//! What is wrong with one field of an object.

use serde_json::Value;

/// Why a field was refused: one entry of `details.causes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldError {
    pub(crate) reason: &'static str,
    pub(crate) field: String,
    pub(crate) message: String,
}

impl FieldError {
    /// A required value is missing.
    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Self {
        let message = if detail.is_empty() {
            "Required value".to_owned()
        } else {
            format!("Required value: {detail}")
        };
        Self {
            reason: "FieldValueRequired",
            field: field.into(),
            message,
        }
    }

    /// A value is not acceptable; `value` is shown as given.
    pub(crate) fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        Self {
            reason: "FieldValueInvalid",
            field: field.into(),
            message: format!("Invalid value: {value}: {detail}"),
        }
    }

    /// A value is none of the permitted ones.
    pub(crate) fn not_supported(
        field: impl Into<String>,
        value: &Value,
        allowed: &[String],
    ) -> Self {
        Self {
            reason: "FieldValueNotSupported",
            field: field.into(),
            message: format!(
                "Unsupported value: {value}: supported values: {}",
                allowed.join(", ")
            ),
        }
    }

    /// A value that must be unique occurs again.
    pub(crate) fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        Self {
            reason: "FieldValueDuplicate",
            field: field.into(),
            message: format!("Duplicate value: {value}"),
        }
    }

    /// The same for a value that is shown in words of its own.
    pub(crate) fn shown_duplicate(field: impl Into<String>, shown: &str) -> Self {
        Self {
            reason: "FieldValueDuplicate",
            field: field.into(),
            message: format!("Duplicate value: {shown}"),
        }
    }

    /// A value names what is not there.
    pub(crate) fn not_found(field: impl Into<String>, value: &Value) -> Self {
        Self {
            reason: "FieldValueNotFound",
            field: field.into(),
            message: format!("Not found: {value}"),
        }
    }

    /// A value has more than it may have; it is too long to be shown, too.
    pub(crate) fn too_long(field: impl Into<String>, detail: &str) -> Self {
        Self {
            reason: "FieldValueTooLong",
            field: field.into(),
            message: format!("Too long: {detail}"),
        }
    }

    /// The change is not allowed at all.
    pub(crate) fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self {
            reason: "FieldValueForbidden",
            field: field.into(),
            message: format!("Forbidden: {detail}"),
        }
    }
}
