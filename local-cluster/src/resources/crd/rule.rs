//! What is wrong with a rule of a schema, its expression included.

use serde_json::{Map, Value, json};

use crate::field_error::FieldError;
use crate::schema::{Node, Rule, find_field, json_text};

const REASONS: &[&str] = &[
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// What is wrong with a rule as it is written, and with what it says.
pub(super) fn rule_errors(
    schema: &Map<String, Value>,
    rule: &Value,
    compiled: Option<&Rule>,
    place: &str,
    no_past: Option<&str>,
) -> (Vec<FieldError>, Vec<FieldError>) {
    let mut errors = Vec::new();
    let word = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or_default();
    let at = |key: &str| format!("{place}.{key}");
    let invalid = |key: &str, detail: &str| FieldError::invalid(at(key), &word(key).into(), detail);
    let lines = |text: &str| text.trim().contains(['\n', '\r']);
    let (source, message) = (word("rule"), word("message"));
    if source.trim().is_empty() {
        errors.push(FieldError::required(at("rule"), "rule is not specified"));
    } else if !message.is_empty() && message.trim().is_empty() {
        errors.push(invalid("message", "must be non-empty if specified"));
    } else if lines(message) {
        errors.push(invalid("message", "must not contain line breaks"));
    } else if lines(source) && message.trim().is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        errors.push(FieldError::required(at("message"), detail));
    }
    let expression = word("messageExpression");
    if !expression.is_empty() && expression.trim().is_empty() {
        let detail = "messageExpression must be non-empty if specified";
        errors.push(FieldError::required(at("messageExpression"), detail));
    }
    let reason = word("reason");
    if !reason.is_empty() && !REASONS.contains(&reason) {
        let allowed: Vec<String> = REASONS.iter().map(|r| format!("\"{r}\"")).collect();
        let error = FieldError::not_supported(at("reason"), &reason.into(), &allowed);
        errors.push(error);
    }
    let field_path = word("fieldPath");
    if !field_path.is_empty() {
        if field_path.trim().is_empty() {
            errors.push(invalid("fieldPath", "must be non-empty if specified"));
        }
        if field_path.contains(['\n', '\r']) {
            errors.push(invalid("fieldPath", "must not contain line breaks"));
        }
        // Only the structure counts, so the rules need not be read.
        let mut structure = schema.clone();
        structure.remove("x-kubernetes-validations");
        let node = Node::read(&Value::Object(structure));
        if find_field(field_path, &node, true).is_err() {
            errors.push(invalid("fieldPath", "must be a valid path"));
        }
    }
    let found = compiled.map(|compiled| expression_errors(rule, compiled, place, no_past));
    (errors, found.unwrap_or_default())
}

fn expression_errors(
    rule: &Value,
    compiled: &Rule,
    place: &str,
    no_past: Option<&str>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut complain = |key: &str, shown: String, detail: &str| {
        errors.push(FieldError {
            reason: "FieldValueInvalid",
            field: format!("{place}.{key}"),
            message: format!("Invalid value: {shown}: {detail}"),
        });
    };
    match &compiled.program {
        Some(Err(why)) => complain("rule", whole(rule), why),
        Some(Ok(program)) => match (program.uses_old_self, no_past) {
            (true, Some(place)) => {
                let source = rule.get("rule").cloned().unwrap_or_default();
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {place}"
                );
                complain("rule", json_text(&source), &detail);
            }
            (false, _) => {
                if let Some(given) = rule.get("optionalOldSelf").filter(|v| !v.is_null()) {
                    let detail = "may not be set if oldSelf is not used in rule";
                    complain("optionalOldSelf", given.to_string(), detail);
                }
            }
            (true, None) => {}
        },
        None => {}
    }
    if let Some(Err(why)) = &compiled.message_program {
        complain("messageExpression", whole(rule), why);
    }
    errors
}

/// A rule as messages show it: all its fields, by the names that they have inside of Kubernetes.
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
