//! A project as its author would find it: built, tested, served, and driven by the demo.

use super::{made, sdk};
use crate::process::{DEADLINE, TempFile, run, text};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;

/// Where projects are built: the same folder each time, so that dependencies are compiled once.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("new")
}

/// Cargo in the project, with nothing of what the cargo around this test says.
fn cargo(project: &TempFile, args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_of_others = ["CARGO", "LBCF_", "RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER"]
            .iter()
            .any(|start| text.starts_with(start));
        if is_of_others && text != "CARGO_HOME" {
            command.env_remove(&name);
        }
    }
    command
        .args(args)
        .current_dir(project.path())
        .env("CARGO_TARGET_DIR", target())
        // What debuggers would need costs half of a build's time and space.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .stdin(Stdio::null());
    command
}

/// Whether cargo is there, with these commands; says aloud if not.
fn has(commands: &[&str]) -> bool {
    let is_there = |command: &&&str| {
        let version = Command::new("cargo").args([command, "--version"]).output();
        version.is_ok_and(|output| output.status.success())
    };
    let missing = commands.iter().find(|command| !is_there(command));
    if let Some(command) = missing {
        eprintln!("SKIPPED: there is no `cargo {command}`; install Rust with it by rustup");
    }
    missing.is_none()
}

/// Runs cargo without the network, or with it where crates are missing here; gives its output.
fn passes(project: &TempFile, args: &[&str]) -> String {
    let run = |offline: &[&str]| -> Output {
        let (own, behind) = args.split_at(1);
        let args = [own, offline, behind].concat();
        cargo(project, &args).output().unwrap()
    };
    let mut output = run(&["--offline"]);
    if !output.status.success() && text(&output.stderr).contains("offline") {
        output = run(&[]);
    }
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "cargo {args:?}\n{stdout}\n{stderr}"
    );
    stdout
}

/// The driver's process; dropping it kills it.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the driver on a port of the system's choice; gives its URL.
fn serve(program: &Path) -> (Driver, String) {
    let mut child = Command::new(program)
        .args(["--listen", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, lines) = mpsc::channel();
    let outputs: [Box<dyn Read + Send>; 2] = [
        Box::new(child.stdout.take().unwrap()),
        Box::new(child.stderr.take().unwrap()),
    ];
    let driver = Driver(child);
    for output in outputs {
        let sender = sender.clone();
        // To the end, so that the driver is never kept from writing.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
    }
    loop {
        let line = lines.recv_timeout(DEADLINE).unwrap();
        if let Some((_, behind)) = line.split_once("http://127.0.0.1:") {
            let port: String = behind.chars().take_while(char::is_ascii_digit).collect();
            return (driver, format!("http://127.0.0.1:{port}"));
        }
    }
}

#[test]
fn a_project_is_formatted_and_clean_its_tests_pass_and_the_demo_drives_it() {
    if !has(&["fmt", "clippy"]) {
        return;
    }
    let project = made("demo-driver", &["--sdk-path", sdk().to_str().unwrap()]);
    // The same crates as here: none has to be looked for.
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    std::fs::copy(lock, project.path().join("Cargo.lock")).unwrap();

    let formatted = cargo(&project, &["fmt", "--check"]).output().unwrap();
    assert!(
        formatted.status.success(),
        "{}{}",
        text(&formatted.stdout),
        text(&formatted.stderr)
    );
    let tested = passes(&project, &["test"]);
    assert!(tested.contains("test result: ok. 7 passed"), "{tested}");
    passes(
        &project,
        &["clippy", "--all-targets", "--", "-D", "warnings"],
    );
    passes(&project, &["build"]);

    let (_driver, url) = serve(&target().join("debug/demo-driver"));
    let demo = run(&["demo", "--once", "--driver-url", &url]);
    let told = text(&demo.stdout);
    assert_eq!(demo.status.code(), Some(0), "{told}");
    // Two steps look into the mock's cloud.
    assert!(
        told.contains("passed: 8 of 8 steps, 2 skipped; nothing was left behind"),
        "{told}"
    );
    keeps_the_specification(&project);
}

/// Holds the driver to the specification, with its own fixture and as its CI does.
fn keeps_the_specification(project: &TempFile) {
    let program = target().join("debug/demo-driver");
    let exec = format!("{} --listen 127.0.0.1:{{port}}", program.display());
    let output = crate::process::lbcf(&["conformance", "run", "--exec", &exec])
        .args(["--fixture", "conformance.yaml", "--fail-on", "should"])
        .current_dir(project.path())
        .output()
        .unwrap();
    let told = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
}

#[test]
fn whatever_its_name_a_project_is_formatted() {
    if !has(&["fmt"]) {
        return;
    }
    let longest = "z".repeat(58);
    for name in ["a", "zebra-2000", &longest] {
        let project = made(name, &["--sdk-path", sdk().to_str().unwrap()]);
        let formatted = cargo(&project, &["fmt", "--check"]).output().unwrap();
        assert!(
            formatted.status.success(),
            "{name}\n{}",
            text(&formatted.stdout)
        );
    }
}
