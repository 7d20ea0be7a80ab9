//! `lbcf demo` and `lbcf dev` on a cluster that runs already.

use crate::process::{Running, TempFile, assert_refused, ended, run, text};
use serde_json::Value;

#[test]
fn the_demo_leaves_nothing_in_a_cluster_of_the_users_and_refuses_one_in_use() {
    let kubeconfig = TempFile::new("kubeconfig");
    let path = kubeconfig.as_str();
    let cluster = Running::start(&[
        "local-cluster",
        "--listen",
        "127.0.0.1:0",
        "--kubeconfig",
        path,
    ]);
    cluster.line_with("the kubeconfig is written");
    let once = [
        "demo",
        "--once",
        "--output",
        "json",
        "--cluster-kubeconfig",
        path,
    ];

    let demo = Running::start(&["demo", "--cluster-kubeconfig", path]);
    demo.line_with("Ctrl-C ends it.");
    let in_use = "LBCF is in use in this cluster: LoadBalancerDriver lbcf-clb-application";
    assert_refused(&run(&once), in_use);
    let (code, lines) = demo.interrupt();
    assert_eq!(code, Some(0), "{lines:#?}");

    // Whatever the first demo had left would stop the second one.
    let report: Value = serde_json::from_str(&ended(&run(&once), 0)).unwrap();
    assert_eq!(report["passed"], true, "{report:#}");
    assert_eq!(report["leaked"], serde_json::json!([]));
    let steps = report["steps"].as_array().unwrap().iter();
    let skipped: Vec<_> = steps.filter(|step| step["skipped"].is_string()).collect();
    assert!(skipped.is_empty(), "{skipped:#?}");
}

#[test]
fn dev_serves_admission_to_a_cluster_of_the_users() {
    let kubeconfig = TempFile::new("kubeconfig");
    let path = kubeconfig.as_str();
    let cluster = Running::start(&[
        "local-cluster",
        "--listen",
        "127.0.0.1:0",
        "--kubeconfig",
        path,
    ]);
    cluster.line_with("the kubeconfig is written");
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
