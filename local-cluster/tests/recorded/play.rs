//! Replays requests against a server.

use std::collections::HashMap;

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

use super::exchange::{Exchange, bytes};
use super::values::Values;
use super::{compare, webhooks};
use crate::fixture::DEADLINE;
use crate::webhook::Webhooks;

pub(super) struct Player {
    client: Client<HttpConnector, Body>,
    url: String,
    values: Values,
    webhooks: Option<Webhooks>,
    /// The latest entity tags by path.
    tags: HashMap<(String, Option<String>), String>,
}

struct LiveResponse {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

impl Player {
    pub(super) async fn new(url: String) -> Self {
        Self {
            client: Client::builder(TokioExecutor::new()).build_http(),
            url,
            values: Values::default(),
            webhooks: Some(webhooks::start().await),
            tags: HashMap::new(),
        }
    }

    pub(super) async fn end_webhooks(&mut self) {
        if let Some(webhooks) = self.webhooks.take() {
            webhooks.end().await;
        }
    }

    /// Replays an exchange; returns the differences by path.
    pub(super) async fn differences(&mut self, exchange: &Exchange) -> Vec<(String, String)> {
        let response = self.send(exchange).await;
        let mut found = Vec::new();
        let recorded = &exchange.response;
        if response.status != recorded.status {
            let what = format!("recorded {}, is {}", recorded.status, response.status);
            found.push(("status".to_owned(), what));
        }
        for name in ["content-type", "warning"] {
            let values: Vec<&str> = response.headers.get_all(name).iter().map(text).collect();
            let (then, now) = (recorded.headers.get(name), values.join(", "));
            let then = then.map(String::as_str).unwrap_or_default();
            if then != now {
                found.push((name.to_owned(), format!("recorded {then:?}, is {now:?}")));
            }
        }
        let Some(recorded) = recorded.comparable() else {
            return found;
        };
        let mut recorded = recorded.clone();
        let mut live = if exchange.request.watches() {
            events(&response.body)
        } else {
            serde_json::from_slice(&response.body)
                .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&response.body)))
        };
        if let (Value::Array(recorded), Value::Array(live)) = (&mut recorded, &mut live) {
            recorded.retain(|event| !is_routine(event));
            live.retain(|event| !is_routine(event));
        }
        self.values.collect(&recorded, &live);
        found.extend(compare::bodies(&recorded, &live, &self.values));
        found
    }

    async fn send(&mut self, exchange: &Exchange) -> LiveResponse {
        let recorded = &exchange.request;
        let mut path = self.values.path(&recorded.path);
        if recorded.watches() {
            path = brief(&path);
        }
        let mut request = Request::builder()
            .method(recorded.method.as_str())
            .uri(format!("{}{path}", self.url));
        for (name, value) in &recorded.headers {
            request = request.header(name, value);
        }
        let resource = recorded.path.split('?').next().unwrap_or_default();
        let tagged = (resource.to_owned(), recorded.headers.get("accept").cloned());
        // The recording omits the header, but a 304 needs it.
        if exchange.response.status == 304
            && let Some(tag) = self.tags.get(&tagged)
        {
            request = request.header("if-none-match", tag);
        }
        let body = match &recorded.body {
            None => Vec::new(),
            Some(body @ Value::String(_)) => bytes(body),
            Some(body) => {
                let mut body = self.values.body(body);
                let kind = body["kind"].as_str().unwrap_or_default();
                if kind.ends_with("WebhookConfiguration")
                    && let Some(webhooks) = &self.webhooks
                {
                    webhooks::point(&mut body, webhooks);
                }
                bytes(&body)
            }
        };
        let response = self.client.request(request.body(Body::from(body)).unwrap());
        let response = tokio::time::timeout(DEADLINE, response).await.unwrap();
        let (parts, body) = response.unwrap().into_parts();
        let body = tokio::time::timeout(DEADLINE, body.collect()).await;
        if let Some(tag) = parts.headers.get("etag") {
            self.tags.insert(tagged, text(tag).to_owned());
        }
        LiveResponse {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.unwrap().unwrap().to_bytes(),
        }
    }
}

fn text(value: &http::HeaderValue) -> &str {
    value.to_str().unwrap()
}

/// A watch is replayed after the writes whose events it receives, so it needs no time of its own.
fn brief(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap();
    let parameters: Vec<&str> = query
        .split('&')
        .map(|p| {
            if p.starts_with("timeoutSeconds=") {
                "timeoutSeconds=1"
            } else {
                p
            }
        })
        .collect();
    format!("{path}?{}", parameters.join("&"))
}

fn events(body: &[u8]) -> Value {
    let lines = body.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice::<Value>(line).unwrap())
        .collect()
}

/// Periodic bookmarks, as opposed to the one that ends a streaming list.
fn is_routine(event: &Value) -> bool {
    event["type"] == "BOOKMARK" && event.pointer("/object/metadata/annotations").is_none()
}
