//! The checks of numbers: their range, their bounds, and what they are a multiple of.

use serde_json::Number;

use super::Findings;
use super::one::is_whole;
use crate::schema::format::NumberFormat;
use crate::schema::node::Node;
use crate::schema::path::Path;
use crate::schema::wording::{Fault, Num, float_text};

/// Checks a number; its bounds as well, which may not fit its own type.
pub(super) fn check_number(node: &Node, number: &Number, path: &Path<'_>, found: &mut Findings) {
    let number = Num::of(number);
    let limits = &node.number;
    in_range(node, number, "Checked", path, found);
    if let Some(factor) = limits.multiple_of {
        let fits = in_range(node, Num::Float(factor), "MultipleOf", path, found);
        check_multiple(number, factor, fits, path, found);
    }
    if let Some(minimum) = limits.minimum {
        let fits = in_range(node, Num::Float(minimum), "Minimum boundary", path, found);
        let (below, equal, text) = compare(number, minimum, fits);
        if below || (equal && limits.exclusive_minimum) {
            let equal = if limits.exclusive_minimum {
                ""
            } else {
                " or equal to"
            };
            complain(number, &format!("greater than{equal} {text}"), path, found);
        }
    }
    if let Some(maximum) = limits.maximum {
        let fits = in_range(node, Num::Float(maximum), "Maximum boundary", path, found);
        let (below, equal, text) = compare(number, maximum, fits);
        if !(below || equal) || (equal && limits.exclusive_maximum) {
            let equal = if limits.exclusive_maximum {
                ""
            } else {
                " or equal to"
            };
            complain(number, &format!("less than{equal} {text}"), path, found);
        }
    }
}

fn complain(number: Num, what: &str, path: &Path<'_>, found: &mut Findings) {
    let detail = format!("{} in body should be {what}", path.dotted());
    found.add(Fault::Invalid.at(path.as_field(), Some(&number.text()), &detail));
}

/// Whether a number is below a bound, or equal to it, and how the bound is written: whole numbers
/// are compared with the whole part of a bound that fits their type.
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
fn check_multiple(number: Num, factor: f64, fits: bool, path: &Path<'_>, found: &mut Findings) {
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
        found.add(Fault::Invalid.at(path.as_field(), Some(&factor), &detail));
    } else if !multiple {
        complain(number, &format!("a multiple of {factor}"), path, found);
    }
}

/// Complains when the type of the schema cannot hold a number; says whether it can.
fn in_range(node: &Node, number: Num, what: &str, path: &Path<'_>, found: &mut Findings) -> bool {
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
