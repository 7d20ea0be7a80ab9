//! The settings of a run.

use crate::classification::{Group, named};
use crate::fixture::duration;
use crate::report::FailurePolicy;
use clap::builder::RangedU64ValueParser;
use std::time::Duration;

named! {
    /// A named selection of checks.
    Profile (5),
    /// The value of `--profile`.
    name;
    /// The checks for every driver.
    Core = "core",
    /// The core checks, and those of operations that return `Running`.
    Async = "async",
    /// The core checks, and those of dry runs.
    DryRun = "dryrun",
    /// The core checks, and those of `judgePodDeregister`.
    PodDeregister = "pod-deregister",
    /// The checks of all profiles.
    All = "all",
}

impl Profile {
    /// True if the profile includes a group.
    pub const fn has(self, group: Group) -> bool {
        match group {
            Group::Asyn => matches!(self, Self::Async | Self::All),
            Group::Dry => matches!(self, Self::DryRun | Self::All),
            Group::Jpd => matches!(self, Self::PodDeregister | Self::All),
            _ => true,
        }
    }
}

/// The settings of a run. Start from [`Default`]: new settings may be added.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Run")]
pub struct Settings {
    /// Which checks apply to the driver [default: by the fixture's features, else core]
    #[arg(long, value_name = "PROFILE", help_heading = "Checks")]
    pub profile: Option<Profile>,

    /// Run only these checks: ids or groups, separated by commas; may be repeated
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    #[arg(help_heading = "Checks")]
    pub only: Vec<String>,

    /// Skip these checks: ids or groups, separated by commas; may be repeated
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    #[arg(help_heading = "Checks")]
    pub skip: Vec<String>,

    /// Determines names, uids and orders.
    #[arg(skip = Settings::default().seed)]
    pub seed: u64,

    /// Time limit for the first response of the driver
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = wait)]
    pub wait: Duration,

    /// Number of times that checks repeat a call, from 1 to 1000
    #[arg(long, value_name = "TIMES", default_value_t = Settings::default().repeat)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    pub repeat: usize,

    /// Number of concurrent calls that checks send, from 1 to 1000
    #[arg(long, value_name = "CALLS", default_value_t = Settings::default().concurrency)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    pub concurrency: usize,

    /// Number of checks that run concurrently, from 1 to 64
    #[arg(long, value_name = "CHECKS", default_value_t = Settings::default().jobs)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=64))]
    pub jobs: usize,

    /// Time limit of a call, up to 60s [default: that of the fixture, else 10s]
    #[arg(long, value_name = "DURATION", value_parser = call_time)]
    pub timeout: Option<Duration>,

    /// Overrides `budgets.async` of the fixture.
    #[arg(skip)]
    pub async_budget: Option<Duration>,

    /// Overrides `budgets.total` of the fixture.
    #[arg(skip)]
    pub total_budget: Option<Duration>,

    /// Factor for the delays that the driver requests, from 0 to 10
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = time_scale)]
    pub time_scale: f64,

    /// Which results fail the run.
    #[arg(skip)]
    pub policy: FailurePolicy,

    /// Stop after the first check that fails
    #[arg(long)]
    pub fail_fast: bool,

    /// True if the kit deletes the resources that it created.
    #[arg(skip = true)]
    pub cleanup: bool,

    /// Show each call as a curl command, and keep the calls of passed checks in reports, too
    #[arg(long, conflicts_with = "quiet", help_heading = "Output")]
    pub verbose: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            profile: None,
            only: Vec::new(),
            skip: Vec::new(),
            seed: 1,
            repeat: 10,
            concurrency: 50,
            jobs: 8,
            timeout: None,
            async_budget: None,
            total_budget: None,
            time_scale: 1.0,
            wait: Duration::from_secs(30),
            policy: FailurePolicy::default(),
            fail_fast: false,
            cleanup: true,
            verbose: false,
        }
    }
}

impl Settings {
    /// The driver's retry delay multiplied with the time scale, at most [`Duration::MAX`].
    pub(crate) fn scaled(&self, delay: Duration) -> Duration {
        let seconds = delay.as_secs_f64() * self.time_scale;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// The timeout of a call, up to the longest one of controllers.
pub(crate) fn call_time(text: &str) -> Result<Duration, String> {
    duration::parse(text, Duration::from_secs(60))
}

/// The wait for a driver.
fn wait(text: &str) -> Result<Duration, String> {
    duration::parse(text, Duration::from_secs(3600))
}

/// The factor for retry delays.
fn time_scale(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|scale| (0.0..=10.0).contains(scale))
        .ok_or_else(|| "expected a number from 0 to 10, such as 0.1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scaled_delay_does_not_overflow() {
        let scaled = |delay, time_scale| {
            let settings = Settings {
                time_scale,
                ..Settings::default()
            };
            settings.scaled(delay)
        };
        assert_eq!(scaled(Duration::from_secs(10), 0.1), Duration::from_secs(1));
        assert_eq!(scaled(Duration::MAX, 1.0), Duration::MAX);
        assert_eq!(scaled(Duration::from_secs(1), f64::INFINITY), Duration::MAX);
    }
}
