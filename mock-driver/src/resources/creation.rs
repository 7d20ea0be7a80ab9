//! Creating a load balancer takes a cloud some time and several stages. No task runs for it: the
//! progress follows from the time at which the creation began and the current time, or from the calls.

use super::endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
use super::incidental::Incidental;
use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The specification of a load balancer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLoadBalancer {
    /// The ID of the network.
    pub vpc: String,
    /// From where it can be reached.
    pub kind: LoadBalancerType,
    /// The protocol of its listener.
    pub protocol: ListenerProtocol,
    /// The port of its listener.
    pub port: u16,
    /// The forwarding rule of an HTTP or HTTPS listener.
    pub rule: Option<Rule>,
}

/// When the stages of a creation complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreationPace {
    /// Each takes so long; zero is at once.
    Time(Duration),
    /// All together take so many calls.
    Polls(u32),
    /// When [`Cloud::release_creations`](crate::Cloud::release_creations) is called.
    Held,
}

impl From<Duration> for CreationPace {
    fn from(stage: Duration) -> Self {
        Self::Time(stage)
    }
}

/// The progress of a creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Creation {
    /// It is complete, with this identity.
    Done(Endpoint),
    /// It has not completed.
    Running {
        /// The stage that is under way.
        stage: CreationStage,
        /// When to ask again: the time until this stage completes, zero while the creation is held,
        /// none where calls count.
        remaining: Option<Duration>,
    },
}

/// The stage of a creation; as text, the message of `Running`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum CreationStage {
    /// The CLB instance, without listeners.
    #[serde(rename = "creating CLB instance")]
    Instance,
    /// The listener of the instance.
    #[serde(rename = "creating listener")]
    Listener,
    /// The forwarding rule of an HTTP or HTTPS listener.
    #[serde(rename = "creating forward rule")]
    Rule,
}

impl fmt::Display for CreationStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The creation of an instance, beside what its listeners show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreationState {
    /// The protocol of the listener.
    pub protocol: ListenerProtocol,
    /// The port of the listener.
    pub port: u16,
    /// The domain of the rule of an HTTP or HTTPS listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The path of that rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The attributes that the load balancer gets.
    #[serde(default)]
    pub attributes: StringMap,
    /// The ID of the listener, once it exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listener: Option<String>,
    /// True when it is complete.
    #[serde(default)]
    pub complete: bool,
    /// True when a call has returned the result.
    #[serde(default)]
    pub returned: bool,
    /// The time of each stage in milliseconds, if it is a matter of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage_ms: Option<u64>,
    /// The number of calls that it takes, if they count; without either it is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polls: Option<u32>,
    /// The number of calls so far.
    #[serde(default)]
    pub polled: u32,
    /// The time since it began, in milliseconds; only while it runs.
    #[serde(default)]
    #[schemars(with = "u64")]
    pub elapsed_ms: Incidental<u64>,
    /// True when it was released by hand.
    #[serde(default)]
    pub released: bool,
}

/// A creation with its progress. It is kept with the instance: a repeated call finds the instance by the
/// client token, also after a restart of the driver.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) token: String,
    /// Its `elapsed_ms` is the time before `started`.
    pub(crate) state: CreationState,
    /// When it began, or was restored.
    pub(crate) started: Duration,
}

impl Origin {
    pub(super) fn new(
        token: &str,
        desired: &NewLoadBalancer,
        pace: CreationPace,
        started: Duration,
    ) -> Self {
        let (stage_ms, polls) = match pace {
            CreationPace::Time(each) => (Some(millis(each)), None),
            CreationPace::Polls(polls) => (None, Some(polls)),
            CreationPace::Held => (None, None),
        };
        let rule = desired.rule.clone();
        let (domain, url) = rule.map(|rule| (rule.domain, rule.url)).unzip();
        let state = CreationState {
            protocol: desired.protocol,
            port: desired.port,
            domain,
            url,
            attributes: StringMap::new(),
            listener: None,
            complete: false,
            returned: false,
            stage_ms,
            polls,
            polled: 0,
            elapsed_ms: Incidental(0),
            released: false,
        };
        Self {
            token: token.to_owned(),
            state,
            started,
        }
    }

    /// The creation as a document.
    pub(super) fn document(&self, now: Duration) -> CreationState {
        let elapsed = match self.state.complete {
            true => Duration::ZERO,
            false => self.elapsed(now),
        };
        CreationState {
            elapsed_ms: Incidental(millis(elapsed)),
            ..self.state.clone()
        }
    }

    /// The rule of a listener that has rules.
    pub(super) fn rule(&self) -> Option<Rule> {
        let CreationState { domain, url, .. } = &self.state;
        let rule = || Rule::new(domain.as_deref(), url.as_deref());
        self.state.protocol.has_rules().then(rule)
    }

    fn elapsed(&self, now: Duration) -> Duration {
        let before = Duration::from_millis(self.state.elapsed_ms.0);
        now.saturating_sub(self.started).saturating_add(before)
    }

    const fn stages(&self) -> &'static [CreationStage] {
        const ALL: &[CreationStage] = &[
            CreationStage::Instance,
            CreationStage::Listener,
            CreationStage::Rule,
        ];
        if self.state.protocol.has_rules() {
            ALL
        } else {
            ALL.split_at(2).0
        }
    }

    /// The current stage and when to ask again; none when all are complete.
    pub(super) fn running(&self, now: Duration) -> Option<(CreationStage, Option<Duration>)> {
        let state = &self.state;
        if state.complete || state.released {
            return None;
        }
        let stages = self.stages();
        if let Some(each) = state.stage_ms.map(Duration::from_millis) {
            let elapsed = self.elapsed(now);
            let mut end = Duration::ZERO;
            return stages.iter().find_map(|stage| {
                end = end.saturating_add(each);
                (elapsed < end).then(|| (*stage, Some(end.saturating_sub(elapsed))))
            });
        }
        let Some(polls) = state.polls else {
            return Some((CreationStage::Instance, Some(Duration::ZERO)));
        };
        let left = polls.checked_sub(state.polled).filter(|left| *left > 0)?;
        let done = u64::from(polls - left) * stages.len() as u64 / u64::from(polls);
        let stage = usize::try_from(done).ok().and_then(|done| stages.get(done));
        stage.map(|stage| (*stage, None))
    }

    /// The progress of the creation of this instance.
    pub(super) fn progress(&self, id: &str, now: Duration) -> Creation {
        match self.running(now) {
            Some((stage, remaining)) => Creation::Running { stage, remaining },
            None => {
                let listener = self.state.listener.as_deref().unwrap_or_default();
                Creation::Done(Endpoint::new(id, listener, self.rule().as_ref()))
            }
        }
    }

    pub(super) fn has_completed(&self, stage: CreationStage, now: Duration) -> bool {
        self.running(now)
            .is_none_or(|(running, _)| (stage as u8) < running as u8)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
