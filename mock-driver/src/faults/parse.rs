//! Reads rules from JSON and YAML. Unknown fields and words are refused with the nearest known one.

use super::preset::FaultPreset;
use super::rule::FaultRule;
use crate::{MockError, strict};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::Path;

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
pub(crate) fn rules(value: Value) -> Result<Vec<FaultRule>, String> {
    let list = match value {
        Value::Object(ref fields)
            if !["rules", "preset"]
                .iter()
                .any(|it| fields.contains_key(*it)) =>
        {
            return rule(value).map(|rule| vec![rule]);
        }
        Value::Array(rules) => RuleList {
            rules,
            preset: None,
            _seed: IgnoredAny,
        },
        other => strict::read(other)?,
    };
    if list.rules.len() > MOST_RULES {
        let number = list.rules.len();
        return Err(format!("rules: has {number} rules, more than {MOST_RULES}"));
    }
    let mut rules = Vec::new();
    for (index, value) in list.rules.into_iter().enumerate() {
        rules.push(rule(value).map_err(|problem| format!("rules[{index}].{problem}"))?);
    }
    rules.extend(list.preset.into_iter().flat_map(FaultPreset::rules));
    Ok(rules)
}

/// The rules of a file, in YAML, of which JSON is a part.
pub(crate) fn read_file(path: &Path) -> Result<Vec<FaultRule>, MockError> {
    let wrong = |problem: String| MockError::Faults(format!("{}: {problem}", path.display()));
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let mut text = String::new();
    let read = file.take(LONGEST_FILE + 1).read_to_string(&mut text);
    read.map_err(|error| wrong(error.to_string()))?;
    if text.len() as u64 > LONGEST_FILE {
        return Err(wrong(format!("has more than {LONGEST_FILE} bytes")));
    }
    let value = serde_saphyr::from_str(&text);
    let value = value.map_err(|error| wrong(format!("not YAML: {error}")))?;
    rules(value).map_err(wrong)
}

/// Optional durations such as `1m30s`, as the flags have them.
pub(super) mod go_duration {
    use crate::faults::rule::LONGEST;
    use lbcf_serving::duration;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
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
    pub(crate) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => serializer.collect_str(&duration::display(*duration)),
            None => serializer.serialize_none(),
        }
    }
}
