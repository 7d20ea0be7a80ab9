//! A project is generated, built, tested and tried by the commands of the guide, then served and driven by the demo.

use super::{generate, guide, sdk, unused_path};
use crate::process::{DEADLINE, Running, TempFile, run, skip, text};
use lbcf_conformance::numbers::Numbers;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

/// The target folder of generated projects, shared so that dependencies are compiled once.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("new")
}

/// Cargo in the project, without the environment that the outer cargo sets.
fn cargo(project: &TempFile, args: &[&str]) -> Command {
    let mut command = in_project("cargo", project.path());
    command.args(args);
    command
}

/// A program in this folder, without the environment that the outer cargo sets.
fn in_project(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
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
        .current_dir(folder)
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

/// Runs a command offline, or online where crates have not been downloaded yet; returns its output.
fn passes(command: impl Fn() -> Command) -> String {
    let mut output = command().env("CARGO_NET_OFFLINE", "true").output().unwrap();
    if !output.status.success() && text(&output.stderr).contains("offline") {
        output = command().output().unwrap();
    }
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let command = command();
    assert!(output.status.success(), "{command:?}\n{stdout}\n{stderr}");
    stdout
}

/// A line of the guide, in this folder, with `lbcf` on the PATH.
fn shell(folder: &Path, line: &str) -> Command {
    let mut command = in_project("sh", folder);
    let program = Path::new(env!("CARGO_BIN_EXE_lbcf"));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let own = program.parent().unwrap().to_owned();
    let paths = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&paths)));
    // The shell becomes the program, so that signals reach it.
    command.args(["-c", &format!("exec {line}")]);
    command.env("PATH", paths.unwrap());
    command
}

/// Runs the commands of the guide, but at a free port of the load balancer; returns the output of all that end. Prints
/// what it took until the load balancer responded, which is no assertion: machines differ.
fn follow_the_guide(project: &TempFile) -> String {
    let numbers = Numbers::of_this_machine();
    let port = numbers.take(0, 0).to_string();
    let mut folder = project.path().parent().unwrap().to_owned();
    let (mut dev, mut printed) = (None, String::new());
    let begun = Instant::now();
    for line in guide::commands() {
        let line = line.replace("8888", &port);
        if let Some(name) = line.strip_prefix("cd ") {
            folder = folder.join(name);
            prepare(&folder, &port);
        } else if line.starts_with("lbcf dev ") {
            dev = Some(Running::of(shell(&folder, &line)));
        } else if line.starts_with("curl ") {
            let output = responds(|| shell(&folder, &line));
            assert!(output.contains("\"pod\":\"my-web-server-"), "{output}");
            let seconds = begun.elapsed().as_secs();
            let _ = writeln!(
                std::io::stderr(),
                "from `lbcf new` to the response: {seconds} s"
            );
        } else {
            printed += &passes(|| shell(&folder, &line));
        }
    }
    let (code, lines) = dev.unwrap().interrupt();
    assert_eq!(code, Some(0), "{lines:?}");
    printed
}

/// What an author need not do: dependencies that are compiled and downloaded already, and the free port.
fn prepare(folder: &Path, port: &str) {
    // The same versions as here.
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    std::fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    std::fs::create_dir_all(target()).unwrap();
    std::os::unix::fs::symlink(target(), folder.join("target")).unwrap();
    let example = folder.join("deploy/example/10-load-balancer.yaml");
    let manifest = std::fs::read_to_string(&example).unwrap();
    assert!(manifest.contains("8888"), "{manifest}");
    std::fs::write(example, manifest.replace("8888", port)).unwrap();
}

/// Repeats the command until it succeeds: the backends are registered meanwhile.
fn responds(command: impl Fn() -> Command) -> String {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let output = command().output().unwrap();
        if output.status.success() {
            return text(&output.stdout);
        }
        assert!(Instant::now() < deadline, "{:?}: {output:?}", command());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
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
fn exhaustive_the_commands_of_the_guide_lead_to_a_request_and_the_project_passes_the_demo() {
    if std::env::var_os("LBCF_EXHAUSTIVE").is_none() {
        return skip("building a generated project takes minutes; set LBCF_EXHAUSTIVE=1 to run it");
    }
    if !has(&["fmt", "clippy"]) {
        return;
    }
    // Pods have addresses of their own, which need an alias each on macOS.
    if UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).is_err() {
        return skip("127.0.0.2 is no address of this machine");
    }
    if Command::new("curl").arg("--version").output().is_err() {
        return skip("curl is not installed");
    }
    let project = unused_path(guide::NAME);
    let printed = follow_the_guide(&project);
    assert!(printed.contains("test result: ok. 7 passed"), "{printed}");
    assert!(printed.contains(" passed, 0 failed"), "{printed}");

    let formatted = cargo(&project, &["fmt", "--check"]).output().unwrap();
    assert!(
        formatted.status.success(),
        "{}{}",
        text(&formatted.stdout),
        text(&formatted.stderr)
    );
    let clippy = ["clippy", "--all-targets", "--", "-D", "warnings"];
    passes(|| cargo(&project, &clippy));

    let (_driver, url) = serve(&target().join("debug").join(guide::NAME));
    let demo = run(&["demo", "--once", "--driver-url", &url]);
    let output = text(&demo.stdout);
    assert_eq!(demo.status.code(), Some(0), "{output}");
    // The others need the mock or its cloud.
    assert!(
        output.contains("passed: 9 of 9 steps, 7 skipped; nothing was left behind"),
        "{output}"
    );
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
