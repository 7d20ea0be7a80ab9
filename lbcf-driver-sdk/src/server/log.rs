//! The log of calls.
//!
//! Text of peers and drivers is logged in fields and never in an event's message: fields are quoted,
//! with control characters escaped, so that it cannot forge lines. It is also truncated, because a
//! body may have megabytes.

use crate::webhook::{Status, StringMap};
use crate::{HookError, Rejection};
use axum::http::{HeaderMap, HeaderName};
use lbcf_serving::traces;
use std::borrow::Cow;
use std::error::Error;
use tokio::time::Instant;
use tracing::Span;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// The limit of a value in a span, in bytes: each line of the log repeats them.
const SPAN_VALUE: usize = 128;
/// The limit of a message, or of the errors behind it, in bytes.
const MESSAGE: usize = 4096;

/// At most the first `limit` bytes, in whole characters.
fn cut(text: &str, limit: usize) -> &str {
    let mut ends = (0..=limit.min(text.len())).rev();
    ends.find_map(|end| text.get(..end)).unwrap_or_default()
}

pub(super) fn short(text: &str) -> &str {
    cut(text, SPAN_VALUE)
}

/// A load balancer, for a span: its serial key, or else as much of its identity as fits.
pub(super) fn load_balancer<'a>(key: Option<&'a str>, identity: &StringMap) -> Cow<'a, str> {
    if let Some(key) = key {
        return short(key).into();
    }
    let mut name = String::with_capacity(SPAN_VALUE);
    for (field, value) in identity {
        if name.len() >= SPAN_VALUE {
            break;
        }
        if !name.is_empty() {
            name.push(',');
        }
        name.push_str(short(field));
        name.push('=');
        name.push_str(short(value));
    }
    name.truncate(cut(&name, SPAN_VALUE).len());
    name.into()
}

/// The W3C `traceparent` of a caller.
#[derive(Debug)]
pub(super) struct Trace(String);

impl Trace {
    /// None of a malformed one, or of another version.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let value: &[u8; 55] = headers.get(TRACEPARENT)?.as_bytes().try_into().ok()?;
        let (trace, span, flags) = (&value[3..35], &value[36..52], &value[53..]);
        // Without a way out, many digits are compared at a time.
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_hex = |id: &[u8]| id.iter().fold(true, |all, byte| all & is_digit(byte));
        let is_id = |id: &[u8]| is_hex(id) && id.iter().any(|digit| *digit != b'0');
        let dashes = [value[2], value[35], value[52]];
        let is_valid = value.starts_with(b"00")
            && dashes == *b"---"
            && is_id(trace)
            && is_id(span)
            && is_hex(flags);
        let text = str::from_utf8(value).ok().filter(|_| is_valid);
        text.map(|text| Self(text.to_owned()))
    }

    pub(super) fn id(&self) -> &str {
        self.0.get(3..35).unwrap_or_default()
    }

    /// Makes a span part of its caller's trace.
    pub(super) fn continue_in(&self, span: &Span) {
        traces::continue_trace(span, &self.0);
    }
}

/// Logs the end of an operation's hook, with the error behind it, which is not sent to the caller.
pub(super) fn operation_ended<T>(result: &Result<T, HookError>, started: Instant) {
    let Err(hook_error) = result else {
        tracing::debug!(took = ?started.elapsed(), "the hook succeeded");
        return;
    };
    let response = cut(hook_error.message(), MESSAGE);
    match hook_error.status() {
        Status::Fail => {
            let (because, took) = (
                because(hook_error.source(), hook_error.message()),
                started.elapsed(),
            );
            tracing::warn!(response, because, ?took, "the hook failed");
        }
        Status::Running | Status::Succ => tracing::debug!(
            response,
            because = because(hook_error.source(), hook_error.message()),
            took = ?started.elapsed(),
            "the hook is still running"
        ),
    }
}

/// Logs the end of a decision's hook. A "no" is for the user, who receives it; it is only logged at
/// info if an error is behind it, which the user does not see.
pub(super) fn verdict_ended<T>(result: &Result<T, Rejection>, started: Instant) {
    let Err(rejection) = result else {
        tracing::debug!(took = ?started.elapsed(), "the hook accepted");
        return;
    };
    let response = cut(rejection.message(), MESSAGE);
    let took = started.elapsed();
    match because(rejection.source(), rejection.message()) {
        Some(because) => tracing::info!(response, because, ?took, "the hook refused"),
        None => tracing::debug!(response, ?took, "the hook refused"),
    }
}

/// The errors behind an outcome, outermost first, without the one that became its message.
fn because(source: Option<&(dyn Error + Send + Sync)>, message: &str) -> Option<String> {
    let outermost: &dyn Error = source?;
    let mut chain = outermost.to_string();
    let mut deeper = outermost.source();
    if chain == message {
        chain = deeper?.to_string();
        deeper = deeper.and_then(Error::source);
    }
    while let Some(error) = deeper
        && chain.len() < MESSAGE
    {
        chain.push_str(": ");
        chain.push_str(&error.to_string());
        deeper = error.source();
    }
    chain.truncate(cut(&chain, MESSAGE).len());
    Some(chain)
}

#[cfg(test)]
mod tests;
