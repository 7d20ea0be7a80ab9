//! The command with drivers that serve their fixture.

use crate::command::{Folder, serve, text};
use axum::Router;
use lbcf_driver_sdk::server::conformance_router;
use mock_driver::{ClbDriver, Cloud, MockOptions};
use serde_json::Value;
use std::time::Duration;

fn mock() -> Router {
    let options = MockOptions {
        stage_duration: Duration::ZERO,
        ..MockOptions::default()
    };
    mock_driver::router(ClbDriver::new(Cloud::with_samples(), options))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mock_is_tested_completely_by_its_url_alone() {
    let url = serve(mock()).await;
    let folder = Folder::new();
    let run = folder
        .run(&["run", "--url", &url, "--format", "json", "--quiet"])
        .await;
    let stderr = text(&run.stderr);
    let source = format!("{url}/.well-known/lbcf/conformance");
    let message = format!("fixture: {source}, served by the driver\n");
    assert!(stderr.contains(&message), "{stderr}");
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(report["fixture"], source.as_str());
    let skipped: Vec<&Value> = report["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|result| result["status"] == "skipped")
        .map(|result| &result["id"])
        .collect();
    // JPD-04 is about drivers without that webhook.
    assert_eq!(skipped, ["JPD-04"], "{stderr}");
    assert_eq!(run.status.code(), Some(0), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_wins_over_what_is_served() {
    let url = serve(mock()).await;
    let folder = Folder::new();
    let args = [
        "run", "--url", &url, "--only", "HLTH-01", "--format", "json",
    ];
    std::fs::write(folder.join("own.yaml"), "features: []\n").unwrap();
    let explicit = folder
        .run(&[&args[..], &["--fixture", "own.yaml"]].concat())
        .await;
    std::fs::write(folder.join("conformance.yaml"), "features: []\n").unwrap();
    let found = folder.run(&args).await;
    for (run, file) in [(explicit, "own.yaml"), (found, "conformance.yaml")] {
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!(report["fixture"], file, "{}", text(&run.stderr));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_a_served_fixture_are_never_run() {
    let folder = Folder::new();
    let touched = folder.join("touched");
    let command = format!("{{command: [touch, {}]}}", touched.display());
    let fixture = format!(
        "apiVersion: lbcf.dev/v1\nkind: ConformanceFixture\nfeatures: [async, backend.pod]\n\
         observe: {command}\nrestart: {command}\nfault: {command}\n"
    );
    let options = MockOptions {
        stage_duration: Duration::ZERO,
        ..MockOptions::default()
    };
    let driver = ClbDriver::new(Cloud::with_samples(), options);
    let webhooks = Router::new().fallback_service(mock_driver::router(driver));
    let url = serve(webhooks.merge(conformance_router(fixture))).await;
    let only = "ENS-01,ASYN-07,RTRY-05,LIFE-05,CLB-03";
    let run = folder
        .run(&["run", "--url", &url, "--only", only, "--format", "json"])
        .await;
    let stderr = text(&run.stderr);
    for section in ["observe", "restart", "fault"] {
        let message =
            format!("ignored: {section}.command: programs are run only for a fixture in a file");
        assert!(stderr.contains(&message), "{stderr}");
    }
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let results = report["results"].as_array().unwrap();
    let restart = results
        .iter()
        .find(|result| result["id"] == "LIFE-05")
        .unwrap();
    assert_eq!(restart["status"], "skipped");
    assert!(!touched.exists(), "a command of the driver was run");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_served_fixture_ends_with_exit_code_2() {
    let fixture = "apiVersion: lbcf.dev/v1\nkind: ConformanceFixture\nfeatuers: []\n";
    let url = serve(
        Router::new()
            .route("/healthz", axum::routing::post(|| async { "{}" }))
            .merge(conformance_router(fixture)),
    )
    .await;
    let folder = Folder::new();
    let run = folder.run(&["run", "--url", &url]).await;
    let stderr = text(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("line 3: featuers: not a field"), "{stderr}");
}
