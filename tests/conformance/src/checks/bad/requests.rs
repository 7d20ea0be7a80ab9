//! Bad requests: valid calls with broken bodies, or with values of wrong types; and the allowed
//! responses.

use crate::checks::prelude::*;
use Expected::{AnyResponse, Rejection};

/// A load balancer and a backend of the check.
#[derive(Debug)]
pub(super) struct ValidCalls {
    pub(super) lb: LoadBalancer,
    pub(super) backend: Backend,
}

impl ValidCalls {
    /// With an existing load balancer, or else an unknown one: bad input is rejected for either.
    pub(super) async fn new(lab: &Lab) -> Self {
        let existing = lab.given_new_load_balancer().await;
        let lb = existing.unwrap_or_else(|_| lab.unknown_load_balancer());
        let backend = lab.given_backend(&lb).await;
        let backend = backend.unwrap_or_else(|_| lab.unknown_backend(&lb));
        Self { lb, backend }
    }

    pub(super) fn validate_backend(&self) -> WebhookCall {
        let backend_type = self.backend.source.backend_type();
        validate_backend(&self.lb, backend_type, &self.backend.parameters)
    }

    /// A valid call of each webhook, except `healthz`, whose body is empty, and
    /// `judgePodDeregister`, which few drivers have.
    pub(super) fn calls(&self) -> Vec<WebhookCall> {
        vec![
            self.lb.validate(),
            self.lb.create(),
            self.lb.ensure(),
            self.validate_backend(),
            self.backend.generate(),
            self.backend.ensure(),
            self.backend.deregister(),
            self.lb.delete(),
        ]
    }
}

/// Each kind of broken body for each of the calls.
pub(super) fn broken(lab: &Lab, calls: &[WebhookCall]) -> Vec<BadRequest> {
    let mut bad = Vec::new();
    for (what, expected, body) in BODIES {
        for call in calls {
            let valid = lab.request_of(call).body.to_vec();
            bad.push(BadRequest {
                call: call.clone(),
                what: (*what).to_owned(),
                request: Request::post(call.webhook(), body(valid)),
                expected: *expected,
            });
        }
    }
    bad
}

/// The nesting depth of JSON that is too deep.
const DEPTH: usize = 50_000;

type BrokenBody = (&'static str, Expected, fn(Vec<u8>) -> Vec<u8>);

/// Broken variants of a valid body. Some common parsers accept a variant as empty: Go's reads null as no fields, and
/// Express accepts an empty body.
const BODIES: &[BrokenBody] = &[
    ("a truncated body", Rejection, |mut valid| {
        valid.truncate(valid.len() / 2);
        valid
    }),
    ("a body without its last brace", Rejection, |mut valid| {
        valid.pop();
        valid
    }),
    ("a body of plain text", Rejection, |_| {
        b"lbInfo=lb-1&backendAddr=10.0.0.1".to_vec()
    }),
    // Not JSON, but some parsers accept it.
    ("NaN for a map", Rejection, |_| {
        br#"{"recordID":"x","lbSpec":NaN,"lbInfo":NaN,"parameters":NaN,"podBackend":NaN}"#.to_vec()
    }),
    ("bytes that are not UTF-8", Rejection, |valid| {
        [&[0x80, 0xfe, 0xc3][..], &valid].concat()
    }),
    ("JSON that is nested too deep", Rejection, |_| {
        [&br#"{"lbInfo":"#[..], &[b'['; DEPTH]].concat()
    }),
    ("text after the JSON", Rejection, |valid| {
        [&valid[..], b"}, and more"].concat()
    }),
    ("a recordID that is not UTF-8", AnyResponse, |valid| {
        let (begin, rest) = match valid.strip_prefix(br#"{"recordID":"#) {
            Some(rest) => (&b"{\"recordID\":\"\xff\xfe\",\"was\":"[..], rest),
            None => (
                &b"{\"was\":\"\xff\xfe\","[..],
                valid.get(1..).unwrap_or_default(),
            ),
        };
        [begin, rest].concat()
    }),
    ("an empty body", AnyResponse, |_| Vec::new()),
    ("the body null", AnyResponse, |_| b"null".to_vec()),
    ("an array as body", AnyResponse, |_| b"[]".to_vec()),
    ("a string as body", AnyResponse, |_| b"\"x\"".to_vec()),
];

/// Valid calls with one field of a wrong type.
pub(super) fn wrong_types(lab: &Lab, valid: &ValidCalls) -> Vec<BadRequest> {
    // A new one, because a driver may find an existing one by its recordID.
    let new = lab.load_balancer();
    let bad = Vec::new();
    let mut wrong = Wrong { lab, bad };
    for call in [new.validate(), new.create()] {
        for value in [json!(["x"]), json!("x"), json!(7), json!(true)] {
            wrong.add(&call, "lbSpec", value, Rejection);
        }
        if !new.sample.lb_spec.is_empty() {
            let nested = nested(&new.sample.lb_spec);
            wrong.add(&call, "lbSpec", nested, Rejection);
        }
    }
    wrong.maps_and_addresses(valid);
    wrong.backends(&valid.backend);
    wrong.bad
}

struct Wrong<'a> {
    lab: &'a Lab,
    bad: Vec<BadRequest>,
}

impl Wrong<'_> {
    fn add(&mut self, call: &WebhookCall, field: &str, value: Value, expected: Expected) {
        let what = format!("{field} of the type {}", type_of(&value));
        let call = call.clone().with(field, value).invalid();
        let request = self.lab.request_of(&call);
        self.bad.push(BadRequest {
            call,
            what,
            request,
            expected,
        });
    }

    fn maps_and_addresses(&mut self, valid: &ValidCalls) {
        let (ensure, delete) = (valid.lb.ensure(), valid.lb.delete());
        let (bind, unbind) = (valid.backend.ensure(), valid.backend.deregister());
        let validate = valid.validate_backend();
        for value in [json!(["x"]), json!("x"), json!(7)] {
            for (call, field) in [
                (&ensure, "lbInfo"),
                (&ensure, "attributes"),
                (&bind, "lbInfo"),
                (&bind, "parameters"),
                (&validate, "parameters"),
            ] {
                self.add(call, field, value.clone(), Rejection);
            }
            // An unreadable lbInfo may be that of a deleted load balancer.
            self.add(&delete, "lbInfo", value.clone(), AnyResponse);
            self.add(&unbind, "lbInfo", value, AnyResponse);
        }
        for value in [json!(["x"]), json!({"x": "y"}), json!(true)] {
            self.add(&bind, "backendAddr", value.clone(), Rejection);
            self.add(&unbind, "backendAddr", value, AnyResponse);
        }
    }

    /// The whole backend of `generateBackendAddr`, and parts of it.
    fn backends(&mut self, backend: &Backend) {
        let generate = backend.generate();
        let field = backend.source.field();
        let field = field.map_or("podBackend", |(field, _)| field);
        for value in [json!("x"), json!(["x"]), json!(7)] {
            self.add(&generate, field, value, Rejection);
        }
        let large = 99_999_999_999_u64;
        for (pointer, value) in [
            ("/pod", json!(7)),
            ("/pod/status", json!(7)),
            ("/pod/status/podIP", json!(["10.0.0.1"])),
            ("/service", json!(7)),
            ("/service/spec", json!("x")),
            ("/port", json!("http")),
            ("/port", json!({"port": "http", "portNumber": "http"})),
            ("/port", json!({"port": large, "portNumber": large})),
        ] {
            let mut backend = generate.field(field).cloned().unwrap_or_default();
            if let Some(target) = backend.pointer_mut(pointer) {
                *target = value;
                self.add(&generate, field, backend, Rejection);
            }
        }
    }
}

/// The keys of a map, each with a map as value.
fn nested(map: &StringMap) -> Value {
    let nested = map.keys().map(|key| (key.clone(), json!({"x": ["y"]})));
    Value::Object(nested.collect::<Map<_, _>>())
}

const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object, with values of wrong types,",
    }
}

/// The time limit for a rejection.
pub(super) const LIMIT: Duration = Duration::from_secs(2);

/// The expected response to a bad request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Rejection,
    /// Any response: parsers of some languages accept the body as one without fields.
    AnyResponse,
}

#[derive(Debug)]
pub(super) struct BadRequest {
    /// The valid call that it was made from.
    pub(super) call: WebhookCall,
    /// A description, such as `a truncated body`.
    pub(super) what: String,
    pub(super) request: Request,
    pub(super) expected: Expected,
}

/// Sends the requests one after the other, and verifies after each kind that the driver still
/// responds. Fails with the first wrong response after all were sent, or when responses stop.
pub(super) async fn verify(lab: &Lab, bad: Vec<BadRequest>) -> CheckOutcome {
    let mut first = None;
    let mut before: Option<String> = None;
    for bad in bad {
        let what = bad.what;
        if let Some(before) = before.filter(|before| *before != what) {
            is_alive(lab, &before).await?;
        }
        let reply = lab.send_instead(&bad.call, &bad.request).await;
        if let Some(problem) = problem(&reply.exchange, bad.expected) {
            let webhook = bad.call.webhook();
            let expected = format!(
                "{webhook} with {what} rejected within {LIMIT:?}: HTTP 400 to 499, status Fail or succ false"
            );
            let failed = reply.failed(expected, problem);
            if reply.no_response().is_some() {
                return Err(failed);
            }
            first.get_or_insert(failed);
        }
        before = Some(what);
    }
    if let Some(before) = before {
        is_alive(lab, &before).await?;
    }
    first.map_or(Ok(()), Err)
}

/// Fails when the driver no longer responds.
pub(super) async fn is_alive(lab: &Lab, after: &str) -> CheckOutcome {
    let reply = lab.call(&healthz().unusual()).await;
    match reply.no_response() {
        None => Ok(()),
        Some(problem) => {
            let expected = format!("a response to healthz, also after {after}");
            Err(reply.failed(expected, problem.to_string()))
        }
    }
}

/// The problem of a response to bad input.
pub(super) fn problem(exchange: &Exchange, expected: Expected) -> Option<String> {
    let received = match &exchange.outcome {
        Ok(received) => received,
        Err(problem) => return Some(problem.to_string()),
    };
    if exchange.took >= LIMIT {
        return Some(format!("a response after {:.1?}", exchange.took));
    }
    match received.status {
        // Not implemented is a rejection.
        501 => None,
        500.. => Some(format!("HTTP {}", received.status)),
        200..300 if expected == Rejection => accepted(exchange),
        _ => None,
    }
}

/// The summary of a response that does not reject the request.
fn accepted(exchange: &Exchange) -> Option<String> {
    let reply = DriverReply::new(std::sync::Arc::new(exchange.clone()));
    let is_rejection = reply.decision() == Some(false) || reply.status() == Some(Status::Fail);
    (!is_rejection).then(|| reply.summary())
}

#[cfg(test)]
mod tests;
