//! The controller as a command: its flags, and what it does until it is told to end. Whichever
//! binary has the command calls this.

use crate::{Backoff, Controller, Options, go_duration};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use std::path::PathBuf;
use std::time::Duration;

/// Runs the LBCF controller against a cluster until Ctrl-C.
#[derive(Debug, Clone, clap::Args)]
pub struct ControllerArgs {
    /// Kubeconfig of the cluster; without it, what kubectl would take, or inside a pod the pod's
    /// own account
    #[arg(long, env = "LBCF_KUBECONFIG", value_name = "PATH")]
    pub kubeconfig: Option<PathBuf>,

    /// Least wait after a failure
    #[arg(long, env = "LBCF_MIN_RETRY_DELAY", value_name = "DURATION", default_value = "5s", value_parser = go_duration::parse)]
    pub min_retry_delay: Duration,

    /// Wait after the first failure; it doubles with each further one
    #[arg(long, env = "LBCF_RETRY_DELAY_STEP", value_name = "DURATION", default_value = "10s", value_parser = go_duration::parse)]
    pub retry_delay_step: Duration,

    /// Longest wait after a failure
    #[arg(long, env = "LBCF_MAX_RETRY_DELAY", value_name = "DURATION", default_value = "2m", value_parser = go_duration::parse)]
    pub max_retry_delay: Duration,

    /// How soon a driver that answered Running is asked again, where it named no delay
    #[arg(long, env = "LBCF_POLL_INTERVAL", value_name = "DURATION", default_value = "10s", value_parser = go_duration::parse)]
    pub poll_interval: Duration,

    /// Number of objects that are worked on at a time
    #[arg(long, env = "LBCF_WORKERS", value_name = "N", default_value_t = Options::default().workers)]
    pub workers: usize,

    /// Number of calls to one driver that may be in flight
    #[arg(long, env = "LBCF_CALLS_PER_DRIVER", value_name = "N", default_value_t = Options::default().calls_per_driver)]
    pub calls_per_driver: usize,

    /// Call drivers at HOST under this base URL instead, for a controller outside the cluster;
    /// may be repeated
    #[arg(long, env = "LBCF_CONNECT_TO", value_name = "HOST=URL", value_delimiter = ',', value_parser = host_and_url)]
    pub connect_to: Vec<(String, String)>,
}

fn host_and_url(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((host, url)) if !host.is_empty() && url.contains("://") => {
            Ok((host.into(), url.into()))
        }
        _ => Err(format!(
            "{text:?}: not HOST=URL, such as my-driver.kube-system.svc=http://127.0.0.1:8080"
        )),
    }
}

impl From<&ControllerArgs> for Options {
    fn from(args: &ControllerArgs) -> Self {
        Self {
            backoff: Backoff {
                min: args.min_retry_delay,
                step: args.retry_delay_step,
                max: args.max_retry_delay,
            },
            poll_interval: args.poll_interval,
            workers: args.workers,
            calls_per_driver: args.calls_per_driver,
            connect_to: args.connect_to.iter().cloned().collect(),
            ..Self::default()
        }
    }
}

/// Why the command could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The kubeconfig cannot be read.
    #[error("reading the kubeconfig {path}: {source}")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: kube::config::KubeconfigError,
    },
    /// There is no cluster to be found.
    #[error(
        "no cluster: --kubeconfig is not given, there is no kubeconfig where kubectl looks, and this is no pod: {0}"
    )]
    NoCluster(#[source] kube::config::InferConfigError),
    /// The client cannot be made of the configuration.
    #[error("connecting to the cluster: {0}")]
    Client(#[source] kube::Error),
    /// The signals of the operating system cannot be listened to.
    #[error("listening for signals: {0}")]
    Signals(#[source] std::io::Error),
}

/// Runs the controller until Ctrl-C or SIGTERM; then it finishes what is in progress.
///
/// # Errors
/// [`RunError`], when it cannot start.
pub async fn run(args: ControllerArgs) -> Result<(), RunError> {
    let client = Client::try_from(config(&args).await?).map_err(RunError::Client)?;
    let stop = stop_signal().map_err(RunError::Signals)?;
    Controller::new(client, Options::from(&args))
        .run(stop)
        .await;
    Ok(())
}

async fn config(args: &ControllerArgs) -> Result<Config, RunError> {
    let Some(path) = &args.kubeconfig else {
        return Config::infer().await.map_err(RunError::NoCluster);
    };
    let wrong = |source| RunError::Kubeconfig {
        path: path.clone(),
        source,
    };
    let kubeconfig = Kubeconfig::read_from(path).map_err(wrong)?;
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(wrong)
}

/// Listens from the call on, so that no signal is lost before somebody waits.
#[cfg(unix)]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
