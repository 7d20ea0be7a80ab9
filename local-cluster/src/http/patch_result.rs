//! Validation of the result of a strategic merge patch. Errors show the patch, printed as Go prints
//! a map.

use serde_json::Value;

use crate::field_error::FieldError;
use crate::object::Object;
use crate::patch::go_format;
use crate::resources::{Kind, check_types, unknown_fields};
use crate::rules::FieldValidation;
use crate::status::ApiError;

pub(super) fn check(
    kind: &Kind,
    patch: &Object,
    left: &Object,
    validation: FieldValidation,
) -> Result<(), ApiError> {
    let invalid = |why: &str| {
        let printed = Value::from(go_format(&Value::Object(patch.clone())));
        ApiError::invalid("", "", "", &[FieldError::invalid("patch", &printed, why)])
    };
    check_types(kind, left).map_err(|why| invalid(&why))?;
    if validation != FieldValidation::Strict {
        return Ok(());
    }
    let unknown: Vec<String> = unknown_fields(kind, &mut left.clone())
        .iter()
        .map(|field| format!("unknown field {field:?}"))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let why = format!("strict decoding error: {}", unknown.join(", "));
    Err(invalid(&why))
}
