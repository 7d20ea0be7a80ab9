//! A proxy between the controller and a driver: it records every call as the controller sent it,
//! and delays, replaces or withholds responses as the test requires.

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use axum::{Router, extract, middleware};
use http::StatusCode;
use http_body_util::BodyExt;
use serde_json::Value;
use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// A webhook call that the proxy received.
#[derive(Debug, Clone)]
pub struct ProxiedCall {
    /// The call's position among all calls, from 0.
    pub number: usize,
    /// The call's position among those of the same webhook, from 0.
    pub nth: usize,
    /// The webhook's name, such as `ensureBackend`.
    pub webhook: String,
    /// The request body; null where it is not JSON.
    pub body: Value,
    /// When the request arrived.
    pub at: Instant,
    /// The response body; null until the response is sent, or where it is not JSON.
    pub response: Value,
}

impl ProxiedCall {
    /// The call's recordID; empty where it has none.
    #[must_use]
    pub fn record_id(&self) -> &str {
        self.body["recordID"].as_str().unwrap_or_default()
    }

    /// The names of the pods of `judgePodDeregister`, sorted.
    #[must_use]
    pub fn pods(&self) -> Vec<String> {
        let pods = self.body["notReadyPods"].as_array();
        let name = |pod: &Value| pod["metadata"]["name"].as_str().map(str::to_owned);
        let mut pods: Vec<String> = pods.into_iter().flatten().filter_map(name).collect();
        pods.sort();
        pods
    }
}

/// What the proxy does with a call.
#[derive(Debug, Clone)]
pub enum ProxyAction {
    /// Forwards it and returns the driver's response.
    Forward,
    /// Forwards it after this time.
    Delay(Duration),
    /// Forwards it when the latch opens.
    Hold(Latch),
    /// Responds in place of the driver.
    Reply(StatusCode, String),
    /// Forwards it, and returns the driver's response when the latch opens.
    ForwardThenHold(Latch),
    /// Forwards it, and replaces the driver's response.
    ForwardThenReply(StatusCode, String),
    /// Forwards it, and never responds.
    ForwardThenHang,
    /// Neither forwards it nor responds.
    Hang,
}

impl ProxyAction {
    /// Responds in place of the driver, with status 200 and this body.
    #[must_use]
    pub fn reply_json(body: &Value) -> Self {
        Self::Reply(StatusCode::OK, body.to_string())
    }
}

/// Holds calls until it is opened. Clones are the same latch.
#[derive(Debug, Clone)]
pub struct Latch(watch::Sender<bool>);

impl Default for Latch {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Latch {
    /// Releases the calls that wait and all later ones.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    async fn opened(&self) {
        let mut opened = self.0.subscribe();
        let _ = opened.wait_for(|open| *open).await;
    }
}

type Rule = Arc<dyn Fn(&ProxiedCall) -> ProxyAction + Send + Sync>;
type ResponseHook = Arc<dyn Fn(&ProxiedCall) + Send + Sync>;

/// The proxy in front of a driver. Clones are the same proxy.
#[derive(Clone)]
pub struct DriverProxy(Arc<Mutex<ProxyState>>);

struct ProxyState {
    calls: Vec<ProxiedCall>,
    rule: Rule,
    on_response: ResponseHook,
    in_flight: usize,
    max_in_flight: usize,
    held_responses: usize,
}

impl fmt::Debug for DriverProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DriverProxy").finish_non_exhaustive()
    }
}

impl Default for DriverProxy {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(ProxyState {
            calls: Vec::new(),
            rule: Arc::new(|_| ProxyAction::Forward),
            on_response: Arc::new(|_| {}),
            in_flight: 0,
            max_in_flight: 0,
            held_responses: 0,
        })))
    }
}

impl DriverProxy {
    /// Decides by this rule about each call from now on.
    pub fn rule(&self, rule: impl Fn(&ProxiedCall) -> ProxyAction + Send + Sync + 'static) {
        self.lock().rule = Arc::new(rule);
    }

    /// Forwards every call from now on.
    pub fn forward_all(&self) {
        self.rule(|_| ProxyAction::Forward);
    }

    /// Calls `hook` with each call and its response, before the response is sent.
    pub fn on_response(&self, hook: impl Fn(&ProxiedCall) + Send + Sync + 'static) {
        self.lock().on_response = Arc::new(hook);
    }

    /// All calls, in the order in which they arrived.
    #[must_use]
    pub fn calls(&self) -> Vec<ProxiedCall> {
        self.lock().calls.clone()
    }

    /// The calls of one webhook, in the order in which they arrived.
    #[must_use]
    pub fn calls_of(&self, webhook: &str) -> Vec<ProxiedCall> {
        let calls = self.calls().into_iter();
        calls.filter(|call| call.webhook == webhook).collect()
    }

    /// The number of calls so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().calls.len()
    }

    /// The number of calls so far of other webhooks than this.
    #[must_use]
    pub fn count_without(&self, webhook: &str) -> usize {
        let state = self.lock();
        let calls = state.calls.iter();
        calls.filter(|call| call.webhook != webhook).count()
    }

    /// The largest number of calls that were in flight at the same time.
    #[must_use]
    pub fn max_in_flight(&self) -> usize {
        self.lock().max_in_flight
    }

    /// How many responses of the driver were held so far.
    #[must_use]
    pub fn held_responses(&self) -> usize {
        self.lock().held_responses
    }

    /// The driver's router behind this proxy.
    pub(crate) fn wrap(&self, driver: Router) -> Router {
        let proxy = self.clone();
        driver.layer(middleware::from_fn(
            move |request: extract::Request, next: middleware::Next| {
                let proxy = proxy.clone();
                async move { proxy.handle(request, next).await }
            },
        ))
    }

    async fn handle(&self, request: extract::Request, next: middleware::Next) -> Response {
        let (parts, body) = request.into_parts();
        let webhook = parts.uri.path().trim_start_matches('/').to_owned();
        if webhook.starts_with('_') {
            return next.run(extract::Request::from_parts(parts, body)).await;
        }
        let bytes = collect(body).await;
        let call = self.record(webhook, &bytes);
        let _in_flight = InFlightGuard(self);
        let number = call.number;
        let rule = Arc::clone(&self.lock().rule);
        let action = rule(&call);
        let forward = || next.run(extract::Request::from_parts(parts, Body::from(bytes)));
        let response = match action {
            ProxyAction::Forward => forward().await,
            ProxyAction::Delay(delay) => {
                tokio::time::sleep(delay).await;
                forward().await
            }
            ProxyAction::Hold(latch) => {
                latch.opened().await;
                forward().await
            }
            ProxyAction::ForwardThenHold(latch) => {
                let response = forward().await;
                self.lock().held_responses += 1;
                latch.opened().await;
                response
            }
            ProxyAction::Reply(status, body) => (status, body).into_response(),
            ProxyAction::ForwardThenReply(status, body) => {
                let _ = forward().await;
                (status, body).into_response()
            }
            ProxyAction::ForwardThenHang => {
                let _ = forward().await;
                pending().await
            }
            ProxyAction::Hang => pending().await,
        };
        self.record_response(number, response).await
    }

    fn record(&self, webhook: String, body: &Bytes) -> ProxiedCall {
        let mut state = self.lock();
        let earlier = state.calls.iter().filter(|call| call.webhook == webhook);
        let call = ProxiedCall {
            number: state.calls.len(),
            nth: earlier.count(),
            webhook,
            body: serde_json::from_slice(body).unwrap_or_default(),
            at: Instant::now(),
            response: Value::Null,
        };
        state.calls.push(call.clone());
        state.in_flight += 1;
        state.max_in_flight = state.max_in_flight.max(state.in_flight);
        call
    }

    async fn record_response(&self, number: usize, response: Response) -> Response {
        let (parts, body) = response.into_parts();
        let body = collect(body).await;
        let (call, on_response) = {
            let mut state = self.lock();
            let call = &mut state.calls[number];
            call.response = serde_json::from_slice(&body).unwrap_or_default();
            (call.clone(), Arc::clone(&state.on_response))
        };
        on_response(&call);
        Response::from_parts(parts, Body::from(body))
    }

    fn lock(&self) -> MutexGuard<'_, ProxyState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a call as in flight until this is dropped, be it because the controller hangs up.
struct InFlightGuard<'a>(&'a DriverProxy);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().in_flight -= 1;
    }
}

async fn collect(body: Body) -> Bytes {
    match body.collect().await {
        Ok(body) => body.to_bytes(),
        // The client hung up while it sent the body.
        Err(_) => Bytes::new(),
    }
}
