//! A check: one rule of the specification, and the code that tests a driver against it. Each check
//! is declared in one place, in [`crate::checks`].

pub use crate::classification::{Feature, Group, Level};

use crate::classification::named;
use crate::lab::Lab;
use crate::outcome::CheckOutcome;
use lbcf_driver_sdk::specification::Rule;
use std::future::Future;
use std::pin::Pin;

named! {
    /// The use that a check makes of the observer, which shows the state of the driver's cloud.
    Observer (4),
    /// The word in lists.
    name;
    /// The check reads responses only.
    Unused = "unused",
    /// Without an observer the check verifies responses only, and the report marks it so.
    Improves = "improves",
    /// Without an observer the check compares the lists of listBackends; without that webhook it is skipped.
    Listed = "listed",
    /// Without an observer the check is skipped.
    Required = "required",
}

/// A condition for a check to run. A missing one is the reason of a skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The fixture declares this feature; without it the check does not apply to the driver.
    Feature(Feature),
    /// The fixture does not declare this feature: the check is about drivers without it.
    Without(Feature),
    /// `loadBalancer.valid`, or a driver that accepts an empty `lbSpec`.
    LoadBalancer,
    /// At least one `loadBalancer.invalid` in the fixture, which a driver must reject.
    InvalidLoadBalancer,
    /// `loadBalancer.update.attributes` in the fixture, an update that a driver must accept.
    UpdateAttributes,
    /// At least one `loadBalancer.update.forbidden` in the fixture, an update that a driver must
    /// reject.
    ForbiddenUpdate,
    /// `loadBalancer.unknownLBInfo` in the fixture, the identity of a load balancer that does not
    /// exist.
    UnknownLbInfo,
    /// One of the features for backends.
    Backend,
    /// Backends whose address the driver generates: pods or services.
    GeneratedBackend,
    /// At least one of `backend.parameters.invalid` in the fixture, which a driver must reject.
    InvalidParameters,
    /// `backend.parameters.update` in the fixture, an update that a driver must accept.
    UpdateParameters,
    /// `backend.unusableAddrs` in the fixture, addresses that the cloud cannot use.
    UnusableAddr,
    /// `restart` in the fixture, by which the kit restarts the driver.
    Restart,
    /// `fault` in the fixture, by which the kit makes the driver's cloud fail.
    Fault,
    /// An observer that can register a foreign backend.
    ForeignBackend,
    /// An observer that can deregister a backend without the driver.
    Unbinding,
    /// An observer that can change attributes without the driver.
    AttributeDrift,
}

impl Need {
    /// Its field in the fixture, or the capability of an observer.
    pub(crate) fn name(self) -> String {
        let name = match self {
            Self::Feature(feature) => return format!("feature {}", feature.name()),
            Self::Without(feature) => return format!("no feature {}", feature.name()),
            Self::LoadBalancer => "loadBalancer.valid",
            Self::InvalidLoadBalancer => "loadBalancer.invalid",
            Self::UpdateAttributes => "loadBalancer.update.attributes",
            Self::ForbiddenUpdate => "loadBalancer.update.forbidden",
            Self::UnknownLbInfo => "loadBalancer.unknownLBInfo",
            Self::Backend => "feature backend.pod, backend.service or backend.static",
            Self::GeneratedBackend => "feature backend.pod or backend.service",
            Self::InvalidParameters => "backend.parameters.invalid",
            Self::UpdateParameters => "backend.parameters.update",
            Self::UnusableAddr => "backend.unusableAddrs",
            Self::Restart => "restart",
            Self::Fault => "fault",
            Self::ForeignBackend => "observer that registers a foreign backend",
            Self::Unbinding => "observer that deregisters a backend",
            Self::AttributeDrift => "observer that changes attributes",
        };
        name.to_owned()
    }
}

/// Which checks may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// Runs beside others: it uses its own load balancers only.
    Parallel,
    /// Runs while no other check creates a load balancer, because it counts them.
    Counting,
    /// Runs alone after the others: it affects the whole driver.
    Exclusive,
    /// Runs last, and verifies the exchanges of all others.
    Last,
}

/// The function that runs a check.
pub type Code = for<'a> fn(&'a Lab) -> Pin<Box<dyn Future<Output = CheckOutcome> + Send + 'a>>;

/// One rule and the code that tests it.
#[derive(Debug)]
pub struct Check {
    /// A stable id, such as `ENS-02`; never used for another rule.
    pub id: &'static str,
    /// The level of the rule: MUST or SHOULD.
    pub level: Level,
    /// The subject, which the id begins with.
    pub group: Group,
    /// The rule, in one sentence.
    pub rule: &'static str,
    /// The effect on users of a driver that breaks the rule.
    pub why: &'static str,
    /// Where the rule comes from, such as `LBCF webhook specification, ensureBackend`.
    pub source: &'static str,
    /// The usual mistake behind a failure, and its fix.
    pub typical: &'static str,
    /// The use of an observer of the cloud; [`Observer::Unused`] by default.
    pub observer: Observer,
    /// All conditions for the check to run; none by default.
    pub needs: &'static [Need],
    /// The checks that may run at the same time; [`Concurrency::Parallel`] by default.
    pub concurrency: Concurrency,
    /// Returns an error where the driver breaks the rule.
    pub code: Code,
}

impl Check {
    /// A check with defaults; a declaration adds its texts.
    pub(crate) const fn new(rule: Rule, group: Group, code: Code) -> Self {
        Self {
            id: rule.id,
            level: Level::of(rule.level),
            group,
            rule: rule.sentence,
            why: "",
            source: "",
            typical: "",
            observer: Observer::Unused,
            needs: &[],
            concurrency: Concurrency::Parallel,
            code,
        }
    }
}
