//! Validation of pods and pod templates.

use std::collections::HashSet;

use serde_json::Value;

use super::containers::{self, name_errors};
use super::{enum_error, items, word};
use crate::error_list::ErrorList as _;
use crate::field_error::FieldError;

/// Validates the pod spec at `path`.
pub(super) fn spec_errors(spec: Option<&Value>, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut volumes = HashSet::new();
    for (index, volume) in items(spec, "volumes").iter().enumerate() {
        let name = word(volume, "name");
        let field = format!("{path}.volumes[{index}].name");
        errors.extend(name_errors(field, name, !volumes.insert(name)));
    }
    let all = items(spec, "containers");
    if all.is_empty() {
        errors.required(format!("{path}.containers"), "");
    }
    let mut seen = HashSet::new();
    for (list, field) in [
        (all, "containers"),
        (items(spec, "initContainers"), "initContainers"),
    ] {
        let path = format!("{path}.{field}");
        errors.extend(containers::errors(list, &path, &volumes, &mut seen));
    }
    let Some(spec) = spec else { return errors };
    for (field, choices) in [
        ("restartPolicy", &["Always", "OnFailure", "Never"][..]),
        (
            "dnsPolicy",
            &["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"],
        ),
    ] {
        errors.extend(enum_error(spec, path, field, choices));
    }
    if let Some(seconds) = spec.get("activeDeadlineSeconds").filter(|s| !s.is_null())
        && !seconds
            .as_i64()
            .is_some_and(|s| (1..=i64::from(i32::MAX)).contains(&s))
    {
        errors.invalid(
            format!("{path}.activeDeadlineSeconds"),
            seconds.clone(),
            "must be between 1 and 2147483647, inclusive",
        );
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::super::tests::lines;
    use super::*;
    use serde_json::json;

    fn errors(change: Value) -> Vec<String> {
        let mut spec = json!({"containers": [{"name": "c", "image": "i"}]});
        json_patch::merge(&mut spec, &change);
        lines(&spec_errors(Some(&spec), "spec"))
    }

    #[test]
    fn pod_specs_are_validated() {
        assert!(errors(json!({})).is_empty());
        for (change, expected) in [
            (
                json!({"containers": null}),
                "spec.containers: Required value",
            ),
            (
                json!({"containers": [{"image": "i"}]}),
                "spec.containers[0].name: Required value",
            ),
            (
                json!({"containers": [{"name": "c"}]}),
                "spec.containers[0].image: Required value",
            ),
            (
                json!({"containers": [{"name": "C", "image": "i"}]}),
                "spec.containers[0].name: Invalid value: \"C\": a lowercase RFC 1123 label must",
            ),
            (
                json!({"initContainers": [{"name": "c", "image": "i"}]}),
                "spec.initContainers[0].name: Duplicate value: \"c\"",
            ),
            (
                json!({"containers": [{"name": "c", "image": "i", "ports": [{}]}]}),
                "spec.containers[0].ports[0].containerPort: Required value",
            ),
            (
                json!({"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 70000}]}]}),
                "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
            ),
            (
                json!({"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]}]}),
                "spec.containers[0].ports[1].name: Duplicate value: \"a\"",
            ),
            (
                json!({"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 1, "name": "80"}]}]}),
                "spec.containers[0].ports[0].name: Invalid value: \"80\": must contain at least one letter (a-z)",
            ),
            (
                json!({"containers": [{"name": "c", "image": "i", "env": [{"value": "x"}]}]}),
                "spec.containers[0].env[0].name: Required value",
            ),
            (
                json!({"containers": [{"name": "c", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}),
                "spec.containers[0].volumeMounts[0].name: Not found: \"v\"",
            ),
            (
                json!({"containers": [{"name": "c", "image": "i", "imagePullPolicy": "Often"}]}),
                "spec.containers[0].imagePullPolicy: Unsupported value: \"Often\": supported values: \"Always\", \"IfNotPresent\", \"Never\"",
            ),
            (
                json!({"restartPolicy": "Sometimes"}),
                "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"OnFailure\", \"Never\"",
            ),
            (
                json!({"volumes": [{"emptyDir": {}}]}),
                "spec.volumes[0].name: Required value",
            ),
            (
                json!({"activeDeadlineSeconds": 0}),
                "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
            ),
        ] {
            let found = errors(change);
            assert!(
                found.len() == 1 && found[0].starts_with(expected),
                "{found:?}"
            );
        }
    }
}
