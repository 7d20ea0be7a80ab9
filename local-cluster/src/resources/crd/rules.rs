//! Validation of CEL rules.

use serde_json::Value;

use crate::field_error::FieldError;
use crate::object::{Object, items, string};
use crate::schema::{Node, RuleTree, find_field};

fn is_blank(rule: &Value, key: &str) -> bool {
    let text = string(rule, key);
    !text.is_empty() && text.trim().is_empty()
}

fn has_lines(rule: &Value, key: &str) -> bool {
    string(rule, key).trim().contains(['\n', '\r'])
}

/// Keywords of a rule that are wrong, and why.
fn faults(rule: &Value, node: &Node) -> Vec<(&'static str, &'static str)> {
    let (message, reason) = (string(rule, "message").trim(), string(rule, "reason"));
    let mut faults = Vec::new();
    if string(rule, "rule").trim().is_empty() {
        faults.push(("rule", "must be specified"));
    }
    if is_blank(rule, "message") || has_lines(rule, "message") {
        faults.push(("message", "must be one line, not blank"));
    }
    if has_lines(rule, "rule") && message.is_empty() {
        let why = "must be specified if the rule contains line breaks";
        faults.push(("message", why));
    }
    if is_blank(rule, "messageExpression") {
        faults.push(("messageExpression", "must not be blank"));
    }
    if !matches!(
        reason,
        "" | "FieldValueDuplicate"
            | "FieldValueForbidden"
            | "FieldValueInvalid"
            | "FieldValueRequired"
    ) {
        let why = "must be FieldValueDuplicate, FieldValueForbidden, FieldValueInvalid or FieldValueRequired";
        faults.push(("reason", why));
    }
    if find_field(string(rule, "fieldPath"), node, true).is_none() {
        faults.push(("fieldPath", "must be a valid path"));
    }
    faults
}

/// Errors of the rules of one schema, which may be inside a list whose items cannot be correlated.
pub(super) fn rule_errors(
    schema: &Object,
    (node, tree): (&Node, &RuleTree),
    path: &str,
    uncorrelatable: Option<&str>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let rules = items(schema, &["x-kubernetes-validations"]);
    for (index, (rule, compiled)) in rules.zip(&tree.rules).enumerate() {
        let place = format!("{path}.x-kubernetes-validations[{index}]");
        let given = |key: &str| rule.get(key).cloned().unwrap_or_default();
        let invalid =
            |key: &str, why: &str| FieldError::invalid(format!("{place}.{key}"), &given(key), why);
        let faults = faults(rule, node).into_iter();
        errors.extend(faults.map(|(key, why)| invalid(key, why)));
        match &compiled.program {
            Some(Err(why)) => errors.push(invalid("rule", why)),
            Some(Ok(program)) if program.uses_old_self => errors.extend(uncorrelatable.map(|list| {
                let why = format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {list}");
                invalid("rule", &why)
            })),
            Some(Ok(_)) if !given("optionalOldSelf").is_null() => {
                let why = "may not be set if oldSelf is not used in rule";
                errors.push(invalid("optionalOldSelf", why));
            }
            _ => {}
        }
        if let Some(Err(why)) = &compiled.message_program {
            errors.push(invalid("messageExpression", why));
        }
    }
    errors
}
