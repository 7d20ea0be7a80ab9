//! The journal that `GET /_mock/requests/export` of the mock driver writes: another source of calls.

use crate::report::ExchangeReport;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Distinguishes a journal from a report.
const KIND: &str = "CallJournal";

#[derive(Debug, Deserialize)]
struct Journal {
    calls: Vec<JournalCall>,
}

/// The fields of an entry that a replay needs; a journal has more.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct JournalCall {
    sequence: u64,
    webhook: String,
    #[serde(default)]
    micros: u64,
    #[serde(default)]
    msg: String,
    http_status: Option<u16>,
    #[serde(default)]
    request: String,
    #[serde(default)]
    request_cut: bool,
    #[serde(default)]
    response: String,
    #[serde(default)]
    response_cut: bool,
}

/// The calls of a journal, with URLs below an empty one; none if the text is no journal.
pub(super) fn read(text: &str) -> Option<Result<Vec<ExchangeReport>, String>> {
    let value: Value = serde_json::from_str(text).ok()?;
    if value.get("kind")? != KIND {
        return None;
    }
    Some(match serde_json::from_str::<Journal>(text) {
        Ok(journal) => Ok(journal.calls.into_iter().map(exchange).collect()),
        Err(error) => Err(format!("the journal is invalid: {error}")),
    })
}

fn exchange(call: JournalCall) -> ExchangeReport {
    let json = ("content-type".to_owned(), "application/json".to_owned());
    ExchangeReport {
        sequence: call.sequence,
        method: "POST".to_owned(),
        url: format!("/{}", call.webhook),
        request_headers: BTreeMap::from([json]),
        request_body: call.request,
        request_cut: call.request_cut,
        status: call.http_status,
        response_headers: BTreeMap::new(),
        response_body: call.http_status.is_some().then_some(call.response),
        response_cut: call.response_cut,
        no_answer: call.http_status.is_none().then_some(call.msg),
        ms: call.micros / 1000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_read_and_other_documents_are_not() {
        let text = r#"{"apiVersion": "lbcf.dev/v1", "kind": "CallJournal", "calls": [
            {"sequence": 7, "webhook": "healthz", "micros": 2500, "httpStatus": 200,
             "request": "{}", "response": "{\"healthy\":true}", "future": 1},
            {"sequence": 8, "webhook": "healthz", "msg": "reset", "request": "{", "requestCut": true}
        ]}"#;
        let calls = read(text).unwrap().unwrap();
        assert_eq!((calls[0].url.as_str(), calls[0].ms), ("/healthz", 2));
        assert_eq!(
            calls[0].response_body.as_deref(),
            Some("{\"healthy\":true}")
        );
        assert_eq!(calls[1].no_answer.as_deref(), Some("reset"));
        assert!(calls[1].request_cut && calls[1].response_body.is_none());
        for other in ["", "[]", "{}", r#"{"kind": "Pod"}"#] {
            assert!(read(other).is_none(), "{other}");
        }
        for (calls, expected) in [
            ("7", "invalid type: integer `7`"),
            ("[{}]", "missing field `sequence`"),
            (r#"[{"sequence": 1, "webhook": 2}]"#, "expected a string"),
        ] {
            let text = format!(r#"{{"kind": "CallJournal", "calls": {calls}}}"#);
            let problem = read(&text).unwrap().unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
