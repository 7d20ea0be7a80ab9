//! The commands of the HAProxy example's README: `lbcf dev` with a driver whose load balancer is a process of its own.

use crate::process::{
    DEADLINE, Running, TempFile, is_left_to_the_exhaustive_run, lbcf, skip, text,
};
use lbcf_conformance::numbers::Numbers;
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

const README: &str = include_str!("../../../examples/haproxy-driver/README.md");
const MANIFEST: &str = include_str!("../../../examples/haproxy-driver/example/web.yaml");

/// The three commands of the block with `lbcf dev`: build, dev, curl.
fn commands() -> [String; 3] {
    let mut blocks = README.split("```sh\n").skip(1);
    let block = blocks.find(|rest| rest.contains("dev --exec")).unwrap();
    let block = block.split("```").next().unwrap().replace("\\\n", "");
    let lines: Vec<String> = block.lines().map(str::to_owned).collect();
    lines.try_into().unwrap()
}

/// Replaces words that must be there.
fn with(line: &str, replaced: &[(&str, &str)]) -> String {
    replaced.iter().fold(line.to_owned(), |line, (from, to)| {
        assert!(line.contains(from), "no {from:?} in {line}");
        line.replace(from, to)
    })
}

/// A line of the README, in the folder where it is to be run.
fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    // Without LBCF_ variables, as `lbcf` is run elsewhere.
    for (name, value) in lbcf(&[]).get_envs() {
        if value.is_none() {
            command.env_remove(name);
        }
    }
    // Cargo sets these for a test. A build script that reads them would run again, and what depends on it be compiled
    // again, in this build and in the next one without them.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    // The shell becomes the program, so that signals reach it.
    command.args(["-c", &format!("exec {line}")]);
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    command
}

/// The processes with this text in their command lines, which those that have exited no longer have.
fn processes_with(part: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = text(&line).replace('\0', " ");
        if let Ok(id) = entry.file_name().to_string_lossy().parse()
            && line.contains(part)
        {
            found.push((id, line));
        }
    }
    found
}

/// HAProxy's folder. Processes whose command names it are killed on drop: a test that fails leaves them running.
struct Folder(TempFile);

impl Drop for Folder {
    fn drop(&mut self) {
        for (id, _) in processes_with(self.0.as_str()) {
            let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        }
    }
}

/// Sends requests until three pods have responded.
fn responds_from_three_pods(curl: &str) -> BTreeSet<String> {
    let deadline = Instant::now() + DEADLINE;
    let mut pods = BTreeSet::new();
    while pods.len() < 3 {
        assert!(Instant::now() < deadline, "only {pods:?} responded");
        let output = shell(curl).output().unwrap();
        match serde_json::from_slice::<serde_json::Value>(&output.stdout) {
            Ok(body) if body["pod"].is_string() => drop(pods.insert(body["pod"].to_string())),
            _ => sleep(Duration::from_millis(50)),
        }
    }
    pods
}

#[test]
fn exhaustive_the_commands_of_the_haproxy_example_lead_to_three_pods_and_end_without_a_trace() {
    if is_left_to_the_exhaustive_run("building the HAProxy driver takes minutes") {
        return;
    }
    for program in ["haproxy", "curl"] {
        if Command::new(program).arg("--help").output().is_err() {
            return skip(&format!("{program} is not installed"));
        }
    }
    if !Path::new("/proc/self/cmdline").exists() {
        return skip("processes are listed in /proc, which only Linux has");
    }
    // Pods have addresses of their own.
    if UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).is_err() {
        return skip("127.0.0.2 is no address of this machine");
    }
    let numbers = Numbers::of_this_machine();
    let port = numbers.take(0, 0).to_string();
    let (folder, example) = (
        Folder(TempFile::new("haproxy")),
        TempFile::new("example/web.yaml"),
    );
    // `mkdir -p` of the README's first block.
    std::fs::create_dir_all(folder.0.path()).unwrap();
    let example_folder = example.path().parent().unwrap();
    std::fs::create_dir_all(example_folder).unwrap();
    std::fs::write(example.path(), with(MANIFEST, &[("8899", &port)])).unwrap();
    // Where cargo builds for the tests is where it builds for the README.
    let program = PathBuf::from(env!("CARGO_BIN_EXE_lbcf"));
    let target = program.ancestors().nth(2).unwrap();
    let driver = target.join("debug/haproxy-driver");
    let [build, dev, curl] = commands();
    let dev = with(
        &dev,
        &[
            ("cargo run --", program.to_str().unwrap()),
            ("target/debug/haproxy-driver", driver.to_str().unwrap()),
            ("/tmp/haproxy", folder.0.as_str()),
            (
                "examples/haproxy-driver/example",
                example_folder.to_str().unwrap(),
            ),
        ],
    );
    let curl = with(&curl, &[("8899", &port)]);
    let built = shell(&build).env("CARGO_TARGET_DIR", target).output();
    let built = built.unwrap();
    assert!(built.status.success(), "{}", text(&built.stderr));

    let dev = Running::of(shell(&dev));
    let pods = responds_from_three_pods(&curl);
    println!("responded through HAProxy: {pods:?}");
    let running = processes_with(folder.0.as_str());
    assert!(
        running.iter().any(|(_, line)| line.starts_with("haproxy ")),
        "{running:?}"
    );
    dev.signal("TERM");
    let (code, lines) = dev.wait();
    assert_eq!(code, Some(0), "{lines:?}");
    // HAProxy is in the process group of the driver that has started it, which `lbcf dev` ends.
    let deadline = Instant::now() + DEADLINE;
    loop {
        let left = processes_with(folder.0.as_str());
        if left.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "still running: {left:?}");
        sleep(Duration::from_millis(20));
    }
}
