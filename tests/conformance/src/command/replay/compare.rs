//! Compares responses, without regard to times and to retryIDs that some drivers echo.

use crate::report::ExchangeReport;
use serde_json::Value;

/// True if status and body are the same, whatever the headers are.
pub(super) fn is_same(old: &ExchangeReport, new: &ExchangeReport) -> bool {
    let retry_id = serde_json::from_str::<Value>(&old.request_body)
        .ok()
        .and_then(|request| Some(request.get("retryID")?.as_str()?.to_owned()))
        .unwrap_or_default();
    let content = |exchange: &ExchangeReport| {
        let body = exchange.response_body.as_deref().unwrap_or_default();
        let body = serde_json::from_str(body).unwrap_or_else(|_| Value::String(body.to_owned()));
        plain(body, &retry_id)
    };
    // The reasons for missing responses contain times.
    old.status == new.status
        && old.no_answer.is_some() == new.no_answer.is_some()
        && content(old) == content(new)
}

/// Removes echoes and times from the texts of a value.
fn plain(value: Value, retry_id: &str) -> Value {
    match value {
        Value::String(text) => Value::String(without_times(&text.replace(retry_id, ""))),
        Value::Array(items) => items
            .into_iter()
            .map(|item| plain(item, retry_id))
            .collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, plain(value, retry_id)))
            .collect(),
        other => other,
    }
}

/// Removes times such as `2026-01-31T12:00:00Z`.
fn without_times(text: &str) -> String {
    let mut end = 0;
    let is_kept = |(at, _): &(usize, char)| {
        if *at >= end {
            end = at + time_at_start(&text[*at..]);
        }
        *at >= end
    };
    let kept = text.char_indices().filter(is_kept);
    kept.map(|(_, character)| character).collect()
}

/// The length of a time at the start of a text, in bytes.
fn time_at_start(text: &str) -> usize {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let bytes = text.as_bytes();
    let fits = bytes.len() >= SHAPE.len()
        && bytes.iter().zip(SHAPE).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b't' | b' '),
            shape => byte == shape,
        });
    if !fits {
        return 0;
    }
    let is_rest = |byte: &&u8| {
        byte.is_ascii_digit() || matches!(byte, b'.' | b':' | b'+' | b'-' | b'Z' | b'z')
    };
    SHAPE.len() + bytes[SHAPE.len()..].iter().take_while(is_rest).count()
}
