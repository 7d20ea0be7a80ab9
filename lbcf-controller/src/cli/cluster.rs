use super::error::CommandError;
use crate::cluster::client::{self, ClientLimits, RequestRate};
use crate::process::metrics::Metrics;
use http::Uri;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use lbcf_driver_client::Proxies;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use tokio::net::lookup_host;

const POD_NAMESPACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// Flags of the connection to the cluster.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Cluster", mut_args = lbcf_serving::flags::variables("LBCF_"))]
pub struct ClusterArgs {
    /// Kubeconfig of the cluster [default: the one that kubectl uses, or the pod's service account]
    #[arg(long, value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,

    /// Maximum requests per second to the API server; 0 for no limit, as the API server itself shares
    /// its capacity among its clients
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub client_qps: u32,

    /// Number of requests that may exceed --client-qps in a burst
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    pub client_burst: u32,

    /// Maximum number of requests to the API server that wait for a response at a time
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = at_least_one)]
    pub client_max_in_flight: usize,
}

impl ClusterArgs {
    pub(super) async fn config(&self) -> Result<Config, CommandError> {
        let Some(path) = &self.kubeconfig else {
            let config = Config::infer().await.map_err(CommandError::NoCluster)?;
            return Ok(without_needless_proxy(config));
        };
        kubeconfig(path).await
    }

    pub(super) fn client(&self, config: Config, metrics: &Metrics) -> Result<Client, CommandError> {
        let rate = RequestRate {
            per_second: self.client_qps,
            burst: self.client_burst,
        };
        let limits = ClientLimits {
            in_flight: self.client_max_in_flight,
            rate: (self.client_qps > 0).then_some(rate),
        };
        client::build(config, limits, metrics).map_err(CommandError::Client)
    }

    /// The namespace of the pod that this process runs in.
    pub(super) fn pod_namespace(&self) -> Option<String> {
        // With a kubeconfig, the pod may belong to another cluster.
        if self.kubeconfig.is_some() {
            return None;
        }
        namespace_in(Path::new(POD_NAMESPACE))
    }
}

/// The cluster of a kubeconfig's current context.
///
/// # Errors
/// [`CommandError::Kubeconfig`], if the file cannot be read or is invalid.
pub async fn kubeconfig(path: &Path) -> Result<Config, CommandError> {
    let wrong = |source| CommandError::Kubeconfig {
        path: path.to_owned(),
        source,
    };
    let kubeconfig = Kubeconfig::read_from(path).map_err(wrong)?;
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    Ok(without_needless_proxy(config.map_err(wrong)?))
}

/// Takes the environment's proxy out of the configuration of a cluster that is on this machine, or that `NO_PROXY` excepts,
/// as kubectl does; kube compares that list with the proxy. One that the kubeconfig names stays.
#[must_use]
pub fn without_needless_proxy(mut config: Config) -> Config {
    let host = config.cluster_url.host().unwrap_or_default();
    let address: Result<IpAddr, _> = host.trim_matches(['[', ']']).parse();
    let is_local = host == "localhost" || address.is_ok_and(|it| it.is_loopback());
    let of_environment = ["HTTPS_PROXY", "https_proxy"].map(|name| std::env::var(name).ok());
    let mut of_environment = of_environment.into_iter().flatten();
    let proxy = config.proxy_url.as_ref();
    let is_of_environment = of_environment.any(|url| url.parse::<Uri>().ok().as_ref() == proxy);
    let is_needed = !is_local && Proxies::from_environment().lead_to(&config.cluster_url);
    if is_of_environment && !is_needed {
        config.proxy_url = None;
    }
    config
}

/// The addresses of the API server: by the configuration, and by the environment that every pod has. Those of a name are
/// those that it has now.
pub(super) async fn api_server(config: &Config) -> Vec<IpAddr> {
    let configured = config.cluster_url.host().map(str::to_owned);
    let of_pods = std::env::var("KUBERNETES_SERVICE_HOST").ok();
    let mut addresses = Vec::new();
    for host in configured.into_iter().chain(of_pods) {
        match lookup_host((host.trim_matches(['[', ']']), 0)).await {
            Ok(found) => addresses.extend(found.map(|it| it.ip().to_canonical())),
            Err(error) => tracing::warn!(host, %error, "the API server's address is unknown"),
        }
    }
    addresses
}

/// The client of leader election, without rate limit; the election retries on its own.
pub(super) fn election_client(mut config: Config) -> Result<Client, CommandError> {
    config.default_retry = false;
    Client::try_from(config).map_err(CommandError::Client)
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{text:?}: must be a number of at least 1")),
    }
}

fn namespace_in(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let namespace = text.trim();
    (!namespace.is_empty()).then(|| namespace.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn d106_the_api_servers_addresses_are_known() {
        for (url, address) in [
            ("https://10.96.0.1:6443", "10.96.0.1"),
            ("https://[2001:db8::1]", "2001:db8::1"),
            ("https://[::ffff:10.96.0.1]", "10.96.0.1"),
        ] {
            let found = api_server(&Config::new(url.parse().unwrap())).await;
            assert_eq!(found.first(), Some(&address.parse::<IpAddr>().unwrap()));
        }
        let found = api_server(&Config::new("https://localhost".parse().unwrap())).await;
        assert!(found.first().is_some_and(IpAddr::is_loopback), "{found:?}");
    }

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
