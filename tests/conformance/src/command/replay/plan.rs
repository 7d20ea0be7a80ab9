//! Converts the calls of a report to requests.

use crate::exchange::{Exchange, NoResponse, Received, RequestKind, Sent};
use crate::report::{ExchangeReport, Report, Status};
use crate::transport::{LEFT_OUT, Request};
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;

/// Headers that the transport sets.
const OWN: [HeaderName; 3] = [header::HOST, header::CONTENT_LENGTH, header::CONNECTION];
/// Headers that the transport sends by default.
const DEFAULT: [HeaderName; 3] = [header::ACCEPT, header::USER_AGENT, header::CONTENT_TYPE];
/// Replaces secrets in a report.
const SECRET: &str = "***";

#[derive(Debug)]
pub(super) struct ReplayedCall<'a> {
    pub(super) check: &'a str,
    pub(super) exchange: &'a ExchangeReport,
    pub(super) replay: Replay,
}

#[derive(Debug)]
pub(super) enum Replay {
    Send(Request),
    LeftOut(&'static str),
}

/// The calls of failed checks, or of the selected ones, in their original order.
pub(super) fn calls<'a>(report: &'a Report, only: &[String]) -> Vec<ReplayedCall<'a>> {
    let mut calls: Vec<ReplayedCall<'a>> = report
        .results
        .iter()
        .filter(|result| {
            let is_named = only.iter().any(|name| {
                name.eq_ignore_ascii_case(&result.id) || name.eq_ignore_ascii_case(&result.group)
            });
            is_named || only.is_empty() && result.status == Status::Failed
        })
        .flat_map(|result| {
            result.exchanges.iter().map(|exchange| ReplayedCall {
                check: &result.id,
                exchange,
                replay: replay(exchange, &report.driver.url),
            })
        })
        .collect();
    calls.sort_by_key(|call| call.exchange.sequence);
    calls
}

/// All calls of a journal, whose URLs are paths.
pub(super) fn of_journal(exchanges: &[ExchangeReport]) -> Vec<ReplayedCall<'_>> {
    let calls = exchanges.iter().map(|exchange| ReplayedCall {
        check: "call",
        exchange,
        replay: replay(exchange, ""),
    });
    calls.collect()
}

fn replay(old: &ExchangeReport, base: &str) -> Replay {
    if old.request_cut {
        return Replay::LeftOut("the report has only the beginning of its body");
    }
    if old.request_body.contains('\u{fffd}') {
        return Replay::LeftOut("its body is not text, and the report only contains text");
    }
    let Some(path) = path_below(&old.url, base) else {
        return Replay::LeftOut("its URL is not below that of the report's driver");
    };
    let Ok(method) = old.method.parse() else {
        return Replay::LeftOut("its method is invalid");
    };
    Replay::Send(Request {
        method,
        path,
        headers: headers(old),
        body: Bytes::from(old.request_body.clone()),
    })
}

/// The path of a URL below the driver's, without the query of the driver's URL.
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

fn headers(old: &ExchangeReport) -> HeaderMap {
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

/// The old call with its new outcome.
pub(super) fn answered(
    old: &ExchangeReport,
    outcome: Result<Received, NoResponse>,
    took: Duration,
) -> ExchangeReport {
    let exchange = Exchange {
        sequence: old.sequence,
        check: None,
        webhook: None,
        kind: RequestKind::Unusual,
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
