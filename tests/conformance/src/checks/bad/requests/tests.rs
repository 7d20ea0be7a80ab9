//! That bad input may be refused in any way, and not be accepted in any.

use super::*;
use crate::exchange::Sent;
use http::{HeaderMap, Method};

fn exchange(outcome: Result<(u16, &'static str), NoResponse>, took: Duration) -> Exchange {
    let received = |(status, body): (u16, &'static str)| Received {
        status,
        headers: HeaderMap::new(),
        body: body.into(),
    };
    Exchange {
        sequence: 1,
        check: Some("BAD-01"),
        webhook: Some("ensureBackend"),
        kind: RequestKind::Invalid,
        sent: Sent {
            method: Method::POST,
            url: "http://driver.example/ensureBackend".into(),
            headers: HeaderMap::new(),
            body: "{".into(),
        },
        outcome: outcome.map(received),
        took,
    }
}

fn problem_of(status: u16, body: &'static str) -> Option<String> {
    let exchange = exchange(Ok((status, body)), Duration::from_millis(1));
    problem(&exchange, Expected::Rejection)
}

#[test]
fn a_refusal_is_any_4xx_and_any_no() {
    for status in [400, 404, 405, 413, 415, 422, 501] {
        assert_eq!(problem_of(status, "<html>"), None, "{status}");
    }
    assert_eq!(problem_of(200, r#"{"status":"Fail","msg":"no"}"#), None);
    assert_eq!(problem_of(200, r#"{"succ":false}"#), None);
}

#[test]
fn everything_else_is_a_problem() {
    for (status, body) in [
        (500, r#"{"status":"Fail"}"#),
        (503, ""),
        (200, r#"{"status":"Succ"}"#),
        (200, r#"{"status":"Running"}"#),
        (200, r#"{"succ":true}"#),
        (200, "{}"),
        (200, "<html>"),
        (204, ""),
    ] {
        assert!(problem_of(status, body).is_some(), "{status} {body}");
    }
}

#[test]
fn what_may_be_read_may_be_answered_but_not_with_an_exception_and_not_with_nothing() {
    let readable = |outcome, took| problem(&exchange(outcome, took), Expected::AnyResponse);
    let soon = Duration::from_millis(1);
    assert_eq!(readable(Ok((200, r#"{"status":"Succ"}"#)), soon), None);
    assert!(readable(Ok((500, "")), soon).is_some());
    assert!(readable(Ok((400, "")), LIMIT).is_some());
    assert!(readable(Err(NoResponse::Closed("it was closed".into())), soon).is_some());
    assert!(readable(Err(NoResponse::TimedOut(LIMIT)), LIMIT).is_some());
}
