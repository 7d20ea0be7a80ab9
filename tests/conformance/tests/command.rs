//! The binary `lbcf-conformance` with drivers in this process over TCP.

#![allow(clippy::unwrap_used, clippy::panic)] // Clippy sees tests in `#[test]` functions only.

use axum::Router;
use lbcf_driver_sdk::request::{
    Backend, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
    GenerateBackendAddr,
};
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use tempfile::TempDir;
use tokio::process::Command;

/// A driver that accepts everything, like the SDK's example `minimal`.
#[derive(Debug)]
struct Yes;

impl Driver for Yes {
    type LbSpec = StringMap;
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
        Ok(request.lb_spec)
    }

    async fn delete_load_balancer(&self, _: DeleteLoadBalancer<Self>) -> Result<(), HookError> {
        Ok(())
    }

    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Ok(match request.backend()? {
            Backend::Pod(pod) => {
                let ip = pod.pod.ips.first();
                let ip = ip.ok_or_else(|| HookError::running("the pod has no address yet"))?;
                format!("{ip}:{}/{}", pod.port.port, pod.port.protocol)
            }
            Backend::Service(service) => format!("{}:{}", service.node_name, service.port.port),
            Backend::Endpoint(endpoint) => format!("{}:{}", endpoint.address, endpoint.port),
        })
    }

    async fn ensure_backend(&self, _: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        Ok(StringMap::new())
    }

    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        Ok(())
    }
}

/// Serves on a free port; returns the URL.
pub(crate) async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// A new folder, deleted on drop.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the command in the folder, without variables that affect it.
    pub(crate) async fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lbcf-conformance"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("LBCF_") {
                command.env_remove(name);
            }
        }
        let command = command.args(args).current_dir(self.0.path());
        command.stdin(Stdio::null()).output().await.unwrap()
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The checks of a level that failed, with their reasons.
fn failed(report: &Value, level: &str) -> Vec<String> {
    let results = report["results"].as_array().unwrap();
    results
        .iter()
        .filter(|result| result["status"] == "failed" && result["level"] == level)
        .map(|result| format!("{}: {}", result["id"], result["reason"]))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn neutral_values_do_not_fail_a_driver_without_a_fixture() {
    let url = serve(lbcf_driver_sdk::server::router(Yes)).await;
    let folder = Folder::new();
    for looks in [false, true] {
        let init = ["init", "--force", "--url", &url];
        let init = folder.run(&init[..if looks { 4 } else { 2 }]).await;
        assert_eq!(init.status.code(), Some(0), "{}", text(&init.stderr));
        let run = folder
            .run(&["run", "--url", &url, "--format", "json"])
            .await;
        let stderr = text(&run.stderr);
        assert!(stderr.contains("fixture: conformance.yaml"), "{stderr}");
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!(failed(&report, "MUST"), [""; 0], "{stderr}");
        assert_eq!(failed(&report, "SHOULD"), [""; 0], "{stderr}");
        assert_eq!(run.status.code(), Some(5), "{stderr}");
        assert!(
            report["summary"]["passed"].as_u64().unwrap() > 20,
            "{stderr}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_creations_are_listed() {
    let options = mock_driver::MockOptions {
        stage_duration: std::time::Duration::from_secs(1000),
        ..Default::default()
    };
    let driver = mock_driver::ClbDriver::new(mock_driver::Cloud::with_samples(), options);
    let url = serve(mock_driver::router(driver)).await;
    let folder = Folder::new();
    let fixture = "loadBalancer: {valid: [{lbSpec: {lbVpcID: vpc-12345678, \
                   lbListenerPort: '{{number}}', lbListenerProtocol: TCP}}]}";
    std::fs::write(folder.join("f.yaml"), fixture).unwrap();
    let mut args = vec![
        "run",
        "--url",
        &url,
        "--fixture",
        "f.yaml",
        "--only",
        "CLB-01",
    ];
    args.extend(["--format", "json"]);
    let run = folder.run(&args).await;
    assert_eq!(run.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let left = report["leftBehind"][0].as_str().unwrap_or_default();
    assert!(
        left.starts_with("perhaps a load balancer created from lbSpec"),
        "{report:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_that_cannot_be_written_change_the_exit_code() {
    let url = serve(lbcf_driver_sdk::server::router(Yes)).await;
    let folder = Folder::new();
    let mut args = vec!["run", "--url", &url, "--only", "WIRE-01"];
    args.extend(["--output", "json=/dev/full"]);
    let run = folder.run(&args).await;
    let stderr = text(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("cannot write the json report to /dev/full"),
        "{stderr}"
    );
    let observed = [
        "run",
        "--url",
        &url,
        "--observe-cmd",
        "echo nothing; exit 3",
    ];
    let run = folder.run(&observed).await;
    let stderr = text(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("the observer sh -c"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_in_no_output() {
    let url = serve(lbcf_driver_sdk::server::router(Yes)).await;
    let folder = Folder::new();
    std::fs::write(folder.join("token"), "s3cret-token\n").unwrap();
    let secret_url = url.replace("http://", "http://me:s3cret-password@");
    let mut args = vec![
        "run",
        "--url",
        &secret_url,
        "--header",
        "X-Key: s3cret-header",
    ];
    args.extend(["--token-file", "token", "--only", "WIRE,CLB", "--verbose"]);
    args.extend([
        "--output",
        "json=r.json,junit=r.xml,markdown=r.md,yaml=r.yaml",
    ]);
    let run = folder.run(&args).await;
    let mut all = text(&run.stdout) + &text(&run.stderr);
    for file in ["r.json", "r.xml", "r.md", "r.yaml"] {
        all += &std::fs::read_to_string(folder.join(file)).unwrap();
    }
    assert!(!all.contains("s3cret"));
    assert!(
        all.contains("***") && all.contains(&format!("--url {url}")),
        "{all}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn published_reports_are_compared_and_shown_as_badges() {
    let url = serve(lbcf_driver_sdk::server::router(Yes)).await;
    let folder = Folder::new();
    let mut args = vec!["run", "--url", &url, "--only", "WIRE,HLTH"];
    args.extend(["--output", "report=old.yaml", "--report", "same.yaml"]);
    assert_eq!(folder.run(&args).await.status.code(), Some(0));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let new = read("old.yaml").replacen("result: passed", "result: failed", 1);
    let new = new.replace("specVersion: \"1\"", "specVersion: \"2\"");
    std::fs::write(folder.join("new.yaml"), new).unwrap();

    for (command, code, line) in [
        ("diff old.yaml same.yaml", 0, "0 regressions in 0 changes"),
        ("diff old.yaml new.yaml", 1, "✗ HLTH-01  MUST    failed "),
        ("diff new.yaml old.yaml", 0, "- HLTH-01  MUST    passed "),
        (
            "diff old.yaml new.yaml",
            1,
            "OLD is about version 1 of the specification, NEW about version 2\n",
        ),
        ("diff old.yaml no.yaml", 2, "no.yaml: no such file"),
        ("badge new.yaml", 0, "<title>LBCF 2: "),
        ("badge new.yaml --output b.svg", 0, ""),
        ("badge new.yaml --output /no/b.svg", 2, "--output: "),
    ] {
        let run = folder.run(&command.split(' ').collect::<Vec<_>>()).await;
        let output = text(&run.stdout) + &text(&run.stderr);
        assert_eq!(run.status.code(), Some(code), "{command}: {output}");
        assert!(output.contains(line), "{command}: {output}");
    }
    assert!(read("b.svg").starts_with("<svg "));
}
