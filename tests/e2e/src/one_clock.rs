//! Histories and tests on one clock, one thread at a time, from one seed: `tests/one-clock/`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fmt};

/// A program that is run from a seed.
#[derive(Debug, Clone)]
pub struct OneClock {
    seed: u64,
    program: PathBuf,
    arguments: Vec<OsString>,
}

/// What two runs that do the same have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// What the program printed, without the ports that it got.
    pub output: String,
    /// A hash of all turns of threads, times and random numbers.
    pub fingerprint: String,
}

impl OneClock {
    /// A program with arguments, which is to be run from a seed.
    pub fn of(seed: u64, program: impl Into<PathBuf>, arguments: &[&str]) -> Self {
        Self {
            seed,
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
        }
    }

    /// The history of a seed, performed by the program `chaos`, which may get more arguments.
    pub fn of_history(seed: u64, chaos: impl Into<PathBuf>, more: &[&str]) -> Self {
        let first = seed.to_string();
        let arguments = [&["--seeds", "1", "--first", &first], more].concat();
        Self::of(seed, chaos, &arguments)
    }

    /// Whether this process runs on it.
    #[must_use]
    pub fn is_in_force() -> bool {
        env::var_os("ONE_CLOCK_SEED").is_some()
    }

    /// What this machine lacks to run programs on it.
    #[must_use]
    pub fn missing() -> Option<&'static str> {
        let has_compiler = || Command::new("cc").arg("--version").output().is_ok();
        let is_here = cfg!(target_os = "linux") && has_compiler();
        (!is_here).then_some("Linux and a C compiler (cc)")
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    /// What it printed, and how to run it again, if it fails.
    pub fn output(&self) -> Result<Execution, String> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../one-clock/run");
        let mut command = Command::new(script);
        command.arg(self.seed.to_string()).arg(&self.program);
        command
            .args(&self.arguments)
            .env("ONE_CLOCK_FINGERPRINT", "1");
        // For the process that runs many.
        command
            .env_remove("CHAOS_ONE_CLOCK")
            .env_remove("LBCF_EXHAUSTIVE");
        let output = command.output().map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        if !output.status.success() {
            return Err(format!("{stdout}{stderr}\nagain: {self}"));
        }
        let end = stderr.lines().last().unwrap_or_default();
        Ok(Execution {
            output: without_ports(&stdout),
            fingerprint: end.to_owned(),
        })
    }
}

impl fmt::Display for OneClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.program.display();
        write!(f, "tests/one-clock/run {} {program}", self.seed)?;
        self.arguments
            .iter()
            .try_for_each(|it| write!(f, " {}", it.display()))
    }
}

fn without_ports(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + "127.0.0.1:" + part.trim_start_matches(|it: char| it.is_ascii_digit())
    })
}
