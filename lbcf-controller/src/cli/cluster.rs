//! Which cluster, and how hard it is asked.

use super::CommandError;
use crate::request_rate::RequestRate;
use kube::client::ClientBuilder;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use std::path::{Path, PathBuf};

/// Where a pod finds the name of its namespace.
const POD_NAMESPACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// Which cluster, and how hard it is asked.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Cluster")]
pub struct ClusterArgs {
    /// Kubeconfig of the cluster; without it, what kubectl would take, or inside a pod the pod's
    /// own account
    #[arg(long, env = "LBCF_KUBECONFIG", value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,

    /// Number of requests a second that the API server is asked at most; 0 is no limit
    #[arg(long, env = "LBCF_CLIENT_QPS", value_name = "N", default_value_t = 200)]
    pub client_qps: u32,

    /// Number of requests that may come at once before that limit holds
    #[arg(long, env = "LBCF_CLIENT_BURST", value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    pub client_burst: u32,
}

impl ClusterArgs {
    pub(super) async fn config(&self) -> Result<Config, CommandError> {
        let Some(path) = &self.kubeconfig else {
            return Config::infer().await.map_err(CommandError::NoCluster);
        };
        let wrong = |source| CommandError::Kubeconfig {
            path: path.clone(),
            source,
        };
        let kubeconfig = Kubeconfig::read_from(path).map_err(wrong)?;
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .map_err(wrong)
    }

    /// The client that the controller works with.
    pub(super) fn client(&self, config: Config) -> Result<Client, CommandError> {
        let builder = ClientBuilder::try_from(config).map_err(CommandError::Client)?;
        if self.client_qps == 0 {
            return Ok(builder.build());
        }
        let rate = RequestRate {
            per_second: self.client_qps,
            burst: self.client_burst,
        };
        Ok(builder.with_layer(&rate).build())
    }

    /// The namespace of the pod that this is; none outside a pod.
    pub(super) fn pod_namespace(&self) -> Option<String> {
        // With a kubeconfig, it may be another cluster's pod.
        if self.kubeconfig.is_some() {
            return None;
        }
        namespace_in(Path::new(POD_NAMESPACE))
    }
}

/// The client that renews the lead: it waits behind nobody's requests and has its own retries.
pub(super) fn election_client(mut config: Config) -> Result<Client, CommandError> {
    config.default_retry = false;
    Client::try_from(config).map_err(CommandError::Client)
}

fn namespace_in(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let namespace = text.trim();
    (!namespace.is_empty()).then(|| namespace.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pods_namespace_is_read_where_there_is_one() {
        let path = std::env::temp_dir().join(format!("lbcf-namespace-{}", std::process::id()));
        assert_eq!(namespace_in(&path), None);
        for (text, namespace) in [("lbcf\n", Some("lbcf")), ("\n", None)] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(namespace_in(&path).as_deref(), namespace);
        }
        std::fs::remove_file(&path).unwrap();
    }
}
