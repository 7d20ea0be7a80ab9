//! Validation of types, strings, numbers and enums.

use serde_json::{Number, Value};

use crate::field_error::{ErrorType, FieldError};
use crate::schema::format::NumberFormat;
use crate::schema::message::{FieldPath, Num, float_text, json_text, quoted, shown};
use crate::schema::node::Node;

/// A schema, and the path of the value that it is for.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) node: &'a Node,
    pub(super) path: &'a FieldPath<'a>,
}

/// The type of a value, and the format of a number.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) => match Num::of(number) {
            Num::Int(_) => ("integer", "int64"),
            Num::Float(float) if is_whole(float) => ("number", "int64"),
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
pub(super) fn check_type(at: Place<'_>, value: &Value, found: &mut ValidatorResult) -> bool {
    let (node, (actual, own_format)) = (at.node, type_of(value));
    let mut report = |expected: &str, given: &str| {
        let given = quoted(given);
        let what = format!("must be of type {expected}: {given}");
        found.add_in_body(ErrorType::WrongType, at, &given, &what);
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
pub(super) fn check_text(at: Place<'_>, text: &str, found: &mut ValidatorResult) {
    let limits = &at.node.text;
    let length = || i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    if let Some(most) = limits.length.most.filter(|most| length() > *most) {
        let bytes = if most == 1 { "byte" } else { "bytes" };
        let detail = if most < 0 {
            "value is too long".to_owned()
        } else {
            format!("may not be more than {most} {bytes}")
        };
        found.add(ErrorType::TooLong.at(at.path.as_field(), None, &detail));
        return;
    }
    let what = if let Some(least) = limits.length.least.filter(|least| length() < *least) {
        format!("should be at least {least} chars long")
    } else if let Some(pattern) = &limits.pattern {
        if pattern.regex.as_ref().is_some_and(|r| r.is_match(text)) {
            return;
        }
        format!("should match '{}'", pattern.source)
    } else {
        return;
    };
    found.add_in_body(ErrorType::Invalid, at, &quoted(text), &what);
}

pub(super) fn check_enum(at: Place<'_>, value: &Value, found: &mut ValidatorResult) {
    let allowed = &at.node.allowed;
    if allowed.is_empty() || allowed.iter().any(|allowed| equals(value, allowed)) {
        return;
    }
    let allowed: Vec<String> = allowed
        .iter()
        .map(|allowed| match allowed {
            Value::String(text) => quoted(text),
            other => quoted(&json_text(other)),
        })
        .collect();
    let detail = format!("supported values: {}", allowed.join(", "));
    found.add(ErrorType::NotSupported.at(at.path.as_field(), Some(&shown(value)), &detail));
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

/// Bounds are checked as well: they may not fit the type either.
pub(super) fn check_number(at: Place<'_>, number: &Number, found: &mut ValidatorResult) {
    let number = Num::of(number);
    let limits = &at.node.number;
    in_range(at, number, "Checked", found);
    if let Some(factor) = limits.multiple_of {
        let fits = in_range(at, Num::Float(factor), "MultipleOf", found);
        check_multiple(at, number, (factor, fits), found);
    }
    for (bound, name, exclusive, is_minimum) in [
        (limits.minimum, "Minimum", limits.exclusive_minimum, true),
        (limits.maximum, "Maximum", limits.exclusive_maximum, false),
    ] {
        let Some(bound) = bound else { continue };
        let what = format!("{name} boundary");
        let fits = in_range(at, Num::Float(bound), &what, found);
        let (below, equal, text) = compare(number, bound, fits);
        let beyond = if is_minimum { below } else { !below && !equal };
        if beyond || (equal && exclusive) {
            let side = if is_minimum { "greater" } else { "less" };
            let or_equal = if exclusive { "" } else { " or equal to" };
            let what = format!("should be {side} than{or_equal} {text}");
            found.add_in_body(ErrorType::Invalid, at, &number.text(), &what);
        }
    }
}

/// Compares a number with a bound: below, equal, and the bound's text. Integers are compared with
/// the integer part of a bound that fits their type.
#[allow(
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "as Kubernetes compares them"
)]
fn compare(number: Num, bound: f64, fits: bool) -> (bool, bool, String) {
    match number {
        Num::Int(whole) if fits => {
            let bound = bound as i64;
            (whole < bound, whole == bound, bound.to_string())
        }
        number => {
            let float = number.float();
            (float < bound, float == bound, float_text(bound))
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "as Kubernetes divides them"
)]
fn check_multiple(
    at: Place<'_>,
    number: Num,
    (factor, fits): (f64, bool),
    found: &mut ValidatorResult,
) {
    let (positive, multiple, factor) = match number {
        Num::Int(whole) if fits => {
            let factor = factor as i64;
            let multiple = factor > 0 && whole % factor == 0;
            (factor > 0, multiple, factor.to_string())
        }
        number => {
            let times = if factor < 1.0 {
                1.0 / factor * number.float()
            } else {
                number.float() / factor
            };
            (factor > 0.0, is_whole(times), float_text(factor))
        }
    };
    if !positive {
        let place = at.path.dotted();
        let detail = format!("factor MultipleOf declared for {place} must be positive: {factor}");
        found.add(ErrorType::Invalid.at(at.path.as_field(), Some(&factor), &detail));
    } else if !multiple {
        let what = format!("should be a multiple of {factor}");
        found.add_in_body(ErrorType::Invalid, at, &number.text(), &what);
    }
}

/// Reports a number that the type cannot hold; returns false for it.
fn in_range(at: Place<'_>, number: Num, what: &str, found: &mut ValidatorResult) -> bool {
    let format = at.node.number.format;
    let whole = match number {
        Num::Int(whole) => Some(whole),
        Num::Float(float) => whole_of(float),
    };
    let type_name = at.node.type_name();
    let fits = match (type_name, format) {
        ("integer", Some(NumberFormat::Int32)) => {
            whole.is_some_and(|whole| i32::try_from(whole).is_ok())
        }
        ("integer", _) => whole.is_some(),
        (_, Some(NumberFormat::Float)) => number.float().abs() <= f64::from(f32::MAX),
        _ => true,
    };
    if !fits {
        let format = match format {
            Some(format) => format!("with format {}", format.name()),
            None => "(default format)".to_owned(),
        };
        let place = at.path.dotted();
        let detail = format!("{what} value must be of type {type_name} {format} in {place}");
        found.add_about(at.path, &detail);
    }
    fits
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "only what is whole and in range is cast"
)]
fn whole_of(float: f64) -> Option<i64> {
    (float.fract() == 0.0 && float >= i64::MIN as f64 && float < i64::MAX as f64)
        .then_some(float as i64)
}

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

    /// An error with a message such as `spec.n in body should be less than 3`.
    pub(super) fn add_in_body(&mut self, kind: ErrorType, at: Place<'_>, shown: &str, what: &str) {
        let detail = format!("{} in body {what}", at.path.dotted());
        self.add(kind.at(at.path.as_field(), Some(shown), &detail));
    }

    /// An error of the root value that names the path in its message only.
    pub(super) fn add_about(&mut self, path: &FieldPath<'_>, detail: &str) {
        let field = path.root_field();
        self.add(ErrorType::Invalid.at(field, Some("\"\""), detail));
    }
}
