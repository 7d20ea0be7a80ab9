//! Faults in the objects themselves: the key `mock.lbcf/fault` of a load balancer's attributes or a
//! backend's parameters, so that kubectl alone can break something.
//!
//! The value is an action's name, such as `hang`, or a rule as JSON. Such faults hit operations only:
//! if they hit decisions, admission would refuse the object that carries them.

use super::parse;
use super::rule::FaultRule;
use serde_json::json;

/// The key in `attributes` and `parameters`.
pub const IN_BAND_FAULT: &str = "mock.lbcf/fault";

/// The rules of a value.
pub(super) fn rules(text: &str) -> Result<Vec<FaultRule>, String> {
    let text = text.trim();
    let value = if text.starts_with(['{', '[']) {
        serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
    } else {
        Ok(json!({"action": text}))
    };
    let rules = value.and_then(parse::rules);
    rules.map_err(|problem| format!("{IN_BAND_FAULT}: {problem}"))
}
