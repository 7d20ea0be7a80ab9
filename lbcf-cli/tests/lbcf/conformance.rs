//! `lbcf conformance` as users and CI call it.

use crate::process::{
    Running, TempFile, assert_each_refused, assert_refused, ended, lbcf, run, text, words,
};
use std::io::{Read, Write};
use std::process::Command;

/// A running mock driver and its URL.
fn mock() -> (Running, String) {
    let mock = Running::start(&words(
        "mock-driver --listen 127.0.0.1:0 --creation-polls 2",
    ));
    let url = mock.line_with("http://").trim().to_owned();
    (mock, url)
}

/// A file with a fixture for the mock.
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
fn help_lists_every_command() {
    let help = text(&conformance(&["--help"]).stdout);
    for command in ["run", "list", "explain", "init", "replay", "badge", "diff"] {
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
fn the_json_report_is_printed_to_stdout() {
    let (_mock, url) = mock();
    let output = conformance(&words(&format!(
        "run --url {url} --only WIRE-01,WIRE-02 --format json"
    )));
    let report: serde_json::Value = serde_json::from_str(&ended(&output, 0)).unwrap();
    let results = report["results"].as_array().unwrap();
    let passed = results.iter().filter(|result| result["status"] == "passed");
    assert!(passed.count() >= 1, "{report}");
    assert_eq!(report["summary"]["failed"], 0);
    let reproduce = report["reproduce"].as_str().unwrap();
    assert!(reproduce.contains("--only WIRE-01,WIRE-02"), "{reproduce}");
    let stderr = text(&output.stderr);
    assert!(stderr.contains("seed "), "{stderr}");
}

#[test]
fn errors_exit_with_2_and_unreachable_drivers_with_3() {
    let table = r"
        run | no driver:
        run --url nowhere | nowhere
        run --url http://x --only ENS2 | did you mean ENS-02?
        run --url http://x --fixture /no/f | /no/f
        run --url http://x --token-file /no/t | --token-file /no/t
        run --exec ./driver | {port}
        run --jobs 0 | --jobs
        explain ENS2 | did you mean ENS-02?
        list --group EMS | EMS
        replay /no/report --url http://x | /no/report
        badge /no/report | /no/report
        diff /no/old /no/new | /no/old
        dance | dance
    ";
    assert_each_refused(table, conformance);
    // Tests do not listen on ports below 1024.
    let unreachable = conformance(&["run", "--url", "http://127.0.0.1:9", "--wait", "300ms"]);
    let stderr = text(&unreachable.stderr);
    assert_eq!(unreachable.status.code(), Some(3), "{stderr}");
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
fn the_driver_is_started_and_stopped() {
    let exec = format!(
        "{} mock-driver --listen 127.0.0.1:{{port}}",
        env!("CARGO_BIN_EXE_lbcf")
    );
    let report = TempFile::new("report.xml");
    let output = format!("junit={}", report.as_str());
    let flags = format!("--only WIRE-01,WIRE-02 --output {output}");
    let run = conformance(&[&["run", "--exec", &exec][..], &words(&flags)].concat());
    let stdout = ended(&run, 0);
    assert!(stdout.starts_with("LBCF conformance of "), "{stdout}");
    let report = std::fs::read_to_string(report.path()).unwrap();
    assert!(report.contains("<testsuites"), "{report}");
    let (_, rest) = stdout.split_once("http://localhost:").unwrap();
    let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
    assert!(std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_err());
}

#[test]
fn ctrl_c_cleans_up() {
    let (_mock, url) = mock();
    let fixture = fixture();
    let address = url.trim_start_matches("http://");
    let load_balancers = || {
        let observed = get(address, "/_mock/observe").unwrap();
        let observed: serde_json::Value = serde_json::from_str(&observed).unwrap();
        observed["loadBalancers"].as_array().unwrap().len()
    };
    let before = load_balancers();
    let run = Running::start(&words(&format!(
        "conformance run --url {url} --fixture {} --repeat 1000 --only CLB,ELB,ENS",
        fixture.as_str()
    )));
    run.line_with("CLB-01");
    let (code, lines) = run.interrupt();
    let output = lines.join("\n");
    assert_eq!(code, Some(130), "{output}");
    for part in [
        "SIGINT: ending the run, cleaning up",
        "the run was interrupted",
    ] {
        assert!(output.contains(part), "{output}");
    }
    assert_eq!(load_balancers(), before, "{output}");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let binary = env!("CARGO_BIN_EXE_lbcf");
    let script = format!("{binary} conformance list | head -n 1; exit ${{PIPESTATUS[0]}}");
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    assert_eq!(text(&output.stdout).lines().count(), 1);
}

#[test]
fn init_and_run_work_for_an_unknown_driver() {
    let (_mock, url) = mock();
    let folder = TempFile::new("new");
    for url_flag in [&[][..], &["--url", &url]] {
        let args = [&["init", folder.as_str(), "--force"], url_flag].concat();
        let written = conformance(&args);
        assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
        let run = lbcf(&words(&format!(
            "conformance run --url {url} --format json --time-scale 0.1"
        )))
        .current_dir(folder.path())
        .output()
        .unwrap();
        let (stdout, stderr) = (text(&run.stdout), text(&run.stderr));
        assert!(
            stderr.contains("fixture: conformance.yaml, found in this folder"),
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
        assert_eq!(run.status.code(), Some(5), "{stderr}");
    }
}

#[test]
fn failed_calls_are_sent_again() {
    let (_mock, url) = mock();
    let (report, fixture) = (TempFile::new("report.json"), fixture());
    let output = format!("json={}", report.as_str());
    let run = conformance(&words(&format!(
        "run --url {url} --fixture {} --only CLB-01 --verbose --output {output}",
        fixture.as_str()
    )));
    let stderr = text(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("curl -isS"), "{stderr}");
    let nothing = conformance(&["replay", report.as_str(), "--url", &url]);
    assert!(text(&nothing.stdout).contains("nothing to repeat"));
    let replay = ["replay", report.as_str(), "--only", "CLB-01", "--url"];
    let again = conformance(&[&replay[..], &[&url]].concat());
    let (stdout, stderr) = (ended(&again, 0), text(&again.stderr));
    for part in ["/createLoadBalancer'", "now:  HTTP 200", "; 0 left out"] {
        assert!(stdout.contains(part), "{stdout}");
    }
    assert!(stderr.contains("real calls to"), "{stderr}");
    let cut = std::fs::read_to_string(report.path()).unwrap();
    let cut = cut.replace("\"requestBody\"", "\"requestCut\": true, \"requestBody\"");
    std::fs::write(report.path(), cut).unwrap();
    let cut = conformance(&[&replay[..], &[&url]].concat());
    let stdout = ended(&cut, 1);
    for part in ["left out: POST", "0 repeated"] {
        assert!(stdout.contains(part), "{stdout}");
    }
    // Nothing is left to send.
    let unreachable = conformance(&[&replay[..], &["http://127.0.0.1:9"]].concat());
    ended(&unreachable, 1);
}

#[test]
fn calls_of_the_mocks_journal_are_sent_again() {
    let mock = Running::start(&["mock-driver", "--listen=127.0.0.1:0", "--print-calls"]);
    let url = mock.line_with("http://").trim().to_owned();
    let address = url.trim_start_matches("http://");
    get(address, "/healthz").unwrap();
    // Each call is a line on standard output.
    let line = mock.line_with("\"webhook\":\"healthz\"");
    let printed: serde_json::Value = serde_json::from_str(&line).unwrap();
    let expected =
        r#"{"healthy":true,"specification":"1","features":["batches","cancel","pages","reasons"]}"#;
    assert_eq!(printed["response"], expected);

    let journal = TempFile::new("journal.json");
    let export = get(address, "/_mock/requests/export").unwrap();
    std::fs::write(journal.path(), export).unwrap();
    let replay = ["replay", journal.as_str(), "--url", &url];
    let again = conformance(&replay);
    let stdout = ended(&again, 0);
    for part in ["call #1", "1 with the same response, 0 with another"] {
        assert!(stdout.contains(part), "{stdout}");
    }
    let checks = conformance(&[&replay[..], &["--only", "CLB-01"]].concat());
    assert_refused(&checks, "a journal has no checks");
    std::fs::write(journal.path(), r#"{"kind": "CallJournal", "calls": 7}"#).unwrap();
    assert_refused(&conformance(&replay), "the journal is invalid");
}

/// A run with a mock in which creating a load balancer takes long.
fn run_slow_mock(flags: &str, fixture: &TempFile) -> Running {
    let lbcf = env!("CARGO_BIN_EXE_lbcf");
    let exec = format!("{lbcf} mock-driver --listen 127.0.0.1:{{port}} --stage-duration 20s");
    let fixture = ["--fixture", fixture.as_str()];
    let fixed = ["conformance", "run", "--exec", &exec];
    Running::start(&[&fixed[..], &fixture, &words(flags)].concat())
}

#[test]
fn a_second_signal_ends_the_run_and_the_driver_at_once() {
    let fixture = fixture();
    let run = run_slow_mock("--only CLB-01 --budget async=10m --verbose", &fixture);
    wait_until_mock_is_called(&run, "createLoadBalancer");
    let child = children_of(&run);
    run.signal("TERM");
    run.line_with("SIGTERM: ending the run, cleaning up");
    let (code, lines) = run.interrupt();
    assert_eq!(code, Some(130), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("stopped at once")),
        "{lines:?}"
    );
    assert!(!child.is_empty());
    wait_until_exited(&child);
}

#[test]
fn waiting_for_a_driver_can_be_interrupted() {
    let flags = words("conformance run --wait 10m --exec");
    let run = Running::start(&[&flags[..], &["sleep 1000 & wait # {port}"]].concat());
    run.line_with("waiting for the driver");
    let child = children_of(&run);
    let (code, lines) = run.interrupt();
    assert_eq!(code, Some(130), "{lines:?}");
    wait_until_exited(&child);
}

#[test]
fn a_crash_of_the_driver_is_reported_with_its_last_output() {
    let fixture = fixture();
    let run = run_slow_mock("--only CLB --time-scale 0.01", &fixture);
    wait_until_mock_is_called(&run, "createLoadBalancer");
    for child in children_of(&run).iter().rev() {
        let child = child.to_string();
        // The shell may have exited with its child.
        let _ = Command::new("kill").args(["-KILL", &child]).status();
    }
    let (code, lines) = run.wait();
    // Independent of line breaks.
    let words: Vec<&str> = lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .collect();
    let output = words.join(" ");
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("its process ended with"), "{output}");
    // The mock prints its URL.
    assert!(output.contains("its last output"), "{output}");
    assert!(output.contains("the driver no longer responds"), "{output}");
}

/// The IDs of all descendants of a command.
fn children_of(run: &Running) -> Vec<u32> {
    let deadline = std::time::Instant::now() + crate::process::DEADLINE;
    loop {
        let mut found = vec![run.id()];
        let mut next = 0;
        while let Some(parent) = found.get(next) {
            // Children are listed by the thread that started them.
            let tasks = std::fs::read_dir(format!("/proc/{parent}/task"));
            for task in tasks.into_iter().flatten().flatten() {
                let children = std::fs::read_to_string(task.path().join("children"));
                let children = children.unwrap_or_default();
                let ids = children.split_whitespace();
                found.extend(ids.map(|id| id.parse::<u32>().unwrap()));
            }
            next += 1;
        }
        if found.len() > 1 {
            return found.split_off(1);
        }
        assert!(std::time::Instant::now() < deadline, "it has no child");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Waits until the mock that a command has started receives a webhook.
fn wait_until_mock_is_called(run: &Running, webhook: &str) {
    let deadline = std::time::Instant::now() + crate::process::DEADLINE;
    loop {
        for id in children_of(run) {
            let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
            // The command line of the shell contains the whole command as one argument.
            let line = text(&line).replace('\0', " ");
            let address = line.split_once("--listen ").map(|(_, rest)| rest);
            let address = address.and_then(|rest| rest.split(' ').next());
            let requests = address.and_then(|address| get(address, "/_mock/requests"));
            if requests.is_some_and(|requests| requests.contains(webhook)) {
                return;
            }
        }
        assert!(
            std::time::Instant::now() < deadline,
            "the mock is not called"
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// The response body of a GET request; `None` if the server is unreachable.
pub(crate) fn get(address: &str, path: &str) -> Option<String> {
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut response = String::new();
    stream.read_to_string(&mut response).ok()?;
    let (_, body) = response.split_once("\r\n\r\n")?;
    Some(body.to_owned())
}

fn wait_until_exited(processes: &[u32]) {
    let deadline = std::time::Instant::now() + crate::process::DEADLINE;
    let runs = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    while let Some(id) = processes.iter().find(|id| runs(id)) {
        assert!(
            std::time::Instant::now() < deadline,
            "{id} is still running"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
