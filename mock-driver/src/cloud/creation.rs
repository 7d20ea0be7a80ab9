//! Making a load balancer takes a cloud some time and several stages. Nothing runs in the
//! background for it: how far a creation has come follows from when it began and what time it is.

use super::endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// What a new load balancer shall be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLoadBalancer {
    /// The network that it stands in.
    pub vpc: String,
    /// Who can reach it.
    pub kind: LoadBalancerType,
    /// What its listener speaks.
    pub protocol: ListenerProtocol,
    /// Where its listener listens.
    pub port: u16,
    /// Which requests it forwards; nothing for TCP and UDP.
    pub rule: Option<Rule>,
}

/// How far a creation has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Creation {
    /// It is done: this is the load balancer.
    Done(Endpoint),
    /// It is under way.
    Running {
        /// What is being made.
        stage: Stage,
        /// How long that will take from now on.
        remaining: Duration,
    },
}

/// What a creation is making.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// The CLB instance.
    #[serde(rename = "creating CLB instance")]
    Instance,
    /// Its listener.
    #[serde(rename = "creating listener")]
    Listener,
    /// The listener's forward rule.
    #[serde(rename = "creating forward rule")]
    Rule,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Instance => "creating CLB instance",
            Self::Listener => "creating listener",
            Self::Rule => "creating forward rule",
        })
    }
}

/// The creation of one instance, which stays with the instance: its client token is how a
/// repeated call finds it, also from a driver that has been started anew.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) token: String,
    pub(super) wanted: NewLoadBalancer,
    /// The attributes that the load balancer gets when it is done.
    pub(super) attributes: StringMap,
    /// The listener, as soon as it is there.
    pub(super) listener: Option<String>,
    /// The result, as soon as all is there.
    pub(super) endpoint: Option<Endpoint>,
    /// Whether somebody was told that it is done.
    pub(super) handed_out: bool,
    /// The calls that took it into use, and those that ended a use: it is deleted by the last.
    pub(super) users: BTreeSet<String>,
    pub(super) leavers: BTreeSet<String>,
    began: Duration,
    pace: Duration,
}

impl Origin {
    pub(super) fn begin(
        token: &str,
        wanted: NewLoadBalancer,
        attributes: StringMap,
        began: Duration,
        pace: Duration,
    ) -> Self {
        Self {
            token: token.to_owned(),
            wanted,
            attributes,
            listener: None,
            endpoint: None,
            handed_out: false,
            users: BTreeSet::from([token.to_owned()]),
            leavers: BTreeSet::new(),
            began,
            pace,
        }
    }

    const fn stages(&self) -> &'static [Stage] {
        if self.wanted.protocol.has_rules() {
            &[Stage::Instance, Stage::Listener, Stage::Rule]
        } else {
            &[Stage::Instance, Stage::Listener]
        }
    }

    /// The stage that is running, and how long it still will; nothing when all are over.
    pub(super) fn running(&self, now: Duration) -> Option<(Stage, Duration)> {
        let elapsed = now.saturating_sub(self.began);
        let mut end = Duration::ZERO;
        self.stages().iter().find_map(|stage| {
            end = end.saturating_add(self.pace);
            (elapsed < end).then(|| (*stage, end.saturating_sub(elapsed)))
        })
    }

    pub(super) fn progress(&self, now: Duration) -> Creation {
        match (&self.endpoint, self.running(now)) {
            (Some(endpoint), _) => Creation::Done(endpoint.clone()),
            (None, Some((stage, remaining))) => Creation::Running { stage, remaining },
            // The stages' time is over, and the last one's result is about to be put in place.
            (None, None) => Creation::Running {
                stage: self.stages().last().copied().unwrap_or(Stage::Instance),
                remaining: Duration::ZERO,
            },
        }
    }

    /// Whether this stage's result is there.
    pub(super) fn has_passed(&self, stage: Stage, now: Duration) -> bool {
        self.running(now)
            .is_none_or(|(running, _)| (stage as u8) < running as u8)
    }
}
