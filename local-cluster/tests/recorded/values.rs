//! Generated values: recorded ones and their counterparts.

use std::collections::HashMap;

use serde_json::Value;

/// Fields whose values differ between servers.
const GENERATED: [&str; 4] = ["uid", "resourceVersion", "continue", "clusterIP"];

/// Counterparts of recorded values, collected from pairs of responses.
#[derive(Debug, Default)]
pub(super) struct Values(HashMap<String, String>);

impl Values {
    /// Collects the counterparts in a response and the recorded one.
    pub(super) fn collect(&mut self, recorded: &Value, live: &Value) {
        match (recorded, live) {
            (Value::Object(recorded), Value::Object(live)) => {
                let named = recorded.contains_key("generateName");
                for (key, recorded) in recorded {
                    let Some(live) = live.get(key) else { continue };
                    match (key.as_str(), recorded, live) {
                        ("serverRelativeURL", Value::String(recorded), Value::String(live)) => {
                            if let (Some(recorded), Some(live)) = (hash(recorded), hash(live)) {
                                self.pair(recorded, live);
                            }
                        }
                        (key, Value::String(recorded), Value::String(live))
                            if GENERATED.contains(&key) || (key == "name" && named) =>
                        {
                            self.pair(recorded, live);
                        }
                        ("nodePort", Value::Number(recorded), Value::Number(live)) => {
                            self.pair(&recorded.to_string(), &live.to_string());
                        }
                        _ => self.collect(recorded, live),
                    }
                }
            }
            (Value::Array(recorded), Value::Array(live)) if recorded.len() == live.len() => {
                for (recorded, live) in recorded.iter().zip(live) {
                    self.collect(recorded, live);
                }
            }
            _ => {}
        }
    }

    fn pair(&mut self, recorded: &str, live: &str) {
        if !recorded.is_empty() && recorded != live {
            self.0.insert(recorded.to_owned(), live.to_owned());
        }
    }

    pub(super) fn now<'a>(&'a self, recorded: &'a str) -> &'a str {
        self.0.get(recorded).map_or(recorded, String::as_str)
    }

    /// A recorded body with the counterparts.
    pub(super) fn body(&self, recorded: &Value) -> Value {
        match recorded {
            Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), self.body(v))).collect(),
            Value::Array(list) => list.iter().map(|v| self.body(v)).collect(),
            Value::String(text) => Value::from(self.now(text)),
            other => other.clone(),
        }
    }

    /// A recorded path with the counterparts; none of them needs escaping.
    pub(super) fn path(&self, recorded: &str) -> String {
        let (path, query) = recorded.split_once('?').unwrap_or((recorded, ""));
        let segments: Vec<&str> = path.split('/').map(|s| self.now(s)).collect();
        let parameters: Vec<String> = query
            .split('&')
            .filter(|p| !p.is_empty())
            .map(|parameter| match parameter.split_once('=') {
                // A selector may contain several fields.
                Some((key, value)) if key.ends_with("Selector") => {
                    let terms = value.split("%2C").map(|term| match term.split_once("%3D") {
                        Some((field, expected)) => format!("{field}%3D{}", self.now(expected)),
                        None => term.to_owned(),
                    });
                    format!("{key}={}", terms.collect::<Vec<_>>().join("%2C"))
                }
                Some((key, value)) => format!("{key}={}", self.now(value)),
                None => parameter.to_owned(),
            })
            .collect();
        let query = parameters.join("&");
        let separator = if query.is_empty() { "" } else { "?" };
        format!("{}{separator}{query}", segments.join("/"))
    }
}

fn hash(url: &str) -> Option<&str> {
    url.split_once("?hash=").map(|(_, hash)| hash)
}
