//! A rule, as users write it in JSON or YAML.

use crate::glob::Glob;
use lbcf_driver_sdk::fields::nearest;
use lbcf_driver_sdk::webhook::{ALL, Class, WebhookInfo};
use lbcf_serving::duration::DAY;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The limit of a message, in bytes: controllers put it into conditions and events.
const MESSAGE: usize = 4 << 10;
/// The limit of the body of [`FaultAction::HttpStatus`], in bytes.
const BODY: usize = 64 << 10;

/// Which calls get which fault.
///
/// ```
/// use mock_driver::{Cloud, FaultRule};
///
/// let rule: FaultRule = serde_json::from_str(
///     r#"{"match": {"webhook": "ensureBackend", "times": 2}, "action": "loseAnswer"}"#,
/// )?;
/// let cloud = Cloud::with_samples();
/// let id = cloud.faults().add(rule).expect("the rule is valid");
/// assert_eq!(cloud.faults().list()[0].id, id);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// The calls; all by default.
    #[serde(default, rename = "match", skip_serializing_if = "FaultMatch::is_any")]
    pub matches: FaultMatch,
    /// The action on them.
    pub action: FaultAction,
}

/// Conditions on a call, which all have to hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct FaultMatch {
    /// The webhook's name, such as `ensureBackend` or `*Backend`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Glob>,
    /// A value of `lbInfo` or, in calls without it, of `lbSpec`: `lb-1234`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_balancer: Option<Glob>,
    /// The backend's address, its IP, or its IP and port: `10.0.0.*`, `10.0.0.1:80`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Glob>,
    /// The call's recordID.
    #[serde(rename = "recordID", skip_serializing_if = "Option::is_none")]
    pub record_id: Option<Glob>,
    /// The share of matching calls that are hit, above 0 and up to 1. Which ones follows from the
    /// seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The number of calls that are hit; then the rule no longer applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// The number of matching calls that are let through first.
    #[serde(skip_serializing_if = "is_zero")]
    pub skip: u64,
}

/// An action on a call. In JSON `{"fail": {"message": "…"}}`, and those without settings just
/// `"hang"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FaultAction {
    /// Responds `Fail`, refuses, or is not healthy, without doing anything.
    Fail(FailFault),
    /// Responds `Running` without doing anything; only for operations.
    Running(RunningFault),
    /// Responds with another status code than 200, without doing anything.
    HttpStatus(HttpStatusFault),
    /// Waits before the call is processed.
    Delay(DelayFault),
    /// Never responds, and does nothing.
    Hang,
    /// Resets the connection without doing anything.
    Reset,
    /// Does the work, and makes the response something that is not JSON.
    Malformed,
    /// Does the work, and breaks the connection off in the middle of the response's body.
    Truncated,
    /// Does the work, and closes the connection without a response.
    LoseAnswer,
}

/// Settings of [`FaultAction::Fail`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct FailFault {
    /// The message for the user; one that names the rule by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The delay before the next try; the protocol counts in whole seconds.
    #[serde(with = "go_duration", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub retry_after: Option<Duration>,
}

/// Settings of [`FaultAction::Running`]: for each recordID a number of calls, or a time from the
/// first call on, after which the rule no longer applies. With neither, it does not end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct RunningFault {
    /// The number of calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// The time, by the clock of the cloud, which `POST /_mock/clock/advance` moves.
    #[serde(with = "go_duration", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub time: Option<Duration>,
    /// The message for the user; one that names the rule by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The delay before the next call; the protocol counts in whole seconds.
    #[serde(with = "go_duration", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub retry_after: Option<Duration>,
}

/// Settings of [`FaultAction::HttpStatus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpStatusFault {
    /// The status code, 200 to 599.
    pub code: u16,
    /// The body; empty by default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
}

/// Settings of [`FaultAction::Delay`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct DelayFault {
    /// The shortest delay.
    #[serde(with = "go_duration", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub time: Option<Duration>,
    /// The time that may be added; how much it is follows from the seed.
    #[serde(with = "go_duration", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub jitter: Option<Duration>,
}

impl FaultMatch {
    /// True if it has no condition.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self == Self::default()
    }
}

impl FaultAction {
    /// The name in JSON, which the journal shows.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Fail(_) => "fail",
            Self::Running(_) => "running",
            Self::HttpStatus(_) => "httpStatus",
            Self::Delay(_) => "delay",
            Self::Hang => "hang",
            Self::Reset => "reset",
            Self::Malformed => "malformed",
            Self::Truncated => "truncated",
            Self::LoseAnswer => "loseAnswer",
        }
    }

    fn message(&self) -> Option<&str> {
        match self {
            Self::Fail(FailFault { message, .. }) | Self::Running(RunningFault { message, .. }) => {
                message.as_deref()
            }
            _ => None,
        }
    }
}

impl FaultRule {
    /// Checks what the types cannot say.
    pub(super) fn check(&self) -> Result<(), String> {
        self.matches.check()?;
        if let Some(message) = self.action.message()
            && message.len() > MESSAGE
        {
            let length = message.len();
            return Err(format!(
                "action.{}.message: has {length} bytes, more than {MESSAGE}",
                self.action.name()
            ));
        }
        match &self.action {
            FaultAction::Running(running) => {
                if running.calls.is_some() && running.time.is_some() {
                    return Err("action.running: has calls and time: give one of them".to_owned());
                }
                if running.calls == Some(0) {
                    return Err("action.running.calls: 0: not a number from 1 on".to_owned());
                }
                let operations = |info: &WebhookInfo| info.class == Class::Operation;
                if !ALL
                    .iter()
                    .filter(|info| operations(info))
                    .any(|info| self.matches.is_of(info))
                {
                    let webhook = self.matches.webhook.as_ref().map_or("", Glob::as_str);
                    return Err(format!(
                        "action.running: {webhook} is a decision or a health check, which cannot be Running"
                    ));
                }
            }
            FaultAction::HttpStatus(HttpStatusFault { code, body }) => {
                if !(200..=599).contains(code) {
                    return Err(format!(
                        "action.httpStatus.code: {code}: not a number from 200 to 599"
                    ));
                }
                if body.len() > BODY {
                    let length = body.len();
                    return Err(format!(
                        "action.httpStatus.body: has {length} bytes, more than {BODY}"
                    ));
                }
            }
            FaultAction::Delay(DelayFault {
                time: None,
                jitter: None,
            }) => {
                return Err("action.delay: has neither time nor jitter".to_owned());
            }
            _ => {}
        }
        Ok(())
    }
}

impl FaultMatch {
    fn check(&self) -> Result<(), String> {
        if !ALL.iter().any(|info| self.is_of(info)) {
            let webhook = self.webhook.as_ref().map_or("", Glob::as_str);
            let names: Vec<_> = ALL.iter().map(|info| info.name).collect();
            let meant = nearest(webhook, &names);
            let meant = meant.map_or_else(String::new, |name| format!(", did you mean {name}?"));
            return Err(format!(
                "match.webhook: {webhook:?}: no webhook{meant} The webhooks are {}",
                names.join(", ")
            ));
        }
        if let Some(share) = self.share
            && !(share > 0.0 && share <= 1.0)
        {
            return Err(format!(
                "match.share: {share}: not a number above 0 and up to 1"
            ));
        }
        if self.times == Some(0) {
            return Err("match.times: 0: not a number from 1 on".to_owned());
        }
        Ok(())
    }

    /// Tells whether calls of this webhook can match.
    pub(super) fn is_of(&self, info: &WebhookInfo) -> bool {
        self.webhook
            .as_ref()
            .is_none_or(|webhook| webhook.matches(info.name))
    }
}

/// The longest delay that a rule may name.
const LONGEST: Duration = DAY;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Optional durations such as `1m30s`, as the flags have them.
mod go_duration {
    use super::LONGEST;
    use lbcf_serving::duration;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else {
            return Ok(None);
        };
        let read = duration::parse(&text).map_err(D::Error::custom)?;
        if read > LONGEST {
            return Err(D::Error::custom(format!("{text:?}: longer than 24h")));
        }
        Ok(Some(read))
    }

    #[expect(clippy::ref_option, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => serializer.collect_str(&duration::display(*duration)),
            None => serializer.serialize_none(),
        }
    }
}
