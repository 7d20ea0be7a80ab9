//! How the controller works.

use crate::{Backoff, Options, go_duration};
use std::time::Duration;

/// How the controller works.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Work")]
pub struct WorkArgs {
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

    /// How often a driver is asked again about pods that are not ready; changes in the cluster are
    /// seen at once
    #[arg(long, env = "LBCF_INFORMER_RESYNC_PERIOD", value_name = "DURATION", default_value = "1m", value_parser = resync_period)]
    pub informer_resync_period: Duration,

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

    /// Write nothing, and ask drivers only to check; what would be done is logged. There is no
    /// leader election then
    #[arg(long, env = "LBCF_DRY_RUN")]
    pub dry_run: bool,
}

impl WorkArgs {
    pub(super) fn options(&self) -> Options {
        Options {
            backoff: Backoff {
                min: self.min_retry_delay,
                step: self.retry_delay_step,
                max: self.max_retry_delay,
            },
            poll_interval: self.poll_interval,
            resync_period: self.informer_resync_period,
            workers: self.workers,
            calls_per_driver: self.calls_per_driver,
            connect_to: self.connect_to.iter().cloned().collect(),
            dry_run: self.dry_run,
            ..Options::default()
        }
    }
}

/// Asking without a pause would keep a driver busy with nothing.
fn resync_period(text: &str) -> Result<Duration, String> {
    let least = Duration::from_secs(1);
    match go_duration::parse(text) {
        Ok(period) if period >= least => Ok(period),
        Ok(_) => Err(format!("{text:?}: has to be at least 1s")),
        Err(error) => Err(error.to_string()),
    }
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
