//! Converts exchanges and failures for the report.

use super::curl::{curl_of, cut_body};
use super::text::{shown, visible};
use crate::exchange::{Exchange, NoResponse, Received, Sent};
use crate::outcome::Failure;
use crate::report::{ExchangeReport, FailureReport};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The longest body of a request in the report, in bytes.
pub const REQUEST_KEPT: usize = 4 * 1024;
/// The longest body of a response in the report, in bytes.
pub const RESPONSE_KEPT: usize = 16 * 1024;

/// The headers of a response that reports show: those that checks verify.
/// The longest body of a response for people, in bytes.
const BODY: usize = 600;
const SHOWN_HEADERS: [&str; 5] = [
    "content-type",
    "content-length",
    "location",
    "allow",
    "connection",
];

/// The response for people: the status line, the relevant headers, and the body, cut after 2 kB and
/// with visible control characters; or the reason for a missing one.
///
/// ```
/// use lbcf_conformance::exchange::{NoResponse, Received};
/// use lbcf_conformance::output::excerpt;
///
/// let response = Received {
///     status: 201,
///     headers: http::HeaderMap::new(),
///     body: bytes::Bytes::from_static(b"{}"),
/// };
/// assert_eq!(excerpt(&Ok(response)), "HTTP 201 Created\n\n{}");
/// assert_eq!(
///     excerpt(&Err(NoResponse::HungUp)),
///     "no response: the check closed the connection on purpose"
/// );
/// ```
pub fn excerpt(outcome: &Result<Received, NoResponse>) -> String {
    let answer = match outcome {
        Ok(answer) => answer,
        Err(why) => return format!("no response: {}", visible(&why.to_string())),
    };
    let mut text = format!("HTTP {}", answer.status);
    let status = http::StatusCode::from_u16(answer.status).ok();
    if let Some(reason) = status.and_then(|status| status.canonical_reason()) {
        let _ = write!(text, " {reason}");
    }
    for name in SHOWN_HEADERS {
        for value in answer.headers.get_all(name) {
            let value = String::from_utf8_lossy(value.as_bytes());
            let _ = write!(text, "\n{name}: {}", visible(&value));
        }
    }
    let (body, left) = cut_body(&answer.body, BODY);
    if answer.body.is_empty() {
        text.push_str("\n\n(no body)");
    } else {
        let _ = write!(text, "\n\n{}", visible(&String::from_utf8_lossy(body)));
    }
    if left > 0 {
        let _ = write!(text, "… ({left} more bytes)");
    }
    text
}

impl FailureReport {
    /// Converts a failure; `typical` is the likely cause without a hint.
    pub fn of(failure: &Failure, typical: &str) -> Self {
        let exchange = failure.exchange.as_deref();
        Self {
            expected: failure.expected.clone(),
            got: failure.got.clone(),
            likely_cause: failure.hint.clone().unwrap_or_else(|| typical.to_owned()),
            driver_wrote: String::new(),
            curl: exchange.map(|exchange| curl_of(&exchange.sent)),
            answer: exchange.map(|exchange| excerpt(&exchange.outcome)),
        }
    }
}

impl From<&Exchange> for ExchangeReport {
    fn from(exchange: &Exchange) -> Self {
        let (request_body, request_left) = cut_body(&exchange.sent.body, REQUEST_KEPT);
        let answer = exchange.outcome.as_ref().ok();
        let body = answer.map(|answer| cut_body(&answer.body, RESPONSE_KEPT));
        Self {
            sequence: exchange.sequence,
            method: exchange.sent.method.to_string(),
            url: exchange.sent.url.clone(),
            request_headers: headers(&exchange.sent.headers),
            request_body: String::from_utf8_lossy(request_body).into_owned(),
            request_cut: request_left > 0,
            status: answer.map(|answer| answer.status),
            response_headers: answer.map_or_else(BTreeMap::new, |a| headers(&a.headers)),
            response_body: body.map(|(body, _)| String::from_utf8_lossy(body).into_owned()),
            response_cut: body.is_some_and(|(_, left)| left > 0),
            no_answer: exchange.outcome.as_ref().err().map(ToString::to_string),
            ms: u64::try_from(exchange.took.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl ExchangeReport {
    /// The request.
    pub(crate) fn sent(&self) -> Sent {
        let headers = self.request_headers.iter().filter_map(|(name, value)| {
            let name = name.parse::<HeaderName>().ok()?;
            Some((name, HeaderValue::from_str(value).ok()?))
        });
        Sent {
            method: self.method.parse().unwrap_or(Method::POST),
            url: self.url.clone(),
            headers: headers.collect(),
            body: Bytes::from(self.request_body.clone()),
        }
    }

    /// The response, for people.
    pub(crate) fn response(&self) -> String {
        match (self.status, &self.no_answer) {
            (Some(status), _) => {
                let body = shown(self.response_body.as_deref().unwrap_or_default());
                let cut = if self.response_cut { "… (cut)" } else { "" };
                format!("HTTP {status} {body}{cut}")
            }
            (None, Some(problem)) => format!("no response: {}", shown(problem)),
            (None, None) => "no response".to_owned(),
        }
    }

    /// The call of a check and its response, for people.
    pub(crate) fn described(&self, check: &str) -> String {
        let (curl, response) = (curl_of(&self.sent()), self.response());
        let (sequence, ms) = (self.sequence, self.ms);
        format!("{check} #{sequence} ({ms} ms)\n{curl}\n{response}")
    }
}

/// Headers as a map; several values of one name are joined by commas.
fn headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let joined = |name: &HeaderName| {
        let values = headers.get_all(name).iter();
        let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()));
        (name.to_string(), values.collect::<Vec<_>>().join(", "))
    };
    headers.keys().map(joined).collect()
}

#[cfg(test)]
mod tests;
