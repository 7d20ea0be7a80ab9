//! `lbcf convert`.

use crate::process::{Running, TempFile, assert_refused, ended, lbcf, run, skip, text, words};
use std::io::Write;
use std::process::{Command, Output, Stdio};

const OLD: &str = "\
# Why it is here.
apiVersion: tke.cloud.tencent.com/v1beta1
kind: BackendGroup
metadata: {name: web, namespace: shop}
spec:
  lbName: edge
  pods: {port: {portNumber: 80}, byLabel: {app: web}}
";
const TODAY: &str = "\
---
apiVersion: lbcf.tkestack.io/v1beta1
kind: BackendGroup
metadata:
  name: web
  namespace: shop
spec:
  loadBalancers:
  - edge
  pods:
    byLabel:
      selector:
        app: web
    ports:
    - port: 80
";

fn editions() -> String {
    let folder = "../tests/e2e/tests/e2e/editions";
    format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"))
}

fn run_with_stdin(args: &[&str], stdin: &str) -> Output {
    output_of(lbcf(args), stdin)
}

fn output_of(mut command: Command, stdin: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command may have ended because of an error.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

#[test]
fn stdin_is_converted_to_stdout_and_changes_are_listed_on_stderr() {
    let output = run_with_stdin(&["convert", "-f", "-"], OLD);
    assert_eq!(text(&output.stdout), TODAY);
    assert_eq!(
        text(&output.stderr),
        "\
stdin: document 1: BackendGroup shop/web: apiVersion: \"tke.cloud.tencent.com/v1beta1\" -> \"lbcf.tkestack.io/v1beta1\"
stdin: document 1: BackendGroup shop/web: spec.lbName: \"edge\" -> spec.loadBalancers: [\"edge\"]
stdin: document 1: BackendGroup shop/web: spec.pods.port: {\"portNumber\":80} -> spec.pods.ports: [{\"port\":80}]
stdin: document 1: BackendGroup shop/web: spec.pods.byLabel.app: \"web\" -> spec.pods.byLabel.selector.app: \"web\"
"
    );
    assert_eq!(output.status.code(), Some(0));
    let again = run_with_stdin(&["convert", "-f", "-"], TODAY);
    assert_eq!(
        (text(&again.stdout), text(&again.stderr)),
        (TODAY.to_owned(), String::new())
    );
}

#[test]
fn files_folders_and_variables_are_read() {
    let (old, other) = (TempFile::new("old.yaml"), TempFile::new("other.yml"));
    std::fs::write(old.path(), OLD).unwrap();
    let pod = "# A pod.\nkind: Pod\napiVersion: v1\n";
    std::fs::write(other.path(), pod).unwrap();
    let folder = old.path().parent().unwrap();
    std::fs::write(folder.join("notes.txt"), "no: {manifest").unwrap();
    let both = format!("{TODAY}---\n{pod}");
    let folder = folder.to_str().unwrap();
    for args in [
        ["-f", old.as_str(), "-f", other.as_str()],
        ["--filename", folder, "--filename", other.as_str()],
    ] {
        let output = run(&[&["convert"], &args[..]].concat());
        assert_eq!(text(&output.stdout), both, "{}", text(&output.stderr));
    }
    let output = lbcf(&["convert"])
        .env(
            "LBCF_CONVERT_FILENAME",
            format!("{},{}", old.as_str(), other.as_str()),
        )
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), both, "{}", text(&output.stderr));
}

#[test]
fn d21_the_manifests_of_all_editions_are_converted() {
    let output = run(&["convert", "-f", &editions(), "--pod-selector", "crew=plaza"]);
    let (stdout, stderr) = (ended(&output, 0), text(&output.stderr));
    assert_eq!(stdout.matches("---\n").count(), 21, "{stdout}");
    for former in [
        "tke.cloud",
        "lbName: berth-new",
        "portNumber",
        "weight: 5",
        "resourceVersion",
    ] {
        let in_values = stdout.lines().filter(|line| !line.starts_with('#'));
        let left: Vec<&str> = in_values.filter(|line| line.contains(former)).collect();
        assert!(left.is_empty(), "{left:?}");
        assert!(
            stderr.contains(former.trim_end_matches(": berth-new")),
            "{former}: {stderr}"
        );
    }
    let again = run_with_stdin(&["convert", "-f", "-"], &stdout);
    assert_eq!(
        (text(&again.stdout), text(&again.stderr)),
        (stdout, String::new())
    );
}

#[test]
fn kubectl_applies_what_is_printed() {
    if !crate::kubectl::is_installed() {
        return skip("kubectl_applies_what_is_printed, as kubectl is not on the PATH");
    }
    let kubeconfig = TempFile::new("kubeconfig");
    let path = kubeconfig.as_str();
    let args = words("local-cluster --listen 127.0.0.1:0 --with-crds --kubeconfig");
    let cluster = Running::start(&[&args[..], &[path]].concat());
    cluster.line_with("http://");
    let kubectl = |args: &[&str], stdin: &str| {
        let mut command = Command::new("kubectl");
        command
            .env("KUBECONFIG", kubeconfig.path())
            .env("HOME", kubeconfig.path().parent().unwrap())
            .args(args);
        let output = output_of(command, stdin);
        ended(&output, 0)
    };
    kubectl(&["create", "namespace", "storefront"], "");
    let converted = run(&["convert", "-f", &editions(), "--pod-selector", "crew=plaza"]);
    let applied = kubectl(&["apply", "-f", "-"], &text(&converted.stdout));
    assert_eq!(applied.matches(" created").count(), 21, "{applied}");
    assert_eq!(cluster.interrupt().0, Some(0));
}

#[test]
fn errors_name_document_field_value_and_what_is_allowed_and_nothing_is_printed() {
    let (empty, broken) = (TempFile::new("empty.yaml"), TempFile::new("broken.yaml"));
    std::fs::write(empty.path(), "# nothing\n---\n").unwrap();
    std::fs::write(broken.path(), [0xff, 0xfe, 0x00]).unwrap();
    let empty_folder = TempFile::new("unused");
    let empty_folder = empty_folder.path().parent().unwrap().to_str().unwrap();
    let group = "apiVersion: lbcf.tkestack.io/v1beta1\nkind: BackendGroup\nmetadata: {name: web}\n";
    for (args, stdin, named) in [
        (
            &["-f", "-"][..],
            format!("{OLD}---\n{group}spec: {{lbName: 7}}"),
            "stdin: document 2: BackendGroup web: spec.lbName: 7: must be the name of a LoadBalancer",
        ),
        (
            &["-f", "-"],
            format!("{group}spec: {{pods: {{}}}}"),
            "--pod-selector app=my-web-server",
        ),
        (
            &["-f", "-"],
            "kind: [".to_owned(),
            "stdin: document 1: line ",
        ),
        (
            &["-f", "-"],
            "# nothing".to_owned(),
            "-f stdin: contains no manifest",
        ),
        (
            &["-f", "-", "-f", "-"],
            OLD.to_owned(),
            "-f -: stdin can be read only once",
        ),
        (
            &["-f", "/no/such/file"],
            String::new(),
            "-f /no/such/file: No such file",
        ),
        (
            &["-f", empty.as_str()],
            String::new(),
            "empty.yaml: contains no manifest",
        ),
        (
            &["-f", broken.as_str()],
            String::new(),
            "broken.yaml: stream did not contain valid UTF-8",
        ),
        (
            &["-f", empty_folder],
            String::new(),
            "the folder has no .yaml, .yml or .json files",
        ),
        (
            &["-f", "-", "--pod-selector", "app"],
            OLD.to_owned(),
            "\"app\": each label needs a key",
        ),
        (&[], String::new(), "--filename"),
    ] {
        let output = run_with_stdin(&[&["convert"], args].concat(), &stdin);
        assert_refused(&output, named);
        assert_eq!(text(&output.stdout), "", "{args:?}");
    }
}

#[test]
fn the_help_says_what_is_lost() {
    let help = text(&run(&["convert", "--help"]).stdout);
    for part in [
        "loses its comments",
        "lbcf convert -f old.yaml | kubectl apply -f -",
    ] {
        assert!(help.contains(part), "{help}");
    }
}
