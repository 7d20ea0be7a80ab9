//! Kubernetes' clients for other languages, over plain HTTP and over TLS with a token.
//!
//! They are installed by `.ci/run`, which says by environment variables where. Without them these
//! tests say that they were skipped.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use local_cluster::{LocalCluster, ServeOptions, ServerHandle, Tls, Token};
use tokio::process::Command;

use crate::fixture::quick;

/// How long a client's script may take; starting an interpreter is most of it.
const DEADLINE: Duration = Duration::from_secs(120);

/// What a variable says, if it says anything.
fn installed(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    path.exists().then_some(path)
}

/// Not by a macro: what macros print of a test that passes is not shown.
fn skipped(test: &str, what: &str) {
    let told = format!("SKIPPED: {test}, as {what}");
    // Nobody is left to tell if stderr is closed.
    let _ = writeln!(std::io::stderr(), "{told}");
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/clients")
        .join(name)
}

/// Has a script use clusters of both kinds.
async fn has_it_all_work(mut command: impl FnMut() -> Command) {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let secured = ServeOptions {
        tls: Some(Tls::self_made()),
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
        let said = String::from_utf8_lossy(&output.stdout);
        let wrong = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {said}\n{wrong}");
        assert!(said.ends_with("all works\n"), "{name}: {said}\n{wrong}");
        assert_eq!(said.contains("TLS"), name == "secured", "{said}");
        server.shutdown().await;
    }
}

/// A file that goes with the test.
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
async fn pythons_client_works() {
    let Some(python) = installed("LOCAL_CLUSTER_PYTHON") else {
        return skipped(
            "pythons_client_works",
            "LOCAL_CLUSTER_PYTHON names no Python interpreter: make a venv, have its pip install tests/clients/python/requirements.txt, and set the variable to its bin/python",
        );
    };
    has_it_all_work(|| {
        let mut command = Command::new(&python);
        command.arg(script("python/smoke.py"));
        command
    })
    .await;
}

#[tokio::test]
async fn nodes_client_works() {
    let Some(modules) = installed("LOCAL_CLUSTER_NODE_MODULES") else {
        return skipped(
            "nodes_client_works",
            "LOCAL_CLUSTER_NODE_MODULES names no folder: copy tests/clients/node/package*.json to a folder, run npm ci there, and set the variable to its node_modules",
        );
    };
    has_it_all_work(|| {
        let mut command = Command::new("node");
        command
            .env("LOCAL_CLUSTER_NODE_MODULES", &modules)
            .arg(script("node/smoke.mjs"));
        command
    })
    .await;
}
