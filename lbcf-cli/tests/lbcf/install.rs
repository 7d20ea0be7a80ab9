//! `kubectl apply -k deploy/`, its overlays, `lbcf install`, and uninstalling.

mod foreign;
mod whole;

use crate::process::{TempFile, run, skip, text};
use local_cluster::{LocalCluster, LocalClusterOptions, ServerHandle};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Whether kubectl has a kustomize with components. If not, says so.
fn has_kustomize(test: &str) -> bool {
    let version = Command::new("kubectl")
        .args(["version", "--client"])
        .output();
    let version = version.map(|output| text(&output.stdout));
    let found = version.is_ok_and(|version| version.contains("Kustomize Version: v5"));
    if !found {
        skip(&format!(
            "{test}, as no kubectl with kustomize 5 is on the PATH"
        ));
    }
    found
}

/// kubectl at the root of the repository, without a cluster.
fn kubectl(args: &[&str]) -> Command {
    let mut command = Command::new("kubectl");
    command
        .current_dir(root())
        .env_remove("KUBECONFIG")
        .args(args);
    command
}

fn output(mut command: Command) -> String {
    let output = command.output().unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {stdout}{stderr}");
    stdout
}

fn kustomize(folder: &str) -> Objects {
    objects(&output(kubectl(&["kustomize", folder])))
}

/// Objects by kind, namespace and name.
type Objects = BTreeMap<(String, String, String), Value>;

fn objects(yaml: &str) -> Objects {
    let documents = yaml
        .split("---\n")
        .filter(|document| document.contains("kind:"));
    let mut found = Objects::new();
    for document in documents {
        let object: Value = serde_saphyr::from_str(document).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        let key = (
            text(&object["kind"]),
            text(&metadata["namespace"]),
            text(&metadata["name"]),
        );
        assert!(found.insert(key.clone(), object).is_none(), "{key:?} twice");
    }
    found
}

/// A cluster for kubectl, in this process.
struct Cluster {
    cluster: LocalCluster,
    server: ServerHandle,
    kubeconfig: TempFile,
}

impl Cluster {
    async fn start() -> Self {
        let cluster = LocalCluster::start(LocalClusterOptions::default()).await;
        let cluster = cluster.unwrap();
        let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let kubeconfig = TempFile::new("kubeconfig");
        server.write_kubeconfig(kubeconfig.path()).unwrap();
        Self {
            cluster,
            server,
            kubeconfig,
        }
    }

    /// The output of kubectl, which does not block the cluster.
    async fn kubectl(&self, args: &[&str]) -> String {
        let mut command = kubectl(args);
        command.env("KUBECONFIG", self.kubeconfig.path());
        // kubectl caches the discovery of servers there, by address.
        command.env("HOME", self.kubeconfig.path().parent().unwrap());
        tokio::task::spawn_blocking(|| output(command))
            .await
            .unwrap()
    }

    /// The kinds and names of all that is in the cluster.
    async fn inventory(&self) -> Vec<String> {
        let resources = ["--verbs=list", "-o=name"];
        let kinds = self
            .kubectl(&[&["api-resources"], &resources[..]].concat())
            .await;
        let kinds: Vec<&str> = kinds
            .lines()
            .filter(|kind| !kind.starts_with("events") && !kind.starts_with("componentstatus"))
            .collect();
        let all = self
            .kubectl(&["get", &kinds.join(","), "-A", "-o=name"])
            .await;
        let mut all: Vec<String> = all.lines().map(str::to_owned).collect();
        all.sort();
        all
    }

    async fn shutdown(self) {
        self.server.shutdown().await;
        self.cluster.shutdown().await;
    }
}

#[test]
fn install_prints_what_kubectl_applies() {
    if !has_kustomize("install_prints_what_kubectl_applies") {
        return;
    }
    let printed = objects(&text(&run(&["install"]).stdout));
    assert!(printed.len() > 10);
    assert_eq!(printed, kustomize("deploy"));

    let folder = TempFile::new("kustomization.yaml");
    let deploy = folder.path().parent().unwrap().join("deploy");
    copy(&root().join("deploy"), &deploy);
    let overlay = deploy.join("overlays/elsewhere");
    std::fs::create_dir_all(&overlay).unwrap();
    let kustomization = "resources: [../../base]\nnamespace: elsewhere\n\
                         images: [{name: lbcf-controller, newName: r.example/c, newTag: '1'}]\n";
    std::fs::write(overlay.join("kustomization.yaml"), kustomization).unwrap();
    let flags = ["--namespace", "elsewhere", "--image", "r.example/c:1"];
    let printed = run(&[&["install"], &flags[..]].concat());
    assert_eq!(
        objects(&text(&printed.stdout)),
        kustomize(overlay.to_str().unwrap())
    );
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).unwrap();
        }
    }
}

#[test]
fn pods_have_no_privileges_and_only_the_controller_has_a_token() {
    if !has_kustomize("pods_have_no_privileges_and_only_the_controller_has_a_token") {
        return;
    }
    let mut deployments = 0;
    for ((kind, _, name), object) in kustomize("deploy/overlays/demo") {
        if kind != "Deployment" {
            continue;
        }
        deployments += 1;
        let pod = &object["spec"]["template"]["spec"];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{name}");
        assert_eq!(
            pod["securityContext"]["seccompProfile"]["type"],
            "RuntimeDefault"
        );
        let has_token = pod["automountServiceAccountToken"] != false;
        assert_eq!(has_token, name == "lbcf-controller", "{name}");
        for container in pod["containers"].as_array().unwrap() {
            let context = &container["securityContext"];
            assert_eq!(context["allowPrivilegeEscalation"], false, "{name}");
            assert_eq!(context["readOnlyRootFilesystem"], true, "{name}");
            assert_eq!(context["capabilities"]["drop"][0], "ALL", "{name}");
            for field in ["livenessProbe", "readinessProbe"] {
                assert!(container[field]["httpGet"].is_object(), "{name} {field}");
            }
            assert!(
                container["resources"]["limits"]["memory"].is_string(),
                "{name}"
            );
        }
    }
    assert_eq!(deployments, 2);
}

/// On the cluster of `LBCF_E2E_KUBECONFIG`, which checks the manifests and stores nothing.
#[test]
fn any_cluster_accepts_the_manifests() {
    let Some(kubeconfig) = std::env::var_os("LBCF_E2E_KUBECONFIG") else {
        return;
    };
    if !has_kustomize("any_cluster_accepts_the_manifests") {
        return;
    }
    for folder in ["deploy", "deploy/overlays/demo"] {
        let mut command = kubectl(&["apply", "-k", folder, "--dry-run=server"]);
        command.env("KUBECONFIG", &kubeconfig);
        assert!(output(command).contains("deployment.apps/lbcf-controller"));
    }
}
