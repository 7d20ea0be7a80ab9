//! Kubernetes' clients for other languages, over plain HTTP and over TLS with a token.
//!
//! `.ci/run` installs them and sets environment variables with their paths. Without those, the
//! tests log that they are skipped.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use local_cluster::{LocalCluster, ServeOptions, ServerHandle, Tls, Token};
use tokio::process::Command;

use crate::fixture::{quick, skip};

/// The time limit of a client's script; starting an interpreter is most of it.
const DEADLINE: Duration = Duration::from_secs(120);

/// The value of a variable, unless it is empty.
fn installed(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    path.exists().then_some(path)
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/clients")
        .join(name)
}

/// Runs a script against a cluster with TLS and one without.
async fn run_script(mut command: impl FnMut() -> Command) {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let secured = ServeOptions {
        tls: Some(Tls::self_signed_ca()),
        token: Some(Token::new("s3cret").unwrap()),
        ..ServeOptions::default()
    };
    for (name, options) in [("plain", ServeOptions::default()), ("secured", secured)] {
        let server = cluster.serve_with(options).await.unwrap();
        let kubeconfig = Kubeconfig::of(&server);
        let running = command()
            .arg(&kubeconfig.0)
            .arg(name)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(DEADLINE, running)
            .await
            .expect("the script ends")
            .unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let wrong = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {stdout}\n{wrong}");
        assert!(stdout.ends_with("all works\n"), "{name}: {stdout}\n{wrong}");
        assert_eq!(stdout.contains("TLS"), name == "secured", "{stdout}");
        server.shutdown().await;
    }
}

/// A file of this test.
struct Kubeconfig(PathBuf);

impl Kubeconfig {
    fn of(server: &ServerHandle) -> Self {
        let name = format!("local-cluster-foreign-{}", uuid::Uuid::new_v4());
        let path = std::env::temp_dir().join(name);
        server.write_kubeconfig(&path).unwrap();
        Self(path)
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[tokio::test]
async fn the_python_client_works() {
    let Some(python) = installed("LOCAL_CLUSTER_PYTHON") else {
        return skip(
            "the_python_client_works, as LOCAL_CLUSTER_PYTHON names no Python interpreter: make a venv, have its pip install tests/clients/python/requirements.txt, and set the variable to its bin/python",
        );
    };
    run_script(|| {
        let mut command = Command::new(&python);
        command.arg(script("python/smoke.py"));
        command
    })
    .await;
}

#[tokio::test]
async fn the_node_client_works() {
    let Some(modules) = installed("LOCAL_CLUSTER_NODE_MODULES") else {
        return skip(
            "the_node_client_works, as LOCAL_CLUSTER_NODE_MODULES names no folder: copy tests/clients/node/package*.json to a folder, run npm ci there, and set the variable to its node_modules",
        );
    };
    run_script(|| {
        let mut command = Command::new("node");
        command
            .env("LOCAL_CLUSTER_NODE_MODULES", &modules)
            .arg(script("node/smoke.mjs"));
        command
    })
    .await;
}
