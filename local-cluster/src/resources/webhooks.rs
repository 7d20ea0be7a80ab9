//! Configurations of admission webhooks: defaults, and checks of clients.
//!
//! Other fields are checked by `rules::builtin`; `admission` calls the webhooks.

use http::Uri;
use serde_json::{Value, json};

use crate::field_error::{ErrorList as _, FieldError};
use crate::object::{Object, items, maps_in};

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
        let client = webhook.get_mut("clientConfig");
        if let Some(Value::Object(service)) = client.and_then(|client| client.get_mut("service")) {
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

/// Errors that concern several fields of a webhook, or what this server does not support.
pub(crate) fn webhook_errors(configuration: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (index, webhook) in items(configuration, &["webhooks"]).enumerate() {
        let path = format!("webhooks[{index}]");
        let at = |pointer: &str| webhook.pointer(pointer).filter(|value| !value.is_null());
        let is_empty = |list: &Value| list.as_array().is_none_or(Vec::is_empty);
        match (at("/clientConfig/url"), at("/clientConfig/service")) {
            (Some(url), None) => {
                if let Some(why) = url_fault(url.as_str().unwrap_or_default()) {
                    errors.invalid(format!("{path}.clientConfig.url"), url.clone(), &why);
                }
            }
            (None, Some(_)) => {}
            _ => {
                let why = "exactly one of url or service is required";
                errors.required(format!("{path}.clientConfig"), why);
            }
        }
        let versions = at("/admissionReviewVersions").and_then(Value::as_array);
        if versions.is_some_and(|v| !v.is_empty() && !v.contains(&json!("v1"))) {
            let field = format!("{path}.admissionReviewVersions");
            errors.invalid(field, versions.cloned(), "must include at least one of v1");
        }
        if at("/matchConditions").is_some_and(|list| !is_empty(list)) {
            let why =
                "this server evaluates no CEL expressions, and a condition must not be ignored";
            errors.forbidden(format!("{path}.matchConditions"), why);
        }
    }
    errors
}

fn url_fault(url: &str) -> Option<String> {
    const FORM: &str = "; desired format: https://host[/path]";
    let uri: Uri = match url.parse() {
        Ok(uri) => uri,
        Err(error) => return Some(format!("url must be a valid URL: {error}{FORM}")),
    };
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let why = if uri.scheme_str() != Some("https") {
        "'https' is the only allowed URL scheme"
    } else if uri.host().is_none_or(str::is_empty) {
        "host must be specified"
    } else if authority.contains('@') || uri.query().is_some() || url.contains('#') {
        "user information, query parameters and fragments are not permitted in the URL"
    } else {
        return None;
    };
    Some(format!("{why}{FORM}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn configuration(change: Value) -> Object {
        let mut webhook = json!({
            "name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://127.0.0.1:8443/validate"}, "rules": [{}],
        });
        json_patch::merge(&mut webhook, &change);
        object(json!({"webhooks": [webhook]}))
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
    fn clients_are_validated() {
        let client = |url: &str| json!({"clientConfig": {"url": url}});
        for (change, expected) in [
            (json!({}), ""),
            (client("https://[::1]:8443/a/b"), ""),
            (
                json!({"clientConfig": {"url": null}}),
                "clientConfig: Required value: exactly one of url or service is required",
            ),
            (
                json!({"clientConfig": {"service": {"name": "s", "namespace": "n"}}}),
                "clientConfig: Required value: exactly one of url or service is required",
            ),
            (
                client("http://a/b"),
                "clientConfig.url: Invalid value: \"http://a/b\": 'https' is",
            ),
            (
                client("https://a b"),
                "clientConfig.url: Invalid value: \"https://a b\": url must be",
            ),
            (
                client("https://u:p@a/b"),
                "clientConfig.url: Invalid value: \"https://u:p@a/b\": user",
            ),
            (client("https://a/b?c=d"), "clientConfig.url: Invalid value"),
            (client("https://a/b#c"), "clientConfig.url: Invalid value"),
            (
                json!({"admissionReviewVersions": ["v1beta1"]}),
                "admissionReviewVersions: Invalid value: [\"v1beta1\"]: must include at least one of v1",
            ),
            (
                json!({"matchConditions": [{"name": "x", "expression": "true"}]}),
                "matchConditions: Forbidden: this server evaluates no CEL",
            ),
        ] {
            let found = webhook_errors(&configuration(change));
            let found: Vec<String> = found
                .iter()
                .map(|e| format!("{}: {}", e.field, e.message))
                .collect();
            match expected {
                "" => assert_eq!(found, [""; 0]),
                expected => assert!(
                    found.len() == 1 && found[0].starts_with(&format!("webhooks[0].{expected}")),
                    "{found:?}"
                ),
            }
        }
    }
}
