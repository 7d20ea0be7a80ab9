//! Validation of CEL rules.

use serde_json::{Map, Value, json};

use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::schema::{Node, ValidationRule, find_field, json_text};

const REASONS: &[&str] = &[
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// Errors of the rule's fields, and errors of its expressions.
pub(super) fn rule_errors(
    schema: &Map<String, Value>,
    rule: &Value,
    (node, compiled): (Option<&Node>, Option<&ValidationRule>),
    place: &str,
    uncorrelatable: Option<&str>,
) -> (Vec<FieldError>, Vec<FieldError>) {
    let mut errors = Vec::new();
    let word = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or_default();
    let at = |key: &str| format!("{place}.{key}");
    let invalid = |key: &str, detail: &str| FieldError::invalid(at(key), &word(key).into(), detail);
    let lines = |text: &str| text.trim().contains(['\n', '\r']);
    let (source, message) = (word("rule"), word("message"));
    if source.trim().is_empty() {
        errors.required(at("rule"), "rule is not specified");
    } else if !message.is_empty() && message.trim().is_empty() {
        errors.push(invalid("message", "must be non-empty if specified"));
    } else if lines(message) {
        errors.push(invalid("message", "must not contain line breaks"));
    } else if lines(source) && message.trim().is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        errors.required(at("message"), detail);
    }
    let expression = word("messageExpression");
    if !expression.is_empty() && expression.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        errors.required(at("messageExpression"), detail);
    }
    let reason = word("reason");
    if !reason.is_empty() && !REASONS.contains(&reason) {
        errors.not_supported(at("reason"), reason, REASONS);
    }
    let field_path = word("fieldPath");
    if !field_path.is_empty() {
        if field_path.trim().is_empty() {
            errors.push(invalid("fieldPath", "must be non-empty if specified"));
        }
        if field_path.contains(['\n', '\r']) {
            errors.push(invalid("fieldPath", "must not contain line breaks"));
        }
        let found = match node {
            Some(node) => find_field(field_path, node, true).is_ok(),
            None => {
                let node = Node::structure(&Value::Object(schema.clone()));
                find_field(field_path, &node, true).is_ok()
            }
        };
        if !found {
            errors.push(invalid("fieldPath", "must be a valid path"));
        }
    }
    let found = compiled.map(|compiled| expression_errors(rule, compiled, place, uncorrelatable));
    (errors, found.unwrap_or_default())
}

fn expression_errors(
    rule: &Value,
    compiled: &ValidationRule,
    place: &str,
    uncorrelatable: Option<&str>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut report = |key: &str, shown: String, detail: &str| {
        errors.push(FieldError {
            reason: "FieldValueInvalid",
            field: format!("{place}.{key}"),
            message: format!("Invalid value: {shown}: {detail}"),
        });
    };
    match &compiled.program {
        Some(Err(why)) => report("rule", whole(rule), why),
        Some(Ok(program)) => match (program.uses_old_self, uncorrelatable) {
            (true, Some(place)) => {
                let source = rule.get("rule").cloned().unwrap_or_default();
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {place}"
                );
                report("rule", json_text(&source), &detail);
            }
            (false, _) => {
                if let Some(given) = rule.get("optionalOldSelf").filter(|v| !v.is_null()) {
                    let detail = "may not be set if oldSelf is not used in rule";
                    report("optionalOldSelf", given.to_string(), detail);
                }
            }
            (true, None) => {}
        },
        None => {}
    }
    if let Some(Err(why)) = &compiled.message_program {
        report("messageExpression", whole(rule), why);
    }
    errors
}

/// A rule as messages show it: with the field names of its Go type.
fn whole(rule: &Value) -> String {
    let text = |key: &str| rule.get(key).cloned().unwrap_or_else(|| Value::from(""));
    let other = |key: &str| rule.get(key).cloned().unwrap_or_default();
    let fields = [
        ("Rule", text("rule")),
        ("Message", text("message")),
        ("MessageExpression", text("messageExpression")),
        ("Reason", other("reason")),
        ("FieldPath", text("fieldPath")),
        ("OptionalOldSelf", other("optionalOldSelf")),
    ];
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}:{}", json!(name), json_text(value)))
        .collect();
    format!("{{{}}}", fields.join(","))
}
