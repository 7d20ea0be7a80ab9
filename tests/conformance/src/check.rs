//! A check: one rule of the specification, and the code that tests a driver against it. Each check
//! is declared in one place, in [`crate::checks`].

use crate::lab::Lab;
use crate::outcome::CheckOutcome;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

/// How much a check matters.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// Required by the specification, or without it controllers in the field retry indefinitely,
    /// lose an update, leak a resource or reject the response.
    Must,
    /// Controllers work without it, but users suffer.
    Should,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
        })
    }
}

/// The subject of a check; [`about`](Self::about) describes each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "`about` describes each")]
pub enum Group {
    Wire,
    Hlth,
    Vlb,
    Clb,
    Elb,
    Dlb,
    Vbe,
    Gen,
    Ens,
    Drg,
    Jpd,
    Lst,
    Asyn,
    Rtry,
    Dry,
    Conc,
    Bad,
    Life,
    Lat,
}

impl Group {
    /// All groups in the order of reports.
    pub const ALL: [Self; 19] = [
        Self::Wire,
        Self::Hlth,
        Self::Vlb,
        Self::Clb,
        Self::Elb,
        Self::Dlb,
        Self::Vbe,
        Self::Gen,
        Self::Ens,
        Self::Drg,
        Self::Jpd,
        Self::Lst,
        Self::Asyn,
        Self::Rtry,
        Self::Dry,
        Self::Conc,
        Self::Bad,
        Self::Life,
        Self::Lat,
    ];

    /// The prefix of its checks' ids, such as `ENS`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Wire => "WIRE",
            Self::Hlth => "HLTH",
            Self::Vlb => "VLB",
            Self::Clb => "CLB",
            Self::Elb => "ELB",
            Self::Dlb => "DLB",
            Self::Vbe => "VBE",
            Self::Gen => "GEN",
            Self::Ens => "ENS",
            Self::Drg => "DRG",
            Self::Jpd => "JPD",
            Self::Lst => "LST",
            Self::Asyn => "ASYN",
            Self::Rtry => "RTRY",
            Self::Dry => "DRY",
            Self::Conc => "CONC",
            Self::Bad => "BAD",
            Self::Life => "LIFE",
            Self::Lat => "LAT",
        }
    }

    /// A description for people, such as `ensureBackend` or `repeated calls`.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Wire => "the wire format",
            Self::Hlth => "health",
            Self::Vlb => "validateLoadBalancer",
            Self::Clb => "createLoadBalancer",
            Self::Elb => "ensureLoadBalancer",
            Self::Dlb => "deleteLoadBalancer",
            Self::Vbe => "validateBackend",
            Self::Gen => "generateBackendAddr",
            Self::Ens => "ensureBackend",
            Self::Drg => "deregisterBackend",
            Self::Jpd => "judgePodDeregister",
            Self::Lst => "listBackends",
            Self::Asyn => "Running and polling",
            Self::Rtry => "repeated calls",
            Self::Dry => "dry runs",
            Self::Conc => "concurrent calls",
            Self::Bad => "bad input",
            Self::Life => "life cycles",
            Self::Lat => "latency",
        }
    }
}

/// How a check uses the observer, which shows the state of the driver's cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observer {
    /// The check reads responses only.
    Unused,
    /// Without an observer the check verifies responses only, and the report marks it so.
    Improves,
    /// Without an observer the check is skipped.
    Required,
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

/// An optional capability of a driver, as the fixture's `features` name it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
pub enum Feature {
    /// Operations that return `Running`.
    #[serde(rename = "async")]
    Async,
    /// Dry runs: the LoadBalancerDriver sets `acceptDryRunCall`.
    #[serde(rename = "dryRun")]
    DryRun,
    /// The optional webhook `judgePodDeregister`, which keeps pods registered that are not ready.
    #[serde(rename = "judgePodDeregister")]
    JudgePodDeregister,
    /// The optional webhook `listBackends`, which lists what is registered.
    #[serde(rename = "listBackends")]
    ListBackends,
    /// Pods as backends, whose addresses `generateBackendAddr` returns.
    #[serde(rename = "backend.pod")]
    PodBackends,
    /// Services' node ports as backends.
    #[serde(rename = "backend.service")]
    ServiceBackends,
    /// Endpoints of services that are no pods as backends, such as addresses outside of the cluster.
    #[serde(rename = "backend.endpoint")]
    EndpointBackends,
    /// Static addresses as backends.
    #[serde(rename = "backend.static")]
    StaticBackends,
    /// Attributes that can be changed.
    #[serde(rename = "update.attributes")]
    UpdateAttributes,
    /// Parameters that can be changed.
    #[serde(rename = "update.parameters")]
    UpdateParameters,
}

impl Feature {
    /// All features in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Async,
        Self::DryRun,
        Self::JudgePodDeregister,
        Self::ListBackends,
        Self::PodBackends,
        Self::ServiceBackends,
        Self::EndpointBackends,
        Self::StaticBackends,
        Self::UpdateAttributes,
        Self::UpdateParameters,
    ];

    /// The name in the fixture and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Async => "async",
            Self::DryRun => "dryRun",
            Self::JudgePodDeregister => "judgePodDeregister",
            Self::ListBackends => "listBackends",
            Self::PodBackends => "backend.pod",
            Self::ServiceBackends => "backend.service",
            Self::EndpointBackends => "backend.endpoint",
            Self::StaticBackends => "backend.static",
            Self::UpdateAttributes => "update.attributes",
            Self::UpdateParameters => "update.parameters",
        }
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
pub struct Check {
    /// A stable id, such as `ENS-02`; never used for another rule.
    pub id: &'static str,
    /// Whether the rule is a MUST or a SHOULD.
    pub level: Level,
    /// The subject, which the id begins with.
    pub group: Group,
    /// The rule, in one sentence.
    pub rule: &'static str,
    /// The effect on users of a driver that breaks the rule.
    pub why: &'static str,
    /// Where the rule comes from, such as `LBCF webhook specification; b124`.
    pub source: &'static str,
    /// The usual mistake behind a failure, and its fix.
    pub typical: &'static str,
    /// How the check uses an observer of the cloud; [`Observer::Unused`] by default.
    pub observer: Observer,
    /// All conditions for the check to run; none by default.
    pub needs: &'static [Need],
    /// What may run at the same time; [`Concurrency::Parallel`] by default.
    pub concurrency: Concurrency,
    /// Returns an error where the driver breaks the rule.
    pub code: Code,
}

impl Check {
    /// The defaults of a check of the level MUST; a declaration adds its id and its texts.
    pub(crate) const fn must(group: Group, code: Code) -> Self {
        Self {
            id: "",
            level: Level::Must,
            group,
            rule: "",
            why: "",
            source: "",
            typical: "",
            observer: Observer::Unused,
            needs: &[],
            concurrency: Concurrency::Parallel,
            code,
        }
    }

    /// The same for the level SHOULD.
    pub(crate) const fn should(group: Group, code: Code) -> Self {
        Self {
            level: Level::Should,
            ..Self::must(group, code)
        }
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
