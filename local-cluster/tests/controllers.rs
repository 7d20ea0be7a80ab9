//! The controllers of a cluster.

use std::collections::HashSet;
use std::time::Duration;

use local_cluster::{LocalCluster, LocalClusterOptions};
use serde_json::{Value, json};

use crate::fixture::{WIDGETS, call, cluster, eventually, quick, widget, widget_crd};

const PODS: &str = "/api/v1/namespaces/default/pods";

async fn get(cluster: &LocalCluster, path: &str) -> Option<Value> {
    let (status, body) = call(cluster, "GET", path, None).await;
    (status == 200).then_some(body)
}

async fn until_gone(cluster: &LocalCluster, path: &str) {
    eventually(path, || async {
        get(cluster, path).await.is_none().then_some(())
    })
    .await;
}

async fn until_running(cluster: &LocalCluster, name: &str) -> Value {
    let path = format!("{PODS}/{name}");
    eventually(name, || async {
        let pod = get(cluster, &path).await?;
        (pod["status"]["phase"] == "Running").then_some(pod)
    })
    .await
}

async fn create_pod(cluster: &LocalCluster, name: &str) {
    let pod =
        json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    assert_eq!(call(cluster, "POST", PODS, Some(pod)).await.0, 201);
}

#[tokio::test]
async fn pods_run_on_nodes_with_their_own_addresses() {
    let cluster = cluster(quick()).await;
    let (mut addresses, mut nodes) = (HashSet::new(), HashSet::new());
    for number in 0..10 {
        create_pod(&cluster, &format!("p{number}")).await;
    }
    for number in 0..10 {
        let pod = until_running(&cluster, &format!("p{number}")).await;
        addresses.insert(pod["status"]["podIP"].to_string());
        nodes.insert(pod["spec"]["nodeName"].to_string());
        assert_eq!(pod["status"]["containerStatuses"][0]["ready"], true);
    }
    assert_eq!((addresses.len(), nodes.len()), (10, 2));
}

#[tokio::test]
async fn a_status_that_a_client_wrote_stays() {
    let cluster = cluster(quick()).await;
    create_pod(&cluster, "p").await;
    let pod = until_running(&cluster, "p").await;
    let unready = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
    call(
        &cluster,
        "PATCH",
        &format!("{PODS}/p/status"),
        Some(unready),
    )
    .await;
    // The kubelet has seen that change when it has started a later pod.
    create_pod(&cluster, "q").await;
    until_running(&cluster, "q").await;
    let after = get(&cluster, &format!("{PODS}/p")).await.unwrap();
    assert_eq!(after["status"]["conditions"][0]["status"], "False");
    assert_eq!(after["status"]["podIP"], pod["status"]["podIP"]);
}

#[tokio::test]
async fn a_deleted_pod_terminates_first() {
    let cluster = cluster(LocalClusterOptions {
        pod_termination_delay: Duration::from_secs(3600),
        ..quick()
    })
    .await;
    for name in ["slow", "quick"] {
        create_pod(&cluster, name).await;
        until_running(&cluster, name).await;
    }
    let slow = format!("{PODS}/slow");
    let (_, deleting) = call(&cluster, "DELETE", &slow, None).await;
    assert_eq!(deleting["metadata"]["deletionGracePeriodSeconds"], 30);
    assert!(get(&cluster, &slow).await.is_some());
    let now = format!("{PODS}/quick?gracePeriodSeconds=0");
    assert_eq!(call(&cluster, "DELETE", &now, None).await.0, 200);
    assert!(get(&cluster, &format!("{PODS}/quick")).await.is_none());
    // The delay is at most the grace period.
    let hurried = format!("{slow}?gracePeriodSeconds=1");
    assert_eq!(call(&cluster, "DELETE", &hurried, None).await.0, 200);
    until_gone(&cluster, &slow).await;
}

#[tokio::test]
async fn a_pod_waits_for_a_node() {
    let cluster = cluster(LocalClusterOptions {
        nodes: Vec::new(),
        ..quick()
    })
    .await;
    create_pod(&cluster, "p").await;
    let node = json!({"metadata": {"name": "n"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    assert_eq!(
        call(&cluster, "POST", "/api/v1/nodes", Some(node)).await.0,
        201
    );
    assert_eq!(until_running(&cluster, "p").await["spec"]["nodeName"], "n");
}

async fn owned_by(cluster: &LocalCluster, name: &str, owner: &Value, blocks: bool) {
    let mut body = widget(name);
    body["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "example.com/v1", "kind": "Widget", "blockOwnerDeletion": blocks,
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
    }]);
    assert_eq!(call(cluster, "POST", WIDGETS, Some(body)).await.0, 201);
}

#[tokio::test]
async fn dependents_are_deleted_with_their_owner() {
    let cluster = cluster(quick()).await;
    for policy in ["Background", "Foreground"] {
        let (_, owner) = call(&cluster, "POST", WIDGETS, Some(widget("owner"))).await;
        owned_by(&cluster, "child", &owner, true).await;
        let (_, child) = call(&cluster, "GET", &format!("{WIDGETS}/child"), None).await;
        owned_by(&cluster, "grandchild", &child, true).await;
        let path = format!("{WIDGETS}/owner");
        let options = json!({"propagationPolicy": policy});
        let (status, response) = call(&cluster, "DELETE", &path, Some(options)).await;
        assert_eq!(status, 200);
        if policy == "Foreground" {
            assert_eq!(
                response["metadata"]["finalizers"],
                json!(["foregroundDeletion"])
            );
        }
        for name in ["owner", "child", "grandchild"] {
            until_gone(&cluster, &format!("{WIDGETS}/{name}")).await;
        }
    }
}

#[tokio::test]
async fn orphans_stay() {
    let cluster = cluster(quick()).await;
    let (_, owner) = call(&cluster, "POST", WIDGETS, Some(widget("owner"))).await;
    owned_by(&cluster, "child", &owner, true).await;
    let path = format!("{WIDGETS}/owner?propagationPolicy=Orphan");
    call(&cluster, "DELETE", &path, None).await;
    until_gone(&cluster, &format!("{WIDGETS}/owner")).await;
    let child = get(&cluster, &format!("{WIDGETS}/child")).await.unwrap();
    assert_eq!(child["metadata"]["ownerReferences"], Value::Null);
}

#[tokio::test]
async fn a_namespace_is_removed_after_its_content() {
    let cluster = cluster(quick()).await;
    let namespace = json!({"metadata": {"name": "team"}});
    assert_eq!(
        call(&cluster, "POST", "/api/v1/namespaces", Some(namespace))
            .await
            .0,
        201
    );
    let widgets = "/apis/example.com/v1/namespaces/team/widgets";
    let mut held = widget("a");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    assert_eq!(call(&cluster, "POST", widgets, Some(held)).await.0, 201);
    let (_, ending) = call(&cluster, "DELETE", "/api/v1/namespaces/team", None).await;
    assert_eq!(ending["status"]["phase"], "Terminating");
    let one = format!("{widgets}/a");
    eventually("the content is being deleted", || async {
        let widget = get(&cluster, &one).await?;
        widget["metadata"]["deletionTimestamp"]
            .is_string()
            .then_some(())
    })
    .await;
    let (status, rejected) = call(&cluster, "POST", widgets, Some(widget("b"))).await;
    assert_eq!(
        (
            status.as_u16(),
            rejected["details"]["causes"][0]["reason"].as_str()
        ),
        (403, Some("NamespaceTerminating"))
    );
    call(
        &cluster,
        "PATCH",
        &one,
        Some(json!({"metadata": {"finalizers": null}})),
    )
    .await;
    until_gone(&cluster, "/api/v1/namespaces/team").await;
}

#[tokio::test]
async fn custom_resources_are_deleted_with_their_definition() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com";
    let crd = get(&cluster, path).await.unwrap();
    assert_eq!(crd["status"]["conditions"][1]["type"], "Established");
    call(&cluster, "DELETE", path, None).await;
    until_gone(&cluster, path).await;
    until_gone(&cluster, WIDGETS).await;
}

#[tokio::test]
async fn without_controllers_only_clients_write() {
    let options = LocalClusterOptions {
        run_controllers: false,
        ..quick()
    };
    // Its custom resources are served.
    let cluster = cluster(options).await;
    let deployment = json!({"metadata": {"name": "web"}, "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }});
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let (_, created) = call(&cluster, "POST", deployments, Some(deployment)).await;
    create_pod(&cluster, "p").await;
    call(&cluster, "POST", WIDGETS, Some(widget("owner"))).await;
    call(
        &cluster,
        "DELETE",
        &format!("{WIDGETS}/owner?propagationPolicy=Foreground"),
        None,
    )
    .await;
    // The controllers would see a definition after all these.
    let mut crd = widget_crd();
    crd["metadata"]["name"] = json!("later.example.com");
    crd["spec"]["names"] = json!({"kind": "Later", "plural": "later"});
    let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    call(&cluster, "POST", crds, Some(crd)).await;
    let served = || get(&cluster, "/apis/example.com/v1/later");
    eventually("the definition is served", served).await;
    let deployment = get(&cluster, &format!("{deployments}/web")).await.unwrap();
    assert_eq!(
        deployment["metadata"]["resourceVersion"],
        created["metadata"]["resourceVersion"]
    );
    let sets = get(&cluster, "/apis/apps/v1/replicasets").await.unwrap();
    assert_eq!(sets["items"], json!([]));
    let pod = get(&cluster, &format!("{PODS}/p")).await.unwrap();
    assert_eq!(
        (&pod["status"]["phase"], &pod["spec"]["nodeName"]),
        (&json!("Pending"), &Value::Null)
    );
    let owner = get(&cluster, &format!("{WIDGETS}/owner")).await.unwrap();
    assert_eq!(
        owner["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
}
