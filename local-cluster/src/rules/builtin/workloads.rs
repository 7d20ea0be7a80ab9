//! Validation of workloads: the selector must match the template, and is immutable.

use serde_json::Value;

use super::{enum_error, pods, without_empty};
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;
use crate::object::{Object, at};

/// The mutable fields of a stateful set.
const CHANGEABLE: &[&str] = &[
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
];

pub(super) fn object_errors(plural: &str, object: &Object) -> Vec<FieldError> {
    let name = match plural {
        // Kubernetes' message has `deployment` for both.
        "deployments" | "replicasets" => "deployment",
        "statefulsets" => "statefulset",
        "daemonsets" => "daemonset",
        _ => return Vec::new(),
    };
    let mut errors = replicas_errors(object);
    let selector = at(object, &["spec", "selector"]).filter(|s| !s.is_null());
    match selector {
        None => errors.required("spec.selector", ""),
        Some(selector)
            if without_empty(selector)
                .as_object()
                .is_none_or(Object::is_empty) =>
        {
            let why = format!("empty selector is invalid for {name}");
            errors.invalid("spec.selector", selector.clone(), &why);
        }
        Some(selector) => errors.extend(template_error(object, selects(selector, labels(object)))),
    }
    errors.extend(template_errors(object));
    errors
}

pub(super) fn controller_errors(controller: &Object) -> Vec<FieldError> {
    let mut errors = replicas_errors(controller);
    let template = labels(controller);
    let selector = at(controller, &["spec", "selector"]).and_then(Value::as_object);
    let mut pairs = selector.into_iter().flatten();
    let fits = pairs.all(|(key, value)| template.and_then(|l| l.get(key)) == Some(value));
    errors.extend(template_error(controller, fits));
    errors.extend(template_errors(controller));
    errors
}

fn replicas_errors(object: &Object) -> Vec<FieldError> {
    let replicas = at(object, &["spec", "replicas"]);
    let negative = replicas.filter(|r| r.as_i64().is_some_and(|r| r < 0));
    let why = "must be greater than or equal to 0";
    let error = negative.map(|replicas| FieldError::invalid("spec.replicas", replicas, why));
    error.into_iter().collect()
}

fn labels(object: &Object) -> Option<&Object> {
    at(object, &["spec", "template", "metadata", "labels"])?.as_object()
}

fn template_error(object: &Object, fits: bool) -> Option<FieldError> {
    let labels = labels(object).cloned().map_or(Value::Null, Value::Object);
    (!fits).then(|| {
        FieldError::invalid(
            "spec.template.metadata.labels",
            &labels,
            "`selector` does not match template `labels`",
        )
    })
}

fn template_errors(object: &Object) -> Vec<FieldError> {
    let path = "spec.template.spec";
    let spec = at(object, &["spec", "template", "spec"]);
    let mut errors = pods::spec_errors(spec, path);
    errors.extend(spec.and_then(|spec| enum_error(spec, path, "restartPolicy", &["Always"])));
    errors
}

fn selects(selector: &Value, labels: Option<&Object>) -> bool {
    let label = |key: &str| labels.and_then(|labels| labels.get(key)?.as_str());
    let plain = selector.get("matchLabels").and_then(Value::as_object);
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    plain
        .into_iter()
        .flatten()
        .all(|(key, value)| label(key) == value.as_str())
        && expressions.into_iter().flatten().all(|expression| {
            let word = |key: &str| expression.get(key).and_then(Value::as_str);
            let values = expression.get("values").and_then(Value::as_array);
            let own = label(word("key").unwrap_or_default());
            let is_listed = values.is_some_and(|values| {
                values
                    .iter()
                    .any(|value| own.is_some() && value.as_str() == own)
            });
            match word("operator") {
                Some("In") => is_listed,
                Some("NotIn") => !is_listed,
                Some("Exists") => own.is_some(),
                Some("DoesNotExist") => own.is_none(),
                _ => true,
            }
        })
}

pub(super) fn change_errors(plural: &str, before: &Object, next: &Object) -> Vec<FieldError> {
    match plural {
        "deployments" | "replicasets" | "daemonsets" => {
            let selector = |o| at(o, &["spec", "selector"]).cloned().unwrap_or_default();
            let (old, new): (Value, Value) = (selector(before), selector(next));
            if without_empty(&old) == without_empty(&new) {
                return Vec::new();
            }
            vec![FieldError::invalid(
                "spec.selector",
                &new,
                "field is immutable",
            )]
        }
        "statefulsets" => {
            let fixed = |object| {
                let mut spec = without_empty(at(object, &["spec"]).unwrap_or(&Value::Null));
                if let Some(spec) = spec.as_object_mut() {
                    spec.retain(|key, _| !CHANGEABLE.contains(&key.as_str()));
                }
                spec
            };
            if fixed(before) == fixed(next) {
                return Vec::new();
            }
            vec![FieldError::forbidden(
                "spec",
                "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
            )]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::lines;
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn workload(change: Value) -> Object {
        let mut whole = json!({"spec": {
            "selector": {"matchLabels": {"app": "a"}}, "serviceName": "s",
            "template": {"metadata": {"labels": {"app": "a"}},
                         "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
        json_patch::merge(&mut whole, &json!({"spec": change}));
        object(whole)
    }

    #[test]
    fn templates_must_match_their_selector() {
        let errors = |change: Value| lines(&object_errors("deployments", &workload(change)));
        assert!(errors(json!({})).is_empty());
        for (change, expected) in [
            (json!({"selector": null}), "spec.selector: Required value"),
            (
                json!({"selector": {"matchLabels": null}}),
                "spec.selector: Invalid value: {}: empty selector is invalid for deployment",
            ),
            (
                json!({"template": {"metadata": {"labels": {"app": "b"}}}}),
                "spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: `selector` does not match template `labels`",
            ),
            (
                json!({"template": {"spec": {"containers": [{"name": "c"}]}}}),
                "spec.template.spec.containers[0].image: Required value",
            ),
            (
                json!({"template": {"spec": {"restartPolicy": "Never"}}}),
                "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"",
            ),
            (
                json!({"replicas": -1}),
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            ),
        ] {
            assert_eq!(errors(change), [expected]);
        }
    }

    #[test]
    fn selector_expressions_match() {
        let labels = object(json!({"app": "a"}));
        let selects = |operator: &str, key: &str, values: Value| {
            let expression = json!({"key": key, "operator": operator, "values": values});
            selects(&json!({"matchExpressions": [expression]}), Some(&labels))
        };
        assert!(selects("In", "app", json!(["a", "b"])) && !selects("In", "x", json!(["a"])));
        assert!(selects("NotIn", "app", json!(["b"])) && !selects("NotIn", "app", json!(["a"])));
        assert!(selects("Exists", "app", Value::Null) && selects("DoesNotExist", "x", Value::Null));
    }

    #[test]
    fn selectors_are_immutable() {
        let other = workload(json!({"selector": {"matchLabels": {"app": "b"}}}));
        assert_eq!(
            lines(&change_errors("deployments", &workload(json!({})), &other)),
            ["spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"b\"}}: field is immutable"]
        );
        let sets =
            |next: Value| change_errors("statefulsets", &workload(json!({})), &workload(next));
        assert!(sets(json!({"replicas": 3})).is_empty());
        let refused = lines(&sets(json!({"serviceName": "t"})));
        assert!(
            refused[0]
                .starts_with("spec: Forbidden: updates to statefulset spec for fields other than")
        );
    }
}
