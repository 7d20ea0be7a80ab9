//! The recorded exchanges.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Exchange {
    /// What the exchange demonstrates, or the kubectl command that it belongs to.
    #[serde(alias = "command")]
    pub(super) step: String,
    pub(super) request: Request,
    pub(super) response: Response,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: BTreeMap<String, String>,
    /// JSON, or text, or `{"base64": ...}` for binary bodies.
    pub(super) body: Option<Value>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, String>,
    /// In the same formats.
    pub(super) body: Option<Value>,
}

/// Reads a recording with one exchange on each line.
pub(super) fn read(recording: &str) -> Vec<Exchange> {
    let lines = recording.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

impl Request {
    pub(super) fn watches(&self) -> bool {
        self.method == "GET" && self.path.contains("watch=true")
    }
}

impl Response {
    /// The body, if the recording has one.
    pub(super) fn comparable(&self) -> Option<&Value> {
        let body = self.body.as_ref()?;
        let left_out = body.as_str().is_some_and(|t| t.ends_with("left out)"));
        let binary = self
            .headers
            .get("content-type")
            .is_some_and(|t| t.contains("protobuf"));
        (!left_out && !binary).then_some(body)
    }
}

pub(super) fn bytes(body: &Value) -> Vec<u8> {
    match (body, body.get("base64").and_then(Value::as_str)) {
        (_, Some(encoded)) => STANDARD.decode(encoded).unwrap(),
        (Value::String(text), _) => text.clone().into_bytes(),
        _ => body.to_string().into_bytes(),
    }
}
