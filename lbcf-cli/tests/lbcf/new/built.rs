//! A generated project is built, tested, served and driven by the demo.

use super::{generate, sdk};
use crate::process::{DEADLINE, TempFile, run, text};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;

/// The target folder of generated projects, shared so that dependencies are compiled once.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("new")
}

/// Cargo in the project, without the environment that the outer cargo sets.
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
        // Debug information costs half of the time and space of a build.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .stdin(Stdio::null());
    command
}

/// Whether cargo has these commands; prints what is missing.
fn has(commands: &[&str]) -> bool {
    let is_installed = |command: &&&str| {
        let version = Command::new("cargo").args([command, "--version"]).output();
        version.is_ok_and(|output| output.status.success())
    };
    let missing = commands.iter().find(|command| !is_installed(command));
    if let Some(command) = missing {
        skip(&format!(
            "`cargo {command}` is missing; install Rust with rustup"
        ));
    }
    missing.is_none()
}

/// Prints that a test is skipped. Not by a macro: the harness discards what macros print in a test
/// that passes.
fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Runs cargo offline, or online where crates have not been downloaded yet; returns its output.
fn passes(project: &TempFile, args: &[&str]) -> String {
    let run = |offline: &[&str]| -> Output {
        let (command, flags) = args.split_at(1);
        let args = [command, offline, flags].concat();
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

/// The driver's process, killed when this is dropped.
struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the driver on a free port and returns its URL.
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
        // Reads to the end: a full pipe would block the driver.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
    }
    loop {
        let line = lines.recv_timeout(DEADLINE).unwrap();
        if let Some((_, rest)) = line.split_once("http://127.0.0.1:") {
            let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
            return (driver, format!("http://127.0.0.1:{port}"));
        }
    }
}

#[test]
fn exhaustive_a_project_builds_without_warnings_passes_its_tests_and_the_demo() {
    if std::env::var_os("LBCF_EXHAUSTIVE").is_none() {
        return skip("building a generated project takes minutes; set LBCF_EXHAUSTIVE=1 to run it");
    }
    if !has(&["fmt", "clippy"]) {
        return;
    }
    let project = generate("demo-driver", &["--sdk-path", sdk().to_str().unwrap()]);
    // The same versions as here, which are downloaded already.
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
    let output = text(&demo.stdout);
    assert_eq!(demo.status.code(), Some(0), "{output}");
    // The others need the mock or its cloud.
    assert!(
        output.contains("passed: 9 of 9 steps, 7 skipped; nothing was left behind"),
        "{output}"
    );
    conforms_to_the_specification(&project);
}

/// Runs the conformance kit with the project's own fixture, as the project's CI does.
fn conforms_to_the_specification(project: &TempFile) {
    let program = target().join("debug/demo-driver");
    let exec = format!("{} --listen 127.0.0.1:{{port}}", program.display());
    let output = crate::process::lbcf(&["conformance", "run", "--exec", &exec])
        .args(["--fixture", "conformance.yaml", "--fail-on", "should"])
        .current_dir(project.path())
        .output()
        .unwrap();
    let printed = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{printed}");
}

#[test]
fn a_project_of_any_name_is_formatted() {
    if !has(&["fmt"]) {
        return;
    }
    let longest = "z".repeat(58);
    for name in ["a", "zebra-2000", &longest] {
        let project = generate(name, &["--sdk-path", sdk().to_str().unwrap()]);
        let formatted = cargo(&project, &["fmt", "--check"]).output().unwrap();
        assert!(
            formatted.status.success(),
            "{name}\n{}",
            text(&formatted.stdout)
        );
    }
}
