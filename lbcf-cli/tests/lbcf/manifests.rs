//! The reader of manifests beside kubectl's, and what `lbcf dev` applies beside what kubectl applies.

use crate::dev::{DRIVER, example, load_balancer};
use crate::process::{Running, TempFile, ended, skip, words};
use lbcf_controller::conversion::{ManifestFile, read};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn kubectl(kubeconfig: &TempFile, args: &[&str]) -> String {
    let mut command = Command::new("kubectl");
    command.env("KUBECONFIG", kubeconfig.path());
    // kubectl caches the discovery of servers there, by address.
    command.env("HOME", kubeconfig.path().parent().unwrap());
    ended(&command.args(args).output().unwrap(), 0)
}

#[test]
fn odd_manifests_are_read_as_kubectl_reads_them() {
    if !crate::kubectl::is_installed() {
        return skip("odd_manifests_are_read_as_kubectl_reads_them, as kubectl is not on the PATH");
    }
    let kubeconfig = TempFile::new("kubeconfig");
    let args = words("local-cluster --listen 127.0.0.1:0 --kubeconfig");
    let cluster = Running::start(&[&args[..], &[kubeconfig.as_str()]].concat());
    cluster.line_with("http://");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/odd-manifests");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.display().to_string();
        let create = ["create", "--dry-run=client", "-o", "json", "-f", &name];
        let theirs = kubectl(&kubeconfig, &create);
        let theirs = serde_json::Deserializer::from_str(&theirs).into_iter::<Value>();
        let theirs: Vec<Value> = theirs.map(Result::unwrap).collect();
        let text = std::fs::read_to_string(&path).unwrap();
        let file = ManifestFile { name, text };
        let mut ours = read(&file).unwrap();
        for object in &mut ours {
            // As kubectl does.
            object["metadata"]["namespace"] = "default".into();
        }
        assert_eq!(ours, theirs, "{}", path.display());
        count += 1;
    }
    assert_eq!(count, 12);
    assert_eq!(cluster.interrupt().0, Some(0));
}

/// A Service as `kubectl get -o yaml` prints it, in a List, with more or fewer members.
fn service(members: &str) -> String {
    let text = "apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Service
  metadata:
    name: web
    namespace: default
    resourceVersion: \"1\"
    uid: 6f2f7a34-0000-4000-8000-000000000000
    creationTimestamp: \"2026-01-31T12:00:00Z\"
    labels: {kept: here, LABEL}
  spec:
    selector: {app: web, SELECTOR}
    ports: [{port: 80}]
";
    let with = |of: &str, name| match members.contains(of) {
        true => format!("{name}: member"),
        false => String::new(),
    };
    text.replace("LABEL", &with("label", "tier"))
        .replace("SELECTOR", &with("selector", "track"))
}

#[test]
fn dev_applies_what_kubectl_applies() {
    if !crate::kubectl::is_installed() {
        return skip("dev_applies_what_kubectl_applies, as kubectl is not on the PATH");
    }
    let (manifest, other, program) = (
        TempFile::new("service.yaml"),
        TempFile::new("lb.yaml"),
        TempFile::new("program"),
    );
    let kubeconfig = TempFile::new("kubeconfig");
    std::fs::write(manifest.path(), service("label, selector")).unwrap();
    std::fs::write(other.path(), load_balancer("80")).unwrap();
    std::fs::write(program.path(), "1").unwrap();
    let (namespace, driver) = (example("00-namespace.yaml"), example("10-driver.yaml"));
    let paths = [&*namespace, &*driver, manifest.as_str(), other.as_str()].join(",");
    let dev = Running::start(&[
        "dev",
        "--exec",
        DRIVER,
        "--apply",
        &paths,
        "--watch",
        program.as_str(),
        "--kubeconfig",
        kubeconfig.as_str(),
    ]);
    dev.line_with("ready ");
    let get = || -> Value {
        let service = kubectl(&kubeconfig, &["get", "service", "web", "-o", "json"]);
        serde_json::from_str(&service).unwrap()
    };
    assert_eq!(get()["metadata"]["labels"]["tier"], "member");
    // What others set stays.
    kubectl(&kubeconfig, &["label", "service", "web", "theirs=stays"]);
    // A file that is gone holds up no other.
    std::fs::remove_file(other.path()).unwrap();
    std::fs::write(manifest.path(), service("")).unwrap();
    dev.line_with("applied     Service default/web");
    let labels = serde_json::json!({"kept": "here", "theirs": "stays"});
    let service = get();
    assert_eq!(service["metadata"]["labels"], labels);
    assert_eq!(
        service["spec"]["selector"],
        serde_json::json!({"app": "web"})
    );
    // A new driver undoes nothing that kubectl has changed.
    let patch = r#"{"metadata": {"labels": {"kept": "elsewhere"}}}"#;
    kubectl(&kubeconfig, &["patch", "service", "web", "-p", patch]);
    std::fs::write(program.path(), "22").unwrap();
    dev.line_with("restart ");
    let after = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: after, namespace: default}\n";
    std::fs::write(other.path(), after).unwrap();
    dev.line_with("applied     ConfigMap default/after");
    assert_eq!(get()["metadata"]["labels"]["kept"], "elsewhere");
    let (code, lines) = dev.interrupt();
    assert_eq!(code, Some(0), "{lines:?}");
}
