//! Jobs.

use local_cluster::{LocalClusterOptions, annotations};
use serde_json::{Value, json};

use super::*;
use crate::fixture::{cluster, quick};

const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";

fn brief() -> LocalClusterOptions {
    LocalClusterOptions {
        pod_run_time: std::time::Duration::from_millis(10),
        ..quick()
    }
}

fn job(name: &str, spec: Value) -> Value {
    let mut body = workload(name, spec);
    body["spec"].as_object_mut().unwrap().remove("selector");
    let pod = &mut body["spec"]["template"]["spec"];
    if pod.get("restartPolicy").is_none() {
        pod["restartPolicy"] = json!("Never");
    }
    body
}

#[tokio::test]
async fn a_job_runs_until_enough_succeeded() {
    let cluster = cluster(brief()).await;
    create(
        &cluster,
        JOBS,
        job("sum", json!({"completions": 5, "parallelism": 2})),
    )
    .await;
    let path = format!("{JOBS}/sum");
    let done = until(&cluster, &path, |j| {
        condition(j, "Complete")["status"] == "True"
    })
    .await;
    let status = &done["status"];
    assert_eq!(status["succeeded"], 5);
    assert_eq!([&status["ready"], &status["terminating"]], [0, 0]);
    assert_eq!((status.get("active"), status.get("failed")), (None, None));
    assert!(status["startTime"].is_string() && status["completionTime"].is_string());
    assert_eq!(condition(&done, "Complete")["reason"], "CompletionsReached");
    assert_eq!(condition(&done, "SuccessCriteriaMet")["status"], "True");
    let pods = pods(&cluster, "sum").await;
    assert!(pods.len() == 5 && pods.iter().all(|p| p["status"]["phase"] == "Succeeded"));
    let labels = &pods[0]["metadata"]["labels"];
    assert_eq!(labels["batch.kubernetes.io/job-name"], "sum");
    assert_eq!(
        labels["batch.kubernetes.io/controller-uid"],
        done["metadata"]["uid"]
    );
    call(
        &cluster,
        "DELETE",
        &format!("{path}?propagationPolicy=Background"),
        None,
    )
    .await;
    until_pods(&cluster, "sum", |pods| pods.is_empty()).await;
}

#[tokio::test]
async fn a_job_fails_after_its_backoff_limit() {
    let cluster = cluster(brief()).await;
    for (name, policy) in [("anew", "Never"), ("again", "OnFailure")] {
        let failing = json!({
            "backoffLimit": 1,
            "template": {
                "metadata": {"annotations": {annotations::EXIT_CODE: "1"}},
                "spec": {"restartPolicy": policy},
            },
        });
        create(&cluster, JOBS, job(name, failing)).await;
        let path = format!("{JOBS}/{name}");
        let failed = until(&cluster, &path, |j| {
            condition(j, "Failed")["status"] == "True"
        })
        .await;
        assert_eq!(
            condition(&failed, "Failed")["reason"],
            "BackoffLimitExceeded"
        );
        assert_eq!(
            condition(&failed, "FailureTarget")["message"],
            "Job has reached the specified backoff limit"
        );
        assert_eq!(failed["status"].get("completionTime"), None);
        assert_eq!(failed["status"].get("active"), None);
        let failures = if policy == "Never" { 2 } else { 1 };
        assert_eq!(failed["status"]["failed"], failures);
    }
    assert_eq!(pods(&cluster, "anew").await.len(), 2);
}

#[tokio::test]
async fn a_finished_job_is_deleted_after_its_ttl() {
    let cluster = cluster(brief()).await;
    create(
        &cluster,
        JOBS,
        job("brief", json!({"ttlSecondsAfterFinished": 0})),
    )
    .await;
    eventually("the job is gone", || async {
        get(&cluster, &format!("{JOBS}/brief"))
            .await
            .is_none()
            .then_some(())
    })
    .await;
    until_pods(&cluster, "brief", |pods| pods.is_empty()).await;
}

#[tokio::test]
async fn a_suspended_job_has_no_pods() {
    let cluster = cluster(brief()).await;
    create(&cluster, JOBS, job("later", json!({"suspend": true}))).await;
    let path = format!("{JOBS}/later");
    let waiting = until(&cluster, &path, |j| {
        condition(j, "Suspended")["status"] == "True"
    })
    .await;
    assert_eq!(waiting["status"].get("startTime"), None);
    assert!(pods(&cluster, "later").await.is_empty());
    patch(&cluster, &path, json!({"spec": {"suspend": false}})).await;
    let done = until(&cluster, &path, |j| {
        condition(j, "Complete")["status"] == "True"
    })
    .await;
    assert_eq!(condition(&done, "Suspended")["reason"], "JobResumed");
}
