//! The recorded exchanges.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

/// A request and its answer.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Exchange {
    /// What it shows, or the command that it belongs to.
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
    /// JSON; or text for what is no JSON; `{"base64": ...}` for what is no text.
    pub(super) body: Option<Value>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, String>,
    /// In the same forms.
    pub(super) body: Option<Value>,
}

/// Reads a recording, an exchange a line.
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
    /// The body, where there is one to compare with.
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

/// The bytes of a recorded body.
pub(super) fn bytes(body: &Value) -> Vec<u8> {
    match (body, body.get("base64").and_then(Value::as_str)) {
        (_, Some(encoded)) => STANDARD.decode(encoded).unwrap(),
        (Value::String(text), _) => text.clone().into_bytes(),
        _ => body.to_string().into_bytes(),
    }
}
