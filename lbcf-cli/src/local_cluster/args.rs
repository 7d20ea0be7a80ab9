//! The flags of `lbcf local-cluster` and their translation into the library's options.

use lbcf_serving::duration;
use lbcf_serving::secret::Secret;
use local_cluster::{LocalClusterOptions, NodeSpec, ServeOptions, Tls, Token};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Run a small Kubernetes API until Ctrl-C.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_LOCAL_CLUSTER_"))]
pub(crate) struct LocalClusterArgs {
    /// Address to listen on; port 0 is a free port. Other than loopback needs --tls and a token
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8001")]
    pub(super) listen: SocketAddr,

    /// Host name by which clients may call a loopback address without TLS, beside localhost and loopback
    /// addresses; a web page that calls by any other gets 403
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    allow_host: Vec<String>,

    /// Store the cluster in this folder; by default it is lost when the command ends
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: Option<PathBuf>,

    /// Write a kubeconfig to this file, readable only by its owner
    #[arg(long, value_name = "PATH")]
    pub(super) kubeconfig: Option<PathBuf>,

    /// Start with LBCF's CRDs; by default only built-in kinds are served
    #[arg(long)]
    pub(super) with_crds: bool,

    /// Serve over HTTPS with a self-signed certificate
    #[arg(long)]
    tls: bool,

    /// Additional DNS name or IP address of the certificate
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with = "tls_cert"
    )]
    tls_san: Vec<String>,

    /// Serve over HTTPS with the certificate in this PEM file
    #[arg(long, value_name = "PATH", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// PEM file with the certificate's key
    #[arg(long, value_name = "PATH", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// PEM file with the CA for clients of --tls-cert to trust; by default the certificate itself
    #[arg(long, value_name = "PATH", requires = "tls_cert")]
    tls_ca: Option<PathBuf>,

    /// Bearer token that clients have to send. Other users can see it: prefer --token-file
    #[arg(
        long,
        value_name = "TOKEN",
        hide_env_values = true,
        conflicts_with = "token_file"
    )]
    token: Option<Secret>,

    /// File with the bearer token that clients have to send
    #[arg(long, value_name = "PATH")]
    token_file: Option<PathBuf>,

    /// Allow --listen on addresses that others can reach without TLS or without a token
    #[arg(long)]
    insecure: bool,

    /// Initial number of nodes
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(0..=5000))]
    nodes: u16,

    /// Time from a pod's binding until it is ready
    #[arg(long, value_name = "DURATION", default_value = "300ms", value_parser = duration::parse)]
    pod_ready_delay: Duration,

    /// Time from a running pod's deletion until it is removed; at most its grace period
    #[arg(long, value_name = "DURATION", default_value = "500ms", value_parser = duration::parse)]
    pod_termination_delay: Duration,

    /// Have running pods serve HTTP on their containers' TCP ports, at addresses in 127.0.0.0/8; ports
    /// below 1024 get 8000 more where binding them needs privileges
    #[arg(long)]
    pod_traffic: bool,

    /// Run an API server alone, as the tests of controllers expect it: no pods, workloads, endpoints and garbage collection
    #[arg(long)]
    no_controllers: bool,
}

impl LocalClusterArgs {
    pub(super) fn cluster(&self) -> LocalClusterOptions {
        LocalClusterOptions {
            pod_ready_delay: self.pod_ready_delay,
            pod_termination_delay: self.pod_termination_delay,
            pod_traffic: self.pod_traffic,
            run_controllers: !self.no_controllers,
            nodes: (1..=self.nodes).map(node).collect(),
            data_dir: self.data_dir.clone(),
            ..LocalClusterOptions::default()
        }
    }

    pub(super) const fn has_token(&self) -> bool {
        self.token.is_some() || self.token_file.is_some()
    }

    pub(super) fn serving(&self) -> Result<ServeOptions, String> {
        let token = match (&self.token, &self.token_file) {
            (Some(token), _) => {
                let token = Token::new(token.0.as_str());
                Some(token.map_err(|error| format!("--token: {error}"))?)
            }
            (None, Some(path)) => {
                let with_flag = |why: String| format!("--token-file {}: {why}", path.display());
                let token = Token::from_file(path);
                Some(token.map_err(|error| with_flag(reason(&error)))?)
            }
            (None, None) => None,
        };
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Some(Tls::Files {
                certificate: certificate.clone(),
                key: key.clone(),
                authority: self.tls_ca.clone(),
            }),
            _ if self.tls || !self.tls_san.is_empty() => Some(Tls::SelfSignedCa {
                names: self.tls_san.clone(),
            }),
            _ => None,
        };
        // Every client may read all Secrets and change everything. That suits a demo on loopback; on a
        // network it must be an explicit decision.
        if !self.listen.ip().is_loopback() && !self.insecure && (tls.is_none() || token.is_none()) {
            return Err(format!(
                "--listen {}: others can reach this address and could change the cluster: add --tls and --token-file, or --insecure to allow it",
                self.listen
            ));
        }
        Ok(ServeOptions {
            listen: self.listen,
            allow_hosts: self.allow_host.clone(),
            tls,
            token,
            ..ServeOptions::default()
        })
    }
}

fn node(number: u16) -> NodeSpec {
    // The first two are the library's default.
    let address = u32::from(Ipv4Addr::new(192, 168, 100, 10)) + u32::from(number);
    NodeSpec {
        name: format!("node-{number}"),
        address: IpAddr::V4(address.into()),
    }
}

/// An error with its source.
pub(super) fn reason(error: &local_cluster::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Command {
        #[command(flatten)]
        args: LocalClusterArgs,
    }

    fn parse(flags: &[&str]) -> LocalClusterArgs {
        Command::parse_from([&["lbcf"], flags].concat()).args
    }

    #[test]
    fn without_flags_it_is_the_librarys_default_on_loopback() {
        let args = parse(&[]);
        assert_eq!(args.cluster(), LocalClusterOptions::default());
        let serving = args.serving().unwrap();
        assert_eq!(serving.listen.to_string(), "127.0.0.1:8001");
        assert_eq!((serving.tls, serving.token), (None, None));
    }

    #[test]
    fn flags_reach_the_options() {
        let args = parse(&[
            "--nodes=300",
            "--pod-ready-delay=2s",
            "--pod-termination-delay=0s",
            "--pod-traffic",
            "--no-controllers",
            "--tls",
            "--tls-san=a.example,10.0.0.1",
            "--token=s3cret",
            "--allow-host=a,b",
        ]);
        let cluster = args.cluster();
        assert_eq!(cluster.nodes.len(), 300);
        assert_eq!(cluster.nodes[299].address.to_string(), "192.168.101.54");
        assert_eq!(cluster.pod_ready_delay, Duration::from_secs(2));
        assert_eq!(cluster.pod_termination_delay, Duration::ZERO);
        assert!(cluster.pod_traffic && !cluster.run_controllers);
        let serving = args.serving().unwrap();
        let names = vec!["a.example".to_owned(), "10.0.0.1".to_owned()];
        assert_eq!(serving.tls, Some(Tls::SelfSignedCa { names }));
        assert_eq!(serving.token, Some(Token::new("s3cret").unwrap()));
        assert_eq!(serving.allow_hosts, ["a", "b"]);
        assert!(!format!("{args:?}{serving:?}").contains("s3cret"));
    }

    #[test]
    fn addresses_that_others_can_reach_need_tls_and_a_token_or_insecure() {
        for (flags, is_served) in [
            (&["--listen=0.0.0.0:1"][..], false),
            (&["--listen=[::]:1", "--tls"], false),
            (&["--listen=10.0.0.1:1", "--token=x"], false),
            (&["--listen=10.0.0.1:1", "--token=x", "--tls"], true),
            (&["--listen=0.0.0.0:1", "--insecure"], true),
            (&["--listen=127.8.9.1:1"], true),
            (&["--listen=[::1]:1"], true),
        ] {
            let serving = parse(flags).serving();
            assert_eq!(serving.is_ok(), is_served, "{flags:?}: {serving:?}");
        }
    }

    #[test]
    fn an_invalid_token_is_rejected_and_not_shown() {
        let rejection = parse(&["--token=s3 cret"]).serving().unwrap_err();
        assert!(
            rejection.starts_with("--token: the token cannot be used: "),
            "{rejection}"
        );
        assert!(!rejection.contains("s3"), "{rejection}");
        let rejection = parse(&["--token-file=/no/such/file"])
            .serving()
            .unwrap_err();
        assert!(
            rejection.starts_with("--token-file /no/such/file: "),
            "{rejection}"
        );
    }
}
