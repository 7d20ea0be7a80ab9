//! kubectl with a demo that keeps running.

use crate::process::{DEADLINE, Running, TempFile, ended, skip, words};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NAMESPACE: &str = "my-namespace";

struct Kubectl<'a>(&'a TempFile);

impl Kubectl<'_> {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("kubectl");
        command
            .env("KUBECONFIG", self.0.path())
            // kubectl caches the discovery of servers there, by address.
            .env("HOME", self.0.path().parent().unwrap())
            .current_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(".."))
            .args(args);
        command
    }

    fn run(&self, args: &[&str]) -> String {
        ended(&self.command(args).output().unwrap(), 0)
    }

    fn until(&self, args: &[&str], what: &str, condition: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let stdout = self.run(args);
            if condition(&stdout) {
                return stdout;
            }
            assert!(Instant::now() < deadline, "not in time: {what}: {stdout}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

pub(crate) fn is_installed() -> bool {
    let found = Command::new("kubectl")
        .args(["version", "--client"])
        .output();
    found.is_ok_and(|output| output.status.success())
}

#[test]
fn kubectl_works_while_the_demo_keeps_running() {
    if !is_installed() {
        return skip("kubectl_works_while_the_demo_keeps_running, as kubectl is not on the PATH");
    }
    let kubeconfig = TempFile::new("kubeconfig");
    let demo = Running::start(&["demo", "--kubeconfig", kubeconfig.as_str()]);
    demo.line_with("Ctrl-C ends it.");
    let kubectl = Kubectl(&kubeconfig);

    let all = kubectl.run(&["get", "lbd,lb,bg,br", "-A"]);
    let columns = "URL ACCEPTED CREATED SYNCED BACKENDS REGISTERED ADDR AGE";
    let rows = "lbcf-clb-application my-load-balancer-1 my-lb-backend-2 127.244.";
    for part in words(columns).into_iter().chain(words(rows)) {
        assert!(all.contains(part), "{part} is missing:\n{all}");
    }
    let pods = kubectl.run(&["get", "pods", "-n", NAMESPACE]);
    assert_eq!(pods.matches("1/1     Running").count(), 3, "{pods}");

    // The same binary as a plugin of kubectl.
    let plugins = tempfile::tempdir().unwrap();
    for name in ["kubectl-lbcf", "kubectl_complete-lbcf"] {
        let link = plugins.path().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_lbcf"), link).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", plugins.path().display());
    let plugin = |args: &str, code| {
        let mut command = kubectl.command(&words(args));
        ended(&command.env("PATH", &path).output().unwrap(), code)
    };
    let registered = "-o=jsonpath={.status.registeredBackends}";
    let group = ["get", "bg", "-n", NAMESPACE, "my-lb-backend-2", registered];
    kubectl.until(&group, "the status has the counts", |count| count == "3");
    let tree = plugin("lbcf tree -n my-namespace my-load-balancer-1", 0);
    let group = format!("BackendGroup {NAMESPACE}/my-lb-backend-2  3 of 3 registered");
    assert!(
        tree.contains(&group) && tree.contains("Pod my-pod-0 port 80 "),
        "{tree}"
    );
    let checked = plugin("lbcf check -A", 0);
    assert!(
        checked.contains("✓ admission: answers") && !checked.contains('✗'),
        "{checked}"
    );
    let why = plugin("lbcf why -A", 0);
    assert!(why.contains("everything: nothing is found"), "{why}");
    let why = plugin("lbcf why -n my-namespace bg/my-lb-backend", 1);
    assert!(
        why.contains("does not exist") && why.contains("my-lb-backend-2"),
        "{why}"
    );
    assert!(plugin("__complete lbcf pau", 0).contains("pause"));
    let paused = plugin("lbcf pause -n my-namespace bg/my-lb-backend-2", 0);
    assert_eq!(
        paused,
        format!("BackendGroup {NAMESPACE}/my-lb-backend-2 paused\n")
    );
    let why = plugin("lbcf why -n my-namespace bg/my-lb-backend-2 -o json", 1);
    assert!(
        why.contains("kubectl annotate -n my-namespace backendgroups/my-lb-backend-2"),
        "{why}"
    );
    plugin("lbcf resume -n my-namespace bg/my-lb-backend-2", 0);

    // A watch reports the record of a second group, on an existing load balancer.
    let mut watch = kubectl
        .command(&["get", "br", "-n", NAMESPACE, "-w", "--no-headers"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    kubectl.run(&words(
        "apply -f deploy/examples/20-load-balancer-existing.yaml",
    ));
    let group = words("apply -f deploy/examples/30-backend-group-by-name.yaml");
    kubectl.run(&group);
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    assert!(
        lines.any(|line| line
            .is_ok_and(|line| line.contains("my-load-balancer-2") && line.contains("True"))),
        "the watch shows the new record as registered"
    );
    watch.kill().unwrap();
    watch.wait().unwrap();
    let unchanged = kubectl.run(&group);
    assert!(unchanged.contains("unchanged"), "{unchanged}");

    kubectl.run(&words(
        "label lb -n my-namespace my-load-balancer-1 team=blue",
    ));
    let labelled = kubectl.run(&words("get lb -n my-namespace -l team=blue -o name"));
    assert_eq!(
        labelled.trim(),
        "loadbalancer.lbcf.tkestack.io/my-load-balancer-1"
    );

    let described = kubectl.until(
        &["describe", "lb", "-n", NAMESPACE, "my-load-balancer-1"],
        "the event",
        |described| described.contains("SuccCreateLoadBalancer"),
    );
    assert!(described.contains("lbcf-controller"), "{described}");

    // The record of a deleted pod is deleted after its target.
    kubectl.run(&["delete", "pod", "-n", NAMESPACE, "my-pod-2", "--wait=false"]);
    kubectl.until(
        &["get", "br", "-n", NAMESPACE],
        "the record is deleted",
        |records| !records.contains("my-pod-2"),
    );

    kubectl.run(&["delete", "bg", "-n", NAMESPACE, "--all", "--timeout=30s"]);
    kubectl.run(&["delete", "lb", "-n", NAMESPACE, "--all", "--timeout=30s"]);
    let left = kubectl.run(&["get", "lb,bg,br", "-A", "-o", "name"]);
    assert_eq!(left.trim(), "");
    assert_eq!(demo.interrupt().0, Some(0));
}
