//! Converts the calls of a report to requests.

use crate::report::{CheckResult, ExchangeReport, Report, Status};
use crate::transport::{LEFT_OUT, Request};
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName};

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
    /// Or why it is left out.
    pub(super) request: Result<Request, &'static str>,
}

impl<'a> ReplayedCall<'a> {
    /// `base` is the URL of the report's driver.
    fn new(check: &'a str, exchange: &'a ExchangeReport, base: &str) -> Self {
        Self {
            check,
            exchange,
            request: request(exchange, base),
        }
    }
}

/// The calls of failed checks, or of the selected ones, in their original order.
pub(super) fn calls<'a>(report: &'a Report, only: &[String]) -> Vec<ReplayedCall<'a>> {
    let is_selected = |result: &&CheckResult| {
        let is_named = only.iter().any(|name| {
            name.eq_ignore_ascii_case(&result.id) || name.eq_ignore_ascii_case(&result.group)
        });
        is_named || only.is_empty() && result.status == Status::Failed
    };
    let base = &report.driver.url;
    let results = report.results.iter().filter(is_selected);
    let mut calls: Vec<_> = results
        .flat_map(|result| {
            let exchanges = result.exchanges.iter();
            exchanges.map(|exchange| ReplayedCall::new(&result.id, exchange, base))
        })
        .collect();
    calls.sort_by_key(|call| call.exchange.sequence);
    calls
}

/// All calls of a journal, whose URLs are paths.
pub(super) fn of_journal(exchanges: &[ExchangeReport]) -> Vec<ReplayedCall<'_>> {
    let call = |exchange| ReplayedCall::new("call", exchange, "");
    exchanges.iter().map(call).collect()
}

fn request(old: &ExchangeReport, base: &str) -> Result<Request, &'static str> {
    if old.request_cut {
        return Err("the report has only the beginning of its body");
    }
    if old.request_body.contains('\u{fffd}') {
        return Err("its body is not text, and the report only contains text");
    }
    let path = path_below(&old.url, base);
    Ok(Request {
        path: path.ok_or("its URL is not below that of the report's driver")?,
        method: old.method.parse().map_err(|_| "its method is invalid")?,
        headers: headers(old),
        body: Bytes::from(old.request_body.clone()),
    })
}

/// The path of a URL below the driver's, without the query of the driver's URL.
fn path_below(url: &str, base: &str) -> Option<String> {
    let (base, query) = base.split_once('?').unwrap_or((base, ""));
    let below = url.strip_prefix(base.trim_end_matches('/'))?;
    let path = match below {
        "" => below,
        below => below.strip_prefix('/')?,
    };
    let path = path.strip_suffix(&format!("?{query}")).unwrap_or(path);
    Some(path.to_owned())
}

fn headers(old: &ExchangeReport) -> HeaderMap {
    let sent = old.sent().headers.into_iter();
    let mut headers: HeaderMap = sent
        .filter_map(|(name, value)| Some((name?, value)))
        .filter(|(name, value)| value != SECRET && !OWN.contains(name))
        .collect();
    for name in DEFAULT {
        if !old.request_headers.contains_key(name.as_str()) {
            headers.insert(name, LEFT_OUT);
        }
    }
    headers
}

#[cfg(test)]
mod tests;
