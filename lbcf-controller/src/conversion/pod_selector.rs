//! The labels for groups that select no pods.

use crate::api::{allowed, syntax};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Labels that select pods, parsed from a text such as `app=web,tier=front`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodSelector(BTreeMap<String, String>);

impl PodSelector {
    pub(super) fn to_json(&self) -> Map<String, Value> {
        let labels = self.0.iter();
        labels
            .map(|(key, value)| (key.clone(), json!(value)))
            .collect()
    }
}

/// A text that is not a list of labels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: {problem}; labels are written as in app=web,tier=front")]
pub struct InvalidPodSelector {
    text: String,
    problem: String,
}

impl FromStr for PodSelector {
    type Err = InvalidPodSelector;

    fn from_str(text: &str) -> Result<Self, InvalidPodSelector> {
        let invalid = |problem: &str| InvalidPodSelector {
            text: text.to_owned(),
            problem: problem.to_owned(),
        };
        let mut labels = BTreeMap::new();
        for label in text.split(',') {
            let Some((key, value)) = label.split_once('=') else {
                return Err(invalid("each label needs a key, = and a value"));
            };
            if !syntax::is_label_key(key) {
                return Err(invalid(&format!("{key:?}: {}", allowed::IS_LABEL_KEY)));
            }
            if !syntax::is_label_value(value) {
                return Err(invalid(&format!("{value:?}: {}", allowed::IS_LABEL_VALUE)));
            }
            if labels.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(invalid(&format!("{key:?} is there twice")));
            }
        }
        Ok(Self(labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_parsed() {
        let labels: PodSelector = "app=web,example.com/tier=".parse().unwrap();
        let expected = json!({"app": "web", "example.com/tier": ""});
        assert_eq!(Value::Object(labels.to_json()), expected);
    }

    #[test]
    fn other_texts_are_refused_with_what_is_allowed() {
        for (text, problem) in [
            ("", "needs a key"),
            ("app", "needs a key"),
            ("app=web,", "needs a key"),
            ("=web", "not a label's key"),
            ("a b=web", "not a label's key"),
            ("app!=web", "not a label's key"),
            ("app=we b", "not a label's value"),
            ("app==web", "not a label's value"),
            ("app=a,app=b", "twice"),
        ] {
            let error = text.parse::<PodSelector>().unwrap_err().to_string();
            assert!(
                error.contains(problem) && error.ends_with("app=web,tier=front"),
                "{text}: {error}"
            );
        }
    }
}
