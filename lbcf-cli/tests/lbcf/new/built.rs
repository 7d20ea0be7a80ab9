//! A project is generated, built, tested and tried by the commands of the tutorial, then served and driven by the demo.

use super::{generate, guide, read, sdk, unused_path};
use crate::languages::Language;
use crate::process::{
    DEADLINE, Running, TempFile, is_left_to_the_exhaustive_run, run, skip, text, words,
};
use lbcf_conformance::numbers::Numbers;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
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
    without_outer_cargo(&mut command);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

fn without_outer_cargo(command: &mut Command) {
    // Go is to take nothing from elsewhere.
    command.envs([
        ("GOPROXY", "off"),
        ("GOTOOLCHAIN", "local"),
        ("GOFLAGS", "-buildvcs=false"),
    ]);
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
        .env("CARGO_TARGET_DIR", target())
        // Debug information costs half of the time and space of a build.
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
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

/// Runs a command offline, or online where crates have not been downloaded yet.
fn output(command: impl Fn() -> Command) -> Output {
    let output = command().env("CARGO_NET_OFFLINE", "true").output().unwrap();
    if !output.status.success() && text(&output.stderr).contains("offline") {
        return command().output().unwrap();
    }
    output
}

/// The output of a command that succeeds.
fn passes(command: impl Fn() -> Command) -> String {
    let output = output(&command);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let command = command();
    assert!(output.status.success(), "{command:?}\n{stdout}\n{stderr}");
    stdout
}

/// The commands that run until they are interrupted.
const SERVERS: [&str; 4] = [
    "lbcf dev ",
    "lbcf local-cluster ",
    "lbcf mock-driver ",
    "lbcf controller ",
];

/// Lines of shell, in this folder, with `lbcf` on the PATH. The last one begins with `exec`: the shell becomes the
/// program, so that signals reach it.
fn shell(folder: &Path, lines: &str) -> Command {
    let mut command = in_project("sh", folder);
    let program = Path::new(env!("CARGO_BIN_EXE_lbcf"));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let own = program.parent().unwrap().to_owned();
    let paths = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&paths)));
    command.args(["-c", lines]);
    command.env("PATH", paths.unwrap());
    // Their default ports are for one at a time.
    command.env("LBCF_LOCAL_CLUSTER_LISTEN", "127.0.0.1:0");
    command.env("LBCF_HEALTH_ADDRESS", "127.0.0.1:0");
    // As on a terminal.
    command.env("LBCF_DEV_OUTPUT", "text");
    command
}

/// Runs these commands, but at free ports of load balancer and mock, and compares the lines of output that a document
/// shows below one; returns the output of all that end. The numbers reserve the ports, which the project has from then on.
/// Prints what it took until the load balancer responded, which is no assertion: machines differ.
pub(super) fn follow(
    commands: &[&str],
    project: &TempFile,
    numbers: &Numbers,
    prepare: fn(&Path),
) -> String {
    let [port, mock] = [0, 1].map(|nth| numbers.take(0, nth).to_string());
    let mut folder = project.path().parent().unwrap().to_owned();
    let kubeconfig = folder.join("kubeconfig").to_string_lossy().into_owned();
    let (mut servers, mut exports, mut printed) = (Vec::new(), String::new(), String::new());
    let mut begun = (String::new(), Instant::now());
    for command in commands {
        let command = command.replace("8888", &port);
        let command = command.replace("127.0.0.1:8080", &format!("127.0.0.1:{mock}"));
        let command = command.replace("/tmp/kubeconfig", &kubeconfig);
        let (line, shown) = command.split_once('\n').unwrap_or((&command, ""));
        let shell = || shell(&folder, &format!("{exports}exec {line}"));
        if line.starts_with("lbcf new ") {
            begun = (line.to_owned(), Instant::now());
        }
        if let Some(name) = line.strip_prefix("cd ") {
            folder = folder.join(name);
            if folder.join("deploy/example").exists() {
                prepare(&folder);
                listen_at(&folder, &port);
            }
        } else if line.starts_with("export ") {
            exports = format!("{exports}{line}; ");
        } else if SERVERS.iter().any(|server| line.starts_with(server)) {
            let server = Running::of(shell());
            for line in shown.lines() {
                let parts = line.split('…');
                server.line_with(parts.max_by_key(|part| part.len()).unwrap());
            }
            servers.push(server);
        } else if line.starts_with("curl ") || line.starts_with("kubectl ") {
            let output = responds(shell, shown);
            if line.contains(&port) {
                assert!(output.contains("\"pod\":\"my-web-server-"), "{output}");
                let (new, seconds) = (&begun.0, begun.1.elapsed().as_secs());
                let _ = writeln!(std::io::stderr(), "{new}: to the response in {seconds} s");
            }
        } else if shown.is_empty() {
            printed += &passes(shell);
        } else {
            let output = output(shell);
            let output = text(&output.stdout) + &text(&output.stderr);
            assert_eq!(not_shown_by(&output, shown), None, "{line}\n{output}");
            printed += &output;
        }
    }
    while let Some(server) = servers.pop() {
        let (code, lines) = server.interrupt();
        assert_eq!(code, Some(0), "{lines:?}");
    }
    printed
}

/// The first line of a document that the output does not have behind those before it. Spaces count once, and `…` is what varies.
fn not_shown_by<'a>(output: &str, shown: &'a str) -> Option<&'a str> {
    let mut lines = output.lines();
    let mut shown = shown.lines().filter(|line| line.trim() != "…");
    shown.find(|line| !lines.any(|other| is_shown(line, other)))
}

fn is_shown(shown: &str, line: &str) -> bool {
    let [shown, line] = [shown, line].map(|text| words(text).join(" "));
    let parts: Vec<&str> = shown.split('…').collect();
    let mut rest = line.as_str();
    let has_all = parts.iter().all(|part| {
        let found = rest.split_once(part);
        rest = found.map_or(rest, |(_, behind)| behind);
        found.is_some()
    });
    has_all && line.starts_with(parts[0]) && line.ends_with(parts[parts.len() - 1])
}

/// What an author need not do: dependencies that are compiled and downloaded already, and the free port.
fn prepare(folder: &Path) {
    // The same versions as here.
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    std::fs::copy(lock, folder.join("Cargo.lock")).unwrap();
    std::fs::create_dir_all(target()).unwrap();
    std::os::unix::fs::symlink(target(), folder.join("target")).unwrap();
}

/// Puts HAProxy in the place of the load balancer of a project, which listens elsewhere already, and waits for a pod's
/// response through it.
pub(super) fn haproxy_leads_to_a_response(
    project: &Path,
    lang: &str,
    proxy: &str,
    build: &str,
    dev: &str,
) {
    if Command::new("haproxy").arg("-v").output().is_err() {
        return skip("HAProxy in place of a load balancer: haproxy is not installed");
    }
    let local = generate(guide::NAME, &["--lang", lang, "--kind", "local"]);
    std::fs::write(project.join(proxy), read(&local, proxy)).unwrap();
    passes(|| shell(project, build));
    let manifest = project.join("deploy/example/10-load-balancer.yaml");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let port = manifest.split("lbListenerPort: \"").nth(1).unwrap();
    let port = port.split('"').next().unwrap();
    let dev = Running::of(shell(project, &format!("exec {dev}")));
    let url = format!("exec curl -sf http://127.0.0.1:{port}/");
    let output = responds(|| shell(project, &url), "");
    assert!(output.contains("\"pod\":\"my-web-server-"), "{output}");
    let (code, lines) = dev.interrupt();
    assert_eq!(code, Some(0), "{lines:?}");
}

fn listen_at(folder: &Path, port: &str) {
    let example = folder.join("deploy/example/10-load-balancer.yaml");
    let manifest = std::fs::read_to_string(&example).unwrap();
    assert!(manifest.contains("8888"), "{manifest}");
    std::fs::write(example, manifest.replace("8888", port)).unwrap();
}

/// Repeats the command until it succeeds and prints what is shown: the backends are registered meanwhile.
fn responds(command: impl Fn() -> Command, shown: &str) -> String {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let output = command().output().unwrap();
        let stdout = text(&output.stdout);
        if output.status.success() && not_shown_by(&stdout, shown).is_none() {
            return stdout;
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
fn exhaustive_the_tutorial_is_true_and_its_project_passes_the_demo() {
    if is_left_to_the_exhaustive_run("building a generated project takes minutes") {
        return;
    }
    if !has(&["fmt", "clippy"]) {
        return;
    }
    // Pods have addresses of their own, which need an alias each on macOS.
    if UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), 0)).is_err() {
        return skip("127.0.0.2 is no address of this machine");
    }
    for program in ["curl", "kubectl"] {
        if Command::new(program).arg("--help").output().is_err() {
            return skip(&format!("{program} is not installed"));
        }
    }
    let project = unused_path(guide::NAME);
    // The tutorial begins in a checkout, beside which the project will be.
    let checkout = project.path().with_file_name("lbcf");
    std::fs::create_dir(&checkout).unwrap();
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
    std::os::unix::fs::symlink(deploy, checkout.join("deploy")).unwrap();
    let commands = [vec!["cd lbcf"], guide::tutorial()].concat();
    let numbers = Numbers::of_this_machine();
    let printed = follow(&commands, &project, &numbers, prepare);
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
        output.contains("passed: 10 of 10 steps, 6 skipped; nothing was left behind"),
        "{output}"
    );
    let mut commands = guide::commands().into_iter();
    let dev = commands.find(|it| it.starts_with("lbcf dev ")).unwrap();
    haproxy_leads_to_a_response(
        project.path(),
        "rust",
        "src/proxy.rs",
        "cargo build -q",
        dev,
    );
    let language = Language {
        name: "Rust",
        folder: project.path().to_owned(),
        sources: (".rs", "//"),
        command: "cargo run -q -- --listen 127.0.0.1:{port}".to_owned(),
        lb_spec: "{lbVpcID: vpc-12345678, lbListenerPort: \"80\"}",
        prepare: without_outer_cargo,
    };
    language.check();
}

#[test]
fn what_a_document_shows_is_found_in_its_order_and_whole() {
    let output = "a  1 s\nb: x y\nc\n";
    for shown in ["a 1 s\nb: … y", "a … s\n…\nc", "…x…", ""] {
        assert_eq!(not_shown_by(output, shown), None, "{shown}");
    }
    for shown in ["a 1", "1 s", "b: … z", "…z…", "d"] {
        assert_eq!(not_shown_by(output, shown), Some(shown));
    }
    assert_eq!(not_shown_by(output, "c\na 1 s"), Some("a 1 s"));
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
