//! Defaults of what controls pods: numbers, strategies, templates.

use serde_json::{Value, json};

use super::{or, pod_spec_defaults};
use crate::object::{Object, at, child, text, uid};

/// Fills in the defaults of a workload.
pub(super) fn workload_defaults(plural: &str, object: &mut Object) {
    match plural {
        "deployments" => {
            deployment(child(object, "spec"));
            template(child(object, "spec"));
        }
        "replicasets" => {
            or(child(object, "spec"), "replicas", json!(1));
            template(child(object, "spec"));
        }
        "replicationcontrollers" => replication_controller(object),
        "statefulsets" => {
            stateful_set(child(object, "spec"));
            template(child(object, "spec"));
        }
        "daemonsets" => {
            daemon_set(child(object, "spec"));
            template(child(object, "spec"));
        }
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
        // Clients write a time that there is not.
        meta.retain(|_, value| !value.is_null());
    }
    pod_spec_defaults(child(template, "spec"));
}

fn deployment(spec: &mut Object) {
    or(spec, "replicas", json!(1));
    or(spec, "revisionHistoryLimit", json!(10));
    or(spec, "progressDeadlineSeconds", json!(600));
    let strategy = child(spec, "strategy");
    or(strategy, "type", json!("RollingUpdate"));
    if text(strategy, &["type"]) == Some("RollingUpdate") {
        let rolling = child(strategy, "rollingUpdate");
        or(rolling, "maxUnavailable", json!("25%"));
        or(rolling, "maxSurge", json!("25%"));
    }
}

fn replication_controller(object: &mut Object) {
    let path = ["spec", "template", "metadata", "labels"];
    let labels = at(object, &path).cloned();
    let spec = child(object, "spec");
    or(spec, "replicas", json!(1));
    if let Some(labels) = labels {
        let none = at(spec, &["selector"]).and_then(Value::as_object);
        if none.is_none_or(Object::is_empty) {
            spec.insert("selector".to_owned(), labels);
        }
    }
    template(spec);
    labels_of_template(object);
}

/// An object without labels of its own bears those of its template.
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
    or(spec, "replicas", json!(1));
    or(spec, "revisionHistoryLimit", json!(10));
    or(spec, "podManagementPolicy", json!("OrderedReady"));
    let retention = child(spec, "persistentVolumeClaimRetentionPolicy");
    or(retention, "whenDeleted", json!("Retain"));
    or(retention, "whenScaled", json!("Retain"));
    let strategy = child(spec, "updateStrategy");
    or(strategy, "type", json!("RollingUpdate"));
    if text(strategy, &["type"]) == Some("RollingUpdate") {
        or(child(strategy, "rollingUpdate"), "partition", json!(0));
    }
}

fn daemon_set(spec: &mut Object) {
    or(spec, "revisionHistoryLimit", json!(10));
    let strategy = child(spec, "updateStrategy");
    or(strategy, "type", json!("RollingUpdate"));
    if text(strategy, &["type"]) == Some("RollingUpdate") {
        let rolling = child(strategy, "rollingUpdate");
        or(rolling, "maxUnavailable", json!(1));
        or(rolling, "maxSurge", json!(0));
    }
}

fn job(spec: &mut Object) {
    if spec.get("completions").is_none() && spec.get("parallelism").is_none() {
        or(spec, "completions", json!(1));
    }
    or(spec, "parallelism", json!(1));
    or(spec, "backoffLimit", json!(6));
    or(spec, "completionMode", json!("NonIndexed"));
    or(spec, "suspend", json!(false));
    or(spec, "manualSelector", json!(false));
    let policy = match spec.get("podFailurePolicy") {
        Some(policy) if !policy.is_null() => "Failed",
        _ => "TerminatingOrFailed",
    };
    or(spec, "podReplacementPolicy", json!(policy));
    template(spec);
}

/// A Job selects the pods that bear its uid, which its template gives them.
fn select_own(job: &mut Object) {
    let own = uid(job).to_owned();
    let name = crate::object::name(job).to_owned();
    let spec = child(job, "spec");
    if own.is_empty() || spec.get("manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let by_uid = "batch.kubernetes.io/controller-uid";
    let labels = child(child(child(spec, "template"), "metadata"), "labels");
    for (key, value) in [
        ("controller-uid", &own),
        (by_uid, &own),
        ("job-name", &name),
        ("batch.kubernetes.io/job-name", &name),
    ] {
        or(labels, key, json!(value));
    }
    let selector = child(child(spec, "selector"), "matchLabels");
    or(selector, by_uid, json!(own));
}

fn cron_job(spec: &mut Object) {
    or(spec, "concurrencyPolicy", json!("Allow"));
    or(spec, "suspend", json!(false));
    or(spec, "successfulJobsHistoryLimit", json!(3));
    or(spec, "failedJobsHistoryLimit", json!(1));
    if let Some(Value::Object(template)) = spec.get_mut("jobTemplate") {
        job(child(template, "spec"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;

    fn filled(plural: &str, spec: Value) -> Object {
        let meta = json!({"name": "web", "uid": "u"});
        let mut body = object(json!({"metadata": meta, "spec": spec}));
        workload_defaults(plural, &mut body);
        let once = body.clone();
        workload_defaults(plural, &mut body);
        assert_eq!(body, once, "what has its defaults stays as it is");
        body
    }

    fn template() -> Value {
        json!({
            "metadata": {"creationTimestamp": null, "labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i:1"}]},
        })
    }

    #[test]
    fn a_deployment_rolls_by_quarters() {
        let given = json!({"strategy": {}, "template": template()});
        let deployment = filled("deployments", given);
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
        // What admission gives pods is no part of their templates.
        assert!(pod.get("tolerations").is_none() && pod.get("priority").is_none());
        let recreate = filled("deployments", json!({"strategy": {"type": "Recreate"}}));
        assert_eq!(recreate["spec"]["strategy"], json!({"type": "Recreate"}));
    }

    #[test]
    fn a_job_selects_its_own_pods() {
        let job = filled("jobs", json!({"template": template()}));
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
        let queue = filled("jobs", json!({"parallelism": 3, "template": template()}));
        assert_eq!(queue["spec"].get("completions"), None);
        let manual = json!({"manualSelector": true, "selector": {"matchLabels": {"a": "b"}}, "template": template()});
        let manual = filled("jobs", manual);
        assert_eq!(
            manual["spec"]["selector"],
            json!({"matchLabels": {"a": "b"}})
        );
    }

    #[test]
    fn a_replication_controller_selects_what_its_template_makes() {
        let given = filled("replicationcontrollers", json!({"template": template()}));
        assert_eq!(given["spec"]["selector"], json!({"a": "b"}));
        assert_eq!(given["metadata"]["labels"], json!({"a": "b"}));
    }

    #[test]
    fn ordered_and_daemon_sets_roll_one_by_one() {
        let stateful = filled("statefulsets", json!({"template": template()}));
        assert_eq!(
            stateful["spec"]["updateStrategy"],
            json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
        );
        assert_eq!(stateful["spec"]["podManagementPolicy"], "OrderedReady");
        let daemon = filled("daemonsets", json!({"template": template()}));
        assert_eq!(
            daemon["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"],
            1
        );
        let cron = filled(
            "cronjobs",
            json!({"jobTemplate": {"spec": {"template": template()}}}),
        );
        assert_eq!(cron["spec"]["jobTemplate"]["spec"]["backoffLimit"], 6);
        assert_eq!(cron["spec"]["jobTemplate"]["spec"].get("selector"), None);
    }
}
