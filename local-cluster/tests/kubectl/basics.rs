//! Common kubectl commands.

use std::process::Stdio;

use local_cluster::LocalCluster;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::{Kubectl, is_installed, write};
use crate::fixture::{DEADLINE, quick, widget, widget_crd};

#[tokio::test]
async fn kubectl_works() {
    if !is_installed().await {
        return;
    }
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let kubectl = Kubectl::of(&server);
    let home = kubectl.home.clone();
    write(&home.join("crd.json"), widget_crd().to_string());
    let mut one = widget("one");
    write(&home.join("one.json"), one.to_string());
    one["spec"]["size"] = 7.into();
    write(&home.join("bigger.json"), one.to_string());
    one["spec"]["colr"] = "x".into();
    write(&home.join("odd.json"), one.to_string());
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - {name: c, image: nginx}\n";
    write(&home.join("pod.yaml"), pod);
    write(
        &home.join("pod2.yaml"),
        pod.replace("{name: web}", "{name: web, labels: {a: b}}"),
    );

    kubectl
        .prints(&["apply", "-f", "crd.json"], "widgets.example.com created")
        .await;
    kubectl
        .prints(
            &[
                "wait",
                "--for=condition=Established",
                "crd/widgets.example.com",
                "--timeout=5s",
            ],
            "condition met",
        )
        .await;
    kubectl
        .prints(
            &["apply", "-f", "one.json"],
            "widget.example.com/one created",
        )
        .await;
    kubectl
        .prints(&["apply", "-f", "one.json"], "unchanged")
        .await;
    kubectl
        .prints(&["apply", "-f", "bigger.json"], "configured")
        .await;
    kubectl
        .fails_with(&["apply", "-f", "odd.json"], "unknown field \"spec.colr\"")
        .await;
    kubectl
        .fails_with(&["create", "-f", "one.json"], "AlreadyExists")
        .await;
    kubectl.prints(&["get", "wd"], "COLOUR").await;
    kubectl.prints(&["get", "toys", "-A"], "one    red").await;
    kubectl
        .prints(&["get", "wd", "one", "-o", "yaml"], "size: 7")
        .await;
    kubectl
        .fails_with(
            &["get", "wd", "two"],
            "widgets.example.com \"two\" not found",
        )
        .await;
    kubectl.prints(&["explain", "widgets.spec"], "colour").await;

    let mut watch = kubectl.command(&["get", "wd", "-w"]);
    let mut watch = watch.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut next = async || {
        let line = tokio::time::timeout(DEADLINE, lines.next_line())
            .await
            .unwrap();
        line.unwrap().unwrap()
    };
    assert!(next().await.starts_with("NAME"));
    assert!(next().await.starts_with("one"));

    kubectl
        .prints(&["label", "wd", "one", "tier=gold"], "labeled")
        .await;
    assert!(next().await.starts_with("one"));
    kubectl
        .prints(&["get", "wd", "-l", "tier in (gold,iron),!old"], "one")
        .await;
    let ready = r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
    kubectl
        .prints(
            &[
                "patch",
                "wd",
                "one",
                "--subresource=status",
                "--type=merge",
                "-p",
                ready,
            ],
            "patched",
        )
        .await;
    assert!(next().await.contains("True"));
    kubectl
        .prints(
            &["wait", "--for=condition=Ready", "wd/one", "--timeout=5s"],
            "condition met",
        )
        .await;
    kubectl
        .prints(&["describe", "wd", "one"], "tier=gold")
        .await;

    kubectl
        .prints(&["apply", "-f", "pod.yaml"], "pod/web created")
        .await;
    kubectl
        .prints(
            &["wait", "--for=condition=Ready", "pod/web", "--timeout=5s"],
            "condition met",
        )
        .await;
    kubectl
        .prints(&["apply", "-f", "pod2.yaml"], "pod/web configured")
        .await;
    let unready = r#"{"status":{"conditions":[{"type":"Ready","status":"False"}]}}"#;
    kubectl
        .prints(
            &["patch", "pod", "web", "--subresource=status", "-p", unready],
            "patched",
        )
        .await;
    kubectl
        .prints(&["get", "pods", "-o", "wide"], "10.244.")
        .await;
    kubectl
        .prints(&["describe", "pod", "web"], "Ready             False")
        .await;
    kubectl
        .prints(&["get", "nodes,svc,ns", "-A"], "node/node-1")
        .await;
    kubectl.prints(&["delete", "pod", "web"], "deleted").await;
    kubectl
        .prints(&["create", "namespace", "room"], "namespace/room created")
        .await;
    kubectl
        .prints(
            &["create", "configmap", "cm", "--from-literal=a=b"],
            "created",
        )
        .await;
    kubectl
        .prints(&["get", "cm", "cm", "-o", "jsonpath={.data.a}"], "b")
        .await;
    kubectl
        .prints(&["delete", "namespace", "room"], "deleted")
        .await;
    let apply = [
        "apply",
        "--server-side",
        "--force-conflicts",
        "-f",
        "one.json",
    ];
    kubectl.prints(&apply, "serverside-applied").await;
    assert!(next().await.starts_with("one"));
    kubectl
        .prints(&["delete", "-f", "one.json"], "deleted")
        .await;
    assert!(next().await.starts_with("one"));
    kubectl.fails_with(&["get", "wd", "one"], "NotFound").await;
    kubectl.end();
    server.shutdown().await;
}
