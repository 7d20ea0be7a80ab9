//! Faults in the objects themselves: the key `mock.lbcf/fault` of a load balancer's attributes or a
//! backend's parameters, so that kubectl alone can break something.
//!
//! The value is an action's name, such as `hang`, or a rule as JSON. Such faults hit operations only:
//! if they hit decisions, admission would refuse the object that carries them.

use super::parse;
use super::rule::FaultRule;
use serde_json::{Value, json};

/// The key in `attributes` and `parameters`.
pub const IN_BAND_FAULT: &str = "mock.lbcf/fault";

/// The rules of a value.
pub(super) fn rules(text: &str) -> Result<Vec<FaultRule>, String> {
    let text = text.trim();
    let read = if text.starts_with(['{', '[']) {
        match serde_json::from_str::<Value>(text) {
            Ok(list @ Value::Array(_)) => parse::rules(list),
            Ok(one) => parse::rule(one).map(|rule| vec![rule]),
            Err(error) => Err(format!("not JSON: {error}")),
        }
    } else {
        parse::rule(json!({"action": text})).map(|rule| vec![rule])
    };
    read.map_err(|problem| format!("{IN_BAND_FAULT}: {problem}"))
}
