//! Runs `lbcf` as a process.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The longest that any condition may take. Only a defect takes as long, so it is generous: a busy
/// machine is slow.
pub(crate) const DEADLINE: Duration = Duration::from_secs(300);

/// The command, without `LBCF_` variables of the environment.
pub(crate) fn lbcf(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbcf"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("LBCF_") {
            command.env_remove(name);
        }
    }
    command.args(args).stdin(Stdio::null());
    command
}

/// The command with a SIGHUP that ends it, also where the tests run under `nohup`, which has it ignored.
pub(crate) fn with_hangup(command: &Command) -> Command {
    let mut env = Command::new("env");
    if cfg!(target_os = "linux") {
        env.arg("--default-signal=HUP");
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => env.env(name, value),
            None => env.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        env.current_dir(folder);
    }
    env.arg(command.get_program()).args(command.get_args());
    env.stdin(Stdio::null());
    env
}

/// The words of a command line that needs no quotes.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Runs the command until it exits.
pub(crate) fn run(args: &[&str]) -> Output {
    lbcf(args).output().unwrap()
}

/// Requires that a command is refused with the exit code 2 and this text on stderr.
#[track_caller]
pub(crate) fn assert_refused(output: &Output, named: &str) {
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{named}: {stderr}");
    assert!(stderr.contains(named), "{named}: {stderr}");
    assert!(!stderr.contains("panicked"), "{named}: {stderr}");
}

/// Requires that the command of each line is refused with the text behind its bar.
#[track_caller]
pub(crate) fn assert_each_refused(table: &str, run: impl Fn(&[&str]) -> Output) {
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        let (args, named) = line.split_once(" | ").unwrap();
        assert_refused(&run(&words(args)), named);
    }
}

/// The output of a command that has ended with this code.
#[track_caller]
pub(crate) fn ended(output: &Output, code: i32) -> String {
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
    stdout
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A running command, killed when this is dropped.
pub(crate) struct Running {
    child: Child,
    lines: mpsc::Receiver<Line>,
    /// Lines of one stream that arrived while a line of the other one was waited for.
    unread: RefCell<Vec<Line>>,
}

/// Lines have an order within a stream only: two threads read them.
struct Line {
    stream: Stream,
    text: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Stream {
    Stdout,
    Stderr,
}

impl Running {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::of(lbcf(args))
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let stdout = child.stdout.take().unwrap();
        forward(stdout, Stream::Stdout, sender.clone());
        forward(child.stderr.take().unwrap(), Stream::Stderr, sender);
        Self {
            child,
            lines,
            unread: RefCell::default(),
        }
    }

    /// Waits for a line of stdout or stderr with this text, and returns it. What its stream has before it counts as
    /// read; lines of the other stream may still be asked for.
    pub(crate) fn line_with(&self, text: &str) -> String {
        let deadline = Instant::now() + DEADLINE;
        let mut unread = self.unread.borrow_mut();
        let mut found = unread.iter().position(|line| line.text.contains(text));
        loop {
            if let Some(at) = found {
                let line = unread.remove(at);
                let mut position = 0..;
                unread.retain(|other| position.next() >= Some(at) || other.stream != line.stream);
                return line.text;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|_| panic!("no line contains {text:?}"));
            found = line.text.contains(text).then_some(unread.len());
            unread.push(line);
        }
    }

    /// Sends SIGINT and waits; see [`Self::wait`].
    pub(crate) fn interrupt(self) -> (Option<i32>, Vec<String>) {
        self.signal("INT");
        self.wait()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, named without the prefix SIG.
    pub(crate) fn signal(&self, name: &str) {
        let signal = format!("-{name}");
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([&signal, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the exit. Returns the exit code and the lines printed since the last one read.
    pub(crate) fn wait(mut self) -> (Option<i32>, Vec<String>) {
        let deadline = Instant::now() + DEADLINE;
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(Instant::now() < deadline, "it does not exit");
            std::thread::sleep(Duration::from_millis(10));
        };
        // The pipes close with the process, which ends the channel.
        let lines = self.unread.take().into_iter().chain(self.lines.iter());
        (code, lines.map(|line| line.text).collect())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forward(from: impl Read + Send + 'static, stream: Stream, to: mpsc::Sender<Line>) {
    std::thread::spawn(move || {
        for text in BufReader::new(from).lines().map_while(Result::ok) {
            if to.send(Line { stream, text }).is_err() {
                break;
            }
        }
    });
}

/// A file in a temporary folder, deleted on drop.
pub(crate) struct TempFile(PathBuf);

impl TempFile {
    pub(crate) fn new(name: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("lbcf-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder.join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if let Some(folder) = self.0.parent() {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Prints that a test is skipped. Not by a macro: the harness discards what macros print in a test that passes.
pub(crate) fn skip(why: &str) {
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// True in the normal run, for a test whose cost only the exhaustive run pays; prints why it is skipped.
pub(crate) fn is_left_to_the_exhaustive_run(why: &str) -> bool {
    let is_left = std::env::var_os("LBCF_EXHAUSTIVE").is_none();
    if is_left {
        skip(&format!("{why}; set LBCF_EXHAUSTIVE=1 to run it"));
    }
    is_left
}
