//! A request as defects see it: JSON that they may read and change before the driver does.

use crate::cloud::{Endpoint, Target};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, Uri, header};
use lbcf_driver_sdk::webhook::{ALL, Class, StringMap, WebhookInfo};
use serde_json::Value;
use std::collections::BTreeMap;

/// A request.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: HeaderMap,
    raw: Bytes,
    json: Option<Value>,
    edited: bool,
    webhook: Option<&'static WebhookInfo>,
    /// The recordID as it came.
    own_record_id: String,
    /// Whether the load balancer that it is about was there when it came.
    pub(super) existed: bool,
    /// Whether it has been deleted before.
    pub(super) deleted_before: bool,
    /// The targets of its load balancer when it came, where a defect works from old news.
    pub(super) targets_seen: Option<BTreeMap<String, Target>>,
    /// A defect's note to itself, from before the driver's work to after it.
    pub(super) noted: bool,
}

impl Call {
    pub(super) fn new(method: Method, uri: &Uri, headers: HeaderMap, raw: Bytes) -> Self {
        let path = uri.path().to_owned();
        let webhook = ALL
            .iter()
            .find(|webhook| path.strip_prefix('/') == Some(webhook.name));
        let mut call = Self {
            json: serde_json::from_slice(&raw).ok(),
            method,
            path,
            headers,
            raw,
            edited: false,
            webhook,
            own_record_id: String::new(),
            existed: false,
            deleted_before: false,
            targets_seen: None,
            noted: false,
        };
        call.own_record_id = call.text("recordID").to_owned();
        call
    }

    /// The request for the driver.
    pub(super) fn to_request(&self) -> Request<Body> {
        let body = match &self.json {
            Some(json) if self.edited => Body::from(json.to_string()),
            _ => Body::from(self.raw.clone()),
        };
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        // A path of a request that came is one.
        *request.uri_mut() = self.path.parse().unwrap_or_default();
        request.headers_mut().clone_from(&self.headers);
        request.headers_mut().remove(header::CONTENT_LENGTH);
        request.headers_mut().remove(header::TRANSFER_ENCODING);
        request
    }

    /// Takes another path, such as one without what the defect put in front of it.
    pub(super) fn go_to(&mut self, path: &str) {
        path.clone_into(&mut self.path);
        self.webhook = ALL
            .iter()
            .find(|webhook| path.strip_prefix('/') == Some(webhook.name));
    }

    /// The webhook that is called, if it is one with a proper body.
    pub(super) fn webhook(&self) -> Option<&'static WebhookInfo> {
        let proper = self.method == Method::POST && (self.json().is_some() || self.raw.is_empty());
        self.webhook.filter(|_| proper)
    }

    /// The webhook whose path this is, whatever else the request is.
    pub(super) const fn webhook_of_path(&self) -> Option<&'static WebhookInfo> {
        self.webhook
    }

    pub(super) fn name(&self) -> &'static str {
        self.webhook().map_or("", |webhook| webhook.name)
    }

    pub(super) fn is(&self, webhook: &str) -> bool {
        self.name() == webhook
    }

    /// Whether it is this webhook's, and means it.
    pub(super) fn does(&self, webhook: &str) -> bool {
        self.is(webhook) && !self.dry_run()
    }

    pub(super) fn is_operation(&self) -> bool {
        self.webhook()
            .is_some_and(|webhook| webhook.class == Class::Operation)
    }

    /// The body, when it is an object.
    pub(super) fn json(&self) -> Option<&serde_json::Map<String, Value>> {
        self.json.as_ref()?.as_object()
    }

    pub(super) const fn raw(&self) -> &Bytes {
        &self.raw
    }

    /// Whether the body is not JSON at all.
    pub(super) const fn is_broken(&self) -> bool {
        self.json.is_none()
    }

    pub(super) fn get(&self, field: &str) -> Option<&Value> {
        self.json()?.get(field)
    }

    pub(super) fn text(&self, field: &str) -> &str {
        self.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// The recordID as it came, whatever defects have made of it since.
    pub(super) fn record_id(&self) -> &str {
        &self.own_record_id
    }

    /// A text that stands for the operation on its object.
    pub(super) fn operation_key(&self) -> String {
        format!("{} {}", self.name(), self.own_record_id)
    }

    /// Whether it asks for a load balancer that speaks HTTP.
    pub(super) fn wants_http(&self) -> bool {
        let spec = self.map("lbSpec");
        ["lbListenerProtocol", "listenerProtocol"]
            .iter()
            .filter_map(|name| spec.get(*name))
            .any(|protocol| protocol.to_ascii_uppercase().starts_with("HTTP"))
    }

    pub(super) fn dry_run(&self) -> bool {
        self.get("dryRun").and_then(Value::as_bool) == Some(true)
    }

    /// Whether the field is there and `null`.
    pub(super) fn is_null(&self, field: &str) -> bool {
        self.get(field).is_some_and(Value::is_null)
    }

    /// The map in a field; what is no text in it is left out.
    pub(super) fn map(&self, field: &str) -> StringMap {
        let map = self.get(field).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
            .collect()
    }

    pub(super) fn set(&mut self, field: &str, value: impl Into<Value>) {
        if let Some(json) = self.json.as_mut().and_then(Value::as_object_mut) {
            json.insert(field.to_owned(), value.into());
            self.edited = true;
        }
    }

    /// The place in the body that a JSON pointer names, to be changed.
    pub(super) fn at(&mut self, pointer: &str) -> Option<&mut Value> {
        self.edited = true;
        self.json.as_mut()?.pointer_mut(pointer)
    }

    /// Where `lbInfo` points to.
    pub(super) fn endpoint(&self) -> Option<Endpoint> {
        let map = self.map("lbInfo");
        let text = |names: &[&str]| names.iter().find_map(|name| map.get(*name)).cloned();
        Some(Endpoint {
            load_balancer: text(&["lbID", "loadBalancerID"])?,
            listener: text(&["lblID", "listenerID"])?,
            domain: text(&["domain"]),
            url: text(&["url"]),
        })
    }

    /// Whether `lbInfo` names a load balancer that was not there.
    pub(super) fn names_missing_lb(&self) -> bool {
        !self.existed && !self.map("lbInfo").is_empty()
    }

    /// A text that stands for the load balancer, whatever is known of it.
    pub(super) fn load_balancer_key(&self) -> String {
        match self.endpoint() {
            Some(endpoint) => format!("{}/{}", endpoint.load_balancer, endpoint.listener),
            None => format!("{:?}", self.map("lbInfo")),
        }
    }

    /// A text that stands for the backend: its load balancer and its address.
    pub(super) fn backend_key(&self) -> String {
        format!("{} {}", self.load_balancer_key(), self.text("backendAddr"))
    }

    /// What it asks for, whichever try it is.
    pub(super) fn content(&self) -> String {
        let mut content = self.json.clone().unwrap_or_default();
        if let Some(content) = content.as_object_mut() {
            content.remove("retryID");
        }
        format!("{} {content}", self.path)
    }
}
