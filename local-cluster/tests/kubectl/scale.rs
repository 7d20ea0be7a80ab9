//! `kubectl scale` and server-side apply.

use local_cluster::LocalCluster;
use serde_json::json;

use super::{Kubectl, is_installed, write};
use crate::fixture::quick;

#[tokio::test]
async fn kubectl_scales_and_applies_on_the_server() {
    if !is_installed().await {
        return;
    }
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let kubectl = Kubectl::of(&server);
    let home = &kubectl.home;
    let labels = json!({"app": "web"});
    let mut web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}}});
    write(&home.join("web.json"), web.to_string());
    web["spec"]["template"]["spec"]["containers"][0]["image"] = json!("nginx:2");
    write(&home.join("newer.json"), web.to_string());

    kubectl
        .prints(&["apply", "-f", "web.json"], "created")
        .await;
    // Fields that kubectl applied itself do not conflict.
    let apply = ["apply", "--server-side", "-f", "newer.json"];
    kubectl.prints(&apply, "serverside-applied").await;
    let scale = ["scale", "deployment", "web", "--replicas=3"];
    kubectl.prints(&scale, "scaled").await;
    let guarded = [
        "scale",
        "deployment",
        "web",
        "--replicas=4",
        "--current-replicas=2",
    ];
    kubectl
        .fails_with(&guarded, "Expected replicas to be 2, was 3")
        .await;
    kubectl
        .fails_with(
            &apply,
            "conflict with \"kubectl\" with subresource \"scale\" using apps/v1: .spec.replicas",
        )
        .await;
    let forced = [&apply[..], &["--force-conflicts"]].concat();
    kubectl.prints(&forced, "serverside-applied").await;
    let replicas = [
        "get",
        "deployment",
        "web",
        "-o",
        "jsonpath={.spec.replicas}",
    ];
    kubectl.prints(&replicas, "1").await;
    kubectl.end();
    server.shutdown().await;
}
