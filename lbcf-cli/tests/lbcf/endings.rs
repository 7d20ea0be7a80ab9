//! The ends of commands: by each signal, with a reader that is gone, and what they leave.

use crate::controller::Cluster;
use crate::dev::{DRIVER, example, load_balancer};
use crate::process::{DEADLINE, Running, TempFile, lbcf, skip, text, with_hangup, words};
use lbcf_conformance::numbers::Numbers;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

pub(crate) const SIGNALS: [&str; 4] = ["INT", "TERM", "HUP", "QUIT"];

#[test]
fn every_signal_ends_every_server() {
    let cluster = Cluster::start();
    let kubeconfig = cluster.kubeconfig();
    let controller = format!("controller --kubeconfig {kubeconfig} --health-address 127.0.0.1:0");
    for signal in SIGNALS {
        for (command, started, expected) in [
            ("mock-driver --listen 127.0.0.1:0", "http://127.0.0.1:", 0),
            ("local-cluster --listen 127.0.0.1:0", "http://127.0.0.1:", 0),
            (
                "demo --driver-url http://127.0.0.1:1",
                "http://127.0.0.1:",
                1,
            ),
            (&controller, "the index is complete", 0),
        ] {
            let server = Running::of(with_hangup(&lbcf(&words(command))));
            server.line_with(started);
            server.signal(signal);
            let (code, lines) = server.wait();
            assert_eq!(code, Some(expected), "{command}, SIG{signal}: {lines:?}");
        }
    }
}

#[test]
fn every_signal_ends_the_driver_that_the_kit_started() {
    for signal in SIGNALS {
        let started = TempFile::new("started");
        let driver = format!(
            "touch {0}; sh -c 'sleep 600' {0} {{port}}",
            started.as_str()
        );
        let args = ["conformance", "run", "--exec", &driver];
        let kit = Running::of(with_hangup(&lbcf(&args)));
        let deadline = Instant::now() + DEADLINE;
        while !started.path().exists() {
            assert!(Instant::now() < deadline, "it does not start");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        kit.signal(signal);
        let (code, lines) = kit.wait();
        assert!(code.is_some(), "SIG{signal}: {lines:?}");
        let left = Command::new("pgrep")
            .args(["-f", started.as_str()])
            .status();
        assert!(!left.unwrap().success(), "SIG{signal}: {lines:?}");
    }
}

#[test]
fn colors_are_for_terminals_that_show_them_and_people_who_want_them() {
    for (variables, is_colored) in [
        ([("TERM", "xterm"), ("NO_COLOR", "")], true),
        ([("TERM", "xterm"), ("NO_COLOR", "1")], false),
        ([("TERM", "dumb"), ("NO_COLOR", "")], false),
    ] {
        for (command, seen) in [
            ("mock-driver --listen 127.0.0.1:0", "http://127.0.0.1:"),
            ("demo --once", "[2/"),
        ] {
            let mut terminal = Command::new("python3");
            terminal.args(["-c", CLOSED_TERMINAL, seen, env!("CARGO_BIN_EXE_lbcf")]);
            terminal.args(words(command)).envs(variables);
            let Ok(output) = terminal.output() else {
                return skip("colors on a terminal, as python3 is not on the PATH");
            };
            let shown = text(&output.stdout);
            assert_eq!(
                shown.contains("\u{1b}[3"),
                is_colored,
                "{variables:?}: {shown:?}"
            );
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_hangup_that_is_ignored_stays_ignored() {
    for (trap, is_ignored) in [("trap '' HUP;", true), ("", false)] {
        let binary = env!("CARGO_BIN_EXE_lbcf");
        let script = format!("{trap} exec {binary} mock-driver --listen 127.0.0.1:0");
        let mut command = Command::new("sh");
        command.args(["-c", &script]);
        let mock = Running::of(with_hangup(&command));
        mock.line_with("http://");
        let status = std::fs::read_to_string(format!("/proc/{}/status", mock.id())).unwrap();
        let mask = status
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:\t"));
        let mask = u64::from_str_radix(mask.unwrap(), 16).unwrap();
        // SIGHUP is the first signal.
        assert_eq!(mask & 1 == 1, is_ignored, "{status}");
        assert_eq!(mock.interrupt().0, Some(0));
    }
}

#[test]
fn a_closed_pipe_is_the_end_of_the_output() {
    let folder = TempFile::new("project");
    let new = format!("new some-driver --path {}", folder.as_str());
    let manifest = example("20-load-balancer-new.yaml");
    let convert = format!("convert -f {manifest}");
    let report = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/conformance/tests/golden/sample/report.yaml"
    );
    let fixture = TempFile::new("fixture");
    let init = format!("conformance init --ci gitlab {}", fixture.as_str());
    let badge = format!("conformance badge {report}");
    let diff = format!("conformance diff {report} {report}");
    let commands = [
        "crds",
        "install",
        "webhooks",
        "completion bash",
        "conformance list",
        "conformance explain ENS-01",
        &init,
        &badge,
        &diff,
        "--help",
        &new,
        &convert,
    ];
    let kit = ["conformance", "run", "--exec", DRIVER, "--only", "HLTH-01"];
    for command in commands.map(words).into_iter().chain([kit.into()]) {
        // The pipe is closed before the command starts.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = lbcf(&command).stdout(writer).output().unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {stderr}");
        assert!(!stderr.contains("ipe"), "{command:?}: {stderr}");
    }
}

/// The names of what the cloud in a state file has.
fn kept(state: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(state).unwrap_or_else(|_| "{}".to_owned());
    let state: serde_json::Value = serde_json::from_str(&text).unwrap();
    let lbs = state["loadBalancers"].as_array().into_iter().flatten();
    lbs.map(|lb| lb["id"].to_string()).collect()
}

#[test]
fn a_demo_that_nobody_reads_leaves_nothing_in_the_cloud_of_another_driver() {
    let state = TempFile::new("state.json");
    let driver = words("mock-driver --listen 127.0.0.1:0 --empty --stage-duration 0 --state-file");
    let driver = Running::start(&[&driver[..], &[state.as_str()]].concat());
    let url = driver.line_with("http://").trim().to_owned();
    for once in ["--once", "--output=text"] {
        let demo = lbcf(&["demo", "--driver-url", &url, once])
            .stdout(Stdio::piped())
            .spawn();
        let mut demo = demo.unwrap();
        let stdout = demo.stdout.take().unwrap();
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stdout));
        let is_seen = lines.any(|line| line.unwrap().contains("[2/16]"));
        assert!(is_seen && !kept(state.path()).is_empty());
        drop(lines);
        assert_eq!(demo.wait().unwrap().code(), Some(0), "{once}");
        assert_eq!(kept(state.path()), [""; 0], "{once}");
    }
}

/// The arguments of a session with a load balancer, in a cloud that survives its driver.
fn session_args(state: &TempFile, more: &str) -> Vec<String> {
    let binary = env!("CARGO_BIN_EXE_lbcf");
    let state = state.as_str();
    let driver = format!(
        "{more} exec {binary} mock-driver --listen 127.0.0.1:{{port}} --empty --creation-polls 1 --state-file {state}"
    );
    let examples = [
        "00-namespace.yaml",
        "10-driver.yaml",
        "20-load-balancer-new.yaml",
    ];
    let apply = examples.map(example).join(",");
    ["dev", "--exec", &driver, "--apply", &apply]
        .map(str::to_owned)
        .into()
}

/// A session whose driver has created the load balancer.
fn session(state: &TempFile, more: &str) -> Running {
    let args = session_args(state, more);
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let dev = Running::of(with_hangup(&lbcf(&args)));
    let created = dev.line_with("lb-00000001/lbl-00000001");
    assert!(created.contains("createLoadBalancer"), "{created}");
    dev
}

/// Runs a command on a terminal of its own, which closes when it has shown a text; prints what it has shown.
pub(crate) const CLOSED_TERMINAL: &str = "
import os, pty, signal, sys
pid, terminal = pty.fork()
if pid == 0:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.execv(sys.argv[2], sys.argv[2:])
seen = b''
while sys.argv[1].encode() not in seen:
    seen += os.read(terminal, 65536)
os.close(terminal)
os.write(1, seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

#[test]
fn dev_leaves_nothing_in_the_cloud_when_its_terminal_is_closed() {
    let state = TempFile::new("state.json");
    let mut command = Command::new("python3");
    let seen = "lb-00000001/lbl-00000001";
    command.args(["-c", CLOSED_TERMINAL, seen, env!("CARGO_BIN_EXE_lbcf")]);
    // Each line of the log is one that cannot be written.
    command
        .args(session_args(&state, ""))
        .env("LBCF_LOG_LEVEL", "debug");
    let Ok(status) = command.status() else {
        return skip("a terminal that is closed, as python3 is not on the PATH");
    };
    assert_eq!(status.code(), Some(0));
    assert_eq!(kept(state.path()), [""; 0]);
}

#[test]
fn dev_leaves_nothing_in_the_cloud_after_any_signal() {
    for signal in SIGNALS {
        let state = TempFile::new("state.json");
        let dev = session(&state, "");
        assert_eq!(kept(state.path()).len(), 1);
        dev.signal(signal);
        let (code, lines) = dev.wait();
        assert_eq!(code, Some(0), "SIG{signal}: {lines:?}");
        assert_eq!(kept(state.path()), [""; 0], "SIG{signal}: {lines:?}");
    }
}

/// Kills the driver of a session.
fn kill_driver(state: &TempFile) {
    let pattern = format!("^[^ ]*lbcf mock-driver.*{}", state.as_str());
    let killed = Command::new("pkill")
        .args(["-KILL", "-f", &pattern])
        .status();
    assert!(killed.unwrap().success());
}

#[test]
fn dev_leaves_nothing_in_the_cloud_of_a_driver_that_was_killed() {
    let state = TempFile::new("state.json");
    let dev = session(&state, "");
    kill_driver(&state);
    dev.line_with("its process ended");
    let (code, lines) = dev.interrupt();
    assert_eq!(code, Some(0), "{lines:?}");
    assert_eq!(kept(state.path()), [""; 0], "{lines:?}");
}

#[test]
fn dev_says_what_is_left_by_a_driver_that_does_not_start_again() {
    let (state, started) = (TempFile::new("state.json"), TempFile::new("started"));
    let file = started.as_str();
    let dev = session(&state, &format!("test -e {file} && exit 1; touch {file};"));
    kill_driver(&state);
    dev.line_with("its process ended");
    let (code, lines) = dev.interrupt();
    assert_eq!(code, Some(2), "{lines:?}");
    let left = lines
        .iter()
        .find(|line| line.contains("left in the driver's cloud"));
    let named = left.is_some_and(|line| line.contains("LoadBalancer my-load-balancer-1"));
    assert!(named, "{lines:?}");
    assert_eq!(kept(state.path()).len(), 1);
}

#[test]
fn dev_says_that_it_does_not_know_what_is_left_in_a_cluster_that_is_gone() {
    let cluster = Cluster::start();
    let of_user = ["--cluster-kubeconfig", cluster.kubeconfig()];
    let dev = Running::start(&[&["dev", "--exec", DRIVER][..], &of_user].concat());
    dev.line_with("ready ");
    drop(cluster);
    let (code, lines) = dev.interrupt();
    assert_eq!(code, Some(2), "{lines:?}");
    let is_told = |line: &String| line.contains("of: objects that are not known (listing Bind");
    assert!(lines.iter().any(is_told), "{lines:?}");
}

#[test]
fn a_second_signal_ends_dev_and_says_what_is_left() {
    let state = TempFile::new("state.json");
    let numbers = Numbers::of_this_machine();
    let address = format!("127.0.0.1:{}", numbers.take(0, 0));
    let driver = words("mock-driver --empty --creation-polls 1 --listen");
    let driver =
        Running::start(&[&driver[..], &[&address, "--state-file", state.as_str()]].concat());
    driver.line_with("http://");
    let examples = [
        "00-namespace.yaml",
        "10-driver.yaml",
        "20-load-balancer-new.yaml",
    ];
    let apply = examples.map(example).join(",");
    let url = format!("http://{address}");
    let dev = Running::start(&["dev", "--driver-url", &url, "--apply", &apply]);
    dev.line_with("lb-00000001/lbl-00000001");
    driver.signal("KILL");
    driver.wait();
    dev.signal("INT");
    dev.line_with("deleting ");
    dev.signal("INT");
    let (code, lines) = dev.wait();
    assert_eq!(code, Some(2), "{lines:?}");
    let is_named = |line: &String| line.contains("of: LoadBalancer my-load-balancer-1");
    assert!(lines.iter().any(is_named), "{lines:?}");
}

#[test]
fn a_reader_of_calls_that_is_gone_ends_dev() {
    let state = TempFile::new("state.json");
    let binary = env!("CARGO_BIN_EXE_lbcf");
    let driver = format!(
        "exec {binary} mock-driver --listen 127.0.0.1:{{port}} --empty --state-file {}",
        state.as_str()
    );
    let manifest = TempFile::new("lb.yaml");
    std::fs::write(manifest.path(), load_balancer("80")).unwrap();
    let paths = [
        example("00-namespace.yaml"),
        example("10-driver.yaml"),
        manifest.as_str().to_owned(),
    ];
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let dev = lbcf(&["dev", "--exec", &driver, "--apply", &paths.join(",")])
        .stdout(writer)
        .spawn();
    let mut dev = dev.unwrap();
    let deadline = Instant::now() + DEADLINE;
    while dev.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "it runs on");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(dev.wait().unwrap().code(), Some(0));
    assert_eq!(kept(state.path()), [""; 0]);
}

#[test]
fn variables_of_flags_are_read_as_people_write_them() {
    let with = |variable: &str, value: &str, command: &str| {
        let output = lbcf(&words(command)).env(variable, value).output().unwrap();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let list = |value| with("LBCF_INSTALL_NAMESPACE", value, "install");
    assert_eq!(list(""), list("kube-system"));
    assert_ne!(list(""), list("elsewhere"));
    for value in ["1", "yes", "TRUE", "on", "0", "no", "off", ""] {
        let command = "mock-driver --listen 127.0.0.1:0 --seed-file /no/such/file";
        let (code, _, stderr) = with("LBCF_MOCK_EMPTY", value, command);
        assert_eq!(code, Some(2));
        // The flag that it conflicts with is at fault only if it is set.
        let is_set = ["1", "yes", "TRUE", "on"].contains(&value);
        assert_eq!(
            stderr.contains("/no/such/file: "),
            !is_set,
            "{value:?}: {stderr}"
        );
    }
    let (code, _, stderr) = with("LBCF_MOCK_EMPTY", "maybe", "mock-driver");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("maybe"), "{stderr}");
}
