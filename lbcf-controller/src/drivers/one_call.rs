//! Which calls of a driver are made one at a time. No I/O, no clock.

use crate::api::StringMap;
use crate::api::names::{ANNOTATION_ONE_CALL, ANNOTATION_ONE_CALL_FIELD};
use std::collections::BTreeMap;

/// Equal for calls about load balancers that must not overlap; none if the driver's annotations ask for
/// nothing.
///
/// `load_balancer` is its lbInfo, or before its creation its lbSpec. With the annotation for a field, load
/// balancers without the field have one slot together: which of them are the same is unknown.
pub(crate) fn shared_fields(
    annotations: &BTreeMap<String, String>,
    load_balancer: &StringMap,
) -> Option<StringMap> {
    let field = annotations.get(ANNOTATION_ONE_CALL_FIELD);
    if let Some(field) = field.filter(|field| !field.is_empty()) {
        let value = load_balancer.get_key_value(field);
        let shared = value.map(|(field, value)| (field.clone(), value.clone()));
        return Some(shared.into_iter().collect::<BTreeMap<_, _>>().into());
    }
    let is_on = annotations.get(ANNOTATION_ONE_CALL);
    let is_on = is_on.is_some_and(|value| value.eq_ignore_ascii_case("true"));
    is_on.then(|| load_balancer.clone())
}

#[cfg(test)]
mod tests;
