//! Validation of updates of nodes.

use serde_json::Value;

use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::object::{Object, at};

pub(super) fn change_errors(before: &Object, next: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (field, name) in [("podCIDRs", "podCIDR"), ("providerID", "providerID")] {
        let value = |node| at(node, &["spec", field]).cloned().unwrap_or_default();
        let (old, new): (Value, Value) = (value(before), value(next));
        let is_set = old.as_str().is_some_and(|text| !text.is_empty())
            || old.as_array().is_some_and(|list| !list.is_empty());
        if is_set && old != new {
            errors.forbidden(
                format!("spec.{field}"),
                &format!("node updates may not change {name} except from \"\" to valid"),
            );
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::super::tests::lines;
    use super::*;
    use crate::object::object;
    use serde_json::json;

    #[test]
    fn the_provider_of_a_node_is_immutable() {
        let node =
            |id: &str| object(json!({"spec": {"providerID": id, "unschedulable": id == "b"}}));
        assert!(change_errors(&node(""), &node("a")).is_empty());
        assert_eq!(
            lines(&change_errors(&node("a"), &node("b"))),
            [
                "spec.providerID: Forbidden: node updates may not change providerID except from \"\" to valid"
            ]
        );
    }
}
