//! Which fault a call gets. A rule counts the calls that it matches; whether one of them is hit follows
//! from that number, the rule and the seed, so the same calls get the same faults in every run.

use super::rule::{DelayFault, FailFault, FaultAction, FaultRule, HttpStatusFault, RunningFault};
use crate::glob::Glob;
use lbcf_driver_sdk::webhook::{Class, WebhookInfo};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The number of recordIDs that a rule with `running` remembers.
const MOST_RECORDS: usize = 10_000;

/// The message of a fault whose rule has none.
const DEFAULT_MESSAGE: &str = "a fault rule";

/// The properties of a call that rules match.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FaultTarget<'a> {
    pub(crate) webhook: &'a WebhookInfo,
    pub(crate) record_id: &'a str,
    /// The values of `lbInfo` or, without it, of `lbSpec`.
    pub(crate) load_balancer: &'a [String],
    /// The forms of the backend's address; none in calls without one.
    pub(crate) address: &'a [String],
    /// The time of the cloud's clock.
    pub(crate) now: Duration,
}

/// A fault for one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The name of the action, for metrics.
    pub(crate) action: &'static str,
    /// The action and where it comes from, for the journal.
    pub(crate) label: String,
    pub(crate) effect: Effect,
}

/// The effect of a fault: instead of, before or after the driver's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Respond with this, and do nothing.
    Respond {
        code: u16,
        body: String,
    },
    /// Wait, then do the work.
    Delay(Duration),
    Hang,
    Reset,
    /// These do the work.
    Malformed,
    Truncated,
    LoseAnswer,
}

/// A rule and what it has counted.
#[derive(Debug, Clone)]
pub(super) struct CountedRule {
    pub(super) rule: FaultRule,
    /// That of a rule in the table, which distinguishes its draws from those of others.
    pub(super) number: u64,
    pub(super) matched: u64,
    pub(super) applied: u64,
    running: BTreeMap<String, Progress>,
}

/// The calls of one recordID that a rule with `running` has answered.
#[derive(Debug, Clone, Copy)]
struct Progress {
    calls: u64,
    since: Duration,
}

impl CountedRule {
    pub(super) const fn new(rule: FaultRule, number: u64) -> Self {
        Self {
            rule,
            number,
            matched: 0,
            applied: 0,
            running: BTreeMap::new(),
        }
    }

    /// The fault of this call, if it is hit; counts it. The journal shows where the rule is `from`.
    pub(super) fn decide(
        &mut self,
        target: &FaultTarget<'_>,
        seed: u64,
        from: impl FnOnce() -> String,
    ) -> Option<Fault> {
        if !self.matches(target) {
            return None;
        }
        let call = self.matched;
        self.matched += 1;
        let matches = &self.rule.matches;
        let is_over = matches.times.is_some_and(|times| self.applied >= times);
        if call < matches.skip || is_over {
            return None;
        }
        // Every call draws the same numbers, whatever the rule uses of them.
        let mut draw =
            fastrand::Rng::with_seed(seed ^ self.number ^ call.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (share, jitter) = (draw.f64(), draw.f64());
        if matches.share.is_some_and(|limit| share >= limit) || !self.still_runs(target) {
            return None;
        }
        self.applied += 1;
        let action = self.rule.action.name();
        Some(Fault {
            action,
            label: format!("{action} ({})", from()),
            effect: self.effect(target.webhook, jitter),
        })
    }

    fn matches(&self, target: &FaultTarget<'_>) -> bool {
        let matches = &self.rule.matches;
        let any = |glob: &Option<Glob>, texts: &[String]| {
            glob.as_ref()
                .is_none_or(|glob| texts.iter().any(|text| glob.matches(text)))
        };
        let is_operation = target.webhook.class == Class::Operation;
        matches.is_of(target.webhook)
            && (is_operation || !matches!(self.rule.action, FaultAction::Running(_)))
            && any(&matches.load_balancer, target.load_balancer)
            && any(&matches.address, target.address)
            && matches
                .record_id
                .as_ref()
                .is_none_or(|glob| glob.matches(target.record_id))
    }

    /// Tells whether a rule with `running` still answers this recordID. Others always apply.
    fn still_runs(&mut self, target: &FaultTarget<'_>) -> bool {
        let FaultAction::Running(RunningFault { calls, time, .. }) = self.rule.action else {
            return true;
        };
        if !self.running.contains_key(target.record_id) && self.running.len() >= MOST_RECORDS {
            self.running.pop_first();
        }
        let progress = self
            .running
            .entry(target.record_id.to_owned())
            .or_insert(Progress {
                calls: 0,
                since: target.now,
            });
        let elapsed = target.now.saturating_sub(progress.since);
        let runs = calls.is_none_or(|calls| progress.calls < calls)
            && time.is_none_or(|time| elapsed < time);
        progress.calls += u64::from(runs);
        runs
    }

    fn effect(&self, webhook: &WebhookInfo, jitter: f64) -> Effect {
        match &self.rule.action {
            FaultAction::Fail(FailFault {
                message,
                retry_after,
            }) => {
                let message = message.as_deref().unwrap_or(DEFAULT_MESSAGE);
                fail(webhook, message, *retry_after)
            }
            FaultAction::Running(it) => {
                let message = it.message.as_deref().unwrap_or(DEFAULT_MESSAGE);
                operation("Running", message, it.retry_after)
            }
            FaultAction::HttpStatus(HttpStatusFault { code, body }) => Effect::Respond {
                code: *code,
                body: body.clone(),
            },
            FaultAction::Delay(DelayFault { time, jitter: most }) => {
                let longer = most.unwrap_or_default().mul_f64(jitter);
                Effect::Delay(time.unwrap_or_default() + longer)
            }
            FaultAction::Hang => Effect::Hang,
            FaultAction::Reset => Effect::Reset,
            FaultAction::Malformed => Effect::Malformed,
            FaultAction::Truncated => Effect::Truncated,
            FaultAction::LoseAnswer => Effect::LoseAnswer,
        }
    }
}

/// The negative response of any webhook.
pub(super) fn fail(webhook: &WebhookInfo, message: &str, retry_after: Option<Duration>) -> Effect {
    match webhook.class {
        Class::Operation => operation("Fail", message, retry_after),
        Class::Verdict => json_response(&json!({"succ": false, "msg": message})),
        Class::Health => json_response(&json!({"healthy": false})),
    }
}

fn operation(status: &str, message: &str, retry_after: Option<Duration>) -> Effect {
    let mut body = json!({"status": status, "msg": message});
    if let Some(delay) = retry_after {
        // Rounded up: a client that calls too early waits twice.
        let seconds = delay.as_secs() + u64::from(delay.subsec_nanos() > 0);
        body["minRetryDelayInSeconds"] = seconds.into();
    }
    json_response(&body)
}

fn json_response(body: &Value) -> Effect {
    Effect::Respond {
        code: 200,
        body: body.to_string(),
    }
}
