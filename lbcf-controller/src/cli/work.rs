use crate::process::announced::Announced;
use crate::process::backoff::Backoff;
use crate::process::driver_addresses::{DriverAddresses, EVERYTHING};
use crate::process::options::Options;
use lbcf_serving::duration::{self, display};
use std::time::Duration;

/// Flags of reconciling: retries, polling, limits and dry run.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Work", mut_args = lbcf_serving::flags::variables("LBCF_"))]
pub struct WorkArgs {
    /// Minimum delay after a failure
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration::parse)]
    pub min_retry_delay: Duration,

    /// Delay after the first failure; doubles with each further one
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::parse)]
    pub retry_delay_step: Duration,

    /// Maximum delay after a failure
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration::parse)]
    pub max_retry_delay: Duration,

    /// Delay after which a driver that answered Running is called again, where it named none
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::parse)]
    pub poll_interval: Duration,

    /// Period in which judgePodDeregister is called again for pods that are not ready; changes in
    /// the cluster take effect immediately
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = resync_period)]
    pub informer_resync_period: Duration,

    /// Time that a BackendRecord without an owner waits for one, such as a BackendGroup that is
    /// created again, before its backend is deregistered
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = duration::parse)]
    pub orphan_grace_period: Duration,

    /// Time that a registered endpoint may be in none of its Service's EndpointSlices, as while it
    /// moves to another one, before it is deregistered
    #[arg(long, value_name = "DURATION", default_value = "3s", value_parser = duration::parse)]
    pub endpoint_grace_period: Duration,

    /// Time that a backend which is not selected any more and can still serve waits until those that
    /// replace it are registered; 0 turns it off
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration::parse)]
    pub replacement_timeout: Duration,

    /// When more than half of at least four backends become unready within this time, the rest of these is
    /// deregistered one by one, each after this time; 0 deregisters all at once
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::parse)]
    pub readiness_brake: Duration,

    /// Addresses that drivers in kube-system may announce in the status of Services, whose traffic kube-proxy takes on
    /// every node: networks, addresses, host names, *.example.com; any is every unicast address but loopback
    /// and link-local ones
    #[arg(long, value_name = "LIST", default_value = "any")]
    pub announced_addresses: Announced,

    /// The same for drivers in other namespaces; by default they announce none
    #[arg(long, value_name = "LIST", default_value = "")]
    pub announced_addresses_of_tenants: Announced,

    /// Addresses at which drivers in kube-system may be called, by what the host of their URL is resolved to: networks
    /// and addresses, which https:// or http:// may precede; any is every address but loopback and link-local ones and
    /// those of the API server
    #[arg(long, value_name = "LIST", default_value = EVERYTHING)]
    pub driver_addresses: DriverAddresses,

    /// The same for drivers in other namespaces
    #[arg(long, value_name = "LIST", default_value = "any")]
    pub driver_addresses_of_tenants: DriverAddresses,

    /// Period in which drivers that list listBackends in spec.webhooks are asked for their backends,
    /// to find those without a BackendRecord; 0 turns it off
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = audit_period)]
    pub audit_period: Duration,

    /// Ensure every load balancer and every registered backend once, for the first start after the
    /// cluster was restored from a backup
    #[arg(long)]
    pub ensure_at_start: bool,

    /// Number of objects that are reconciled concurrently
    #[arg(long, value_name = "N", default_value_t = Options::default().workers)]
    pub workers: usize,

    /// Maximum number of concurrent calls to one driver
    #[arg(long, value_name = "N", default_value_t = Options::default().calls_per_driver)]
    pub calls_per_driver: usize,

    /// Period in which each driver's webhook healthz is called, at least 1s, or 0 for never
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = health_period)]
    pub driver_health_period: Duration,

    /// Call drivers at HOST under this base URL instead, for a controller outside the cluster; can
    /// be repeated
    #[arg(long, value_name = "HOST=URL", value_delimiter = ',', value_parser = host_and_url)]
    pub connect_to: Vec<(String, String)>,

    /// Log what would be done and write nothing; call drivers only with dryRun, if they accept it.
    /// Disables leader election
    #[arg(long)]
    pub dry_run: bool,
}

impl WorkArgs {
    /// The options that follow from these flags.
    pub(super) fn options(&self) -> Options {
        Options {
            backoff: Backoff {
                min: self.min_retry_delay,
                step: self.retry_delay_step,
                max: self.max_retry_delay,
            },
            poll_interval: self.poll_interval,
            resync_period: self.informer_resync_period,
            endpoint_grace_period: self.endpoint_grace_period,
            orphan_grace_period: self.orphan_grace_period,
            replacement_timeout: self.replacement_timeout,
            readiness_brake: self.readiness_brake,
            announced: self.announced_addresses.clone(),
            announced_by_tenants: self.announced_addresses_of_tenants.clone(),
            driver_addresses: self.driver_addresses.clone(),
            driver_addresses_of_tenants: self.driver_addresses_of_tenants.clone(),
            audit_period: self.audit_period,
            ensure_at_start: self.ensure_at_start,
            workers: self.workers,
            calls_per_driver: self.calls_per_driver,
            driver_health_period: Some(self.driver_health_period)
                .filter(|period| !period.is_zero()),
            connect_to: self.connect_to.iter().cloned().collect(),
            dry_run: self.dry_run,
            ..Options::default()
        }
    }
}

/// A minimum period keeps a driver from being called without pause.
fn at_least(minimum: Duration, text: &str) -> Result<Duration, String> {
    match duration::parse(text) {
        Ok(period) if period >= minimum => Ok(period),
        Ok(_) => Err(format!("{text:?}: must be at least {}", display(minimum))),
        Err(error) => Err(error.to_string()),
    }
}

fn resync_period(text: &str) -> Result<Duration, String> {
    at_least(Duration::from_secs(1), text)
}

/// Zero turns the calls off.
fn health_period(text: &str) -> Result<Duration, String> {
    match duration::parse(text) {
        Ok(Duration::ZERO) => Ok(Duration::ZERO),
        _ => resync_period(text).map_err(|error| format!("{error}, or 0 for never")),
    }
}

fn audit_period(text: &str) -> Result<Duration, String> {
    match duration::parse(text) {
        Ok(Duration::ZERO) => Ok(Duration::ZERO),
        _ => at_least(Duration::from_secs(10), text).map_err(|error| format!("{error}, or 0")),
    }
}

/// Reads HOST=URL, for [`WorkArgs::connect_to`].
///
/// # Errors
/// The text, and what it must be.
pub fn host_and_url(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((host, url)) if !host.is_empty() && url.contains("://") => {
            Ok((host.into(), url.into()))
        }
        _ => Err(format!(
            "{text:?}: must be HOST=URL, such as my-driver.kube-system.svc=http://127.0.0.1:8080"
        )),
    }
}
