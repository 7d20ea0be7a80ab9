//! The settings of a run.

use crate::classification::Group;
use crate::report::FailurePolicy;
use std::time::Duration;

/// A named selection of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Profile {
    /// The checks for every driver.
    Core,
    /// The core checks, and those of operations that return `Running`.
    Async,
    /// The core checks, and those of dry runs.
    #[value(name = "dryrun")]
    DryRun,
    /// The core checks, and those of `judgePodDeregister`.
    PodDeregister,
    /// The checks of all profiles.
    All,
}

impl Profile {
    /// All profiles, in the order of the documentation.
    pub const ALL: [Self; 5] = [
        Self::Core,
        Self::Async,
        Self::DryRun,
        Self::PodDeregister,
        Self::All,
    ];

    /// The value of `--profile`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Async => "async",
            Self::DryRun => "dryrun",
            Self::PodDeregister => "pod-deregister",
            Self::All => "all",
        }
    }

    /// True if the profile includes a group.
    #[must_use]
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
#[derive(Debug, Clone)]
pub struct Settings {
    /// The selected checks; by default the features of the fixture select them.
    pub profile: Option<Profile>,
    /// The ids or groups of the only checks to run; empty for all.
    pub only: Vec<String>,
    /// The ids or groups of checks to skip.
    pub skip: Vec<String>,
    /// Determines names, uids and orders.
    pub seed: u64,
    /// The number of repetitions of a call; 10.
    pub repeat: usize,
    /// The number of concurrent calls; 50.
    pub concurrency: usize,
    /// The number of concurrent checks; 8.
    pub jobs: usize,
    /// The timeout of a call, unless the fixture sets that of a webhook; 10 s, as in controllers.
    pub timeout: Option<Duration>,
    /// Overrides `budgets.async` of the fixture.
    pub async_budget: Option<Duration>,
    /// Overrides `budgets.total` of the fixture.
    pub total_budget: Option<Duration>,
    /// The factor for the driver's retry delays; 1.
    pub time_scale: f64,
    /// Time limit for the first response of the driver; 30 s.
    pub wait: Duration,
    /// Which results fail the run.
    pub policy: FailurePolicy,
    /// True if the first failure ends the run.
    pub fail_fast: bool,
    /// True if the kit deletes the resources that it created.
    pub cleanup: bool,
    /// True if the report contains the exchanges of passed checks.
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
