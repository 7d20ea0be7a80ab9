//! kubectl, where it is installed.

use std::path::Path;
use std::process::Stdio;

use local_cluster::LocalCluster;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::fixture::{DEADLINE, quick, widget, widget_crd};
use crate::webhook::{Webhooks, configuration};

struct Kubectl {
    home: std::path::PathBuf,
}

impl Kubectl {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("kubectl");
        command
            .args(arguments)
            .env("KUBECONFIG", self.home.join("kubeconfig"))
            .env("HOME", &self.home)
            .current_dir(&self.home)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs a command; returns whether it succeeded, and all it said.
    async fn run(&self, arguments: &[&str]) -> (bool, String) {
        let output = self.command(arguments).output();
        let output = tokio::time::timeout(DEADLINE, output)
            .await
            .unwrap()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    }

    async fn says(&self, arguments: &[&str], wanted: &str) {
        let (success, said) = self.run(arguments).await;
        assert!(
            success && said.contains(wanted),
            "kubectl {arguments:?}: {said}"
        );
    }

    async fn refuses(&self, arguments: &[&str], wanted: &str) {
        let (success, said) = self.run(arguments).await;
        assert!(
            !success && said.contains(wanted),
            "kubectl {arguments:?}: {said}"
        );
    }
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::write(path, content).unwrap();
}

/// Whether there is a kubectl; says so when there is none.
async fn is_installed() -> bool {
    let version = Command::new("kubectl")
        .args(["version", "--client"])
        .output()
        .await;
    let installed = version.is_ok_and(|output| output.status.success());
    if !installed {
        // Not by a macro: what macros print of a test that passes is not shown.
        std::io::Write::write_all(
            &mut std::io::stderr(),
            b"SKIPPED: kubectl is not on the PATH\n",
        )
        .unwrap();
    }
    installed
}

#[tokio::test]
async fn kubectl_works() {
    if !is_installed().await {
        return;
    }
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let home = std::env::temp_dir().join(format!("local-cluster-{}", server.addr().port()));
    std::fs::create_dir_all(&home).unwrap();
    write(&home.join("kubeconfig"), server.kubeconfig());
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
    let kubectl = Kubectl { home };

    kubectl
        .says(&["apply", "-f", "crd.json"], "widgets.example.com created")
        .await;
    kubectl
        .says(
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
        .says(
            &["apply", "-f", "one.json"],
            "widget.example.com/one created",
        )
        .await;
    kubectl
        .says(&["apply", "-f", "one.json"], "unchanged")
        .await;
    kubectl
        .says(&["apply", "-f", "bigger.json"], "configured")
        .await;
    kubectl
        .refuses(&["apply", "-f", "odd.json"], "unknown field \"spec.colr\"")
        .await;
    kubectl
        .refuses(&["create", "-f", "one.json"], "AlreadyExists")
        .await;
    kubectl.says(&["get", "wd"], "COLOUR").await;
    kubectl.says(&["get", "toys", "-A"], "one    red").await;
    kubectl
        .says(&["get", "wd", "one", "-o", "yaml"], "size: 7")
        .await;
    kubectl
        .refuses(
            &["get", "wd", "two"],
            "widgets.example.com \"two\" not found",
        )
        .await;
    kubectl.says(&["explain", "widgets.spec"], "colour").await;

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
        .says(&["label", "wd", "one", "tier=gold"], "labeled")
        .await;
    assert!(next().await.starts_with("one"));
    kubectl
        .says(&["get", "wd", "-l", "tier in (gold,iron),!old"], "one")
        .await;
    let ready = r#"{"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#;
    kubectl
        .says(
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
        .says(
            &["wait", "--for=condition=Ready", "wd/one", "--timeout=5s"],
            "condition met",
        )
        .await;
    kubectl.says(&["describe", "wd", "one"], "tier=gold").await;

    kubectl
        .says(&["apply", "-f", "pod.yaml"], "pod/web created")
        .await;
    kubectl
        .says(
            &["wait", "--for=condition=Ready", "pod/web", "--timeout=5s"],
            "condition met",
        )
        .await;
    kubectl
        .says(&["apply", "-f", "pod2.yaml"], "pod/web configured")
        .await;
    let unready = r#"{"status":{"conditions":[{"type":"Ready","status":"False"}]}}"#;
    kubectl
        .says(
            &["patch", "pod", "web", "--subresource=status", "-p", unready],
            "patched",
        )
        .await;
    kubectl
        .says(&["get", "pods", "-o", "wide"], "10.244.")
        .await;
    kubectl
        .says(&["describe", "pod", "web"], "Ready             False")
        .await;
    kubectl
        .says(&["get", "nodes,svc,ns", "-A"], "node/node-1")
        .await;
    kubectl.says(&["delete", "pod", "web"], "deleted").await;
    kubectl
        .says(&["create", "namespace", "room"], "namespace/room created")
        .await;
    kubectl
        .says(
            &["create", "configmap", "cm", "--from-literal=a=b"],
            "created",
        )
        .await;
    kubectl
        .says(&["get", "cm", "cm", "-o", "jsonpath={.data.a}"], "b")
        .await;
    kubectl
        .says(&["delete", "namespace", "room"], "deleted")
        .await;
    let apply = [
        "apply",
        "--server-side",
        "--force-conflicts",
        "-f",
        "one.json",
    ];
    kubectl.says(&apply, "serverside-applied").await;
    assert!(next().await.starts_with("one"));
    kubectl.says(&["delete", "-f", "one.json"], "deleted").await;
    assert!(next().await.starts_with("one"));
    kubectl.refuses(&["get", "wd", "one"], "NotFound").await;
    std::fs::remove_dir_all(&kubectl.home).unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn kubectl_shows_what_webhooks_say() {
    if !is_installed().await {
        return;
    }
    let cluster = crate::fixture::cluster(quick()).await;
    let webhooks = Webhooks::start(|call| match call.at("/object/spec/colour") {
        "blue" => call.deny(json!({"message": "no more blue", "code": 403})),
        _ => call.answer(json!({"response": {"warnings": ["red is going out of fashion"]}})),
    })
    .await;
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let home = std::env::temp_dir().join(format!("local-cluster-{}", server.addr().port()));
    std::fs::create_dir_all(&home).unwrap();
    write(&home.join("kubeconfig"), server.kubeconfig());
    let mut one = widget("one");
    write(&home.join("red.json"), one.to_string());
    one["spec"]["colour"] = "blue".into();
    write(&home.join("blue.json"), one.to_string());
    let install = |file: &str, change: Value| {
        let webhook = webhooks.webhook("colour.example.com", "/v", change);
        let body = configuration("Validating", "colours", &[webhook]);
        write(&home.join(file), body.to_string());
    };
    install("webhooks.json", json!({}));
    install("patient.json", json!({"timeoutSeconds": 20}));
    let kubectl = Kubectl { home };

    kubectl
        .says(&["apply", "-f", "webhooks.json"], "colours created")
        .await;
    kubectl
        .says(&["get", "validatingwebhookconfigurations"], "colours   1")
        .await;
    let denied = "admission webhook \"colour.example.com\" denied the request: no more blue";
    for command in [
        &["create", "-f", "blue.json"][..],
        &["apply", "-f", "blue.json"],
        &["apply", "-f", "blue.json", "--server-side"],
        &["create", "-f", "blue.json", "--dry-run=server"],
    ] {
        kubectl.refuses(command, denied).await;
    }
    let warning = "Warning: red is going out of fashion";
    kubectl.says(&["create", "-f", "red.json"], warning).await;
    kubectl.refuses(&["apply", "-f", "blue.json"], denied).await;
    kubectl
        .refuses(
            &[
                "patch",
                "wd",
                "one",
                "--type=merge",
                "-p",
                r#"{"spec":{"colour":"blue"}}"#,
            ],
            denied,
        )
        .await;
    kubectl
        .says(&["apply", "-f", "patient.json"], "colours configured")
        .await;
    let timeout = ["get", "validatingwebhookconfigurations", "colours", "-o"];
    let timeout = [&timeout[..], &["jsonpath={.webhooks[*].timeoutSeconds}"]].concat();
    kubectl.says(&timeout, "20").await;
    webhooks.end().await;
    kubectl
        .refuses(
            &["delete", "wd", "one"],
            "failed calling webhook \"colour.example.com\": failed to call webhook: Post",
        )
        .await;
    kubectl
        .says(&["delete", "-f", "webhooks.json"], "deleted")
        .await;
    kubectl.says(&["delete", "wd", "one"], "deleted").await;
    std::fs::remove_dir_all(&kubectl.home).unwrap();
    server.shutdown().await;
}
