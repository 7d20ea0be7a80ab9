//! A request on its way to the driver: JSON that defects may read and change.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, Uri, header};
use lbcf_driver_sdk::webhook::{ALL, Class, StringMap, WebhookInfo};
use mock_driver::{Endpoint, Target};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct HookRequest {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    raw: Bytes,
    json: Option<Value>,
    edited: bool,
    webhook: Option<&'static WebhookInfo>,
    /// As the caller sent it, whatever defects change in the body.
    own_record_id: String,
    /// Whether the load balancer of `lbInfo` existed when the request arrived.
    pub(crate) existed: bool,
    /// Whether `deleteLoadBalancer` has deleted that load balancer before.
    pub(crate) deleted_before: bool,
    /// The targets of that load balancer when the request arrived, for defects that work with
    /// stale data.
    pub(crate) targets_seen: Option<BTreeMap<String, Target>>,
    /// Set by a defect before the driver's work, for the same defect after it.
    pub(crate) noted: bool,
}

impl HookRequest {
    pub(crate) fn new(method: Method, uri: &Uri, headers: HeaderMap, raw: Bytes) -> Self {
        let path = uri.path().to_owned();
        let mut request = Self {
            json: serde_json::from_slice(&raw).ok(),
            webhook: webhook_at(&path),
            method,
            path,
            headers,
            raw,
            edited: false,
            own_record_id: String::new(),
            existed: false,
            deleted_before: false,
            targets_seen: None,
            noted: false,
        };
        request.own_record_id = request.text("recordID").to_owned();
        request
    }

    pub(crate) fn to_request(&self) -> Request<Body> {
        let body = match &self.json {
            Some(json) if self.edited => Body::from(json.to_string()),
            _ => Body::from(self.raw.clone()),
        };
        let mut request = Request::new(body);
        *request.method_mut() = self.method.clone();
        // The path of a received request is valid.
        *request.uri_mut() = self.path.parse().unwrap_or_default();
        request.headers_mut().clone_from(&self.headers);
        request.headers_mut().remove(header::CONTENT_LENGTH);
        request.headers_mut().remove(header::TRANSFER_ENCODING);
        request
    }

    pub(crate) fn set_path(&mut self, path: &str) {
        path.clone_into(&mut self.path);
        self.webhook = webhook_at(path);
    }

    /// The webhook that is called, if method and body are valid.
    pub(crate) fn webhook(&self) -> Option<&'static WebhookInfo> {
        let is_valid =
            self.method == Method::POST && (self.json().is_some() || self.raw.is_empty());
        self.webhook.filter(|_| is_valid)
    }

    /// The webhook of the path, even if method or body are invalid.
    pub(crate) const fn webhook_of_path(&self) -> Option<&'static WebhookInfo> {
        self.webhook
    }

    pub(crate) fn name(&self) -> &'static str {
        self.webhook().map_or("", |webhook| webhook.name)
    }

    pub(crate) fn is(&self, webhook: &str) -> bool {
        self.name() == webhook
    }

    /// Whether it calls this webhook and is not a dry run.
    pub(crate) fn does(&self, webhook: &str) -> bool {
        self.is(webhook) && !self.dry_run()
    }

    pub(crate) fn is_operation(&self) -> bool {
        self.webhook()
            .is_some_and(|webhook| webhook.class == Class::Operation)
    }

    /// The body, if it is a JSON object.
    pub(crate) fn json(&self) -> Option<&serde_json::Map<String, Value>> {
        self.json.as_ref()?.as_object()
    }

    pub(crate) const fn raw(&self) -> &Bytes {
        &self.raw
    }

    pub(crate) const fn is_not_json(&self) -> bool {
        self.json.is_none()
    }

    pub(crate) fn get(&self, field: &str) -> Option<&Value> {
        self.json()?.get(field)
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// The recordID that the caller sent.
    pub(crate) fn record_id(&self) -> &str {
        &self.own_record_id
    }

    /// The key of the operation: the same for each try.
    pub(crate) fn operation_key(&self) -> String {
        format!("{} {}", self.name(), self.own_record_id)
    }

    /// Whether `lbSpec` asks for an HTTP or HTTPS listener.
    pub(crate) fn wants_http(&self) -> bool {
        let spec = self.map("lbSpec");
        ["lbListenerProtocol", "listenerProtocol"]
            .iter()
            .filter_map(|name| spec.get(*name))
            .any(|protocol| protocol.to_ascii_uppercase().starts_with("HTTP"))
    }

    pub(crate) fn dry_run(&self) -> bool {
        self.get("dryRun").and_then(Value::as_bool) == Some(true)
    }

    /// Whether the field exists and is `null`.
    pub(crate) fn is_null(&self, field: &str) -> bool {
        self.get(field).is_some_and(Value::is_null)
    }

    /// The map in a field, without values that are not text.
    pub(crate) fn map(&self, field: &str) -> StringMap {
        let map = self.get(field).and_then(Value::as_object);
        map.into_iter()
            .flatten()
            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
            .collect()
    }

    pub(crate) fn set(&mut self, field: &str, value: impl Into<Value>) {
        if let Some(json) = self.json.as_mut().and_then(Value::as_object_mut) {
            json.insert(field.to_owned(), value.into());
            self.edited = true;
        }
    }

    /// The value at a JSON pointer, for changing it.
    pub(crate) fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Value> {
        self.edited = true;
        self.json.as_mut()?.pointer_mut(pointer)
    }

    /// The endpoint that `lbInfo` identifies.
    pub(crate) fn endpoint(&self) -> Option<Endpoint> {
        let map = self.map("lbInfo");
        let text = |names: &[&str]| names.iter().find_map(|name| map.get(*name)).cloned();
        Some(Endpoint {
            load_balancer: text(&["lbID", "loadBalancerID"])?,
            listener: text(&["lblID", "listenerID"])?,
            domain: text(&["domain"]),
            url: text(&["url"]),
        })
    }

    /// Whether `lbInfo` names a load balancer that did not exist.
    pub(crate) fn names_missing_lb(&self) -> bool {
        !self.existed && !self.map("lbInfo").is_empty()
    }

    /// The key of the load balancer, whether or not `lbInfo` is complete.
    pub(crate) fn load_balancer_key(&self) -> String {
        match self.endpoint() {
            Some(endpoint) => format!("{}/{}", endpoint.load_balancer, endpoint.listener),
            None => format!("{:?}", self.map("lbInfo")),
        }
    }

    /// The key of the backend: load balancer and address.
    pub(crate) fn backend_key(&self) -> String {
        format!("{} {}", self.load_balancer_key(), self.text("backendAddr"))
    }

    /// Path and body without the `retryID`, so the same for each try.
    pub(crate) fn content(&self) -> String {
        let mut content = self.json.clone().unwrap_or_default();
        if let Some(content) = content.as_object_mut() {
            content.remove("retryID");
        }
        format!("{} {content}", self.path)
    }
}

fn webhook_at(path: &str) -> Option<&'static WebhookInfo> {
    let name = path.strip_prefix('/')?;
    ALL.iter().find(|webhook| webhook.name == name)
}
