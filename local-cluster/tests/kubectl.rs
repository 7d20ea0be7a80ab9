//! kubectl, if it is installed.

mod advanced;
mod basics;
mod scale;
mod transcript;
mod webhooks;
mod workloads;

use std::path::Path;
use std::process::Stdio;

use local_cluster::ServerHandle;
use tokio::process::Command;

use crate::fixture::{DEADLINE, skip};

struct Kubectl {
    home: std::path::PathBuf,
}

impl Kubectl {
    /// kubectl with its own home directory and kubeconfig.
    fn of(server: &ServerHandle) -> Self {
        let home = std::env::temp_dir().join(format!("local-cluster-{}", server.addr().port()));
        std::fs::create_dir_all(&home).unwrap();
        write(&home.join("kubeconfig"), server.kubeconfig());
        Self { home }
    }

    /// Removes the home directory.
    fn end(self) {
        std::fs::remove_dir_all(&self.home).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("kubectl");
        command.args(arguments);
        self.at_home(command)
    }

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

    /// Runs a command; returns whether it succeeded, and its output.
    async fn run(&self, arguments: &[&str]) -> (bool, String) {
        output_of(self.command(arguments)).await
    }

    async fn prints(&self, arguments: &[&str], expected: &str) {
        let (success, output) = self.run(arguments).await;
        assert!(
            success && output.contains(expected),
            "kubectl {arguments:?}: {output}"
        );
    }

    async fn fails_with(&self, arguments: &[&str], expected: &str) {
        let (success, output) = self.run(arguments).await;
        assert!(
            !success && output.contains(expected),
            "kubectl {arguments:?}: {output}"
        );
    }
}

/// Runs a command; returns whether it succeeded, and its output.
async fn output_of(mut command: Command) -> (bool, String) {
    let output = tokio::time::timeout(DEADLINE, command.output());
    let output = output.await.unwrap().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::write(path, content).unwrap();
}

/// Whether kubectl is installed; logs the skipped test otherwise.
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
