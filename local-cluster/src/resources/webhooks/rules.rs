//! Validation of the rules of a webhook.

use std::collections::HashSet;

use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;

use super::check_enum;
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;

const OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES: &[&str] = &["*", "Cluster", "Namespaced"];

pub(super) fn check(rule: &RuleWithOperations, path: &str, errors: &mut Vec<FieldError>) {
    for (field, given, others) in [
        ("operations", &rule.operations, "operations"),
        ("apiGroups", &rule.api_groups, "API groups"),
        ("apiVersions", &rule.api_versions, "API versions"),
    ] {
        let given = given.as_deref().unwrap_or_default();
        let field = format!("{path}.{field}");
        if given.is_empty() {
            errors.required(field, "");
        } else if given.len() > 1 && given.iter().any(|item| item == "*") {
            let detail = format!("if '*' is present, must not specify other {others}");
            errors.invalid(field, given, &detail);
        }
    }
    for (index, operation) in rule.operations.iter().flatten().enumerate() {
        let field = format!("{path}.operations[{index}]");
        check_enum(operation, OPERATIONS, &field, errors);
    }
    for (index, version) in rule.api_versions.iter().flatten().enumerate() {
        if version.is_empty() {
            let field = format!("{path}.apiVersions[{index}]");
            errors.required(field, "");
        }
    }
    let resources = rule.resources.as_deref().unwrap_or_default();
    check_resources(resources, &format!("{path}.resources"), errors);
    if let Some(scope) = &rule.scope {
        check_enum(scope, SCOPES, &format!("{path}.scope"), errors);
    }
}

/// A wildcard must not be combined with resources that it covers.
fn check_resources(resources: &[String], field: &str, errors: &mut Vec<FieldError>) {
    if resources.is_empty() {
        errors.required(field, "");
    }
    // The resources of wildcards such as `pods/*`, and the subresources of those such as
    // `*/status`.
    let (mut all_of, mut everywhere) = (HashSet::new(), HashSet::new());
    for (index, given) in resources.iter().enumerate() {
        let here = format!("{field}[{index}]");
        if given.is_empty() {
            errors.required(here, "");
            continue;
        }
        let Some((resource, part)) = given.split_once('/') else {
            continue;
        };
        let covered = [
            (all_of.contains(resource), format!("{resource}/*")),
            (everywhere.contains(part), format!("*/{part}")),
        ];
        for (_, by) in covered.iter().filter(|(covered, _)| *covered) {
            let detail = format!("if '{by}' is present, must not specify {given}");
            errors.invalid(&here, given.as_str(), &detail);
        }
        if part == "*" {
            all_of.insert(resource);
        }
        if resource == "*" {
            everywhere.insert(part);
        }
    }
    let has = |name: &str| resources.iter().any(|r| r == name);
    let names_one = resources
        .iter()
        .any(|r| r != "*" && !r.is_empty() && !r.contains('/'));
    for (wrong, detail) in [
        (
            has("*/*") && resources.len() > 1,
            "if '*/*' is present, must not specify other resources",
        ),
        (
            has("*") && names_one,
            "if '*' is present, must not specify other resources without subresources",
        ),
    ] {
        if wrong {
            errors.invalid(field, resources, detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn error_lines(change: Value) -> Vec<String> {
        let mut rule = json!({
            "operations": ["CREATE"], "apiGroups": ["g"], "apiVersions": ["v1"],
            "resources": ["pods"], "scope": "*",
        });
        json_patch::merge(&mut rule, &change);
        let mut errors = Vec::new();
        check(&serde_json::from_value(rule).unwrap(), "r", &mut errors);
        errors
            .into_iter()
            .map(|e| format!("{}: {}", e.field, e.message))
            .collect()
    }

    #[test]
    fn rules_are_complete_and_consistent() {
        for fine in [
            json!({}),
            json!({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}),
            json!({"resources": ["*", "pods/status"]}),
            json!({"resources": ["pods", "pods/*"]}),
            json!({"resources": ["*/status", "pods"], "apiGroups": [""]}),
        ] {
            assert_eq!(error_lines(fine.clone()), Vec::<String>::new(), "{fine}");
        }
        for (change, expected) in [
            (json!({"operations": []}), "r.operations: Required value"),
            (
                json!({"operations": ["*", "CREATE"]}),
                "r.operations: Invalid value: [\"*\",\"CREATE\"]: if '*' is present, must not specify other operations",
            ),
            (
                json!({"operations": ["create"]}),
                "r.operations[0]: Unsupported value: \"create\": supported values: \"*\", \"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\"",
            ),
            (json!({"apiGroups": null}), "r.apiGroups: Required value"),
            (
                json!({"apiGroups": ["*", "g"]}),
                "r.apiGroups: Invalid value: [\"*\",\"g\"]: if '*' is present, must not specify other API groups",
            ),
            (
                json!({"apiVersions": [""]}),
                "r.apiVersions[0]: Required value",
            ),
            (json!({"resources": []}), "r.resources: Required value"),
            (json!({"resources": [""]}), "r.resources[0]: Required value"),
            (
                json!({"resources": ["pods/*", "pods/status"]}),
                "r.resources[1]: Invalid value: \"pods/status\": if 'pods/*' is present, must not specify pods/status",
            ),
            (
                json!({"resources": ["*/status", "pods/status"]}),
                "r.resources[1]: Invalid value: \"pods/status\": if '*/status' is present, must not specify pods/status",
            ),
            (
                json!({"resources": ["*/*", "pods"]}),
                "r.resources: Invalid value: [\"*/*\",\"pods\"]: if '*/*' is present, must not specify other resources",
            ),
            (
                json!({"resources": ["*", "pods"]}),
                "r.resources: Invalid value: [\"*\",\"pods\"]: if '*' is present, must not specify other resources without subresources",
            ),
            (
                json!({"scope": "Galaxy"}),
                "r.scope: Unsupported value: \"Galaxy\": supported values: \"*\", \"Cluster\", \"Namespaced\"",
            ),
        ] {
            assert_eq!(error_lines(change), [expected]);
        }
    }
}
