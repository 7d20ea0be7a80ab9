//! `lbcf demo`: the tour, its JSON report and its exit codes.

use crate::conformance::get;
use crate::process::{
    Running, TempFile, assert_refused, ended, is_left_to_the_exhaustive_run, lbcf, run, text, words,
};
use lbcf_conformance::numbers::Numbers;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

fn steps() -> Vec<&'static str> {
    words(
        "register refused not-ready ready-again judged weight scale-up pod-deleted attributes driver-down
        controller-restart static left-over bind rollout teardown",
    )
}

/// The webhooks that there are.
const OPENAPI: &str = include_str!("../../../openapi/lbcf-webhooks.json");

/// The steps that need the mock.
const OF_THE_MOCK: [&str; 5] = ["judged", "driver-down", "static", "left-over", "rollout"];

fn tour(args: &[&str]) -> (Option<i32>, Value) {
    let output = run(&[&["demo", "--once", "--output", "json"], args].concat());
    let stdout = text(&output.stdout);
    let report = serde_json::from_str(&stdout)
        .unwrap_or_else(|error| panic!("{error}: {stdout}\n{}", text(&output.stderr)));
    (output.status.code(), report)
}

fn ids(report: &Value) -> Vec<&str> {
    report["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["id"].as_str().unwrap())
        .collect()
}

fn webhooks(report: &Value, id: &str) -> Value {
    let steps = report["steps"].as_array().unwrap();
    steps.iter().find(|step| step["id"] == id).unwrap()["webhooks"].clone()
}

/// An API server that finds another write between patches again, and asks admission again.
fn validated_once(mut calls: Value) -> Value {
    for (webhook, count) in calls.as_object_mut().unwrap() {
        if webhook.starts_with("validate") {
            *count = 1.into();
        }
    }
    calls
}

#[test]
fn the_tour_passes_in_all_steps_and_calls_every_webhook() {
    let (code, report) = tour(&[]);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(ids(&report), steps());
    for step in report["steps"].as_array().unwrap() {
        assert_eq!(step["passed"], true, "{step:#}");
        assert!(step["ms"].is_u64() && !step["title"].as_str().unwrap().is_empty());
    }
    assert_eq!(report["leaked"], serde_json::json!([]));
    assert_eq!(report["passed"], true);
    let traffic = &report["traffic"];
    assert!(traffic["requests"].as_u64().unwrap() > 100, "{traffic}");
    assert_eq!(traffic["failed"], 0, "{traffic}");
    assert!(
        traffic["byBackend"].as_object().unwrap().len() > 3,
        "{traffic}"
    );
    assert_eq!(webhooks(&report, "register")["ensureBackend"], 3);
    for (step, calls) in [
        ("not-ready", json!({"deregisterBackend": 1})),
        (
            "ready-again",
            json!({"generateBackendAddr": 1, "ensureBackend": 1}),
        ),
        ("refused", json!({"validateBackend": 1})),
        ("weight", json!({"ensureBackend": 3, "validateBackend": 1})),
        (
            "scale-up",
            json!({"generateBackendAddr": 1, "ensureBackend": 1}),
        ),
        ("pod-deleted", json!({"deregisterBackend": 1})),
        (
            "attributes",
            json!({"ensureLoadBalancer": 1, "validateLoadBalancer": 1}),
        ),
        ("controller-restart", json!({"deregisterBackend": 1})),
        (
            "teardown",
            json!({"deleteLoadBalancer": 1, "deregisterBackend": 2}),
        ),
    ] {
        assert_eq!(validated_once(webhooks(&report, step)), calls, "{step}");
    }
    let steps = report["steps"].as_array().unwrap().iter();
    let called = steps.flat_map(|step| step["webhooks"].as_object().unwrap().keys());
    let called: BTreeSet<&str> = called.map(String::as_str).collect();
    let openapi: Value = serde_json::from_str(OPENAPI).unwrap();
    let paths = openapi["paths"].as_object().unwrap().keys();
    let all = paths.map(|path| path.trim_start_matches('/'));
    // The controller asks for the health of drivers beside the tour.
    let all: BTreeSet<&str> = all.filter(|name| *name != "healthz").collect();
    assert_eq!((all.len(), called), (10, all));
}

#[test]
fn exhaustive_the_tour_passes_with_fifty_pods_and_with_one() {
    if is_left_to_the_exhaustive_run("two more tours take half a minute") {
        return;
    }
    for pods in ["50", "1"] {
        let (code, report) = tour(&["--pods", pods]);
        assert_eq!(code, Some(0), "{report:#}");
        assert_eq!(report["passed"], true, "{report:#}");
        let registered = webhooks(&report, "register")["ensureBackend"]
            .as_u64()
            .unwrap();
        assert_eq!(registered.to_string(), pods);
    }
}

#[test]
fn d80_without_draining_requests_fail_and_so_does_the_tour() {
    let (code, report) = tour(&["--drain-time", "0s"]);
    assert_eq!(code, Some(1), "{report:#}");
    assert_eq!(report["passed"], false);
    assert!(report["traffic"]["failed"].as_u64().unwrap() > 0);
    assert!(report["traffic"]["errors"][0].is_string());
    for step in report["steps"].as_array().unwrap() {
        assert_eq!(
            step["passed"], true,
            "the rest is as it should be: {step:#}"
        );
    }
}

/// A mock as another driver, which serves its fixture, and its URL.
fn other_driver(args: &[&str]) -> (Running, String) {
    let mock = ["mock-driver", "--listen", "127.0.0.1:0"];
    let driver = Running::start(&[&mock, args].concat());
    let url = driver.line_with("http://").trim().to_owned();
    (driver, url)
}

/// Which steps are skipped and that all others have passed.
fn skipped(report: &Value) -> Vec<&str> {
    let steps = report["steps"].as_array().unwrap().iter();
    let skipped = steps.filter(|step| {
        let is_skipped = step["skipped"].is_string();
        assert_eq!(step["passed"], !is_skipped, "{step:#}");
        is_skipped
    });
    skipped.map(|step| step["id"].as_str().unwrap()).collect()
}

#[test]
fn a_driver_that_serves_its_fixture_is_shown_with_its_fields_and_its_observer() {
    let (_clb, url) = other_driver(&["--stage-duration", "0"]);
    let (code, report) = tour(&["--driver-url", &url]);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(report.get("traffic"), None);
    assert_eq!(ids(&report), steps());
    assert_eq!(skipped(&report), OF_THE_MOCK);

    let (_azure, url) = other_driver(&["--profile", "azure", "--stage-duration", "0"]);
    let output = run(&["demo", "--once", "--driver-url", &url]);
    let stdout = ended(&output, 0);
    for part in [
        "  fixture     http://127.0.0.1:",
        r#"# with lbSpec {"port":"80","service":"default/web-lbcf-demo-"#,
        " of my-pod-0 adminState Up",
        " of my-pod-0 adminState Down",
        "azure-load-balancer-tcp-idle-timeout=20",
        "cloud     empty",
        "passed: 11 of 11 steps, 5 skipped; nothing was left behind",
    ] {
        assert!(stdout.contains(part), "{part:?} is missing in\n{stdout}");
    }
}

#[test]
fn a_fixture_in_a_file_comes_before_the_one_that_the_driver_serves() {
    let (_driver, url) = other_driver(&["--stage-duration", "0"]);
    let fixture = TempFile::new("conformance.yaml");
    let only_one = "\
loadBalancer:
  valid: [{lbSpec: {lbVpcID: vpc-1, lbListenerPort: '80', lbListenerProtocol: UDP}}]
backend:
  parameters: {valid: [{weight: '7', tier: gold}], update: {weight: '9'}}
observe: {url: '{url}/_mock/observe'}
";
    std::fs::write(fixture.path(), only_one).unwrap();
    let args = ["--driver-url", &url, "--fixture", fixture.as_str()];
    let (code, report) = tour(&args);
    assert_eq!(code, Some(0), "{report:#}");
    let missing = ["refused", "attributes", "bind"];
    let mut expected = steps();
    expected.retain(|id| OF_THE_MOCK.contains(id) || missing.contains(id));
    assert_eq!(skipped(&report), expected);
    let title = report["steps"][0]["title"].as_str().unwrap();
    assert!(title.contains("tier gold, weight 7"), "{title}");
    let reasons = report["steps"].to_string();
    assert!(reasons.contains("backend.parameters.invalid"), "{reasons}");
    assert!(reasons.contains("loadBalancer.update"), "{reasons}");

    // Without an observer the records are what is known.
    std::fs::write(fixture.path(), only_one.replace("observe:", "#")).unwrap();
    let (code, report) = tour(&args);
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(skipped(&report), expected);
}

#[test]
fn a_fixture_that_lacks_what_the_demo_needs_is_an_error_that_names_the_field() {
    let (_driver, url) = other_driver(&[]);
    let fixture = TempFile::new("conformance.yaml");
    for (text_of_it, field) in [
        ("backend: {}", "loadBalancer.valid: it is missing"),
        (
            "loadBalancer: {vaild: []}",
            "loadBalancer.vaild: not a field",
        ),
        (
            "{features: [backend.static], loadBalancer: {valid: [{lbSpec: {}}]}}",
            "features: backend.pod is not among them",
        ),
    ] {
        std::fs::write(fixture.path(), text_of_it).unwrap();
        let path = fixture.as_str();
        let output = run(&["demo", "--once", "--driver-url", &url, "--fixture", path]);
        assert_refused(&output, field);
        assert_refused(&output, path);
    }
    let output = run(&["demo", "--fixture", fixture.as_str()]);
    assert!(text(&output.stderr).contains("--driver-url"));
    let output = run(&["demo", "--profile", "azure", "--driver-url", &url]);
    assert!(text(&output.stderr).contains("--profile"));
    let output = run(&["demo", "--once", "--driver-url", &url, "--fixture", "/none"]);
    assert!(text(&output.stderr).contains("/none"));
    let output = run(&["demo", "--once", "--driver-url", "127.0.0.1"]);
    assert_eq!(output.status.code(), Some(2));
}

/// What the cloud of another driver has.
fn observed(url: &str) -> String {
    get(url.trim_start_matches("http://"), "/_mock/observe").unwrap()
}

#[test]
fn sigterm_and_ctrl_c_leave_nothing_in_the_cloud_of_another_driver() {
    let (_driver, url) = other_driver(&["--stage-duration", "0"]);
    for (signal, when, code) in [
        ("TERM", "[12/16]", 1),
        ("INT", "[4/16]", 1),
        ("TERM", "Ctrl-C ends it.", 0),
    ] {
        let demo = Running::start(&["demo", "--driver-url", &url]);
        demo.line_with(when);
        let before = observed(&url);
        assert!(before.contains("lbInfo"), "{before}");
        demo.signal(signal);
        let (exit, lines) = demo.wait();
        assert_eq!(exit, Some(code), "{lines:?}");
        let after = observed(&url);
        assert!(
            after.contains("loadBalancers") && !after.contains("lbInfo"),
            "{signal} at {when}: {after}\n{lines:?}"
        );
    }
}

#[test]
fn an_unreachable_driver_fails_the_tour() {
    // The tour is interrupted as soon as its first step has failed.
    let numbers = Numbers::of_this_machine();
    let nowhere = format!("http://127.0.0.1:{}", numbers.take(0, 0));
    let demo = Running::start(&["demo", "--once", "--driver-url", &nowhere]);
    demo.line_with("[1/16] register");
    // Admission cannot validate the load balancer.
    let failed = demo.line_with("FAILED");
    assert!(failed.contains("validateLoadBalancer"), "{failed}");
    let (code, _) = demo.interrupt();
    assert_eq!(code, Some(1));
}

/// A driver that serves no fixture and refuses every load balancer. It runs as long as the test.
fn refusing_driver() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer_refusing(&mut stream));
        }
    });
    url
}

fn answer_refusing(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut part = [0; 4096];
    let head = loop {
        let read = stream.read(&mut part)?;
        request.extend_from_slice(&part[..read]);
        let seen = text(&request).to_ascii_lowercase();
        let Some((head, body)) = seen.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.split_once("content-length: ");
        let length = length.and_then(|(_, rest)| rest.lines().next()?.trim().parse().ok());
        if read == 0 || body.len() >= length.unwrap_or(0) {
            break head.to_owned();
        }
    };
    let (status, body) = if head.starts_with("post ") {
        ("200 OK", r#"{"succ":false,"msg":"spec.zone is required"}"#)
    } else {
        ("404 Not Found", "")
    };
    let length = body.len();
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(response.as_bytes())
}

#[test]
fn a_driver_that_refuses_the_fields_ends_the_tour_with_what_to_do() {
    let refuses = r#"[{"match": {"webhook": "validateLoadBalancer"}, "action": {"fail": {"message": "spec.zone is required"}}}]"#;
    let faults = TempFile::new("faults.json");
    std::fs::write(faults.path(), refuses).unwrap();
    let (_driver, with_fixture) = other_driver(&["--faults", faults.as_str()]);
    for (url, advice) in [
        (refusing_driver(), "--fixture FILE"),
        (
            with_fixture,
            "/.well-known/lbcf/conformance: the first items of loadBalancer.valid",
        ),
    ] {
        let output = run(&["demo", "--once", "--output", "json", "--driver-url", &url]);
        assert_eq!(output.status.code(), Some(1));
        let stderr = text(&output.stderr);
        assert!(stderr.contains(advice), "{stderr}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let steps = report["steps"].as_array().unwrap();
        let error = steps[0]["error"].as_str().unwrap();
        assert!(error.contains("spec.zone is required"), "{error}");
        let (last, between) = steps[1..].split_last().unwrap();
        assert!(
            between
                .iter()
                .all(|step| step["skipped"] == "the first step failed")
        );
        assert_eq!(last["passed"], true, "{last:#}");
    }
}

#[test]
fn the_text_has_the_kubectl_commands_and_the_state_of_the_cloud() {
    let output = run(&["demo", "--once"]);
    let stdout = ended(&output, 0);
    for part in [
        "kubeconfig",
        "[1/16] register",
        "$ kubectl apply -f deploy/examples/30-backend-group-by-label.yaml",
        "webhooks  ",
        "weight 80",
        "cloud     empty",
        "denied the request: invalid Backend, msg: parameters.weight: \"1000\"",
        "the fewest targets of the Deployment during the rollout: 4 of 4",
        " failed; my-pod-",
        " requests, 0 failed; ",
        "passed: 16 of 16 steps; nothing was left behind",
    ] {
        assert!(stdout.contains(part), "{part:?} is missing in\n{stdout}");
    }
    assert!(!stdout.contains('\x1b'), "no colours in a pipe");
    assert_eq!(text(&output.stderr), "", "no warnings");
}

#[test]
fn exhaustive_the_azure_profile_tells_the_same_story_with_frontends_public_ips_and_rules() {
    if is_left_to_the_exhaustive_run("its text is read in the normal run") {
        return;
    }
    let (code, report) = tour(&["--profile", "azure"]);
    assert_eq!(code, Some(0), "{report:#}");
    let mut expected = steps();
    let at = |step: &str| steps().iter().position(|id| *id == step).unwrap();
    expected[at("weight")] = "parameters";
    expected.insert(at("driver-down"), "internal");
    assert_eq!(ids(&report), expected);
    for step in report["steps"].as_array().unwrap() {
        assert_eq!(step["passed"], true, "{step:#}");
    }
    assert_eq!(report["leaked"], json!([]));
    assert_eq!(report.get("traffic"), None);
    assert_eq!(
        validated_once(webhooks(&report, "attributes")),
        json!({"ensureLoadBalancer": 1, "validateLoadBalancer": 1})
    );
    // Moving takes time: the driver is polled.
    let internal = webhooks(&report, "internal");
    assert!(
        internal["ensureLoadBalancer"].as_u64() >= Some(2),
        "{internal}"
    );
}

#[test]
fn the_text_of_the_azure_profile_has_its_resources() {
    let output = run(&["demo", "--once", "--profile", "azure"]);
    let stdout = ended(&output, 0);
    for part in [
        "without     no requests are sent",
        r#"# with lbSpec {"port":"80","service":"my-namespace/my-web"}"#,
        "load balancer kubernetes\n",
        "  frontend a",
        " by public IP a",
        " by subnet default",
        "load balancer kubernetes-internal\n",
        "load balancer agentpool2\n",
        "of my-namespace/my-web, DNS label my-web",
        "TCP 80 to its pool, idle connections end after 4 min",
        "TCP 80 to its pool, idle connections end after 20 min",
        "kubernetes-nsg  Internet to TCP 80 of ",
        "kubernetes-nsg  AzureCloud to TCP 80 of ",
        "adminState Up",
        "cloud     empty",
        "passed: 17 of 17 steps; nothing was left behind",
    ] {
        assert!(stdout.contains(part), "{part:?} is missing in\n{stdout}");
    }
    assert!(!stdout.contains("traffic"), "{stdout}");
    assert_eq!(text(&output.stderr), "", "no warnings");
}

#[test]
fn ctrl_c_ends_the_demo_during_the_tour_and_after_it() {
    let kubeconfig = TempFile::new("kubeconfig");
    let demo = Running::start(&["demo", "--kubeconfig", kubeconfig.as_str()]);
    demo.line_with("Ctrl-C ends it.");
    assert!(kubeconfig.path().exists());
    let (code, lines) = demo.interrupt();
    assert_eq!(code, Some(0), "{lines:?}");

    let demo = Running::start(&["demo"]);
    demo.line_with("[1/16]");
    let (code, lines) = demo.interrupt();
    assert_eq!(code, Some(1), "the tour was not finished");
    assert!(
        lines.iter().any(|line| line.contains("interrupted")),
        "{lines:?}"
    );
}

#[test]
fn a_closed_pipe_ends_the_demo_without_an_error() {
    let mut child = lbcf(&["demo", "--once"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = text(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert_eq!(output.status.code(), Some(0), "{stderr}");
}

#[test]
fn a_kubeconfig_that_cannot_be_written_is_named() {
    let output = run(&words(
        "demo --once --kubeconfig /nonexistent/folder/kubeconfig",
    ));
    assert_refused(&output, "/nonexistent/folder/kubeconfig");
}
