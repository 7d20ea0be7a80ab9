//! What is told to the log about a call, and how.
//!
//! What comes from peers and from drivers stands in fields, as text, and never in an event's own
//! message: fields are written quoted, with control characters escaped, so nobody can make a line
//! that looks like another's. And it is cut: a body may have megabytes.

use crate::webhook::{Status, StringMap};
use crate::{HookError, Rejection};
use std::borrow::Cow;
use std::error::Error;
use tokio::time::Instant;

/// How many bytes a value in a span has at most: each line of the log has them all.
const SPAN_VALUE: usize = 128;
/// How many bytes of a message, or of the errors behind it, are logged.
const MESSAGE: usize = 4096;

/// At most the first `limit` bytes, in whole characters.
fn cut(text: &str, limit: usize) -> &str {
    let mut ends = (0..=limit.min(text.len())).rev();
    ends.find_map(|end| text.get(..end)).unwrap_or_default()
}

/// A text of the caller's, for a span.
pub(super) fn short(text: &str) -> &str {
    cut(text, SPAN_VALUE)
}

/// A load balancer, for a span: by its serial key, or else by as much of its identity as fits.
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

/// An operation's hook ended. The message is for the user and goes onto the wire; what is behind
/// it is for the log alone.
pub(super) fn operation_ended<T>(result: &Result<T, HookError>, begun: Instant) {
    let Err(hook_error) = result else {
        tracing::debug!(took = ?begun.elapsed(), "the hook succeeded");
        return;
    };
    let answer = cut(hook_error.message(), MESSAGE);
    match hook_error.status() {
        Status::Fail => {
            let (because, took) = (
                because(hook_error.source(), hook_error.message()),
                begun.elapsed(),
            );
            tracing::warn!(answer, because, ?took, "the hook failed");
        }
        Status::Running | Status::Succ => tracing::debug!(
            answer,
            because = because(hook_error.source(), hook_error.message()),
            took = ?begun.elapsed(),
            "the hook says that it still runs"
        ),
    }
}

/// A decision's hook ended. A "no" is news for the user, who gets it; the operator is told where
/// there is something behind it that the user does not see.
pub(super) fn verdict_ended<T>(result: &Result<T, Rejection>, begun: Instant) {
    let Err(rejection) = result else {
        tracing::debug!(took = ?begun.elapsed(), "the hook says yes");
        return;
    };
    let answer = cut(rejection.message(), MESSAGE);
    let took = begun.elapsed();
    match because(rejection.source(), rejection.message()) {
        Some(because) => tracing::info!(answer, because, ?took, "the hook says no"),
        None => tracing::debug!(answer, ?took, "the hook says no"),
    }
}

/// The errors behind a failure or a "no", the outermost first; without the one that became its message.
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
