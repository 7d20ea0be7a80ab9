//! Limits and CEL rules of the CRDs, which the API server checks even where admission webhooks are not
//! installed (d48).
//!
//! They are the rules of admission, except those that need other objects or the namespace. What they
//! refuse can be stored already: a value that an update does not change is not refused, so such an
//! object keeps being reconciled and can be deleted. Kubernetes does so since 1.30; earlier versions
//! lack `optionalOldSelf`, too.
//!
//! The API server refuses a CRD whose rules could cost too much, so every list, map and string that a
//! rule visits has a limit. `has` is false for a field that is `null` (b5).

mod backend_group;
mod backend_record;
mod bind;
mod constrained;
mod load_balancer;
mod load_balancer_driver;
mod parts;

pub(super) use backend_group::backend_group;
pub(super) use backend_record::backend_record;
pub(super) use bind::bind;
pub(super) use load_balancer::{load_balancer, scope_needs_a_system_name};
pub(super) use load_balancer_driver::load_balancer_driver;

use constrained::Rule;
use serde_json::{Value, json};

/// A selection by label: admission explains where labels belong.
pub(super) fn select_by_label() -> Value {
    json!([{
        "rule": "has(self.selector) && size(self.selector) > 0",
        "message": "selector is required; labels belong into it, as in byLabel: {selector: {app: my-web-server}}",
    }])
}

/// A field that an update must not change.
fn immutable(field: &str, hint: &str) -> Rule {
    let rule = format!(
        "has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"
    );
    Rule::new(rule, format!("{field} is immutable; {hint}"))
}
