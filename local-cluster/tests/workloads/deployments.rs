//! Deployments and ReplicaSets.

use local_cluster::annotations;
use serde_json::{Value, json};

use super::*;
use crate::fixture::{cluster, quick};

const REVISION: &str = "deployment.kubernetes.io/revision";

fn is_done(deployment: &Value, replicas: u64, generation: u64) -> bool {
    let status = &deployment["status"];
    status["observedGeneration"] == generation
        && [
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
        ]
        .iter()
        .all(|key| status[key] == replicas)
        && condition(deployment, "Progressing")["reason"] == "NewReplicaSetAvailable"
}

#[tokio::test]
async fn a_deployment_has_its_pods() {
    let cluster = cluster(quick()).await;
    let path = format!("{}/web", apps("deployments"));
    create(
        &cluster,
        &apps("deployments"),
        workload("web", json!({"replicas": 3})),
    )
    .await;
    let done = until(&cluster, &path, |d| is_done(d, 3, 1)).await;
    assert_eq!(done["metadata"]["annotations"][REVISION], "1");
    assert_eq!(
        condition(&done, "Available")["reason"],
        "MinimumReplicasAvailable"
    );
    assert_eq!(done["status"]["terminatingReplicas"], 0);
    let sets = list(&cluster, &apps("replicasets")).await;
    assert_eq!(sets.len(), 1);
    let hash = sets[0]["metadata"]["labels"]["pod-template-hash"]
        .as_str()
        .unwrap();
    assert_eq!(sets[0]["metadata"]["name"], format!("web-{hash}"));
    let status = &sets[0]["status"];
    assert_eq!(status["fullyLabeledReplicas"], 3);
    assert_eq!(
        status["observedGeneration"],
        sets[0]["metadata"]["generation"]
    );
    let pods = pods(&cluster, "web").await;
    for pod in &pods {
        let name = pod["metadata"]["name"].as_str().unwrap();
        assert!(name.starts_with(&format!("web-{hash}-")));
        assert_eq!(pod["metadata"]["labels"]["pod-template-hash"], hash);
        let owner = &pod["metadata"]["ownerReferences"][0];
        assert_eq!(owner["controller"], true);
        assert_eq!(owner["uid"], sets[0]["metadata"]["uid"]);
    }
    // A deleted pod is replaced.
    call(
        &cluster,
        "DELETE",
        &format!("{PODS}/{}", names(&pods)[0]),
        None,
    )
    .await;
    until_pods(&cluster, "web", |now| {
        now.iter().filter(|p| is_ready(p)).count() == 3 && !names(now).contains(&names(&pods)[0])
    })
    .await;
    patch(&cluster, &path, json!({"spec": {"replicas": 1}})).await;
    until(&cluster, &path, |d| is_done(d, 1, 2)).await;
    until_pods(&cluster, "web", |pods| pods.len() == 1).await;
    // A new size is no new revision.
    assert_eq!(list(&cluster, &apps("replicasets")).await.len(), 1);
    call(&cluster, "DELETE", &path, None).await;
    until_pods(&cluster, "web", |pods| pods.is_empty()).await;
    assert!(list(&cluster, &apps("replicasets")).await.is_empty());
}

#[tokio::test]
async fn a_rollout_keeps_to_surge_and_unavailable() {
    let cluster = cluster(quick()).await;
    let path = format!("{}/web", apps("deployments"));
    let strategy = json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
    let spec = json!({"replicas": 3, "strategy": strategy});
    create(&cluster, &apps("deployments"), workload("web", spec)).await;
    until(&cluster, &path, |d| is_done(d, 3, 1)).await;
    // A revision that never becomes ready stops with one new pod and all old ones.
    let mut broken = image("i:2");
    broken["spec"]["template"]["metadata"]["annotations"] = json!({annotations::READY: "false"});
    patch(&cluster, &path, broken).await;
    until_pods(&cluster, "web", |pods| {
        pods.len() == 4 && pods.iter().filter(|p| is_ready(p)).count() == 3
    })
    .await;
    let stuck = until(&cluster, &path, |d| d["status"]["updatedReplicas"] == 1).await;
    assert_eq!(stuck["status"]["unavailableReplicas"], 1);
    assert_eq!(condition(&stuck, "Available")["status"], "True");
    assert_eq!(stuck["metadata"]["annotations"][REVISION], "2");
    // A rollback to the first revision is the third one.
    let mut back = image("i:1");
    back["spec"]["template"]["metadata"]["annotations"] = Value::Null;
    patch(&cluster, &path, back).await;
    let done = until(&cluster, &path, |d| is_done(d, 3, 3)).await;
    assert_eq!(done["metadata"]["annotations"][REVISION], "3");
    assert_eq!(list(&cluster, &apps("replicasets")).await.len(), 2);
}

#[tokio::test]
async fn old_revisions_are_deleted() {
    let cluster = cluster(quick()).await;
    let path = format!("{}/web", apps("deployments"));
    let spec = json!({"replicas": 1, "revisionHistoryLimit": 1});
    create(&cluster, &apps("deployments"), workload("web", spec)).await;
    for generation in 1..=4 {
        until(&cluster, &path, |d| is_done(d, 1, generation)).await;
        patch(&cluster, &path, image(&format!("i:{}", generation + 1))).await;
    }
    until(&cluster, &path, |d| is_done(d, 1, 5)).await;
    eventually("the current and one old version", || async {
        (list(&cluster, &apps("replicasets")).await.len() == 2).then_some(())
    })
    .await;
}

#[tokio::test]
async fn with_recreate_old_and_new_pods_do_not_overlap() {
    let cluster = cluster(quick()).await;
    let path = format!("{}/web", apps("deployments"));
    let spec = json!({"replicas": 2, "strategy": {"type": "Recreate"}});
    create(&cluster, &apps("deployments"), workload("web", spec)).await;
    until(&cluster, &path, |d| is_done(d, 2, 1)).await;
    let old = pods(&cluster, "web").await;
    let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    let held = format!("{PODS}/{}", names(&old)[0]);
    patch(&cluster, &held, hold).await;
    patch(&cluster, &path, image("i:2")).await;
    until_pods(&cluster, "web", |pods| pods.len() == 1).await;
    let waiting = until(&cluster, &path, |d| d["status"]["observedGeneration"] == 2).await;
    assert_eq!(waiting["status"].get("updatedReplicas"), None);
    patch(&cluster, &held, json!({"metadata": {"finalizers": null}})).await;
    until(&cluster, &path, |d| is_done(d, 2, 2)).await;
}

#[tokio::test]
async fn a_paused_deployment_scales_but_does_not_roll() {
    let cluster = cluster(quick()).await;
    let path = format!("{}/web", apps("deployments"));
    create(
        &cluster,
        &apps("deployments"),
        workload("web", json!({"replicas": 1})),
    )
    .await;
    until(&cluster, &path, |d| is_done(d, 1, 1)).await;
    let mut paused = image("i:2");
    paused["spec"]["paused"] = json!(true);
    patch(&cluster, &path, paused).await;
    until(&cluster, &path, |d| {
        condition(d, "Progressing")["reason"] == "DeploymentPaused"
    })
    .await;
    patch(&cluster, &path, json!({"spec": {"replicas": 2}})).await;
    until(&cluster, &path, |d| d["status"]["readyReplicas"] == 2).await;
    assert_eq!(list(&cluster, &apps("replicasets")).await.len(), 1);
    patch(&cluster, &path, json!({"spec": {"paused": false}})).await;
    until(&cluster, &path, |d| is_done(d, 2, 4)).await;
    assert_eq!(list(&cluster, &apps("replicasets")).await.len(), 2);
}

#[tokio::test]
async fn a_rollout_without_progress_times_out() {
    let cluster = cluster(quick()).await;
    let path = format!("{}/web", apps("deployments"));
    let mut stuck = workload("web", json!({"progressDeadlineSeconds": 1}));
    stuck["spec"]["template"]["metadata"]["annotations"] = json!({annotations::READY: "false"});
    create(&cluster, &apps("deployments"), stuck).await;
    let late = until(&cluster, &path, |d| {
        condition(d, "Progressing")["reason"] == "ProgressDeadlineExceeded"
    })
    .await;
    assert_eq!(condition(&late, "Progressing")["status"], "False");
    assert_eq!(
        condition(&late, "Available")["reason"],
        "MinimumReplicasUnavailable"
    );
}

#[tokio::test]
async fn a_replica_set_adopts_and_releases_pods() {
    let cluster = cluster(quick()).await;
    let lone = json!({"metadata": {"name": "lone", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    create(&cluster, PODS, lone).await;
    let path = format!("{}/web", apps("replicasets"));
    let set = create(
        &cluster,
        &apps("replicasets"),
        workload("web", json!({"replicas": 2})),
    )
    .await;
    let pods = until_pods(&cluster, "web", |pods| {
        pods.len() == 2
            && pods
                .iter()
                .all(|p| p["metadata"]["ownerReferences"].is_array())
    })
    .await;
    assert!(names(&pods).contains(&"lone"));
    until(&cluster, &path, |set| set["status"]["readyReplicas"] == 2).await;
    // A pod that is no longer selected is released and replaced.
    let lone = format!("{PODS}/lone");
    patch(
        &cluster,
        &lone,
        json!({"metadata": {"labels": {"app": "other"}}}),
    )
    .await;
    until(&cluster, &lone, |pod| {
        pod["metadata"]["ownerReferences"].is_null()
    })
    .await;
    until_pods(&cluster, "web", |pods| pods.len() == 2).await;
    // Orphaned pods are adopted by the next ReplicaSet.
    call(
        &cluster,
        "DELETE",
        &format!("{path}?propagationPolicy=Orphan"),
        None,
    )
    .await;
    until_pods(&cluster, "web", |pods| {
        pods.len() == 2
            && pods
                .iter()
                .all(|p| p["metadata"]["ownerReferences"].is_null())
    })
    .await;
    let next = create(
        &cluster,
        &apps("replicasets"),
        workload("web", json!({"replicas": 2})),
    )
    .await;
    assert_ne!(next["metadata"]["uid"], set["metadata"]["uid"]);
    until_pods(&cluster, "web", |pods| {
        let owner = |p: &Value| p["metadata"]["ownerReferences"][0]["uid"].clone();
        pods.len() == 2 && pods.iter().all(|p| owner(p) == next["metadata"]["uid"])
    })
    .await;
}

#[tokio::test]
async fn pods_that_cannot_be_created_are_reported() {
    let cluster = cluster(quick()).await;
    let path = format!("{}/web", apps("replicasets"));
    let huge = workload("web", json!({"replicas": 2_000_000_000}));
    let mut few = workload("few", json!({}));
    few["spec"]["template"]["spec"]["containers"][0]["image"] = json!("i");
    create(&cluster, &apps("replicasets"), huge).await;
    // Other workloads are reconciled meanwhile.
    create(&cluster, &apps("replicasets"), few).await;
    until_pods(&cluster, "few", |pods| pods.len() == 1).await;
    let set = until(&cluster, &path, |set| {
        condition(set, "ReplicaFailure")["reason"] == "FailedCreate"
    })
    .await;
    assert_eq!(
        condition(&set, "ReplicaFailure")["message"],
        "at most 10000 pods are created"
    );
    call(&cluster, "DELETE", &path, None).await;
}

#[tokio::test]
async fn pods_are_available_after_min_ready_seconds() {
    let cluster = cluster(quick()).await;
    let path = format!("{}/web", apps("deployments"));
    let spec = json!({"replicas": 1, "minReadySeconds": 3600});
    create(&cluster, &apps("deployments"), workload("web", spec)).await;
    let ready = until(&cluster, &path, |d| d["status"]["readyReplicas"] == 1).await;
    assert_eq!(ready["status"].get("availableReplicas"), None);
    // Most of these seconds are still to come.
    patch(&cluster, &path, json!({"spec": {"minReadySeconds": 2}})).await;
    until(&cluster, &path, |d| is_done(d, 1, 2)).await;
}

#[tokio::test]
async fn workloads_are_deleted_with_their_namespace() {
    let cluster = cluster(quick()).await;
    create(
        &cluster,
        "/api/v1/namespaces",
        json!({"metadata": {"name": "team"}}),
    )
    .await;
    let path = "/apis/apps/v1/namespaces/team/deployments";
    create(&cluster, path, workload("web", json!({"replicas": 3}))).await;
    until(&cluster, &format!("{path}/web"), |d| {
        d["status"]["readyReplicas"] == 3
    })
    .await;
    let service = json!({"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 1}]}});
    create(&cluster, "/api/v1/namespaces/team/services", service).await;
    call(&cluster, "DELETE", "/api/v1/namespaces/team", None).await;
    eventually("the namespace is gone", || async {
        get(&cluster, "/api/v1/namespaces/team")
            .await
            .is_none()
            .then_some(())
    })
    .await;
    assert!(list(&cluster, "/api/v1/pods").await.is_empty());
}
