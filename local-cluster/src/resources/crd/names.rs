//! Validation of names in a definition.

use serde_json::Value;

use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::names::{LETTER_LABEL, is_label};
use crate::object::{Object, at, text};

/// Why a name is not a label that begins with a letter.
pub(super) fn label_fault(name: &str) -> Option<&'static str> {
    if name.len() > 63 {
        return Some("must be no more than 63 characters");
    }
    let fine = is_label(name) && name.starts_with(|c: char| c.is_ascii_lowercase());
    (!fine).then_some(LETTER_LABEL)
}

pub(super) fn name_errors(crd: &Object, path: &[&str; 2]) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let Some(names) = at(crd, path).and_then(Value::as_object) else {
        return errors;
    };
    let place = path.join(".");
    let mut check = |field: String, name: &str, mixed: bool| {
        let fault = if mixed {
            label_fault(&name.to_lowercase())
        } else {
            label_fault(name)
        };
        if let Some(fault) = fault.filter(|_| !name.is_empty()) {
            let detail = if mixed {
                format!("may have mixed case, but should otherwise match: {fault}")
            } else {
                fault.to_owned()
            };
            errors.invalid(field, name, &detail);
        }
    };
    for (key, mixed) in [
        ("plural", false),
        ("singular", false),
        ("kind", true),
        ("listKind", true),
    ] {
        let name = text(names, &[key]).unwrap_or_default();
        check(format!("{place}.{key}"), name, mixed);
    }
    let list = |key: &str| {
        names
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    for key in ["shortNames", "categories"] {
        for (index, name) in list(key).enumerate() {
            let name = name.as_str().unwrap_or_default();
            if name.is_empty() {
                let field = format!("{place}.{key}[{index}]");
                let detail = LETTER_LABEL;
                errors.invalid(field, name, detail);
            } else if let Some(fault) = label_fault(name) {
                let field = format!("{place}.{key}[{index}]");
                errors.invalid(field, name, fault);
            }
        }
    }
    let word = |key: &str| text(names, &[key]).unwrap_or_default();
    if !word("kind").is_empty() && word("kind") == word("listKind") {
        errors.invalid(
            format!("{place}.listKind"),
            word("listKind"),
            "kind and listKind may not be the same",
        );
    }
    errors
}
