//! What a check is: one rule of the specification, and the code that finds out whether a driver
//! keeps it. Each check is declared in one place, in [`crate::checks`].

use crate::lab::Lab;
use crate::verdict::Verdict;
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
    /// The specification says so, or controllers in the field would call for ever, lose an update,
    /// leak a resource or refuse the answer.
    Must,
    /// Controllers cope, but people are hurt.
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

/// What the checks are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// The wire format.
    Wire,
    /// Health.
    Hlth,
    /// validateLoadBalancer.
    Vlb,
    /// createLoadBalancer.
    Clb,
    /// ensureLoadBalancer.
    Elb,
    /// deleteLoadBalancer.
    Dlb,
    /// validateBackend.
    Vbe,
    /// generateBackendAddr.
    Gen,
    /// ensureBackend.
    Ens,
    /// deregisterBackend.
    Drg,
    /// judgePodDeregister.
    Jpd,
    /// Running.
    Asyn,
    /// Repeated calls.
    Rtry,
    /// Dry runs.
    Dry,
    /// Calls side by side.
    Conc,
    /// Bad input.
    Bad,
    /// Whole lives.
    Life,
    /// How long answers take.
    Lat,
}

impl Group {
    /// All of them, in the order of reports.
    pub const ALL: [Self; 18] = [
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
        Self::Asyn,
        Self::Rtry,
        Self::Dry,
        Self::Conc,
        Self::Bad,
        Self::Life,
        Self::Lat,
    ];

    /// The beginning of its checks' ids.
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
            Self::Asyn => "ASYN",
            Self::Rtry => "RTRY",
            Self::Dry => "DRY",
            Self::Conc => "CONC",
            Self::Bad => "BAD",
            Self::Life => "LIFE",
            Self::Lat => "LAT",
        }
    }

    /// What its checks are about.
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
            Self::Asyn => "Running, and asking again",
            Self::Rtry => "repeated calls",
            Self::Dry => "dry runs",
            Self::Conc => "calls side by side",
            Self::Bad => "bad input",
            Self::Life => "whole lives",
            Self::Lat => "how long answers take",
        }
    }
}

/// What a check needs to look into the driver's cloud for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observer {
    /// It judges answers.
    Unused,
    /// Without one only the answers are judged, and the report says so.
    Improves,
    /// Without one it shows nothing.
    Required,
}

/// What has to be there for a check to be made. What is missing is the reason of a skip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The fixture declares this feature; without it the check does not concern the driver.
    Feature(Feature),
    /// The fixture does not declare this feature: the check is about drivers without it.
    Without(Feature),
    /// `loadBalancer.valid`, or a driver that takes an empty `lbSpec`.
    LoadBalancer,
    /// `loadBalancer.invalid`.
    InvalidLoadBalancer,
    /// `loadBalancer.update.attributes`.
    UpdateAttributes,
    /// `loadBalancer.update.forbidden`.
    ForbiddenUpdate,
    /// `loadBalancer.unknownLBInfo`.
    UnknownLbInfo,
    /// Some backend whose address can be had: one of the backend features.
    Backend,
    /// Some backend whose address the driver generates: a pod or a service.
    GeneratedBackend,
    /// `backend.parameters.invalid`.
    InvalidParameters,
    /// `backend.parameters.update`.
    UpdateParameters,
    /// `restart`.
    Restart,
    /// `fault`.
    Fault,
    /// An observer that can plant a foreign backend.
    ForeignBackend,
    /// An observer that can take a backend away behind the driver's back.
    Unbinding,
    /// An observer that can change attributes behind the driver's back.
    AttributeDrift,
}

/// What a driver can do beyond what every driver does, as the fixture's `features` name it.
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
    /// Operations that answer `Running`.
    #[serde(rename = "async")]
    Async,
    /// `acceptDryRunCall`.
    #[serde(rename = "dryRun")]
    DryRun,
    /// The webhook `judgePodDeregister`.
    #[serde(rename = "judgePodDeregister")]
    JudgePodDeregister,
    /// Pods as backends.
    #[serde(rename = "backend.pod")]
    PodBackends,
    /// Services' node ports as backends.
    #[serde(rename = "backend.service")]
    ServiceBackends,
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

/// Which checks may be made at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// Any: what it does concerns its own load balancers only.
    Any,
    /// While it runs no other check creates a load balancer, since it counts them.
    Counts,
    /// It runs when all others are done, and alone: it does something to the whole driver.
    Alone,
    /// It runs last, and judges what all others saw.
    Last,
}

/// A check's code.
pub type Code = for<'a> fn(&'a Lab) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;

/// One rule, and how it is checked.
pub struct Check {
    /// Its name for ever, such as `ENS-02`.
    pub id: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What it is about.
    pub group: Group,
    /// The rule, in one sentence.
    pub rule: &'static str,
    /// What happens to users of drivers that break it.
    pub why: &'static str,
    /// Where the rule comes from, such as `LBCF webhook specification; b124`.
    pub source: &'static str,
    /// What drivers that break it usually do wrong, and what to do instead.
    pub typical: &'static str,
    /// What it looks into the cloud for.
    pub observer: Observer,
    /// What it needs besides.
    pub needs: &'static [Need],
    /// What may go on beside it.
    pub company: Company,
    /// How it is checked.
    pub code: Code,
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
