//! Configurations of admission webhooks: defaults and validation.
//!
//! The type of mutating webhooks has all fields of that of validating ones and one more, so both
//! are decoded as the former. `admission` calls the webhooks.

mod client_config;
mod rules;

use std::collections::HashSet;

use k8s_openapi::api::admissionregistration::v1::MutatingWebhook;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde_json::{Value, json};

use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::names;
use crate::object::Object;
use crate::object::maps_in;

/// The supported versions of `AdmissionReview`.
const REVIEW_VERSIONS: &[&str] = &["v1"];

pub(crate) fn webhook_defaults(plural: &str, configuration: &mut Object) {
    for webhook in maps_in(configuration.get_mut("webhooks")) {
        or(webhook, "failurePolicy", json!("Fail"));
        or(webhook, "matchPolicy", json!("Equivalent"));
        or(webhook, "namespaceSelector", json!({}));
        or(webhook, "objectSelector", json!({}));
        or(webhook, "timeoutSeconds", json!(10));
        if plural == "mutatingwebhookconfigurations" {
            or(webhook, "reinvocationPolicy", json!("Never"));
        }
        for rule in maps_in(webhook.get_mut("rules")) {
            or(rule, "scope", json!("*"));
        }
        let service = webhook
            .get_mut("clientConfig")
            .and_then(|c| c.get_mut("service"));
        if let Some(Value::Object(service)) = service {
            or(service, "port", json!(443));
        }
    }
}

/// Null counts as missing.
fn or(map: &mut Object, key: &str, value: Value) {
    if map.get(key).is_none_or(Value::is_null) {
        map.insert(key.to_owned(), value);
    }
}

pub(crate) fn webhook_errors(configuration: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = HashSet::new();
    let webhooks = configuration.get("webhooks").and_then(Value::as_array);
    for (index, value) in webhooks.into_iter().flatten().enumerate() {
        let path = format!("webhooks[{index}]");
        let webhook: MutatingWebhook = match serde_json::from_value(value.clone()) {
            Ok(webhook) => webhook,
            Err(error) => {
                errors.invalid(&path, value.clone(), &error.to_string());
                continue;
            }
        };
        check(&webhook, &path, &mut errors);
        if !webhook.name.is_empty() && !seen.insert(webhook.name.clone()) {
            let name = Value::from(webhook.name);
            errors.duplicate(format!("{path}.name"), name.clone());
        }
    }
    errors
}

fn check(webhook: &MutatingWebhook, path: &str, errors: &mut Vec<FieldError>) {
    check_name(&webhook.name, path, errors);
    for (index, rule) in webhook.rules.iter().flatten().enumerate() {
        rules::check(rule, &format!("{path}.rules[{index}]"), errors);
    }
    for (field, given, allowed) in [
        (
            "failurePolicy",
            &webhook.failure_policy,
            &["Fail", "Ignore"][..],
        ),
        (
            "matchPolicy",
            &webhook.match_policy,
            &["Equivalent", "Exact"],
        ),
        (
            "reinvocationPolicy",
            &webhook.reinvocation_policy,
            &["IfNeeded", "Never"],
        ),
    ] {
        if let Some(given) = given {
            check_enum(given, allowed, &format!("{path}.{field}"), errors);
        }
    }
    let side_effects = format!("{path}.sideEffects");
    match webhook.side_effects.as_str() {
        "" => errors.required(side_effects, "must specify one of None, NoneOnDryRun"),
        given => check_enum(given, &["None", "NoneOnDryRun"], &side_effects, errors),
    }
    if let Some(seconds) = webhook
        .timeout_seconds
        .filter(|seconds| !(1..=30).contains(seconds))
    {
        errors.invalid(
            format!("{path}.timeoutSeconds"),
            seconds,
            "the timeout value must be between 1 and 30 seconds",
        );
    }
    for (field, selector) in [
        ("namespaceSelector", &webhook.namespace_selector),
        ("objectSelector", &webhook.object_selector),
    ] {
        if let Some(selector) = selector {
            check_selector(selector, &format!("{path}.{field}"), errors);
        }
    }
    client_config::check(
        &webhook.client_config,
        &format!("{path}.clientConfig"),
        errors,
    );
    if webhook
        .match_conditions
        .as_ref()
        .is_some_and(|c| !c.is_empty())
    {
        errors.forbidden(
            format!("{path}.matchConditions"),
            "this server evaluates no CEL expressions, and a condition must not be ignored",
        );
    }
    let versions = &webhook.admission_review_versions;
    check_versions(versions, &format!("{path}.admissionReviewVersions"), errors);
}

fn check_name(name: &str, path: &str, errors: &mut Vec<FieldError>) {
    let field = format!("{path}.name");
    let why = if name.is_empty() {
        errors.required(field, "");
        return;
    } else if !names::is_subdomain(name) {
        names::SUBDOMAIN
    } else if name.split('.').count() < 3 {
        "should be a domain with at least three segments separated by dots"
    } else {
        return;
    };
    errors.invalid(field, name, why);
}

fn check_versions(versions: &[String], field: &str, errors: &mut Vec<FieldError>) {
    let known = REVIEW_VERSIONS.join(", ");
    if versions.is_empty() {
        let detail = format!("must specify one of {known}");
        errors.required(field, &detail);
        return;
    }
    for (index, version) in versions.iter().enumerate() {
        let here = format!("{field}[{index}]");
        let value = Value::from(version.as_str());
        if versions.iter().take(index).any(|v| v == version) {
            errors.invalid(here, value.clone(), "duplicate version");
        } else if !names::is_label(version) || version.starts_with(|c: char| c.is_ascii_digit()) {
            errors.invalid(here, value.clone(), names::LETTER_LABEL);
        }
    }
    if !versions
        .iter()
        .any(|v| REVIEW_VERSIONS.contains(&v.as_str()))
    {
        let detail = format!("must include at least one of {known}");
        errors.invalid(field, versions, &detail);
    }
}

fn check_enum(given: &str, allowed: &[&str], field: &str, errors: &mut Vec<FieldError>) {
    if !allowed.contains(&given) {
        errors.not_supported(field, given, allowed);
    }
}

fn check_selector(selector: &LabelSelector, path: &str, errors: &mut Vec<FieldError>) {
    let mut text = |field: String, text: &str, fine: bool, why: &str| {
        if !fine {
            errors.invalid(field, text, why);
        }
    };
    for (key, value) in selector.match_labels.iter().flatten() {
        let field = format!("{path}.matchLabels");
        let fine = names::is_label_key(key);
        text(field.clone(), key, fine, names::LABEL_KEY);
        text(
            field,
            value,
            names::is_label_value(value),
            names::LABEL_VALUE,
        );
    }
    let expressions = selector.match_expressions.iter().flatten();
    for (index, expression) in expressions.clone().enumerate() {
        let here = format!("{path}.matchExpressions[{index}]");
        let (key, operator) = (&expression.key, expression.operator.as_str());
        text(
            format!("{here}.key"),
            key,
            names::is_label_key(key),
            names::LABEL_KEY,
        );
        let known = matches!(operator, "In" | "NotIn" | "Exists" | "DoesNotExist");
        text(
            format!("{here}.operator"),
            operator,
            known,
            "not a valid selector operator",
        );
        for (index, value) in expression.values.iter().flatten().enumerate() {
            let fine = names::is_label_value(value);
            text(
                format!("{here}.values[{index}]"),
                value,
                fine,
                names::LABEL_VALUE,
            );
        }
    }
    for (index, expression) in expressions.enumerate() {
        let field = format!("{path}.matchExpressions[{index}].values");
        let none = expression.values.as_ref().is_none_or(Vec::is_empty);
        match expression.operator.as_str() {
            "In" | "NotIn" if none => errors.required(
                field,
                "must be specified when `operator` is 'In' or 'NotIn'",
            ),
            "Exists" | "DoesNotExist" if !none => errors.forbidden(
                field,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn configuration(change: Value) -> Object {
        let mut webhook = json!({
            "name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://127.0.0.1:8443/validate"},
            "rules": [{
                "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["pods"],
            }],
        });
        json_patch::merge(&mut webhook, &change);
        object(json!({"webhooks": [webhook]}))
    }

    fn error_lines(change: Value) -> Vec<String> {
        webhook_errors(&configuration(change))
            .into_iter()
            .map(|e| format!("{}: {}", e.field, e.message))
            .collect()
    }

    #[test]
    fn defaults_are_filled_in() {
        let mut given = configuration(json!({
            "failurePolicy": null, "timeoutSeconds": 3,
            "clientConfig": {"url": null, "service": {"name": "s", "namespace": "n"}},
        }));
        webhook_defaults("mutatingwebhookconfigurations", &mut given);
        let webhook = &given["webhooks"][0];
        assert_eq!(webhook["failurePolicy"], "Fail");
        assert_eq!(webhook["matchPolicy"], "Equivalent");
        assert_eq!(webhook["timeoutSeconds"], 3);
        assert_eq!(webhook["reinvocationPolicy"], "Never");
        assert_eq!(webhook["objectSelector"], json!({}));
        assert_eq!(webhook["rules"][0]["scope"], "*");
        assert_eq!(webhook["clientConfig"]["service"]["port"], 443);
        let mut validating = configuration(json!({}));
        webhook_defaults("validatingwebhookconfigurations", &mut validating);
        let webhook = &validating["webhooks"][0];
        assert_eq!(webhook["timeoutSeconds"], 10);
        assert!(webhook.get("reinvocationPolicy").is_none());
    }

    #[test]
    fn complaints_name_field_value_and_what_is_allowed() {
        assert!(error_lines(json!({})).is_empty());
        for (change, expected) in [
            (json!({"name": ""}), "webhooks[0].name: Required value"),
            (
                json!({"name": "a.b"}),
                "webhooks[0].name: Invalid value: \"a.b\": should be a domain with at least three segments separated by dots",
            ),
            (
                json!({"name": "A.b.c"}),
                "webhooks[0].name: Invalid value: \"A.b.c\": a lowercase RFC 1123 subdomain must",
            ),
            (
                json!({"failurePolicy": "Maybe"}),
                "webhooks[0].failurePolicy: Unsupported value: \"Maybe\": supported values: \"Fail\", \"Ignore\"",
            ),
            (
                json!({"matchPolicy": "x"}),
                "webhooks[0].matchPolicy: Unsupported value: \"x\": supported values: \"Equivalent\", \"Exact\"",
            ),
            (
                json!({"reinvocationPolicy": "x"}),
                "webhooks[0].reinvocationPolicy: Unsupported value: \"x\": supported values: \"IfNeeded\", \"Never\"",
            ),
            (
                json!({"sideEffects": null}),
                "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
            ),
            (
                json!({"sideEffects": "Some"}),
                "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\"",
            ),
            (
                json!({"timeoutSeconds": 31}),
                "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
            ),
            (
                json!({"timeoutSeconds": 0}),
                "webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds",
            ),
            (
                json!({"admissionReviewVersions": null}),
                "webhooks[0].admissionReviewVersions: Required value: must specify one of v1",
            ),
            (
                json!({"admissionReviewVersions": ["v1beta1"]}),
                "webhooks[0].admissionReviewVersions: Invalid value: [\"v1beta1\"]: must include at least one of v1",
            ),
            (
                json!({"admissionReviewVersions": ["v1", "v1"]}),
                "webhooks[0].admissionReviewVersions[1]: Invalid value: \"v1\": duplicate version",
            ),
            (
                json!({"admissionReviewVersions": ["v1", "1a"]}),
                "webhooks[0].admissionReviewVersions[1]: Invalid value: \"1a\": a DNS-1035 label must",
            ),
            (
                json!({"matchConditions": [{"name": "x", "expression": "true"}]}),
                "webhooks[0].matchConditions: Forbidden: this server evaluates no CEL",
            ),
            (
                json!({"objectSelector": {"matchLabels": {"a/b/c": "x"}}}),
                "webhooks[0].objectSelector.matchLabels: Invalid value: \"a/b/c\": name part must",
            ),
            (
                json!({"objectSelector": {"matchLabels": {"a": "-"}}}),
                "webhooks[0].objectSelector.matchLabels: Invalid value: \"-\": a valid label must",
            ),
            (
                json!({"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}),
                "webhooks[0].namespaceSelector.matchExpressions[0].values: Required value: must be specified when",
            ),
            (
                json!({"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}}),
                "webhooks[0].namespaceSelector.matchExpressions[0].values: Forbidden: may not be specified when",
            ),
            (
                json!({"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}}),
                "webhooks[0].namespaceSelector.matchExpressions[0].operator: Invalid value: \"Like\": not a valid selector operator",
            ),
        ] {
            let found = error_lines(change);
            let one = found.first().cloned().unwrap_or_default();
            assert!(found.len() == 1 && one.starts_with(expected), "{found:?}");
        }
    }

    #[test]
    fn names_are_unique() {
        let mut twice = configuration(json!({}));
        let webhook = twice["webhooks"][0].clone();
        twice.insert("webhooks".to_owned(), json!([webhook, webhook]));
        let errors = webhook_errors(&twice);
        assert_eq!(errors[0].field, "webhooks[1].name");
        assert_eq!(errors[0].message, "Duplicate value: \"a.example.com\"");
    }
}
