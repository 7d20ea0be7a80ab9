//! `lbcf demo` and `lbcf dev` on a cluster that runs already.

use crate::conformance::get;
use crate::process::{Running, TempFile, assert_refused, ended, run, text};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// A cluster that runs already, its address and its kubeconfig.
pub(crate) fn cluster() -> (Running, String, TempFile) {
    let kubeconfig = TempFile::new("kubeconfig");
    let path = kubeconfig.as_str();
    let cluster = Running::start(&[
        "local-cluster",
        "--listen",
        "127.0.0.1:0",
        "--kubeconfig",
        path,
    ]);
    let url = cluster.line_with("http://");
    let address = url.trim_start_matches("http://").to_owned();
    (cluster, address, kubeconfig)
}

/// The names of what the demo could leave.
fn objects(address: &str) -> Vec<String> {
    let core = ["namespaces", "secrets", "pods", "services"].map(|it| format!("/api/v1/{it}"));
    let webhooks = [
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
    ];
    let webhooks = webhooks.map(|it| format!("/apis/admissionregistration.k8s.io/v1/{it}"));
    let paths = core.into_iter().chain(webhooks);
    let lists = paths.map(|path| get(address, &path).unwrap());
    let lists = lists.map(|list| serde_json::from_str::<Value>(&list).unwrap());
    let objects = lists.flat_map(|mut list| list["items"].as_array_mut().unwrap().split_off(0));
    objects
        .map(|object| object["metadata"]["name"].to_string())
        .collect()
}

#[test]
fn the_demo_leaves_nothing_in_a_cluster_of_the_users_and_refuses_one_in_use() {
    let (_cluster, address, kubeconfig) = cluster();
    let path = kubeconfig.as_str();
    let once = [
        "demo",
        "--once",
        "--output",
        "json",
        "--cluster-kubeconfig",
        path,
    ];

    let before = objects(&address);
    let demo = Running::start(&["demo", "--cluster-kubeconfig", path]);
    demo.line_with("Ctrl-C ends it.");
    let in_use = "LBCF is in use in this cluster: LoadBalancerDriver lbcf-clb-application";
    assert_refused(&run(&once), in_use);
    let (code, lines) = demo.interrupt();
    assert_eq!(code, Some(0), "{lines:#?}");
    assert_eq!(objects(&address), before);

    let report: Value = serde_json::from_str(&ended(&run(&once), 0)).unwrap();
    assert_eq!(report["passed"], true, "{report:#}");
    assert_eq!(report["leaked"], serde_json::json!([]));
    let steps = report["steps"].as_array().unwrap().iter();
    let skipped: Vec<_> = steps.filter(|step| step["skipped"].is_string()).collect();
    assert!(skipped.is_empty(), "{skipped:#?}");
    assert_eq!(objects(&address), before);

    // It would be deleted with everything in it.
    create_namespace(&address);
    assert_refused(&run(&once), "the namespace my-namespace exists");
    assert_eq!(objects(&address).len(), before.len() + 1);
}

fn create_namespace(address: &str) {
    let body = r#"{"metadata": {"name": "my-namespace"}}"#;
    let length = body.len();
    let request = format!(
        "POST /api/v1/namespaces HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.contains(" 201 "), "{response}");
}

#[test]
fn dev_serves_admission_to_a_cluster_of_the_users() {
    let (_cluster, _, kubeconfig) = cluster();
    let path = kubeconfig.as_str();
    let mock = Running::start(&["mock-driver", "--listen", "127.0.0.1:0"]);
    let url = mock.line_with("http://");
    let url = url
        .split_whitespace()
        .find(|word| word.starts_with("http://"))
        .unwrap();
    let dev = Running::start(&["dev", "--driver-url", url, "--cluster-kubeconfig", path]);
    dev.line_with("applied");
    let (code, lines) = dev.interrupt();
    assert_eq!(code, Some(0), "{lines:#?}");
    // The driver stays, as what kubectl applies does.
    let again = run(&["dev", "--driver-url", url, "--cluster-kubeconfig", path]);
    assert_refused(&again, "LoadBalancerDriver lbcf-dev");
    assert!(!text(&again.stderr).contains("ValidatingWebhookConfiguration"));
}

#[test]
fn a_cluster_that_cannot_be_used_is_named() {
    let missing = run(&["demo", "--once", "--cluster-kubeconfig", "/no/kubeconfig"]);
    assert_refused(&missing, "/no/kubeconfig");
    let both = run(&["demo", "--kubeconfig", "a", "--cluster-kubeconfig", "b"]);
    assert_refused(&both, "cannot be used with");
}
