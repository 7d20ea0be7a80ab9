use super::super::compare::is_same;
use super::*;
use crate::report::ExchangeReport;
use serde_json::json;

/// A call with this body, and its response.
fn call(sequence: u64, url: &str, body: &str, answer: &str) -> ExchangeReport {
    serde_json::from_value(json!({
        "sequence": sequence, "method": "POST", "url": url,
        "requestHeaders": {
            "host": "127.0.0.1:1", "content-length": "2", "x-tenant": "***",
            "content-type": "application/json", "accept": "application/json",
        },
        "requestBody": body, "status": 200, "responseBody": answer, "ms": 3,
    }))
    .unwrap()
}

fn report(results: &serde_json::Value) -> Report {
    let document = json!({
        "suiteVersion": "0", "specVersion": "v1beta1", "started": "2026-01-31T12:00:00Z", "ms": 1,
        "driver": {"url": "http://driver.example/lbcf?zone=1"}, "seed": 1, "profile": "core",
        "observer": false, "features": [], "reproduce": "", "results": results,
        "summary": {
            "passed": 0, "failed": 0, "skipped": 0, "failedMust": 0, "failedShould": 0,
            "knownFailures": 0, "unexpectedPasses": 0, "result": "partial",
        },
        "leftBehind": [], "hints": [],
    });
    crate::output::read(&document.to_string()).unwrap()
}

fn result(id: &str, status: &str, exchanges: &[ExchangeReport]) -> serde_json::Value {
    let group = id.split('-').next().unwrap();
    json!({
        "id": id, "level": "MUST", "group": group, "rule": "r", "status": status, "ms": 1,
        "exchanges": exchanges,
    })
}

const URL: &str = "http://driver.example/lbcf/ensureBackend?zone=1";

#[test]
fn calls_of_failed_checks_come_in_their_order() {
    let report = report(&json!([
        result(
            "ENS-02",
            "failed",
            &[call(7, URL, "{}", "{}"), call(3, URL, "{}", "{}")]
        ),
        result("DRG-01", "passed", &[call(5, URL, "{}", "{}")]),
        result("CLB-01", "failed", &[call(4, URL, "{}", "{}")]),
    ]));
    let order = |only: &[&str]| {
        let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
        let calls = calls(&report, &only);
        let sequence = calls.iter().map(|call| call.exchange.sequence);
        sequence.collect::<Vec<_>>()
    };
    assert_eq!(order(&[]), [3, 4, 7]);
    assert_eq!(order(&["DRG"]), [5]);
    assert_eq!(order(&["ENS-02", "DRG-01"]), [3, 5, 7]);
}

#[test]
fn requests_are_sent_as_they_were_but_for_secrets_and_the_connection() {
    let report = report(&json!([result(
        "ENS-02",
        "failed",
        &[call(1, URL, "{\"a\":1}", "")]
    )]));
    let calls = calls(&report, &[]);
    let request = calls[0].request.as_ref().unwrap();
    assert_eq!(request.path, "ensureBackend");
    assert_eq!(request.body, "{\"a\":1}");
    let headers: Vec<_> = request.headers.keys().map(HeaderName::as_str).collect();
    assert!(!headers.contains(&"host") && !headers.contains(&"x-tenant"));
    assert!(headers.contains(&"content-type"));
    assert_eq!(request.headers["user-agent"], LEFT_OUT);
}

#[test]
fn what_cannot_be_sent_again_is_named() {
    let mut cut = call(1, URL, "{", "");
    cut.request_cut = true;
    let bytes = call(2, URL, "\u{fffd}", "");
    let elsewhere = call(3, "http://other.example/x", "{}", "");
    let beside = call(4, "http://driver.example/lbcfx", "{}", "");
    let report = report(&json!([result(
        "BAD-04",
        "failed",
        &[cut, bytes, elsewhere, beside]
    )]));
    let calls = calls(&report, &[]);
    let reasons: Vec<_> = calls
        .iter()
        .map(|call| *call.request.as_ref().unwrap_err())
        .collect();
    assert!(reasons[0].contains("beginning"), "{reasons:?}");
    assert!(reasons[1].contains("not text"), "{reasons:?}");
    assert!(reasons[2].contains("not below"), "{reasons:?}");
    assert!(reasons[3].contains("not below"), "{reasons:?}");
}

#[test]
fn answers_are_the_same_but_for_echoes_and_times() {
    let old = call(
        1,
        URL,
        r#"{"retryID":"7f1b-1"}"#,
        r#"{"status":"Fail","msg":"7f1b-1: no"}"#,
    );
    let answered = |body: &str| {
        let mut new = old.clone();
        new.response_body = Some(body.to_owned());
        new.ms = 900;
        new.response_headers = std::collections::BTreeMap::from([("date".into(), "x".into())]);
        is_same(&old, &new)
    };
    assert!(answered(r#"{ "msg": "7f1b-1: no", "status": "Fail" }"#));
    assert!(answered(r#"{"status":"Fail","msg":": no"}"#));
    assert!(!answered(r#"{"status":"Succ","msg":"7f1b-1: no"}"#));
    let at = |time: &str| call(1, URL, "{}", &format!("{{\"msg\":\"since {time}, busy\"}}"));
    assert!(is_same(
        &at("2026-01-31T12:00:00Z"),
        &at("2026-02-01T08:30:01.5+01:00")
    ));
    assert!(!is_same(&at("Monday"), &at("Tuesday")));
    let mut other = old.clone();
    other.status = Some(500);
    assert!(!is_same(&old, &other));
}
