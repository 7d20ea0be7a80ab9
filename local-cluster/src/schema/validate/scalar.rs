//! Validation of types, strings and enums.

use serde_json::Value;

use super::result::ValidatorResult;
use crate::schema::message::{ErrorType, Num, json_text, quoted, shown};
use crate::schema::node::Node;
use crate::schema::path::FieldPath;

/// The type of a value, and the format of a number.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) => match Num::of(number) {
            Num::Int(_) => ("integer", "int64"),
            Num::Float(_) => ("number", "float64"),
        },
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

/// True for an integer within JSON's precision.
#[allow(clippy::float_cmp, reason = "whole numbers are exact")]
pub(super) fn is_whole(float: f64) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    if !float.is_finite() || float.abs() > LARGEST {
        return false;
    }
    let whole = float.trunc();
    let difference = (float - whole).abs();
    float == whole
        || (float != 0.0 && whole != 0.0 && difference / (float.abs() + whole.abs()) < 1e-9)
}

/// Reports a wrong type; returns whether it is right.
pub(super) fn check_type(
    node: &Node,
    value: &Value,
    path: &FieldPath<'_>,
    found: &mut ValidatorResult,
) -> bool {
    let (actual, own_format) = type_of(value);
    let mut report = |expected: &str, given: &str| {
        let given = quoted(given);
        let detail = format!(
            "{} in body must be of type {expected}: {given}",
            path.dotted()
        );
        found.add(ErrorType::WrongType.at(path.as_field(), Some(&given), &detail));
        false
    };
    if value.is_null() {
        if node.types.is_empty() || node.nullable {
            return true;
        }
        return report(&node.types.join(","), "null");
    }
    let fits = node.permits(actual)
        || (actual == "integer" && node.permits("number"))
        || (actual == "number" && node.permits("integer") && value.as_f64().is_some_and(is_whole));
    let is_text = matches!(value, Value::String(_) | Value::Array(_));
    if let Some(format) = &node.format {
        if !is_text && !fits && own_format != format {
            return report(format, own_format);
        }
        // The format is validated instead of the type.
        if is_text && !(node.permits("number") || node.permits("integer")) {
            return true;
        }
    }
    if fits {
        return true;
    }
    report(&node.types.join(","), actual)
}

/// Reports the first limit of a string that is exceeded.
pub(super) fn check_text(
    node: &Node,
    text: &str,
    path: &FieldPath<'_>,
    found: &mut ValidatorResult,
) {
    let limits = &node.text;
    let length = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if let Some(most) = limits.length.most.filter(|most| length() > *most) {
        let bytes = if most == 1 { "byte" } else { "bytes" };
        let detail = if most < 0 {
            "value is too long".to_owned()
        } else {
            format!("may not be more than {most} {bytes}")
        };
        found.add(ErrorType::TooLong.at(path.as_field(), None, &detail));
        return;
    }
    let what = if let Some(least) = limits.length.least.filter(|least| length() < *least) {
        format!("be at least {least} chars long")
    } else if let Some(pattern) = &limits.pattern {
        match &pattern.regex {
            Ok(regex) if regex.is_match(text) => return,
            Ok(_) => format!("match '{}'", pattern.source),
            Err(why) => format!("match '{}, but pattern is invalid: {why}'", pattern.source),
        }
    } else {
        return;
    };
    let detail = format!("{} in body should {what}", path.dotted());
    found.add(ErrorType::Invalid.at(path.as_field(), Some(&quoted(text)), &detail));
}

pub(super) fn check_enum(
    node: &Node,
    value: &Value,
    path: &FieldPath<'_>,
    found: &mut ValidatorResult,
) {
    if node.allowed.is_empty() || node.allowed.iter().any(|allowed| equals(value, allowed)) {
        return;
    }
    let allowed: Vec<String> = node
        .allowed
        .iter()
        .map(|allowed| match allowed {
            Value::String(text) => quoted(text),
            other => quoted(&json_text(other)),
        })
        .collect();
    let detail = format!("supported values: {}", allowed.join(", "));
    found.add(ErrorType::NotSupported.at(path.as_field(), Some(&shown(value)), &detail));
}

/// Null never equals a value of an enum.
#[allow(
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "numbers are compared in the type of the permitted one"
)]
fn equals(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) => false,
        (Value::Number(value), Value::Number(allowed)) => {
            match (Num::of(value), Num::of(allowed)) {
                (Num::Int(value), Num::Int(allowed)) => value == allowed,
                (Num::Float(value), Num::Int(allowed)) => value as i64 == allowed,
                (value, Num::Float(allowed)) => value.float() == allowed,
            }
        }
        (value, allowed) => value == allowed,
    }
}
