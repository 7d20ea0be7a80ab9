//! Limits and CEL rules of the CRDs, which the API server checks even where admission webhooks are not
//! installed.
//!
//! Admission has only the rules that need other objects or the namespace. What these refuse can be
//! stored already: a value that an update does not change is not refused, so such an
//! object keeps being reconciled and can be deleted. Kubernetes does so since 1.30; earlier versions
//! lack `optionalOldSelf`, too.
//!
//! The API server refuses a CRD whose rules could cost too much, so every list, map and string that a
//! rule visits has a limit. `has` is false for a field that is `null`.

mod constrained;
mod kinds;
mod parts;

pub(super) use kinds::{
    backend_group, backend_record, bind, load_balancer, load_balancer_driver,
    scope_needs_a_system_name,
};

use serde_json::{Value, json};

/// A selection by label: admission explains where labels belong.
pub(super) fn select_by_label() -> Value {
    json!([{
        "rule": "has(self.selector) && size(self.selector) > 0",
        "message": "selector is required; labels belong into it, as in byLabel: {selector: {app: my-web-server}}",
    }])
}
