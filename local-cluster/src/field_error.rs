//! Validation errors of single fields, as apimachinery's `field` package has them.

use serde_json::Value;

/// Why a field is invalid: one entry of `details.causes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldError {
    pub(crate) kind: ErrorType,
    pub(crate) field: String,
    pub(crate) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorType {
    Invalid,
    WrongType,
    NotSupported,
    Required,
    Duplicate,
    Forbidden,
    TooLong,
    TooMany,
}

impl ErrorType {
    /// The reason of the cause, and the start of its message.
    pub(crate) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Invalid => ("FieldValueInvalid", "Invalid value"),
            Self::WrongType => ("FieldValueTypeInvalid", "Invalid value"),
            Self::NotSupported => ("FieldValueNotSupported", "Unsupported value"),
            Self::Required => ("FieldValueRequired", "Required value"),
            Self::Duplicate => ("FieldValueDuplicate", "Duplicate value"),
            Self::Forbidden => ("FieldValueForbidden", "Forbidden"),
            Self::TooLong => ("FieldValueTooLong", "Too long"),
            Self::TooMany => ("FieldValueTooMany", "Too many"),
        }
    }

    /// The error; without `shown`, the message has no value.
    pub(crate) fn at(
        self,
        field: impl Into<String>,
        shown: Option<&str>,
        detail: &str,
    ) -> FieldError {
        let mut message = self.words().1.to_owned();
        for part in [shown.unwrap_or_default(), detail] {
            if !part.is_empty() {
                message.push_str(": ");
                message.push_str(part);
            }
        }
        FieldError {
            kind: self,
            field: field.into(),
            message,
        }
    }
}

impl FieldError {
    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Self {
        ErrorType::Required.at(field, None, detail)
    }

    pub(crate) fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        ErrorType::Invalid.at(field, Some(&value.to_string()), detail)
    }

    /// The field must not be set or changed.
    pub(crate) fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        ErrorType::Forbidden.at(field, None, detail)
    }
}

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
        let supported: Vec<String> = supported.iter().map(|s| format!("{s:?}")).collect();
        let detail = format!("supported values: {}", supported.join(", "));
        let shown = value.into().to_string();
        self.add(ErrorType::NotSupported.at(field, Some(&shown), &detail));
    }

    fn duplicate(&mut self, field: impl Into<String>, value: impl Into<Value>) {
        let shown = value.into().to_string();
        self.add(ErrorType::Duplicate.at(field, Some(&shown), ""));
    }

    /// The list is longer than `most`, which is over 1.
    fn too_many(&mut self, field: impl Into<String>, count: usize, most: usize) {
        let detail = format!("must have at most {most} items");
        self.add(ErrorType::TooMany.at(field, Some(&count.to_string()), &detail));
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
