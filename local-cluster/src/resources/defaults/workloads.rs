//! Defaults of workloads.

use serde_json::{Value, json};

use super::{fill, pod_spec_defaults};
use crate::object::{Object, at, child, text, uid};

pub(super) fn workload_defaults(plural: &str, object: &mut Object) {
    match plural {
        "deployments" => deployment(child(object, "spec")),
        "replicasets" => {
            let spec = child(object, "spec");
            fill(spec, json!({"replicas": 1}));
            template(spec);
        }
        "replicationcontrollers" => replication_controller(object),
        "statefulsets" => stateful_set(child(object, "spec")),
        "daemonsets" => daemon_set(child(object, "spec")),
        "jobs" => {
            select_own(object);
            job(child(object, "spec"));
            labels_of_template(object);
        }
        "cronjobs" => cron_job(child(object, "spec")),
        _ => {}
    }
}

fn template(spec: &mut Object) {
    let Some(Value::Object(template)) = spec.get_mut("template") else {
        return;
    };
    if let Some(Value::Object(meta)) = template.get_mut("metadata") {
        // Typed clients send a null creation time.
        meta.retain(|_, value| !value.is_null());
    }
    pod_spec_defaults(child(template, "spec"));
}

fn is_rolling_update(strategy: &Object) -> bool {
    text(strategy, &["type"]) == Some("RollingUpdate")
}

fn deployment(spec: &mut Object) {
    fill(
        spec,
        json!({
            "replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            "strategy": {"type": "RollingUpdate"},
        }),
    );
    let strategy = child(spec, "strategy");
    if is_rolling_update(strategy) {
        let quarter = json!({"maxUnavailable": "25%", "maxSurge": "25%"});
        fill(strategy, json!({"rollingUpdate": quarter}));
    }
    template(spec);
}

fn replication_controller(object: &mut Object) {
    let path = ["spec", "template", "metadata", "labels"];
    let labels = at(object, &path).cloned();
    let spec = child(object, "spec");
    fill(spec, json!({"replicas": 1}));
    if let Some(labels) = labels {
        let none = at(spec, &["selector"]).and_then(Value::as_object);
        if none.is_none_or(Object::is_empty) {
            spec.insert("selector".to_owned(), labels);
        }
    }
    template(spec);
    labels_of_template(object);
}

/// Labels default to those of the template.
fn labels_of_template(object: &mut Object) {
    let path = ["spec", "template", "metadata", "labels"];
    let Some(labels) = at(object, &path).cloned() else {
        return;
    };
    let own = at(object, &["metadata", "labels"]).and_then(Value::as_object);
    if own.is_none_or(Object::is_empty) {
        child(object, "metadata").insert("labels".to_owned(), labels);
    }
}

fn stateful_set(spec: &mut Object) {
    fill(
        spec,
        json!({
            "replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady",
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
            "updateStrategy": {"type": "RollingUpdate"},
        }),
    );
    let strategy = child(spec, "updateStrategy");
    if is_rolling_update(strategy) {
        fill(strategy, json!({"rollingUpdate": {"partition": 0}}));
    }
    template(spec);
}

fn daemon_set(spec: &mut Object) {
    fill(
        spec,
        json!({"revisionHistoryLimit": 10, "updateStrategy": {"type": "RollingUpdate"}}),
    );
    let strategy = child(spec, "updateStrategy");
    if is_rolling_update(strategy) {
        let one_by_one = json!({"maxUnavailable": 1, "maxSurge": 0});
        fill(strategy, json!({"rollingUpdate": one_by_one}));
    }
    template(spec);
}

fn job(spec: &mut Object) {
    if spec.get("completions").is_none() && spec.get("parallelism").is_none() {
        fill(spec, json!({"completions": 1}));
    }
    let policy = match spec.get("podFailurePolicy") {
        Some(policy) if !policy.is_null() => "Failed",
        _ => "TerminatingOrFailed",
    };
    fill(
        spec,
        json!({
            "parallelism": 1, "backoffLimit": 6, "completionMode": "NonIndexed", "suspend": false,
            "manualSelector": false, "podReplacementPolicy": policy,
        }),
    );
    template(spec);
}

/// A generated selector matches the pods of this Job by its uid, a label of the template.
fn select_own(job: &mut Object) {
    let own = uid(job).to_owned();
    let name = crate::object::name(job).to_owned();
    let spec = child(job, "spec");
    if own.is_empty() || spec.get("manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let by_uid = "batch.kubernetes.io/controller-uid";
    let labels = json!({
        "controller-uid": own, by_uid: own,
        "job-name": name, "batch.kubernetes.io/job-name": name,
    });
    fill(
        spec,
        json!({
            "template": {"metadata": {"labels": labels}},
            "selector": {"matchLabels": {by_uid: own}},
        }),
    );
}

fn cron_job(spec: &mut Object) {
    fill(
        spec,
        json!({
            "concurrencyPolicy": "Allow", "suspend": false,
            "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1,
        }),
    );
    if let Some(Value::Object(template)) = spec.get_mut("jobTemplate") {
        job(child(template, "spec"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn with_defaults(plural: &str, spec: Value) -> Object {
        let meta = json!({"name": "web", "uid": "u"});
        let mut body = object(json!({"metadata": meta, "spec": spec}));
        workload_defaults(plural, &mut body);
        let once = body.clone();
        workload_defaults(plural, &mut body);
        assert_eq!(body, once, "defaulting is idempotent");
        body
    }

    fn template() -> Value {
        json!({
            "metadata": {"creationTimestamp": null, "labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i:1"}]},
        })
    }

    #[test]
    fn a_deployment_rolls_out_by_quarters() {
        let given = json!({"strategy": {}, "template": template()});
        let deployment = with_defaults("deployments", given);
        let spec = &deployment["spec"];
        assert_eq!(spec["replicas"], 1);
        assert_eq!(
            spec["strategy"],
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}})
        );
        assert_eq!(spec["template"]["metadata"], json!({"labels": {"a": "b"}}));
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["restartPolicy"], "Always");
        assert_eq!(pod["containers"][0]["imagePullPolicy"], "IfNotPresent");
        // Admission sets these on pods, and not in templates.
        assert!(pod.get("tolerations").is_none() && pod.get("priority").is_none());
        let recreate = with_defaults("deployments", json!({"strategy": {"type": "Recreate"}}));
        assert_eq!(recreate["spec"]["strategy"], json!({"type": "Recreate"}));
    }

    #[test]
    fn a_job_selects_its_own_pods() {
        let job = with_defaults("jobs", json!({"template": template()}));
        let spec = &job["spec"];
        assert_eq!(
            [
                &spec["completions"],
                &spec["parallelism"],
                &spec["backoffLimit"]
            ],
            [1, 1, 6]
        );
        assert_eq!(
            spec["selector"],
            json!({"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}})
        );
        assert_eq!(spec["template"]["metadata"]["labels"]["job-name"], "web");
        assert_eq!(
            job["metadata"]["labels"],
            spec["template"]["metadata"]["labels"]
        );
        let queue = with_defaults("jobs", json!({"parallelism": 3, "template": template()}));
        assert_eq!(queue["spec"].get("completions"), None);
        let manual = json!({"manualSelector": true, "selector": {"matchLabels": {"a": "b"}}, "template": template()});
        let manual = with_defaults("jobs", manual);
        assert_eq!(
            manual["spec"]["selector"],
            json!({"matchLabels": {"a": "b"}})
        );
    }

    #[test]
    fn a_replication_controller_selects_the_labels_of_its_template() {
        let given = with_defaults("replicationcontrollers", json!({"template": template()}));
        assert_eq!(given["spec"]["selector"], json!({"a": "b"}));
        assert_eq!(given["metadata"]["labels"], json!({"a": "b"}));
    }

    #[test]
    fn stateful_and_daemon_sets_roll_out_one_by_one() {
        let stateful = with_defaults("statefulsets", json!({"template": template()}));
        assert_eq!(
            stateful["spec"]["updateStrategy"],
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
        );
        assert_eq!(stateful["spec"]["podManagementPolicy"], "OrderedReady");
        let daemon = with_defaults("daemonsets", json!({"template": template()}));
        assert_eq!(
            daemon["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"],
            1
        );
        let cron = with_defaults(
            "cronjobs",
            json!({"jobTemplate": {"spec": {"template": template()}}}),
        );
        assert_eq!(cron["spec"]["jobTemplate"]["spec"]["backoffLimit"], 6);
        assert_eq!(cron["spec"]["jobTemplate"]["spec"].get("selector"), None);
    }
}
