//! Label selectors: `a=b,c!=d,e in (x,y),f notin (z),g,!h`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use serde_json::Value;

use crate::names;
use crate::object::{Object, at};

/// All requirements must hold; an empty selector matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LabelSelector(Vec<LabelRequirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct LabelRequirement {
    key: String,
    rule: LabelRule,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LabelRule {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Missing,
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Parses a selector in the form of a query parameter.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut requirements = Vec::new();
        for part in split(text) {
            let part = part.trim();
            if part.is_empty() && text.trim().is_empty() {
                continue;
            }
            let first = part.chars().next().unwrap_or(',');
            if "=(),<>".contains(first) {
                let why = format!("found '{first}', expected: !, identifier, or 'end of string'");
                return Err(why);
            }
            let unparsable = |why| format!("unable to parse requirement: {why}");
            requirements.push(requirement(part).map_err(unparsable)?);
        }
        Ok(Self(requirements))
    }

    /// A selector of an object.
    pub(crate) fn of(selector: &meta::LabelSelector) -> Self {
        let equal = selector.match_labels.iter().flatten();
        let equal = equal.map(|(key, value)| (key, LabelRule::In(vec![value.clone()])));
        let expressions = selector.match_expressions.iter().flatten().map(|given| {
            let values = given.values.clone().unwrap_or_default();
            (&given.key, LabelRule::of(&given.operator, values))
        });
        let requirement = |(key, rule): (&String, LabelRule)| LabelRequirement {
            key: key.clone(),
            rule,
        };
        Self(equal.chain(expressions).map(requirement).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The labels that the selector requires with a single value.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|r| match &r.rule {
            LabelRule::In(values) => match values.as_slice() {
                [value] => Some((r.key.as_str(), value.as_str())),
                _ => None,
            },
            _ => None,
        })
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let labels = at(object, &["metadata", "labels"]).and_then(Value::as_object);
        let value = |key: &String| labels.and_then(|l| l.get(key)).and_then(Value::as_str);
        self.0.iter().all(|r| r.rule.holds(value(&r.key)))
    }
}

impl LabelRule {
    /// `Gt` and `Lt` are for nodes only. An unknown operator matches nothing.
    pub(crate) fn of(operator: &str, values: Vec<String>) -> Self {
        let number = || values.first().and_then(|value| value.parse().ok());
        match operator {
            "Exists" => Self::Exists,
            "DoesNotExist" => Self::Missing,
            "NotIn" => Self::NotIn(values),
            "In" => Self::In(values),
            "Gt" => number().map_or(Self::In(Vec::new()), Self::Greater),
            "Lt" => number().map_or(Self::In(Vec::new()), Self::Less),
            _ => Self::In(Vec::new()),
        }
    }

    pub(crate) fn holds(&self, value: Option<&str>) -> bool {
        let is_in = |values: &[String]| value.is_some_and(|v| values.iter().any(|w| w == v));
        let number = || value?.parse::<i64>().ok();
        match self {
            Self::In(values) => is_in(values),
            Self::NotIn(values) => !is_in(values),
            Self::Exists => value.is_some(),
            Self::Missing => value.is_none(),
            Self::Greater(than) => number().is_some_and(|n| n > *than),
            Self::Less(than) => number().is_some_and(|n| n < *than),
        }
    }
}

/// Splits at commas that are not inside parentheses.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_u32);
    for (index, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text.get(start..index).unwrap_or_default());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

const OPERATORS: &str = "expected: in, notin, =, ==, !=, gt, lt";

fn requirement(part: &str) -> Result<LabelRequirement, String> {
    let new = |key: &str, rule| {
        Ok(LabelRequirement {
            key: checked_key(key.trim())?,
            rule,
        })
    };
    if let Some(key) = part.strip_prefix('!') {
        return new(key, LabelRule::Missing);
    }
    if let Some((left, right)) = part.split_once('(') {
        let mut words = left.split_whitespace();
        let (key, operator, more) = (words.next(), words.next(), words.next());
        let list = right
            .strip_suffix(')')
            .ok_or_else(|| format!("found '{part}', expected: ')'"))?;
        let values = list
            .split(',')
            .map(|v| checked_value(v.trim()))
            .collect::<Result<Vec<_>, _>>()?;
        let rule = match (operator, more) {
            (Some("in"), None) => LabelRule::In(values),
            (Some("notin"), None) => LabelRule::NotIn(values),
            (other, _) => {
                let other = other.unwrap_or("(");
                return Err(format!("found '{other}', {OPERATORS}"));
            }
        };
        return new(key.unwrap_or_default(), rule);
    }
    for (operator, equal) in [("!=", false), ("==", true), ("=", true)] {
        if let Some((key, value)) = part.split_once(operator) {
            let values = vec![checked_value(value.trim())?];
            let rule = if equal {
                LabelRule::In
            } else {
                LabelRule::NotIn
            };
            return new(key, rule(values));
        }
    }
    for (operator, greater) in [('>', true), ('<', false)] {
        if let Some((key, value)) = part.split_once(operator) {
            let than = value.trim().parse().map_err(|_| {
                format!("values[0][{}]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer", key.trim())
            })?;
            let rule = if greater {
                LabelRule::Greater
            } else {
                LabelRule::Less
            };
            return new(key, rule(than));
        }
    }
    let odd = part.split_whitespace().nth(1);
    let odd = odd.map(|word| format!("found '{word}', {OPERATORS}"));
    odd.map_or_else(|| new(part, LabelRule::Exists), Err)
}

fn checked_key(key: &str) -> Result<String, String> {
    let valid = names::is_label_key(key).then(|| key.to_owned());
    valid.ok_or_else(|| format!("key: Invalid value: {key:?}: {}", names::LABEL_KEY))
}

fn checked_value(value: &str) -> Result<String, String> {
    let valid = names::is_label_value(value).then(|| value.to_owned());
    valid.ok_or_else(|| {
        format!(
            "values[0]: Invalid value: {value:?}: {}",
            names::LABEL_VALUE
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

    fn matches(selector: &str) -> bool {
        let pod = object(json!({"metadata": {"labels": {"app": "web", "tier": "gold", "n": "5"}}}));
        LabelSelector::parse(selector).unwrap().matches(&pod)
    }

    #[test]
    fn equality_and_sets() {
        for yes in [
            "",
            "app=web",
            "app == web",
            "app!=db",
            "missing!=x",
            "app in (db, web)",
            "app notin (db)",
            "app,!legacy",
            "app in (web,db),tier=gold",
            "n>4,n<6",
        ] {
            assert!(matches(yes), "{yes}");
        }
        for no in [
            "app=db",
            "!app",
            "missing",
            "app in (db)",
            "app notin (web)",
            "app=web,tier=iron",
            "n>5",
        ] {
            assert!(!matches(no), "{no}");
        }
    }

    #[test]
    fn selectors_in_objects_mean_the_same() {
        let given = |value: Value| {
            let selector = serde_json::from_value(value).unwrap();
            LabelSelector::of(&selector)
        };
        for (value, text) in [
            (json!({}), ""),
            (json!({"matchLabels": {"app": "web"}}), "app in (web)"),
            (
                json!({"matchExpressions": [
                    {"key": "app", "operator": "In", "values": ["a", "b"]},
                    {"key": "app", "operator": "NotIn", "values": ["c"]},
                    {"key": "app", "operator": "Exists"},
                    {"key": "old", "operator": "DoesNotExist"},
                ]}),
                "app in (a,b),app notin (c),app,!old",
            ),
        ] {
            assert_eq!(given(value), LabelSelector::parse(text).unwrap());
        }
    }

    #[test]
    fn labels_required_by_value_are_listed() {
        let pairs = |text: &str| {
            let selector = LabelSelector::parse(text).unwrap();
            selector.pairs().map(|(k, v)| format!("{k}={v}")).collect()
        };
        let found: Vec<String> = pairs("a=b,c!=d,e in (f),g in (h,i),j,!k,n>1");
        assert_eq!(found, ["a=b", "e=f"]);
    }

    #[test]
    fn invalid_selectors_are_rejected() {
        for bad in [
            "a b",
            "=x",
            "app in web)",
            "app in (web",
            "a,,b",
            "app~x",
            "app=-",
            "n>x",
            "()",
            "(",
            ")",
            "!",
        ] {
            assert!(LabelSelector::parse(bad).is_err(), "{bad}");
        }
    }
}
