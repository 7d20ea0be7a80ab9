//! Every webhook call from request to response, around the SDK's router: a fault may come first, and
//! the journal gets an entry at the end. It is part of a run of the driver's process, and ends with it.

mod body;
mod facts;
mod recorder;

use crate::cloud::Cloud;
use crate::faults::{Effect, Fault, FaultTarget, IN_BAND_FAULT};
use crate::journal::{CallFollower, CallQuery, JournalEntry};
use crate::no_answer::NoAnswer;
use crate::options::MockOptions;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use facts::CallFacts;
use http_body_util::BodyExt;
use lbcf_driver_sdk::webhook::{ALL, Class, WebhookInfo};
use lbcf_serving::body::{BodyBudget, BodyMemory};
use recorder::Recorder;
use std::future::pending;

/// The response of a driver with the fault `malformed`.
const MALFORMED: &str = "{\"status\":\"Su";

#[derive(Debug, Clone)]
struct CallContext {
    cloud: Cloud,
    journal_size: usize,
    bodies: BodyBudget,
}

/// Puts faults and journal around the webhooks.
pub(crate) fn layer(webhooks: Router, cloud: Cloud, journal_size: usize) -> Router {
    let context = CallContext {
        cloud,
        journal_size,
        bodies: body::budget(),
    };
    webhooks.layer(from_fn_with_state(context, handle))
}

async fn handle(State(context): State<CallContext>, request: Request, next: Next) -> Response {
    let Some(webhook) = webhook(&request) else {
        return next.run(request).await;
    };
    let mut recorder = Recorder::new(context.cloud.clone(), context.journal_size, webhook);
    let (parts, body) = request.into_parts();
    // The SDK reads the rest of what is not read here, and reports what is wrong.
    let mut memory = BodyMemory::default();
    let (bytes, body) = body::read_ahead(body, &context.bodies, &mut memory).await;
    let facts = CallFacts::read(&bytes);
    recorder.request(&facts, &bytes);
    drop(bytes);
    let fault = decide(&context.cloud, webhook, &facts);
    drop(facts);
    let forward = next.run(Request::from_parts(parts, body));
    let Some(Fault { label, effect, .. }) = fault else {
        return recorder.response(forward.await);
    };
    recorder.fault(label);
    match effect {
        Effect::Delay(delay) => {
            tokio::time::sleep(delay).await;
            recorder.response(forward.await)
        }
        Effect::Respond { code, body } => {
            let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let json = [(CONTENT_TYPE, "application/json")];
            recorder.response((code, json, body).into_response())
        }
        Effect::Hang => pending().await,
        Effect::Reset => recorder.no_answer(NoAnswer::Reset, "the connection was reset by a fault"),
        Effect::Malformed => {
            let (mut parts, _) = forward.await.into_parts();
            parts.headers.remove(CONTENT_LENGTH);
            recorder.response(Response::from_parts(parts, Body::from(MALFORMED)))
        }
        Effect::Truncated => {
            let (mut parts, bytes) = collect(forward.await).await;
            parts.headers.insert(CONTENT_LENGTH, bytes.len().into());
            recorder.response(Response::from_parts(parts, body::truncated(&bytes)))
        }
        Effect::LoseAnswer => {
            let (parts, bytes) = collect(forward.await).await;
            recorder.lost(parts.status, &bytes);
            recorder.no_answer(NoAnswer::Close, "the response was lost by a fault")
        }
    }
}

/// The webhook that a request calls; none for other paths and methods, which the SDK refuses.
fn webhook(request: &Request) -> Option<&'static WebhookInfo> {
    let name = request.uri().path().strip_prefix('/')?;
    let webhook = ALL.iter().find(|webhook| webhook.name == name)?;
    let is_probe = webhook.class == Class::Health && request.method() == Method::GET;
    (request.method() == Method::POST || is_probe).then_some(webhook)
}

fn decide(cloud: &Cloud, webhook: &WebhookInfo, facts: &CallFacts) -> Option<Fault> {
    let stored = facts.attributes_in_cloud(cloud);
    let texts = facts
        .own_maps
        .iter()
        .chain(stored.as_ref())
        .filter_map(|map| map.get(IN_BAND_FAULT))
        .map(String::as_str);
    let target = FaultTarget {
        webhook,
        record_id: &facts.record_id,
        load_balancer: &facts.load_balancer,
        address: &facts.address,
        now: cloud.now(),
    };
    cloud.faults().decide(&target, &Vec::from_iter(texts))
}

async fn collect(response: Response) -> (axum::http::response::Parts, Bytes) {
    let (parts, body) = response.into_parts();
    // A body that breaks off is lost or cut like any other.
    let bytes = body.collect().await.map(|body| body.to_bytes());
    (parts, bytes.unwrap_or_default())
}

/// The calls of webhooks that [`record_calls`] records.
#[derive(Debug)]
pub struct RecordedCalls(CallFollower);

/// Records the calls of webhooks, each at `/` and its name, from now on.
///
/// ```
/// # async fn example() {
/// use axum::Router;
/// use axum::routing::post;
///
/// let webhooks = Router::new().route("/ensureBackend", post(|| async { r#"{"status":"Succ"}"# }));
/// let (webhooks, mut calls) = mock_driver::record_calls(webhooks);
/// // … serve the webhooks …
/// # drop(webhooks);
/// println!("{}", calls.next().await.status);
/// # }
/// ```
pub fn record_calls(webhooks: Router) -> (Router, RecordedCalls) {
    let cloud = Cloud::empty();
    let calls = CallFollower::new(cloud.call_log(), CallQuery::default());
    let size = MockOptions::default().journal_size;
    (layer(webhooks, cloud, size), RecordedCalls(calls))
}

impl RecordedCalls {
    /// The next call that has ended. A reader that falls behind by more than 1,000 misses some.
    pub async fn next(&mut self) -> JournalEntry {
        self.0.next().await
    }
}
