//! Validation of numbers.

use serde_json::Number;

use super::result::ValidatorResult;
use super::scalar::is_whole;
use crate::schema::format::NumberFormat;
use crate::schema::message::{ErrorType, Num, float_text};
use crate::schema::node::Node;
use crate::schema::path::FieldPath;

/// Bounds are checked as well: they may not fit the type either.
pub(super) fn check_number(
    node: &Node,
    number: &Number,
    path: &FieldPath<'_>,
    found: &mut ValidatorResult,
) {
    let number = Num::of(number);
    let limits = &node.number;
    in_range(node, number, "Checked", path, found);
    if let Some(factor) = limits.multiple_of {
        let fits = in_range(node, Num::Float(factor), "MultipleOf", path, found);
        check_multiple(number, factor, fits, path, found);
    }
    for (bound, name, exclusive, is_minimum) in [
        (limits.minimum, "Minimum", limits.exclusive_minimum, true),
        (limits.maximum, "Maximum", limits.exclusive_maximum, false),
    ] {
        let Some(bound) = bound else { continue };
        let what = format!("{name} boundary");
        let fits = in_range(node, Num::Float(bound), &what, path, found);
        let (below, equal, text) = compare(number, bound, fits);
        let beyond = if is_minimum { below } else { !below && !equal };
        if beyond || (equal && exclusive) {
            let side = if is_minimum { "greater" } else { "less" };
            let or_equal = if exclusive { "" } else { " or equal to" };
            let what = format!("{side} than{or_equal} {text}");
            add_invalid(number, &what, path, found);
        }
    }
}

fn add_invalid(number: Num, what: &str, path: &FieldPath<'_>, found: &mut ValidatorResult) {
    let detail = format!("{} in body should be {what}", path.dotted());
    found.add(ErrorType::Invalid.at(path.as_field(), Some(&number.text()), &detail));
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
    number: Num,
    factor: f64,
    fits: bool,
    path: &FieldPath<'_>,
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
        let detail = format!(
            "factor MultipleOf declared for {} must be positive: {factor}",
            path.dotted()
        );
        found.add(ErrorType::Invalid.at(path.as_field(), Some(&factor), &detail));
    } else if !multiple {
        add_invalid(number, &format!("a multiple of {factor}"), path, found);
    }
}

/// Reports a number that the type cannot hold; returns false for it.
fn in_range(
    node: &Node,
    number: Num,
    what: &str,
    path: &FieldPath<'_>,
    found: &mut ValidatorResult,
) -> bool {
    let format = node.number.format;
    let whole = match number {
        Num::Int(whole) => Some(whole),
        Num::Float(float) => whole_of(float),
    };
    let type_name = node.type_name();
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
        let place = path.dotted();
        let detail = format!("{what} value must be of type {type_name} {format} in {place}");
        found.add_about(path, &detail);
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
