//! Bodies that nearly follow the specification: JSON documents with their key order and duplicate
//! keys, and ways to spoil them.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt;

/// A JSON document that keeps key order and duplicate keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    /// A scalar, or text that is not JSON.
    Leaf(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(entries) => {
                let entries = entries.into_iter();
                Self::Object(entries.map(|(key, value)| (key, value.into())).collect())
            }
            leaf => Self::Leaf(leaf.to_string()),
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comma = |at| if at == 0 { "" } else { "," };
        match self {
            Self::Leaf(text) => f.write_str(text),
            Self::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", comma(at))?;
                }
                f.write_str("]")
            }
            Self::Object(entries) => {
                f.write_str("{")?;
                for (at, (key, value)) in entries.iter().enumerate() {
                    let key = Value::from(key.as_str());
                    write!(f, "{}{key}:{value}", comma(at))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// One way to spoil a document.
#[derive(Debug, Clone)]
pub(crate) enum JsonEdit {
    Remove,
    Rename(String),
    /// The same key in another letter case.
    Respell(u32),
    /// The same key once more, with another value.
    Double(Json),
    /// Another spelling of the key beside it.
    DoubleRespelt(u32, Json),
    Replace(Json),
    Swap(prop::sample::Index),
    /// The value inside of this many lists or objects.
    Bury(bool, u8),
    Insert(String, Json),
    /// As a JSON string, like the documents show pods.
    AsText,
}

/// An edit and its position.
pub(crate) type Edit = (prop::sample::Index, JsonEdit);

impl Json {
    fn size(&self) -> usize {
        match self {
            Self::Leaf(_) => 0,
            Self::List(items) => items.iter().map(|item| 1 + item.size()).sum(),
            Self::Object(entries) => entries.iter().map(|(_, value)| 1 + value.size()).sum(),
        }
    }

    /// Applies the edits in order.
    pub(crate) fn edited(mut self, edits: &[Edit]) -> Self {
        for (at, change) in edits {
            let size = self.size();
            if size > 0 {
                self.edit(at.index(size), change);
            }
        }
        self
    }

    /// Edits the value at this position, in the order of writing.
    fn edit(&mut self, mut place: usize, change: &JsonEdit) {
        let count = match self {
            Self::Leaf(_) => return,
            Self::List(items) => items.len(),
            Self::Object(entries) => entries.len(),
        };
        for at in 0..count {
            if place == 0 {
                match self {
                    Self::Leaf(_) => {}
                    Self::List(items) => edit_item(items, at, change),
                    Self::Object(entries) => edit_entry(entries, at, change),
                }
                return;
            }
            place -= 1;
            let inner = match self {
                Self::Leaf(_) => return,
                Self::List(items) => &mut items[at],
                Self::Object(entries) => &mut entries[at].1,
            };
            let size = inner.size();
            if place < size {
                return inner.edit(place, change);
            }
            place -= size;
        }
    }

    fn buried(mut self, in_lists: bool, depth: u8) -> Self {
        for _ in 0..depth {
            self = if in_lists {
                Self::List(vec![self])
            } else {
                Self::Object(vec![("a".to_owned(), self)])
            };
        }
        self
    }
}

fn edit_item(items: &mut Vec<Json>, at: usize, change: &JsonEdit) {
    match change {
        JsonEdit::Remove => drop(items.remove(at)),
        JsonEdit::Double(other)
        | JsonEdit::DoubleRespelt(_, other)
        | JsonEdit::Insert(_, other) => {
            items.insert(at, other.clone());
        }
        JsonEdit::Swap(with) => {
            let with = with.index(items.len());
            items.swap(at, with);
        }
        JsonEdit::Rename(_) | JsonEdit::Respell(_) => {}
        JsonEdit::Replace(_) | JsonEdit::Bury(..) | JsonEdit::AsText => {
            edit_value(&mut items[at], change);
        }
    }
}

fn edit_entry(entries: &mut Vec<(String, Json)>, at: usize, change: &JsonEdit) {
    let key = entries[at].0.clone();
    match change {
        JsonEdit::Remove => drop(entries.remove(at)),
        JsonEdit::Rename(other) => entries[at].0.clone_from(other),
        JsonEdit::Respell(bits) => entries[at].0 = respelt(&key, *bits),
        JsonEdit::Double(other) => entries.push((key, other.clone())),
        JsonEdit::DoubleRespelt(bits, other) => {
            entries.insert(0, (respelt(&key, *bits), other.clone()));
        }
        JsonEdit::Insert(key, value) => entries.insert(at, (key.clone(), value.clone())),
        JsonEdit::Swap(with) => {
            let with = with.index(entries.len());
            let other = entries[with].1.clone();
            entries[with].1 = std::mem::replace(&mut entries[at].1, other);
        }
        JsonEdit::Replace(_) | JsonEdit::Bury(..) | JsonEdit::AsText => {
            edit_value(&mut entries[at].1, change);
        }
    }
}

fn edit_value(value: &mut Json, change: &JsonEdit) {
    match change {
        JsonEdit::Replace(other) => value.clone_from(other),
        JsonEdit::Bury(in_lists, depth) => *value = value.clone().buried(*in_lists, *depth),
        JsonEdit::AsText => *value = Json::Leaf(Value::from(value.to_string()).to_string()),
        _ => {}
    }
}

fn respelt(key: &str, bits: u32) -> String {
    let letters = key.chars().enumerate();
    let other = |(at, letter): (usize, char)| match bits >> (at % 32) & 1 {
        1 if letter.is_ascii_lowercase() => letter.to_ascii_uppercase(),
        1 => letter.to_ascii_lowercase(),
        _ => letter,
    };
    letters.map(other).collect()
}

/// A scalar, often a boundary value, and sometimes invalid.
fn leaf() -> impl Strategy<Value = Json> {
    let text = prop_oneof![
        Just("null"),
        Just("true"),
        Just("0"),
        Just("-0"),
        Just("-1"),
        Just("1.5"),
        Just("2147483648"),
        Just("18446744073709551616"),
        Just("1e300"),
        Just("1e999"),
        Just("\"\""),
        Just("\"5\""),
        Just("\"Succ\""),
        Just("\"udp\""),
        Just("\"Update\""),
        Just("\"{}\""),
        Just("\"{\\\"metadata\\\":{\\\"name\\\":\\\"p\\\"}}\""),
        Just("\"\\ud800\""),
        Just("\"\\ud83d\\ude00\""),
        Just("\"\\u0000\""),
        Just("{\"Succ\":null}"),
        Just("tru"),
        Just("01"),
        Just("NaN"),
        Just(""),
    ];
    let text = text.prop_map(|text| Json::Leaf(text.to_owned()));
    prop_oneof![
        4 => text,
        1 => any::<i64>().prop_map(|number| Json::Leaf(number.to_string())),
        1 => any::<f64>().prop_map(|number| Json::from(Value::from(number))),
        1 => any::<String>().prop_map(|text| Json::from(Value::from(text))),
    ]
}

fn key() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "recordID",
        "retryID",
        "dryRun",
        "lbInfo",
        "lbSpec",
        "attributes",
        "parameters",
        "oldParameters",
        "OldParameters",
        "oldAttributes",
        "operation",
        "backendType",
        "podBackend",
        "serviceBackend",
        "pod",
        "service",
        "port",
        "portNumber",
        "protocol",
        "nodeAddress",
        "nodeAddresses",
        "nodeName",
        "notReadyPods",
        "metadata",
        "spec",
        "status",
        "msg",
        "succ",
        "minRetryDelayInSeconds",
        "minRetryDelayinSeconds",
        "name",
        "labels",
        "healthy",
        "doNotDeregister",
        "backendAddr",
        "injectedInfo",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

/// Any JSON document up to a depth.
pub(crate) fn json() -> impl Strategy<Value = Json> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::List),
            prop::collection::vec((key(), inner), 0..5).prop_map(Json::Object),
        ]
    })
}

fn change() -> impl Strategy<Value = JsonEdit> {
    prop_oneof![
        1 => Just(JsonEdit::Remove),
        1 => key().prop_map(JsonEdit::Rename),
        1 => any::<u32>().prop_map(JsonEdit::Respell),
        1 => json().prop_map(JsonEdit::Double),
        1 => (any::<u32>(), json()).prop_map(|(bits, other)| JsonEdit::DoubleRespelt(bits, other)),
        3 => json().prop_map(JsonEdit::Replace),
        1 => any::<prop::sample::Index>().prop_map(JsonEdit::Swap),
        1 => (any::<bool>(), 1..130_u8).prop_map(|(in_lists, depth)| JsonEdit::Bury(in_lists, depth)),
        2 => (key(), json()).prop_map(|(key, value)| JsonEdit::Insert(key, value)),
        1 => Just(JsonEdit::AsText),
    ]
}

/// No edits, to test valid documents too, or a few.
pub(crate) fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec((any::<prop::sample::Index>(), change()), 0..4)
}

/// A change of the document's text.
#[derive(Debug, Clone)]
pub(crate) enum Spoil {
    Nothing,
    Truncate(prop::sample::Index),
    Byte(prop::sample::Index, u8),
    Append(Vec<u8>),
}

pub(crate) fn spoil() -> impl Strategy<Value = Spoil> {
    prop_oneof![
        6 => Just(Spoil::Nothing),
        1 => any::<prop::sample::Index>().prop_map(Spoil::Truncate),
        2 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Spoil::Byte(at, byte)),
        1 => prop::collection::vec(any::<u8>(), 1..4).prop_map(Spoil::Append),
    ]
}

impl Spoil {
    pub(crate) fn apply(&self, mut body: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Nothing => {}
            Self::Truncate(at) => body.truncate(at.index(body.len() + 1)),
            Self::Byte(at, byte) if !body.is_empty() => {
                let at = at.index(body.len());
                body[at] = *byte;
            }
            Self::Byte(..) => {}
            Self::Append(more) => body.extend(more),
        }
        body
    }
}

/// A pod of a real cluster.
pub(crate) fn pod() -> Value {
    serde_json::from_str(include_str!("data/pod.json")).unwrap()
}

/// A body as a controller sends it, for each webhook.
pub(crate) fn request_of(webhook: &str) -> Value {
    let map = || json!({"id": "1", "weight": "80"});
    let call = |mut fields: Value| {
        let fields = fields.as_object_mut().unwrap();
        let mut body = json!({"recordID": "r", "retryID": "t", "dryRun": false});
        body.as_object_mut().unwrap().append(fields);
        body
    };
    let port = json!({"port": 80, "portNumber": 80, "protocol": "TCP"});
    match webhook {
        "validateLoadBalancer" => json!({
            "dryRun": false, "lbSpec": map(), "operation": "Update", "attributes": map(),
            "oldAttributes": map(),
        }),
        "createLoadBalancer" => call(json!({"lbSpec": map(), "attributes": map()})),
        "ensureLoadBalancer" | "deleteLoadBalancer" => {
            call(json!({"lbInfo": map(), "attributes": null}))
        }
        "validateBackend" => json!({
            "dryRun": true, "backendType": "Service", "lbInfo": map(), "operation": "Update",
            "parameters": map(), "oldParameters": map(), "OldParameters": map(),
        }),
        "generateBackendAddr" => call(json!({
            "lbInfo": map(), "lbAttributes": null, "parameters": map(),
            "podBackend": {"pod": pod(), "port": port},
            "serviceBackend": {
                "service": {
                    "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"},
                    "spec": {"ports": [{"port": 80, "targetPort": "http", "nodePort": 30080}]},
                },
                "port": port, "nodeName": "n",
                "nodeAddresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            },
        })),
        "ensureBackend" | "deregisterBackend" => call(json!({
            "lbInfo": map(), "backendAddr": "10.0.0.1:80", "parameters": map(),
            "injectedInfo": map(),
        })),
        "judgePodDeregister" => json!({"dryRun": false, "notReadyPods": [pod(), {"spec": {}}]}),
        "listBackends" => call(json!({"lbInfo": map()})),
        _ => json!({}),
    }
}

/// A body as a driver sends it, for each webhook.
pub(crate) fn response_of(webhook: &str) -> Value {
    let ended = |field: &str, value: Value| json!({"status": "Running", "msg": "m", "minRetryDelayInSeconds": 3, field: value});
    match webhook {
        "healthz" => {
            json!({"healthy": true, "specification": "1", "features": ["cancel", "pages", "reasons"]})
        }
        "validateLoadBalancer" | "validateBackend" => json!({"succ": true, "msg": ""}),
        "judgePodDeregister" => json!({"succ": true, "msg": "", "doNotDeregister": [pod()]}),
        "createLoadBalancer" => ended("lbInfo", json!({"id": "1"})),
        "generateBackendAddr" => ended("backendAddr", json!("10.0.0.1:80")),
        "listBackends" => {
            let by_hand = json!({"backendAddr": "10.0.0.2:80", "parameters": null});
            let own = json!({
                "backendAddr": "10.0.0.1:80", "parameters": {"weight": "1"}, "recordID": "r",
            });
            ended("backends", json!([own, by_hand]))
        }
        _ => ended("injectedInfo", json!({"id": "1"})),
    }
}
