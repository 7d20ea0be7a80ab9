//! How a run goes.

use crate::check::Group;
use crate::report::Judging;
use std::time::Duration;

/// Which checks are made, by what drivers claim to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Profile {
    /// What every driver has to do.
    Core,
    /// And operations that answer `Running`.
    Async,
    /// And dry runs.
    #[value(name = "dryrun")]
    DryRun,
    /// And judging pods.
    PodDeregister,
    /// Everything.
    All,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 5] = [
        Self::Core,
        Self::Async,
        Self::DryRun,
        Self::PodDeregister,
        Self::All,
    ];

    /// Its name.
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

    /// Whether the checks of a group belong to it.
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

/// How a run goes. Made from [`Default`], so that a new setting breaks nobody.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which checks, by what the driver claims; nothing leaves it to the fixture's features.
    pub profile: Option<Profile>,
    /// Only these checks: ids or groups. Empty: all.
    pub only: Vec<String>,
    /// Not these checks: ids or groups.
    pub skip: Vec<String>,
    /// What names, uids and orders follow from.
    pub seed: u64,
    /// How often "repeated" is; 10.
    pub repeat: usize,
    /// How many calls "side by side" is; 50.
    pub concurrency: usize,
    /// How many checks run side by side; 8.
    pub jobs: usize,
    /// How long a call may take, where the fixture does not say; 10 s, as for controllers.
    pub timeout: Option<Duration>,
    /// How long an operation may be `Running`, where not as the fixture says.
    pub async_budget: Option<Duration>,
    /// How long the whole run may take, where not as the fixture says.
    pub total_budget: Option<Duration>,
    /// What waits are multiplied with that a driver asks for; 1.
    pub time_scale: f64,
    /// How long to wait for the driver to answer at all; 30 s.
    pub wait: Duration,
    /// What fails the run.
    pub judging: Judging,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// Whether what was made is taken away again.
    pub cleanup: bool,
    /// Whether the report has the exchanges of passed checks, too.
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
            judging: Judging::default(),
            fail_fast: false,
            cleanup: true,
            verbose: false,
        }
    }
}

impl Settings {
    /// How long is really waited where a driver asks for this; the longest there is where it would
    /// be longer.
    pub(crate) fn scaled(&self, delay: Duration) -> Duration {
        let seconds = delay.as_secs_f64() * self.time_scale;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_may_be_longer_than_there_is_time() {
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
