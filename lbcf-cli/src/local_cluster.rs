//! `lbcf local-cluster`: the embedded Kubernetes API as a server for kubectl.

mod args;

pub(crate) use args::LocalClusterArgs;

use crate::demo::{apply_crds, until_told_to_end};
use args::reason;
use local_cluster::LocalCluster;
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Serves until Ctrl-C or SIGTERM. The URL is the one line on stdout, written when connections
/// are accepted.
pub(crate) async fn run(args: LocalClusterArgs) -> Result<(), Box<dyn Error>> {
    let stop = until_told_to_end()?;
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
    writeln!(std::io::stdout(), "{}", server.url())?;
    let mut stderr = std::io::stderr();
    if stderr.is_terminal() {
        let is_plain = server.authority().is_none() && !args.has_token();
        let next = what_next(&server.url(), args.kubeconfig.as_deref(), is_plain);
        writeln!(stderr, "{next}")?;
    }
    stop.await;
    server.shutdown().await;
    cluster.shutdown().await;
    Ok(())
}

/// What a person does with it.
fn what_next(url: &str, kubeconfig: Option<&Path>, is_plain: bool) -> String {
    let first = match kubeconfig {
        Some(path) => {
            let path = quoted(&path.to_string_lossy());
            format!("  export KUBECONFIG={path}\n  kubectl get nodes")
        }
        None if is_plain => format!("  kubectl --server {url} get nodes"),
        None => {
            "  start it with --kubeconfig PATH, as clients need its certificate and token".into()
        }
    };
    format!("Next, in another terminal:\n{first}\nCtrl-C ends it.")
}

/// A word as shells read it.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_what_to_type() {
        let url = "http://127.0.0.1:8001";
        let told = what_next(url, Some(Path::new("/tmp/kube config")), true);
        assert!(
            told.contains("  export KUBECONFIG='/tmp/kube config'\n  kubectl get nodes\n"),
            "{told}"
        );
        let told = what_next(url, Some(Path::new("/tmp/kubeconfig")), false);
        assert!(
            told.contains("  export KUBECONFIG=/tmp/kubeconfig\n"),
            "{told}"
        );
        assert!(
            what_next(url, None, true).contains("kubectl --server http://127.0.0.1:8001 get nodes")
        );
        assert!(what_next(url, None, false).contains("--kubeconfig PATH"));
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
