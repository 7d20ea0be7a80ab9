//! Creating a load balancer takes a cloud some time and several stages. No task runs for it: the
//! progress follows from the time at which the creation began and the current time, or from the calls.

use super::endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
use super::state::{CreationState, Elapsed, LoadBalancerState};
use lbcf_driver_sdk::webhook::StringMap;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// What to create a load balancer from.
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
    /// When [`Cloud::release_creations`](super::Cloud::release_creations) says so.
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
        /// What is being created.
        stage: CreationStage,
        /// When to ask again: the time until this stage completes, zero while the creation is held,
        /// none where calls count.
        remaining: Option<Duration>,
    },
}

/// What a creation is creating; as text, the message of `Running`.
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
        f.write_str(match self {
            Self::Instance => "creating CLB instance",
            Self::Listener => "creating listener",
            Self::Rule => "creating forward rule",
        })
    }
}

/// How an instance was created. It is kept with the instance: a repeated call finds the instance by
/// the client token, also after a restart of the driver.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) token: String,
    pub(super) desired: NewLoadBalancer,
    /// Set when the creation completes.
    pub(super) attributes: StringMap,
    /// The ID of the listener, once it exists.
    pub(super) listener: Option<String>,
    /// The result, once the creation is complete.
    pub(super) endpoint: Option<Endpoint>,
    /// Whether a call has returned the result.
    pub(super) was_returned: bool,
    started: Duration,
    /// How long it ran before it was restored.
    before: Duration,
    pace: CreationPace,
    /// The calls that were answered with `Running`.
    polls: u32,
    is_released: bool,
}

impl Origin {
    pub(super) fn new(
        token: &str,
        desired: NewLoadBalancer,
        attributes: StringMap,
        started: Duration,
        pace: CreationPace,
    ) -> Self {
        Self {
            token: token.to_owned(),
            desired,
            attributes,
            listener: None,
            endpoint: None,
            was_returned: false,
            started,
            before: Duration::ZERO,
            pace,
            polls: 0,
            is_released: false,
        }
    }

    /// The creation as a document.
    pub(super) fn state(&self, now: Duration) -> CreationState {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let is_complete = self.endpoint.is_some();
        let (stage_ms, polls) = match self.pace {
            CreationPace::Time(each) => (Some(millis(each)), None),
            CreationPace::Polls(polls) => (None, Some(polls)),
            CreationPace::Held => (None, None),
        };
        let rule = self.desired.rule.clone();
        let (domain, url) = rule.map(|rule| (rule.domain, rule.url)).unzip();
        CreationState {
            protocol: self.desired.protocol,
            port: self.desired.port,
            domain,
            url,
            attributes: self.attributes.clone(),
            listener: self.listener.clone(),
            complete: is_complete,
            returned: self.was_returned,
            stage_ms,
            polls,
            polled: self.polls,
            // It no longer matters when the creation is complete.
            elapsed_ms: Elapsed(if is_complete {
                0
            } else {
                millis(self.elapsed(now))
            }),
            released: self.is_released,
        }
    }

    /// The creation of a document.
    pub(super) fn restored(
        id: &str,
        token: &str,
        instance: &LoadBalancerState,
        state: &CreationState,
        now: Duration,
    ) -> Self {
        let pace = match (state.stage_ms, state.polls) {
            (Some(each), _) => CreationPace::Time(Duration::from_millis(each)),
            (None, Some(polls)) => CreationPace::Polls(polls),
            (None, None) => CreationPace::Held,
        };
        let rule = Rule::new(state.domain.as_deref(), state.url.as_deref());
        let desired = NewLoadBalancer {
            vpc: instance.vpc.clone(),
            kind: instance.kind,
            protocol: state.protocol,
            port: state.port,
            rule: state.protocol.has_rules().then_some(rule),
        };
        let listener = state.listener.as_ref().filter(|_| state.complete);
        let endpoint = listener.map(|listener| Endpoint::new(id, listener, desired.rule.as_ref()));
        Self {
            listener: state.listener.clone(),
            endpoint,
            was_returned: state.returned,
            polls: state.polled,
            is_released: state.released,
            before: Duration::from_millis(state.elapsed_ms.0),
            ..Self::new(token, desired, state.attributes.clone(), now, pace)
        }
    }

    fn elapsed(&self, now: Duration) -> Duration {
        now.saturating_sub(self.started).saturating_add(self.before)
    }

    /// Counts a call that is answered with `Running`.
    pub(super) fn polled(&mut self) {
        self.polls = self.polls.saturating_add(1);
    }

    /// Completes a creation that waits for it, and returns whether it did.
    pub(super) fn release(&mut self) -> bool {
        let waits = self.endpoint.is_none() && !self.is_released;
        self.is_released = true;
        waits
    }

    const fn stages(&self) -> &'static [CreationStage] {
        if self.desired.protocol.has_rules() {
            &[
                CreationStage::Instance,
                CreationStage::Listener,
                CreationStage::Rule,
            ]
        } else {
            &[CreationStage::Instance, CreationStage::Listener]
        }
    }

    /// The current stage and when to ask again; none when all are complete.
    pub(super) fn running(&self, now: Duration) -> Option<(CreationStage, Option<Duration>)> {
        if self.is_released {
            return None;
        }
        let stages = self.stages();
        match self.pace {
            CreationPace::Held => Some((CreationStage::Instance, Some(Duration::ZERO))),
            CreationPace::Polls(polls) => {
                let left = polls.checked_sub(self.polls).filter(|left| *left > 0)?;
                let done = u64::from(polls - left) * stages.len() as u64 / u64::from(polls);
                let stage = usize::try_from(done).ok().and_then(|done| stages.get(done));
                stage.map(|stage| (*stage, None))
            }
            CreationPace::Time(each) => {
                let elapsed = self.elapsed(now);
                let mut end = Duration::ZERO;
                stages.iter().find_map(|stage| {
                    end = end.saturating_add(each);
                    (elapsed < end).then(|| (*stage, Some(end.saturating_sub(elapsed))))
                })
            }
        }
    }

    pub(super) fn progress(&self, now: Duration) -> Creation {
        match (&self.endpoint, self.running(now)) {
            (Some(endpoint), _) => Creation::Done(endpoint.clone()),
            (None, Some((stage, remaining))) => Creation::Running { stage, remaining },
            // All stages have completed, but the result is not in place yet.
            (None, None) => Creation::Running {
                stage: self
                    .stages()
                    .last()
                    .copied()
                    .unwrap_or(CreationStage::Instance),
                remaining: Some(Duration::ZERO),
            },
        }
    }

    pub(super) fn has_completed(&self, stage: CreationStage, now: Duration) -> bool {
        self.running(now)
            .is_none_or(|(running, _)| (stage as u8) < running as u8)
    }
}
