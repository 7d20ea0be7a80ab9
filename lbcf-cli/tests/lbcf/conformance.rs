//! `lbcf conformance` as people and CI call it.

use crate::process::{Running, TempFile, lbcf, run, text};
use std::io::{Read, Write};
use std::process::Command;

/// The mock, and its URL.
fn mock() -> (Running, String) {
    let mock = Running::start(&[
        "mock-driver",
        "--listen",
        "127.0.0.1:0",
        "--stage-duration",
        "20ms",
    ]);
    let url = mock.line_with("http://").trim().to_owned();
    (mock, url)
}

/// A fixture for the mock.
fn fixture() -> TempFile {
    let file = TempFile::new("fixture.yaml");
    let text = "\
features: [async, backend.pod]
loadBalancer:
  valid: [{lbSpec: {lbVpcID: vpc-12345678, lbListenerPort: '{{number}}', lbListenerProtocol: TCP}}]
";
    std::fs::write(file.path(), text).unwrap();
    file
}

fn conformance(args: &[&str]) -> std::process::Output {
    run(&[&["conformance"], args].concat())
}

#[test]
fn help_says_what_each_command_is_for() {
    let help = text(&conformance(&["--help"]).stdout);
    for command in ["run", "list", "explain", "init", "replay"] {
        assert!(help.contains(command), "{help}");
        let output = conformance(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0));
        let usage = format!("Usage: lbcf conformance {command}");
        assert!(text(&output.stdout).contains(&usage), "{command}");
    }
    let help = lbcf(&["conformance", "run", "--help"])
        .env("LBCF_CONFORMANCE_URL", "http://me:s3cret@x")
        .env("LBCF_CONFORMANCE_HEADER", "X-Key: s3cret")
        .output()
        .unwrap();
    let help = text(&help.stdout);
    assert!(
        help.contains("--known-failures") && !help.contains("s3cret"),
        "{help}"
    );
}

#[test]
fn programs_read_the_report_from_stdout() {
    let (_mock, url) = mock();
    let output = conformance(&[
        "run",
        "--url",
        &url,
        "--only",
        "WIRE-01,WIRE-02",
        "--format",
        "json",
    ]);
    let stderr = text(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{stderr}{}",
        text(&output.stdout)
    );
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = report["results"].as_array().unwrap();
    let passed = results.iter().filter(|result| result["status"] == "passed");
    assert!(passed.count() >= 1, "{report}");
    assert_eq!(report["summary"]["failed"], 0);
    assert!(
        report["reproduce"]
            .as_str()
            .unwrap()
            .contains("--only WIRE-01,WIRE-02")
    );
    assert!(stderr.contains("seed "), "{stderr}");
}

#[test]
fn what_is_wrong_ends_with_2_and_a_driver_that_is_not_there_with_3() {
    for (args, named) in [
        (&["run"][..], "which driver?"),
        (&["run", "--url", "nowhere"], "nowhere"),
        (
            &["run", "--url", "http://x", "--only", "ENS2"],
            "did you mean ENS-02?",
        ),
        (&["run", "--url", "http://x", "--fixture", "/no/f"], "/no/f"),
        (
            &["run", "--url", "http://x", "--token-file", "/no/t"],
            "--token-file /no/t",
        ),
        (&["run", "--exec", "./driver"], "{port}"),
        (&["run", "--jobs", "0"], "--jobs"),
        (&["explain", "ENS2"], "did you mean ENS-02?"),
        (&["list", "--group", "EMS"], "EMS"),
        (&["replay", "/no/report", "--url", "http://x"], "/no/report"),
        (&["dance"], "dance"),
    ] {
        let output = conformance(args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(named), "{args:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    }
    // Port 9 of this machine: nobody listens below 1024 in tests.
    let away = conformance(&["run", "--url", "http://127.0.0.1:9", "--wait", "300ms"]);
    let stderr = text(&away.stderr);
    assert_eq!(away.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains("the driver at http://127.0.0.1:9/ cannot be reached"),
        "{stderr}"
    );
    let dying = conformance(&["run", "--exec", ": {port}; echo no key >&2; exit 7"]);
    let stderr = text(&dying.stderr);
    assert_eq!(dying.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains("exit status: 7") && stderr.contains("no key"),
        "{stderr}"
    );
}

#[test]
fn the_driver_is_started_and_ended() {
    let exec = format!(
        "{} mock-driver --listen 127.0.0.1:{{port}}",
        env!("CARGO_BIN_EXE_lbcf")
    );
    let report = TempFile::new("report.xml");
    let output = format!("junit={}", report.as_str());
    let run = conformance(&[
        "run",
        "--exec",
        &exec,
        "--only",
        "WIRE-01,WIRE-02",
        "--output",
        &output,
    ]);
    let stdout = text(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "{stdout}{}", text(&run.stderr));
    assert!(stdout.starts_with("LBCF conformance of "), "{stdout}");
    assert!(
        std::fs::read_to_string(report.path())
            .unwrap()
            .contains("<testsuites")
    );
    let (_, behind) = stdout.split_once("http://127.0.0.1:").unwrap();
    let port: String = behind.chars().take_while(char::is_ascii_digit).collect();
    assert!(std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_err());
}

#[test]
fn ctrl_c_cleans_up() {
    let (_mock, url) = mock();
    let fixture = fixture();
    let address = url.trim_start_matches("http://");
    let seen = || {
        let seen = get(address, "/_mock/observe").unwrap();
        let seen: serde_json::Value = serde_json::from_str(&seen).unwrap();
        seen["loadBalancers"].as_array().unwrap().len()
    };
    let before = seen();
    let run = Running::start(&[
        "conformance",
        "run",
        "--url",
        &url,
        "--fixture",
        fixture.as_str(),
        "--repeat",
        "1000",
        "--only",
        "CLB,ELB,ENS",
    ]);
    run.line_with("CLB-01");
    let (code, lines) = run.interrupt();
    let told = lines.join("\n");
    assert_eq!(code, Some(130), "{told}");
    assert!(told.contains("Ctrl-C: the run ends, cleaning up"), "{told}");
    assert!(told.contains("the run was interrupted"), "{told}");
    assert_eq!(seen(), before, "{told}");
}

#[test]
fn nobody_has_to_read_to_the_end() {
    let binary = env!("CARGO_BIN_EXE_lbcf");
    let script = format!("{binary} conformance list | head -n 1; exit ${{PIPESTATUS[0]}}");
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    assert_eq!(text(&output.stdout).lines().count(), 1);
}

#[test]
fn init_and_then_run_works_for_a_driver_that_nobody_prepared() {
    let (_mock, url) = mock();
    let folder = TempFile::new("new");
    for url_flag in [&[][..], &["--url", &url]] {
        let args = [&["init", folder.as_str(), "--force"], url_flag].concat();
        let written = conformance(&args);
        assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
        let run = lbcf(&[
            "conformance",
            "run",
            "--url",
            &url,
            "--format",
            "json",
            "--time-scale",
            "0.1",
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
        let (stdout, stderr) = (text(&run.stdout), text(&run.stderr));
        assert!(
            stderr.contains("fixture: lbcf-conformance.yaml, found in this folder"),
            "{stderr}"
        );
        let report: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        let results = report["results"].as_array().unwrap();
        let failed: Vec<_> = results
            .iter()
            .filter(|result| result["status"] == "failed" && result["level"] == "MUST")
            .map(|result| format!("{}: {}", result["id"], result["reason"]))
            .collect();
        assert_eq!(failed, [""; 0], "{stderr}");
        assert_eq!(run.status.code(), Some(0), "{stderr}");
    }
}

#[test]
fn failed_calls_are_sent_again() {
    let (_mock, url) = mock();
    let (report, fixture) = (TempFile::new("report.json"), fixture());
    let output = format!("json={}", report.as_str());
    let run = conformance(&[
        "run",
        "--url",
        &url,
        "--fixture",
        fixture.as_str(),
        "--only",
        "CLB-01",
        "--verbose",
        "--output",
        &output,
    ]);
    let stderr = text(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("curl -isS"), "{stderr}");
    let nothing = conformance(&["replay", report.as_str(), "--url", &url]);
    assert!(text(&nothing.stdout).contains("nothing to send again"));
    let replay = ["replay", report.as_str(), "--only", "CLB-01", "--url"];
    let again = conformance(&[&replay[..], &[&url]].concat());
    let (stdout, stderr) = (text(&again.stdout), text(&again.stderr));
    assert_eq!(again.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("/createLoadBalancer'"), "{stdout}");
    assert!(
        stdout.contains("now:  HTTP 200") && stdout.contains("; 0 left out"),
        "{stdout}"
    );
    assert!(
        stderr.contains("for real; nothing is cleaned up"),
        "{stderr}"
    );
    let cut = std::fs::read_to_string(report.path()).unwrap();
    let cut = cut.replace("\"requestBody\"", "\"requestCut\": true, \"requestBody\"");
    std::fs::write(report.path(), cut).unwrap();
    let cut = conformance(&[&replay[..], &[&url]].concat());
    let stdout = text(&cut.stdout);
    assert_eq!(cut.status.code(), Some(1), "{stdout}");
    assert!(
        stdout.contains("left out: POST") && stdout.contains("0 sent again"),
        "{stdout}"
    );
    let away = conformance(&[&replay[..], &["http://127.0.0.1:9"]].concat());
    assert_eq!(away.status.code(), Some(1), "nothing is left to send");
}

/// The mock as `--exec`, in which a load balancer takes its time.
fn slow_mock() -> String {
    let lbcf = env!("CARGO_BIN_EXE_lbcf");
    format!("{lbcf} mock-driver --listen 127.0.0.1:{{port}} --stage-duration 5s")
}

#[test]
fn a_second_signal_ends_it_at_once_and_the_driver_too() {
    let fixture = fixture();
    let run = Running::start(&[
        "conformance",
        "run",
        "--exec",
        &slow_mock(),
        "--fixture",
        fixture.as_str(),
        "--only",
        "CLB-01",
        "--budget",
        "async=10m",
        "--verbose",
    ]);
    wait_until_mock_is_called(&run, "createLoadBalancer");
    let child = children_of(&run);
    run.signal("TERM");
    run.line_with("SIGTERM: the run ends, cleaning up");
    let began = std::time::Instant::now();
    let (code, lines) = run.interrupt();
    assert_eq!(code, Some(130), "{lines:?}");
    assert!(began.elapsed() < std::time::Duration::from_secs(10));
    assert!(
        lines.iter().any(|line| line.contains("ended at once")),
        "{lines:?}"
    );
    assert!(!child.is_empty());
    wait_until_gone(&child);
}

#[test]
fn a_driver_that_never_answers_can_be_interrupted() {
    let run = Running::start(&[
        "conformance",
        "run",
        "--wait",
        "10m",
        "--exec",
        "sleep 1000 & wait # {port}",
    ]);
    run.line_with("seed ");
    let child = children_of(&run);
    let (code, lines) = run.interrupt();
    assert_eq!(code, Some(130), "{lines:?}");
    wait_until_gone(&child);
}

#[test]
fn a_driver_that_dies_is_told_with_its_last_words() {
    let fixture = fixture();
    let run = Running::start(&[
        "conformance",
        "run",
        "--exec",
        &slow_mock(),
        "--fixture",
        fixture.as_str(),
        "--only",
        "CLB",
        "--time-scale",
        "0.01",
    ]);
    wait_until_mock_is_called(&run, "createLoadBalancer");
    for child in children_of(&run).iter().rev() {
        let child = child.to_string();
        // The shell ends with its child.
        let _ = Command::new("kill").args(["-KILL", &child]).status();
    }
    let (code, lines) = run.end();
    // However the lines are broken.
    let words: Vec<&str> = lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .collect();
    let told = words.join(" ");
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("the driver is gone: its process ended with"),
        "{told}"
    );
    // It wrote its URL.
    assert!(told.contains("the last that it wrote"), "{told}");
    assert!(
        told.contains("the driver does not answer any more"),
        "{told}"
    );
}

/// The processes that a command has started, and those that they have.
fn children_of(run: &Running) -> Vec<u32> {
    let deadline = std::time::Instant::now() + crate::process::DEADLINE;
    loop {
        let mut found = vec![run.id()];
        let mut next = 0;
        while let Some(parent) = found.get(next) {
            // Whichever thread started them, they are listed by threads.
            let tasks = std::fs::read_dir(format!("/proc/{parent}/task"));
            for task in tasks.into_iter().flatten().flatten() {
                let children = std::fs::read_to_string(task.path().join("children"));
                let children = children.unwrap_or_default();
                found.extend(
                    children
                        .split_whitespace()
                        .map(|id| id.parse::<u32>().unwrap()),
                );
            }
            next += 1;
        }
        if found.len() > 1 {
            return found.split_off(1);
        }
        assert!(std::time::Instant::now() < deadline, "it starts nothing");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Waits until the mock that a command has started is called.
fn wait_until_mock_is_called(run: &Running, webhook: &str) {
    let deadline = std::time::Instant::now() + crate::process::DEADLINE;
    loop {
        for id in children_of(run) {
            let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            // The shell's has all words in one.
            let line = text(&line).replace('\0', " ");
            let address = line.split_once("--listen ").map(|(_, behind)| behind);
            let address = address.and_then(|behind| behind.split(' ').next());
            let requests = address.and_then(|address| get(address, "/_mock/requests"));
            if requests.is_some_and(|requests| requests.contains(webhook)) {
                return;
            }
        }
        assert!(std::time::Instant::now() < deadline, "no call comes");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// The body that a server gives for a path; nothing where there is none.
fn get(address: &str, path: &str) -> Option<String> {
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    Some(body.to_owned())
}

fn wait_until_gone(processes: &[u32]) {
    let deadline = std::time::Instant::now() + crate::process::DEADLINE;
    let runs = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    while let Some(id) = processes.iter().find(|id| runs(id)) {
        assert!(std::time::Instant::now() < deadline, "{id} goes on");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
