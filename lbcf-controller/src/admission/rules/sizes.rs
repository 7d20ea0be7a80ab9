//! Sizes (d47), which the CRDs limit as well: only a cluster with other CRDs lets them reach admission.

use crate::admission::field_error::FieldErrors;
use crate::api::{StringMap, allowed};

/// A map whose keys and values the driver defines.
pub(super) fn driver_map(map: &StringMap, field: &str, errors: &mut FieldErrors) {
    count(map.len(), allowed::ENTRIES, field, errors);
    for (key, value) in map.iter() {
        if key.chars().count() > allowed::KEY {
            let allowed = format!("keys have at most {} characters", allowed::KEY);
            errors.invalid(field, key, allowed);
        }
        length(value, allowed::VALUE, &format!("{field}[{key}]"), errors);
    }
    total(map.length(), allowed::MAP, "keys and values", field, errors);
}

/// A list of names or addresses.
pub(super) fn texts(texts: &[String], most: usize, field: &str, errors: &mut FieldErrors) {
    count(texts.len(), most, field, errors);
    let length = texts.iter().map(|text| text.chars().count()).sum();
    total(length, allowed::LIST, "items", field, errors);
}

pub(super) fn count(given: usize, most: usize, field: &str, errors: &mut FieldErrors) {
    if given > most {
        errors.invalid(field, given, format!("must have at most {most} items"));
    }
}

pub(super) fn length(text: &str, most: usize, field: &str, errors: &mut FieldErrors) {
    if text.chars().count() > most {
        errors.invalid(field, text, format!("must have at most {most} characters"));
    }
}

/// What has too many characters in all.
pub(super) fn total(given: usize, most: usize, what: &str, field: &str, errors: &mut FieldErrors) {
    if given > most {
        let problem = format!("{what} have {given} characters in all; at most {most} are allowed");
        errors.push(field, problem);
    }
}
