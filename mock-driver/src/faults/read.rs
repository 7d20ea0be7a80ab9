//! Reads rules from JSON and YAML, and the sets of rules that have a name. Unknown fields and words are
//! refused with the nearest known one.

use super::rule::FaultRule;
use crate::error::MockError;
use crate::strict;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// The key of a load balancer's attributes or a backend's parameters for faults, so that kubectl alone can
/// break something. The value is an action's name, such as `hang`, or a rule as JSON.
///
/// Such faults hit operations only: if they hit decisions, admission would refuse the object that carries
/// them.
pub const IN_BAND_FAULT: &str = "mock.lbcf/fault";

/// The limit of a list of rules.
pub(super) const MOST_RULES: usize = 1000;

/// The limit of a file of rules, in bytes.
const LONGEST_FILE: u64 = 1 << 20;

/// A rule as `GET` shows it: with numbers that are not read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedRule {
    #[serde(default)]
    r#match: Option<Value>,
    action: Value,
    #[serde(default, rename = "id")]
    _id: IgnoredAny,
    #[serde(default, rename = "matched")]
    _matched: IgnoredAny,
    #[serde(default, rename = "applied")]
    _applied: IgnoredAny,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleList {
    #[serde(default)]
    rules: Vec<Value>,
    /// Comes after the rules.
    #[serde(default)]
    preset: Option<FaultPreset>,
    #[serde(default, rename = "seed")]
    _seed: IgnoredAny,
}

/// A rule, also one that a list has shown.
pub(super) fn rule(value: Value) -> Result<FaultRule, String> {
    let listed: ListedRule = strict::read(value)?;
    let mut fields = serde_json::Map::new();
    if let Some(matches) = listed.r#match {
        fields.insert("match".to_owned(), matches);
    }
    let action = match listed.action {
        // Both have settings, and need none.
        Value::String(word) if word == "fail" || word == "running" => json!({word: {}}),
        other => other,
    };
    fields.insert("action".to_owned(), action);
    let rule: FaultRule = strict::read(Value::Object(fields))?;
    rule.check()?;
    Ok(rule)
}

/// Rules: one, a list, or an object with `rules` and `preset`.
pub(crate) fn parse_rules(value: Value) -> Result<Vec<FaultRule>, String> {
    let list: RuleList = match value {
        Value::Object(ref it) if !it.contains_key("rules") && !it.contains_key("preset") => {
            return rule(value).map(|rule| vec![rule]);
        }
        Value::Array(_) => strict::read(json!({"rules": value}))?,
        other => strict::read(other)?,
    };
    if list.rules.len() > MOST_RULES {
        let number = list.rules.len();
        return Err(format!("rules: has {number} rules, more than {MOST_RULES}"));
    }
    let given = list.rules.into_iter().enumerate();
    let given = given
        .map(|(index, value)| rule(value).map_err(|problem| format!("rules[{index}].{problem}")));
    let mut rules = given.collect::<Result<Vec<_>, _>>()?;
    rules.extend(list.preset.into_iter().flat_map(FaultPreset::rules));
    Ok(rules)
}

/// The rules of a file, in YAML, of which JSON is a part.
pub(crate) fn read_file(path: &Path) -> Result<Vec<FaultRule>, MockError> {
    let missing = || "there is no such file".to_owned();
    let rules = strict::read_file(path, LONGEST_FILE)
        .and_then(|document| parse_rules(document.ok_or_else(missing)?));
    rules.map_err(|problem| MockError::Faults(format!("{}: {problem}", path.display())))
}

/// The rules of a value of [`IN_BAND_FAULT`].
pub(super) fn in_band(text: &str) -> Result<Vec<FaultRule>, String> {
    let text = text.trim();
    let value = if text.starts_with(['{', '[']) {
        serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
    } else {
        Ok(json!({"action": text}))
    };
    let rules = value.and_then(parse_rules);
    rules.map_err(|problem| format!("{IN_BAND_FAULT}: {problem}"))
}

/// A set of rules with a name.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum FaultPreset {
    /// No faults; load balancers are created at once.
    Fast,
    /// Calls take some tens of milliseconds, one in fifty changes fails, deregistering takes a few
    /// seconds; load balancers take 4 s.
    Realistic,
    /// About one call in three goes wrong, in every way that there is.
    Chaos,
}

impl FaultPreset {
    /// The rules.
    #[must_use]
    pub fn rules(self) -> Vec<FaultRule> {
        let text = match self {
            Self::Fast => "[]",
            Self::Realistic => REALISTIC,
            Self::Chaos => CHAOS,
        };
        // A test reads them.
        serde_saphyr::from_str(text).unwrap_or_default()
    }

    /// The time of each stage of a creation, where no flag sets it.
    #[must_use]
    pub const fn stage_duration(self) -> Duration {
        match self {
            Self::Fast => Duration::ZERO,
            Self::Realistic => Duration::from_secs(2),
            Self::Chaos => Duration::from_millis(100),
        }
    }
}

const REALISTIC: &str = r#"
- match: {webhook: deregisterBackend}
  action: {running: {time: 3s, message: connections drain, retryAfter: 1s}}
- match: {webhook: "ensure*", share: 0.02}
  action: {fail: {message: "the cloud has an internal error, please try again"}}
- action: {delay: {time: 20ms, jitter: 60ms}}
"#;

const CHAOS: &str = r#"
- match: {webhook: "*LoadBalancer", share: 0.1}
  action: {fail: {message: "chaos: the cloud has an internal error"}}
- match: {webhook: "*Backend*", share: 0.1}
  action: {fail: {message: "chaos: the cloud has an internal error"}}
- match: {share: 0.04}
  action: {httpStatus: {code: 503, body: chaos}}
- {match: {share: 0.05}, action: loseAnswer}
- {match: {share: 0.04}, action: reset}
- {match: {share: 0.03}, action: malformed}
- {match: {share: 0.03}, action: truncated}
- {match: {share: 0.01}, action: hang}
- match: {share: 0.2}
  action: {delay: {time: 50ms, jitter: 950ms}}
"#;
