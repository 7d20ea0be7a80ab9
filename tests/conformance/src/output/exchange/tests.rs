//! Exchanges as people and reports have them.

use super::*;
use crate::exchange::{RequestKind, Sent};
use bytes::Bytes;
use std::sync::Arc;
use std::time::Duration;

fn received(status: u16, headers: &[(&'static str, &'static str)], body: &[u8]) -> Received {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, http::HeaderValue::from_static(value));
    }
    Received {
        status,
        headers: map,
        body: Bytes::copy_from_slice(body),
    }
}

fn exchange(body: &[u8], outcome: Result<Received, NoResponse>) -> Exchange {
    Exchange {
        sequence: 12,
        check: Some("WIRE-01"),
        webhook: Some("healthz"),
        kind: RequestKind::Valid,
        sent: Sent {
            method: http::Method::POST,
            url: "http://127.0.0.1:1/healthz".to_owned(),
            headers: received(0, &[("content-type", "application/json")], b"").headers,
            body: Bytes::copy_from_slice(body),
        },
        outcome,
        took: Duration::from_micros(1_999),
    }
}

#[test]
fn answers_are_shown_with_what_matters_of_them() {
    let answer = received(
        308,
        &[
            ("set-cookie", "secret"),
            ("location", "/healthz/"),
            ("content-type", "text/html"),
        ],
        b"",
    );
    assert_eq!(
        excerpt(&Ok(answer)),
        "HTTP 308 Permanent Redirect\ncontent-type: text/html\nlocation: /healthz/\n\n(no body)"
    );
    let odd = excerpt(&Ok(received(799, &[], b"\x1b[2J\xff")));
    assert_eq!(odd, "HTTP 799\n\n\\x1b[2J\u{fffd}");
    let long = excerpt(&Ok(received(200, &[], &[b'x'; 1 << 20])));
    assert!(long.ends_with("x… (1047976 more bytes)"));
    assert_eq!(
        excerpt(&Err(NoResponse::Closed("reset\u{7}".to_owned()))),
        "no response: the connection closed before the response: reset\\x07"
    );
}

#[test]
fn reports_keep_so_much_of_an_exchange() {
    let headers = &[("x-two", "1"), ("x-two", "2")];
    let answer = received(200, headers, &[b'y'; RESPONSE_KEPT + 1]);
    let report = ExchangeReport::from(&exchange(&[b'x'; REQUEST_KEPT], Ok(answer)));
    assert_eq!(
        (report.request_body.len(), report.request_cut),
        (REQUEST_KEPT, false)
    );
    assert_eq!(
        report.response_body.map(|body| body.len()),
        Some(RESPONSE_KEPT)
    );
    assert!(report.response_cut);
    assert_eq!(report.response_headers["x-two"], "1, 2");
    assert_eq!(
        (report.status, report.ms, report.sequence),
        (Some(200), 1, 12)
    );

    let long = "é".repeat(REQUEST_KEPT);
    let report = ExchangeReport::from(&exchange(long.as_bytes(), Err(NoResponse::HungUp)));
    assert!(report.request_cut);
    assert!(!report.request_body.contains('\u{fffd}'));
    assert_eq!(report.status, None);
    assert_eq!(report.response_body, None);
    assert_eq!(
        report.no_answer.as_deref(),
        Some("the check closed the connection on purpose")
    );
}

#[test]
fn failures_have_the_request_and_the_cause_that_is_known() {
    let mut failure = Failure {
        expected: "e".to_owned(),
        got: "g".to_owned(),
        hint: None,
        exchange: None,
    };
    let report = FailureReport::of(&failure, "typical");
    assert_eq!(
        (report.likely_cause.as_str(), &report.curl),
        ("typical", &None)
    );
    failure.hint = Some("hint".to_owned());
    failure.exchange = Some(Arc::new(exchange(b"{}", Ok(received(200, &[], b"{}")))));
    let report = FailureReport::of(&failure, "typical");
    assert_eq!(report.likely_cause, "hint");
    assert!(
        report
            .curl
            .is_some_and(|curl| curl.ends_with("--data-binary '{}'"))
    );
    assert_eq!(report.answer.as_deref(), Some("HTTP 200 OK\n\n{}"));
}
