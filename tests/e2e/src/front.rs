//! What stands in front of a driver: it sees every call as the controller sent it, and spoils,
//! delays or withholds answers as the test says.

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

/// One call of a webhook.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its place among all calls, from 0.
    pub number: usize,
    /// The webhook.
    pub webhook: String,
    /// What was sent.
    pub body: Value,
    /// When it came.
    pub at: Instant,
    /// What was answered; null as long as nothing was, or where it was no JSON.
    pub answer: Value,
}

impl Call {
    /// The call's recordID; empty where it has none.
    #[must_use]
    pub fn record_id(&self) -> &str {
        self.text("recordID")
    }

    /// A field of what was sent; empty where it is not there.
    #[must_use]
    pub fn text(&self, field: &str) -> &str {
        self.body[field].as_str().unwrap_or_default()
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

/// What becomes of a call.
#[derive(Debug, Clone)]
pub enum Reaction {
    /// The driver answers.
    Pass,
    /// The driver gets it after this time.
    After(Duration),
    /// The driver gets it when the gate opens.
    Behind(Gate),
    /// The driver does not get it: this is answered.
    Instead(StatusCode, String),
    /// The driver does its work, and then this is answered.
    DoneBut(StatusCode, String),
    /// The driver does its work, and no answer ever comes.
    DoneInSilence,
    /// The driver does not get it, and no answer ever comes.
    Lost,
}

impl Reaction {
    /// An operation's answer in place of the driver's.
    #[must_use]
    pub fn says(answer: &Value) -> Self {
        Self::Instead(StatusCode::OK, answer.to_string())
    }
}

/// Holds calls up until it is opened. Clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate(watch::Sender<bool>);

impl Default for Gate {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Gate {
    /// Lets everything through from now on.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    async fn passed(&self) {
        let mut opened = self.0.subscribe();
        let _ = opened.wait_for(|open| *open).await;
    }
}

type Rule = Arc<dyn Fn(&Call) -> Reaction + Send + Sync>;
type Heard = Arc<dyn Fn(&Call) + Send + Sync>;

/// The front of a driver. Clones are the same one.
#[derive(Clone)]
pub struct Front(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
}

struct State {
    calls: Vec<Call>,
    rule: Rule,
    answered: Heard,
    in_flight: usize,
    most_in_flight: usize,
}

impl fmt::Debug for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Front").finish_non_exhaustive()
    }
}

impl Default for Front {
    fn default() -> Self {
        let state = State {
            calls: Vec::new(),
            rule: Arc::new(|_| Reaction::Pass),
            answered: Arc::new(|_| {}),
            in_flight: 0,
            most_in_flight: 0,
        };
        Self(Arc::new(Shared {
            state: Mutex::new(state),
        }))
    }
}

impl Front {
    /// From now on calls fare as the rule says.
    pub fn rule(&self, rule: impl Fn(&Call) -> Reaction + Send + Sync + 'static) {
        self.lock().rule = Arc::new(rule);
    }

    /// From now on the driver answers.
    pub fn behave(&self) {
        self.rule(|_| Reaction::Pass);
    }

    /// Is told of each call when its answer is handed out, before anybody can have it.
    pub fn on_answer(&self, answered: impl Fn(&Call) + Send + Sync + 'static) {
        self.lock().answered = Arc::new(answered);
    }

    /// All calls, in the order in which they came.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.lock().calls.clone()
    }

    /// The calls of one webhook.
    #[must_use]
    pub fn calls_of(&self, webhook: &str) -> Vec<Call> {
        let calls = self.calls().into_iter();
        calls.filter(|call| call.webhook == webhook).collect()
    }

    /// How many calls there were by now.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().calls.len()
    }

    /// How many calls were under way at the same time, at the most.
    #[must_use]
    pub fn most_in_flight(&self) -> usize {
        self.lock().most_in_flight
    }

    /// The driver behind this front.
    pub(crate) fn before(&self, driver: Router) -> Router {
        let front = self.clone();
        driver.layer(middleware::from_fn(
            move |request: extract::Request, next: middleware::Next| {
                let front = front.clone();
                async move { front.take(request, next).await }
            },
        ))
    }

    async fn take(&self, request: extract::Request, next: middleware::Next) -> Response {
        let (parts, body) = request.into_parts();
        let webhook = parts.uri.path().trim_start_matches('/').to_owned();
        if webhook.starts_with('_') {
            return next.run(extract::Request::from_parts(parts, body)).await;
        }
        let bytes = whole(body).await;
        let call = self.note(webhook, &bytes);
        let _under_way = UnderWay(self);
        let number = call.number;
        let rule = Arc::clone(&self.lock().rule);
        let reaction = rule(&call);
        let pass = || next.run(extract::Request::from_parts(parts, Body::from(bytes)));
        let response = match reaction {
            Reaction::Pass => pass().await,
            Reaction::After(delay) => {
                tokio::time::sleep(delay).await;
                pass().await
            }
            Reaction::Behind(gate) => {
                gate.passed().await;
                pass().await
            }
            Reaction::Instead(status, body) => (status, body).into_response(),
            Reaction::DoneBut(status, body) => {
                let _ = pass().await;
                (status, body).into_response()
            }
            Reaction::DoneInSilence => {
                let _ = pass().await;
                pending().await
            }
            Reaction::Lost => pending().await,
        };
        self.hand_out(number, response).await
    }

    fn note(&self, webhook: String, body: &Bytes) -> Call {
        let mut state = self.lock();
        let call = Call {
            number: state.calls.len(),
            webhook,
            body: serde_json::from_slice(body).unwrap_or_default(),
            at: Instant::now(),
            answer: Value::Null,
        };
        state.calls.push(call.clone());
        state.in_flight += 1;
        state.most_in_flight = state.most_in_flight.max(state.in_flight);
        call
    }

    async fn hand_out(&self, number: usize, response: Response) -> Response {
        let (parts, body) = response.into_parts();
        let body = whole(body).await;
        let (call, answered) = {
            let mut state = self.lock();
            let call = &mut state.calls[number];
            call.answer = serde_json::from_slice(&body).unwrap_or_default();
            (call.clone(), Arc::clone(&state.answered))
        };
        answered(&call);
        Response::from_parts(parts, Body::from(body))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that is under way until this is dropped, as when the controller hangs up.
struct UnderWay<'a>(&'a Front);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.lock().in_flight -= 1;
    }
}

async fn whole(body: Body) -> Bytes {
    match body.collect().await {
        Ok(body) => body.to_bytes(),
        // The other side hung up in the middle of it.
        Err(_) => Bytes::new(),
    }
}
