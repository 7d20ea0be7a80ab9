//! Bodies that are not JSON, or not an object.

use super::valid_calls::ValidCalls;
use super::verify::{BadRequest, Expected, verify};
use crate::check::{Check, Concurrency, Group};
use crate::lab::{Lab, WebhookCall, healthz};
use crate::outcome::CheckOutcome;
use crate::transport::Request;

pub(super) static BAD_01: Check = Check {
    id: "BAD-01",
    rule: "A body that is not a JSON object is rejected within 2 seconds, and the driver keeps \
           working",
    why: "Anyone who can reach the driver can send such a body. If the driver crashes, no load \
          balancer of the cluster can be changed.",
    source: "derived: RFC 9110, status 400",
    typical: "An exception in the body parser becomes 500 or ends the process; or the error is \
              only logged, and the handler continues with an empty value.",
    concurrency: Concurrency::Exclusive,
    ..Check::should(Group::Bad, |lab| Box::pin(bad_01(lab)))
};

/// The nesting depth of JSON that is too deep.
const DEPTH: usize = 50_000;

async fn bad_01(lab: &Lab) -> CheckOutcome {
    let valid = ValidCalls::new(lab).await;
    let mut bad = broken(lab, &valid.calls());
    // healthz may ignore its body.
    for body in [&b""[..], b"{", b"null"] {
        bad.push(BadRequest {
            call: healthz(),
            what: "a body that is not a JSON object".to_owned(),
            request: Request::post("healthz", body.to_vec()),
            expected: Expected::AnyResponse,
        });
    }
    verify(lab, bad).await
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

type BrokenBody = (&'static str, Expected, fn(Vec<u8>) -> Vec<u8>);

/// Broken variants of a valid body. Some common parsers accept a variant as valid or as empty: Go's
/// decoder ignores text after the JSON and reads null as no fields, and Express accepts an empty body.
const BODIES: &[BrokenBody] = &[
    ("a truncated body", Expected::Rejection, |mut valid| {
        valid.truncate(valid.len() / 2);
        valid
    }),
    (
        "a body without its last brace",
        Expected::Rejection,
        |mut valid| {
            valid.pop();
            valid
        },
    ),
    ("a body of plain text", Expected::Rejection, |_| {
        b"lbInfo=lb-1&backendAddr=10.0.0.1".to_vec()
    }),
    (
        "NaN for a map",
        Expected::Rejection,
        // Not JSON, but some parsers accept it.
        |_| {
            br#"{"recordID":"x","lbSpec":NaN,"lbInfo":NaN,"parameters":NaN,"podBackend":NaN}"#
                .to_vec()
        },
    ),
    ("bytes that are not UTF-8", Expected::Rejection, |valid| {
        [&[0x80, 0xfe, 0xc3][..], &valid].concat()
    }),
    ("JSON that is nested too deep", Expected::Rejection, |_| {
        br#"{"lbInfo":"#.iter().copied().chain(std::iter::repeat_n(b'[', DEPTH)).collect()
    }),
    ("text after the JSON", Expected::AnyResponse, |valid| {
        [&valid[..], b"}, and more"].concat()
    }),
    (
        "a recordID that is not UTF-8",
        Expected::AnyResponse,
        |valid| {
            let text = br#"{"recordID":"#;
            match valid.strip_prefix(text) {
                Some(rest) => [&text[..], b"\"\xff\xfe\",\"was\":", rest].concat(),
                None => [
                    b"{\"was\":\"\xff\xfe\",",
                    valid.get(1..).unwrap_or_default(),
                ]
                .concat(),
            }
        },
    ),
    ("an empty body", Expected::AnyResponse, |_| Vec::new()),
    ("the body null", Expected::AnyResponse, |_| b"null".to_vec()),
    ("an array as body", Expected::AnyResponse, |_| {
        b"[]".to_vec()
    }),
    ("a string as body", Expected::AnyResponse, |_| {
        b"\"x\"".to_vec()
    }),
];
