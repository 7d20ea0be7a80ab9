//! One of the two servers.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use http::{Request, header};
use http_body_util::BodyExt as _;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use regex::{Captures, Regex};
use serde_json::Value;

use super::step::Step;

/// A watch whose fence does not come ends here; the events so far are compared.
const MAX_WATCH: Duration = Duration::from_secs(5);
const USER_AGENT: &str = "differential/1.0";
const PLACEHOLDER: &str = "<(ns|start|continue|(?:rv|old|uid|none):[a-z0-9]+)>";

pub(super) struct Side {
    client: kube::Client,
    /// The values of placeholders.
    values: HashMap<String, String>,
}

/// A response, as far as it is compared.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) warnings: Vec<String>,
    /// The events of a watch are a list.
    pub(super) body: Value,
}

impl Side {
    pub(super) async fn connect(kubeconfig: Kubeconfig) -> Self {
        let options = KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options);
        let mut config = config.await.unwrap();
        config.default_retry = false;
        Self {
            client: kube::Client::try_from(config).unwrap(),
            values: HashMap::new(),
        }
    }

    /// Begins a scenario in a namespace of its own.
    pub(super) fn begin(&mut self, namespace: &str, version: &str) {
        self.values.clear();
        self.set("ns", namespace);
        self.set("start", version);
    }

    fn set(&mut self, placeholder: &str, value: &str) {
        self.values.insert(placeholder.to_owned(), value.to_owned());
    }

    fn fill(&self, text: &str) -> String {
        static PATTERN: LazyLock<Regex> = LazyLock::new(|| Regex::new(PLACEHOLDER).unwrap());
        let value = |found: &Captures<'_>| match self.values.get(&found[1]) {
            Some(value) => value.clone(),
            // No version at all, or one of an object that does not exist on either side.
            None if found[1].starts_with("none") => String::new(),
            None => "1".to_owned(),
        };
        PATTERN.replace_all(text, value).into_owned()
    }

    pub(super) async fn send(&mut self, step: &Step) -> Response {
        let request = Request::builder()
            .method(step.method.as_str())
            .uri(self.fill(&step.path))
            .header(header::USER_AGENT, USER_AGENT)
            .header(header::ACCEPT, &step.accept)
            .header(header::CONTENT_TYPE, &step.content_type)
            .body(Body::from(self.fill(&step.body).into_bytes()))
            .unwrap();
        let response = self.client.send(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let header = |name: &str| -> Vec<String> {
            let values = parts.headers.get_all(name).iter();
            values.map(|v| v.to_str().unwrap().to_owned()).collect()
        };
        let body = match &step.fence {
            Some(fence) if parts.status == 200 => events(body, &self.fill(fence)).await,
            _ => {
                let bytes = body.collect().await.unwrap().to_bytes();
                parse(&bytes)
            }
        };
        self.learn(step, &body);
        Response {
            status: parts.status.as_u16(),
            content_type: header("content-type").join(", "),
            warnings: header("warning"),
            body,
        }
    }

    fn learn(&mut self, step: &Step, body: &Value) {
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
        if let Some(token) = text("/metadata/continue").filter(|token| !token.is_empty()) {
            self.set("continue", token);
        }
        if let Some(uid) = text("/metadata/uid")
            && let Some(version) = text("/metadata/resourceVersion")
        {
            let object = &step.object;
            self.set(&format!("uid:{object}"), uid);
            self.set(&format!("rv:{object}"), version);
            let old = self.values.entry(format!("old:{object}"));
            old.or_insert_with(|| version.to_owned());
        }
    }
}

fn parse(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(bytes).into_owned()))
}

/// The events of a watch up to the fence's.
async fn events(mut body: Body, fence: &str) -> Value {
    let fence = format!("\"{fence}\"");
    let (mut events, mut rest) = (Vec::new(), Vec::new());
    let read = async {
        while let Some(frame) = body.frame().await {
            rest.extend_from_slice(frame.unwrap().data_ref().unwrap());
            while let Some(end) = rest.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                if String::from_utf8_lossy(&line).contains(&fence) {
                    return;
                }
                events.push(parse(&line));
            }
        }
    };
    if tokio::time::timeout(MAX_WATCH, read).await.is_err() {
        events.push(Value::from("no event of the fence"));
    }
    Value::from(events)
}
