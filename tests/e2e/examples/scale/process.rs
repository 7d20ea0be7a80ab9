//! Processes of the `lbcf` binary, and what the system knows of a process.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A clock tick of `/proc`, which is 10 ms on all Linux systems that matter here.
const TICK: Duration = Duration::from_millis(10);

/// A running `lbcf`; dropping it kills the process.
pub(crate) struct LbcfProcess(Child);

impl LbcfProcess {
    pub(crate) fn start(lbcf: &Path, arguments: &[&str]) -> Self {
        let child = command(lbcf, arguments).stdout(Stdio::null()).spawn();
        Self(child.expect("lbcf can be started"))
    }

    /// Starts Kubernetes' own API server, which writes its kubeconfig when it is ready.
    pub(crate) fn real_cluster(kubeconfig: &Path) -> Self {
        let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../real-cluster/run");
        let mut command = Command::new(run);
        command
            .args(["--nodes", "2", "--kubeconfig"])
            .arg(kubeconfig);
        let child = command.stdout(Stdio::null()).spawn();
        let mut cluster = Self(child.expect("the cluster can be started"));
        while !kubeconfig.exists() {
            let ended = cluster.0.try_wait().expect("the cluster is a child");
            assert_eq!(ended, None, "the cluster did not start");
            std::thread::sleep(Duration::from_millis(100));
        }
        cluster
    }

    /// Starts a server, and returns the URL that it prints when it accepts connections.
    pub(crate) fn serve(lbcf: &Path, arguments: &[&str]) -> (Self, String) {
        let child = command(lbcf, arguments).stdout(Stdio::piped()).spawn();
        let mut child = child.expect("lbcf can be started");
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let mut url = String::new();
        let read = BufReader::new(stdout).read_line(&mut url);
        read.expect("lbcf prints its URL");
        (Self(child), url.trim().to_owned())
    }

    pub(crate) fn cpu_time(&self) -> Duration {
        cpu_time(self.0.id())
    }

    /// Bytes.
    pub(crate) fn resident(&self) -> u64 {
        resident(self.0.id())
    }
}

impl Drop for LbcfProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn command(lbcf: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(lbcf);
    command.args(arguments).args(["--log-level", "warn"]);
    command
}

/// The binary of the same build, beside the folder of the examples.
pub(crate) fn binary_of_this_build() -> PathBuf {
    let example = std::env::current_exe().expect("the path of this program is known");
    let folder = example
        .ancestors()
        .nth(2)
        .expect("it is in target/*/examples");
    let binary = folder.join("lbcf");
    assert!(
        binary.exists(),
        "{} does not exist: build it with `cargo build --release -p lbcf-cli`",
        binary.display()
    );
    binary
}

/// The processor time of a process so far, in user and kernel mode; zero on systems without `/proc`.
fn cpu_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name, which may contain anything, ends with the last parenthesis; utime and stime are the 12th
    // and 13th field after it.
    let fields = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace();
    let ticks = fields
        .skip(11)
        .take(2)
        .filter_map(|it| it.parse::<u32>().ok());
    ticks.map(|ticks| TICK * ticks).sum()
}

/// The resident memory of a process in bytes; 0 on systems without `/proc`.
pub(crate) fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
