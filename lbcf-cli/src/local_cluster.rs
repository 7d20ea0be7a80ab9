//! `lbcf local-cluster`: the embedded Kubernetes API as a server for kubectl.

mod args;

pub(crate) use args::LocalClusterArgs;

use crate::manifests::apply_crds;
use crate::shell;
use args::reason;
use lbcf_serving::streams;
use local_cluster::LocalCluster;
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Serves until a signal. Prints the URL to stdout as soon as connections are accepted.
pub(crate) async fn run(args: LocalClusterArgs) -> Result<(), Box<dyn Error>> {
    let shutdown = lbcf_serving::signals::shutdown()?;
    let serving = args.serving()?;
    let cluster = LocalCluster::start(args.cluster()).await?;
    if args.with_crds {
        apply_crds(&cluster.client_as("lbcf")).await?;
    }
    let server = cluster
        .serve_with(serving)
        .await
        .map_err(|error| match error {
            local_cluster::Error::Listen { .. } => format!("--listen {}: {error}", args.listen),
            error => reason(&error),
        })?;
    if let Some(path) = &args.kubeconfig {
        server
            .write_kubeconfig(path)
            .map_err(|error| format!("--kubeconfig {}", reason(&error)))?;
        tracing::info!(path = %path.display(), "the kubeconfig is written");
    }
    streams::print(&format!("{}\n", server.url()))?;
    let mut stderr = std::io::stderr();
    if stderr.is_terminal() {
        let is_plain = server.authority().is_none() && !args.has_token();
        let next = next_commands(&server.url(), args.kubeconfig.as_deref(), is_plain);
        writeln!(stderr, "{next}")?;
    }
    shutdown.await;
    server.shutdown().await;
    cluster.shutdown().await;
    Ok(())
}

/// The commands for a user to type next.
fn next_commands(url: &str, kubeconfig: Option<&Path>, is_plain: bool) -> String {
    let first = match kubeconfig {
        Some(path) => {
            let path = shell::quote(&path.to_string_lossy());
            format!("  export KUBECONFIG={path}\n  kubectl get nodes")
        }
        None if is_plain => format!("  kubectl --server {url} get nodes"),
        None => {
            "  start it with --kubeconfig PATH, as clients need its certificate and token".into()
        }
    };
    format!("Next, in another terminal:\n{first}\nCtrl-C ends it.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_commands_are_printed() {
        let url = "http://127.0.0.1:8001";
        let printed = next_commands(url, Some(Path::new("/tmp/kube config")), true);
        assert!(
            printed.contains("  export KUBECONFIG='/tmp/kube config'\n  kubectl get nodes\n"),
            "{printed}"
        );
        let printed = next_commands(url, Some(Path::new("/tmp/kubeconfig")), false);
        assert!(
            printed.contains("  export KUBECONFIG=/tmp/kubeconfig\n"),
            "{printed}"
        );
        assert!(
            next_commands(url, None, true)
                .contains("kubectl --server http://127.0.0.1:8001 get nodes")
        );
        assert!(next_commands(url, None, false).contains("--kubeconfig PATH"));
    }
}
