//! kubectl, where it is installed.

mod scale;
mod transcript;
mod users;
mod webhooks;
mod workloads;
mod works;

use std::path::Path;
use std::process::Stdio;

use local_cluster::ServerHandle;
use tokio::process::Command;

use crate::fixture::DEADLINE;

struct Kubectl {
    home: std::path::PathBuf,
}

impl Kubectl {
    /// kubectl with a home of its own, for this server.
    fn of(server: &ServerHandle) -> Self {
        let home = std::env::temp_dir().join(format!("local-cluster-{}", server.addr().port()));
        std::fs::create_dir_all(&home).unwrap();
        write(&home.join("kubeconfig"), server.kubeconfig());
        Self { home }
    }

    /// Leaves nothing behind.
    fn end(self) {
        std::fs::remove_dir_all(&self.home).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("kubectl");
        command.args(arguments);
        self.at_home(command)
    }

    /// A command of the shell.
    fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        self.at_home(command)
    }

    fn at_home(&self, mut command: Command) -> Command {
        command
            .env("KUBECONFIG", self.home.join("kubeconfig"))
            .env("HOME", &self.home)
            .current_dir(&self.home)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs a command; returns whether it succeeded, and all it said.
    async fn run(&self, arguments: &[&str]) -> (bool, String) {
        said(self.command(arguments)).await
    }

    async fn says(&self, arguments: &[&str], wanted: &str) {
        let (success, said) = self.run(arguments).await;
        assert!(
            success && said.contains(wanted),
            "kubectl {arguments:?}: {said}"
        );
    }

    async fn refuses(&self, arguments: &[&str], wanted: &str) {
        let (success, said) = self.run(arguments).await;
        assert!(
            !success && said.contains(wanted),
            "kubectl {arguments:?}: {said}"
        );
    }
}

/// Runs a command; returns whether it succeeded, and all it said.
async fn said(mut command: Command) -> (bool, String) {
    let output = tokio::time::timeout(DEADLINE, command.output());
    let output = output.await.unwrap().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::write(path, content).unwrap();
}

/// Whether there is a kubectl; says so when there is none.
async fn is_installed() -> bool {
    let version = Command::new("kubectl")
        .args(["version", "--client"])
        .output()
        .await;
    let installed = version.is_ok_and(|output| output.status.success());
    if !installed {
        skip("kubectl is not on the PATH");
    }
    installed
}

/// Says that a test does nothing. Not by a macro: what macros print of a test that passes is not
/// shown.
fn skip(why: &str) {
    let line = format!("SKIPPED: {why}\n");
    std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).unwrap();
}
