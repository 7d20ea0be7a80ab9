//! Which calls of a report can be sent again, and as what.

use super::Old;
use crate::exchange::{Exchange, Kind, NoAnswer, Received, Sent};
use crate::report::{ExchangeReport, Report, Status};
use crate::transport::{LEFT_OUT, Request};
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;

/// Headers that the transport sets by itself, or has from flags.
const OWN: [HeaderName; 3] = [header::HOST, header::CONTENT_LENGTH, header::CONNECTION];
/// Headers that are sent unless they are left out on purpose.
const DEFAULT: [HeaderName; 3] = [header::ACCEPT, header::USER_AGENT, header::CONTENT_TYPE];
/// What stands in a report instead of a secret.
const SECRET: &str = "***";

/// One call of a report.
#[derive(Debug)]
pub(super) struct Step<'a> {
    pub(super) check: &'a str,
    pub(super) exchange: &'a Old,
    pub(super) again: Again,
}

/// Whether it can be sent again.
#[derive(Debug)]
pub(super) enum Again {
    /// This is sent.
    Send(Request),
    /// Nothing is, for this reason.
    LeftOut(&'static str),
}

/// The calls of failed checks, or of those that are named, in the order in which they were made.
pub(super) fn steps<'a>(report: &'a Report, only: &[String]) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = report
        .results
        .iter()
        .filter(|result| {
            let is_named = only.iter().any(|name| {
                name.eq_ignore_ascii_case(&result.id) || name.eq_ignore_ascii_case(&result.group)
            });
            is_named || only.is_empty() && result.status == Status::Failed
        })
        .flat_map(|result| {
            result.exchanges.iter().map(|exchange| Step {
                check: &result.id,
                exchange,
                again: again(exchange, &report.driver.url),
            })
        })
        .collect();
    steps.sort_by_key(|step| step.exchange.sequence);
    steps
}

fn again(old: &Old, base: &str) -> Again {
    if old.request_cut {
        return Again::LeftOut("the report has only the beginning of its body");
    }
    if old.request_body.contains('\u{fffd}') {
        return Again::LeftOut("its body is no text, and the report has texts only");
    }
    let Some(path) = path_below(&old.url, base) else {
        return Again::LeftOut("its URL is not below that of the report's driver");
    };
    let Ok(method) = old.method.parse() else {
        return Again::LeftOut("its method is none");
    };
    Again::Send(Request {
        method,
        path,
        headers: headers(old),
        body: Bytes::from(old.request_body.clone()),
    })
}

/// What a URL has behind the driver's; a query of the driver's URL is not taken along.
fn path_below(url: &str, base: &str) -> Option<String> {
    let (base, query) = match base.split_once('?') {
        Some((base, query)) => (base, Some(query)),
        None => (base, None),
    };
    let below = url.strip_prefix(base.trim_end_matches('/'))?;
    let path = below
        .strip_prefix('/')
        .or(Some(below).filter(|p| p.is_empty()))?;
    let path = match query {
        Some(query) => path.strip_suffix(&format!("?{query}")).unwrap_or(path),
        None => path,
    };
    Some(path.to_owned())
}

fn headers(old: &Old) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in &old.request_headers {
        let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value))
        else {
            continue;
        };
        if value != SECRET && !OWN.contains(&name) {
            headers.insert(name, value);
        }
    }
    for name in DEFAULT {
        if !old.request_headers.contains_key(name.as_str()) {
            headers.insert(name, LEFT_OUT);
        }
    }
    headers
}

/// The old call with what came of it now.
pub(super) fn answered(
    old: &Old,
    outcome: Result<Received, NoAnswer>,
    took: Duration,
) -> ExchangeReport {
    let exchange = Exchange {
        sequence: old.sequence,
        check: None,
        webhook: None,
        kind: Kind::Unusual,
        sent: Sent {
            method: http::Method::POST,
            url: String::new(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
        },
        outcome,
        took,
    };
    let new = ExchangeReport::from(&exchange);
    ExchangeReport {
        method: old.method.clone(),
        url: old.url.clone(),
        request_headers: old.request_headers.clone(),
        request_body: old.request_body.clone(),
        ..new
    }
}

#[cfg(test)]
mod tests;
