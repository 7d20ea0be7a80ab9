//! Validation of CEL rules, and the limits on what they may cost.

use serde_json::Value;

use crate::field_error::FieldError;
use crate::object::{Object, items, string};
use crate::schema::{Node, RuleTree, ValidationRule, find_field};

/// The limit on one rule.
const RULE_LIMIT: u64 = 10_000_000;
/// The limit on all rules of a schema.
const SCHEMA_LIMIT: u64 = 100_000_000;
/// If all rules exceed their limit, this many of the most expensive are named.
const NAMED: usize = 4;

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

/// Errors of the rules of one schema. Around it are the path of a list whose items cannot be correlated,
/// and the number of values that an object can have.
pub(super) fn rule_errors(
    schema: &Object,
    (node, tree): (&Node, &RuleTree),
    path: &str,
    (uncorrelatable, times): (Option<&str>, u64),
    cost: &mut TotalCost,
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
        errors.extend(cost.add(compiled, times, &place));
    }
    errors
}

/// The estimated cost of all rules of a schema.
#[derive(Debug, Default)]
pub(super) struct TotalCost {
    total: u64,
    /// The rules that take at least a hundredth of the limit.
    expensive: Vec<(u64, String)>,
}

impl TotalCost {
    /// Adds a rule of which an object has up to `times` values, and returns its own errors.
    pub(super) fn add(
        &mut self,
        rule: &ValidationRule,
        times: u64,
        place: &str,
    ) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut count = |key: &str, what: &str, cost: u64| {
            let field = format!("{place}.{key}");
            if cost > RULE_LIMIT {
                let detail = exceeded(what, cost, RULE_LIMIT);
                errors.push(FieldError::forbidden(&field, &detail));
            }
            self.total = self.total.saturating_add(cost);
            if cost >= SCHEMA_LIMIT / 100 {
                self.expensive.push((cost, field));
            }
        };
        if let Some(Ok(program)) = &rule.program {
            let cost = program.max_cost.saturating_mul(times);
            count("rule", "estimated rule cost", cost);
        }
        if let Some(Ok(program)) = &rule.message_program {
            let what = "estimated messageExpression cost";
            count("messageExpression", what, program.max_cost);
        }
        errors
    }

    /// The errors of the schema at `place` if its rules are too expensive together.
    pub(super) fn errors(mut self, place: &str) -> Vec<FieldError> {
        if self.total <= SCHEMA_LIMIT {
            return Vec::new();
        }
        // Of equally expensive rules the first is named first.
        self.expensive.sort_by_key(|(cost, _)| u64::MAX - cost);
        let contributed = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        let expensive = self.expensive.iter().take(NAMED);
        let mut errors: Vec<FieldError> = expensive
            .map(|(_, field)| FieldError::forbidden(field, contributed))
            .collect();
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        let detail = exceeded(what, self.total, SCHEMA_LIMIT);
        errors.push(FieldError::forbidden(place, &detail));
        errors
    }
}

fn exceeded(what: &str, cost: u64, limit: u64) -> String {
    // Only shown, so that the lost digits do not matter.
    #[allow(clippy::cast_precision_loss)]
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        // It is never shown as 1.0.
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}
