//! `lbcf plan` and `lbcf diff`, on a cluster of their own.

use crate::conformance::get;
use crate::given_cluster::cluster;
use crate::process::{TempFile, assert_refused, ended, run, text};
use std::io::Write as _;
use std::process::{Command, Stdio};

const MANIFESTS: &str = "apiVersion: lbcf.tkestack.io/v1beta1
kind: LoadBalancerDriver
metadata: {name: lbcf-planned, namespace: kube-system}
spec: {driverType: Webhook, url: 'http://127.0.0.1:9'}
---
apiVersion: lbcf.tkestack.io/v1beta1
kind: LoadBalancer
metadata: {name: web}
spec: {lbDriver: lbcf-planned, lbSpec: {port: '80'}, attributes: {name: web}}
---
apiVersion: lbcf.tkestack.io/v1beta1
kind: BackendGroup
metadata: {name: web}
spec: {loadBalancers: [web], static: ['1.1.1.1:80'], parameters: {weight: '5'}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: example.com/v1
kind: Certificate
metadata: {name: web, namespace: elsewhere}
";

#[test]
fn a_plan_names_each_call_and_writes_nothing() {
    let (_cluster, address, kubeconfig) = cluster();
    let folder = TempFile::new("manifests");
    std::fs::create_dir(folder.path()).unwrap();
    let file = folder.path().join("web.yaml");
    std::fs::write(&file, MANIFESTS).unwrap();
    let plan = |path: &str| {
        run(&[
            "plan",
            "--kubeconfig",
            kubeconfig.as_str(),
            "-n",
            "default",
            "-f",
            path,
        ])
    };

    // Without LBCF there is nothing to plan with but the manifests.
    let output = plan(folder.as_str());
    // There are no CRDs that could be read.
    let planned = ended(&output, 2);
    let mut calls: Vec<_> = planned
        .lines()
        .filter_map(|it| it.split_once("  "))
        .map(|it| it.0)
        .collect();
    // The backend waits for its load balancer; validations are not in order.
    assert_eq!(calls.last(), Some(&"ensureBackend"), "{planned}");
    calls.sort_unstable();
    let expected = [
        "createLoadBalancer",
        "ensureBackend",
        "validateBackend",
        "validateLoadBalancer",
    ];
    assert_eq!(calls, expected, "{planned}");
    for expected in [
        "createLoadBalancer    web port=80 name=web",
        "ensureBackend         1.1.1.1:80 at planned=createLoadBalancer(",
        " weight=5",
        "writes: 1 × create backendrecords",
        "note: the driver at 127.0.0.1 is assumed to succeed",
        "note: not rehearsed: Certificate: ",
        "note: Deployment web: pods that it starts or ends are not foreseen",
        "note: what concerns load balancers that do not exist yet is assumed, addresses too",
        "note: what namespace elsewhere has already is not read (-A reads all)",
    ] {
        assert!(planned.contains(expected), "{expected}: {planned}");
    }
    let stored = get(&address, "/apis/lbcf.tkestack.io/v1beta1/loadbalancers").unwrap();
    assert!(stored.contains("page not found"), "{stored}");

    let mut broken = std::fs::File::options().append(true).open(&file).unwrap();
    broken.write_all(b"---\napiVersion: lbcf.tkestack.io/v1beta1\nkind: BackendGroup\nmetadata: {name: two}\nspec: {loadBalancers: []}\n").unwrap();
    let output = plan(folder.as_str());
    let planned = ended(&output, 2);
    assert!(planned.contains("refused: BackendGroup two: "), "{planned}");
    assert_refused(&plan("missing.yaml"), "missing.yaml");
    assert_refused(&run(&["plan"]), "--filename");
    if Command::new("kubectl")
        .arg("version")
        .arg("--client")
        .stdout(Stdio::null())
        .status()
        .is_ok()
    {
        let missing = run(&[
            "plan",
            "--kubeconfig",
            kubeconfig.as_str(),
            "-k",
            folder.as_str(),
        ]);
        let errors = text(&missing.stderr);
        assert!(
            errors.contains("--kustomize") && missing.status.code() == Some(2),
            "{errors}"
        );
    }
}

#[test]
fn a_diff_names_what_is_not_seen() {
    let (_cluster, _, kubeconfig) = cluster();
    let diff = run(&["diff", "-A", "--kubeconfig", kubeconfig.as_str()]);
    assert_refused(&diff, "all: no load balancer exists; not seen: ");
    assert_refused(&run(&["diff", "--connect-to", "host"]), "HOST=URL");
}
