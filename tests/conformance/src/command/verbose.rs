//! `--verbose`: each call as a curl command with its response, after its check.

use crate::exchange::Sent;
use crate::output::{curl_of, shown};
use crate::progress::Progress;
use crate::report::{CheckResult, ExchangeReport};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

/// Progress with the calls of each check.
#[derive(Debug)]
pub(super) struct WithRequests<P>(pub(super) P);

impl<P: Progress> Progress for WithRequests<P> {
    fn started(&self, check: &str) {
        self.0.started(check);
    }

    fn finished(&self, result: &CheckResult) {
        for exchange in &result.exchanges {
            for line in described(&result.id, exchange).lines() {
                self.0.note(line);
            }
        }
        self.0.finished(result);
    }

    fn note(&self, text: &str) {
        self.0.note(text);
    }

    fn ended(&self) {
        self.0.ended();
    }
}

/// A call and its response, for people.
fn described(check: &str, exchange: &ExchangeReport) -> String {
    format!(
        "{check} #{} ({} ms)\n{}\n{}",
        exchange.sequence,
        exchange.ms,
        curl_of(&sent(exchange)),
        response(exchange)
    )
}

/// A response, for people.
pub(super) fn response(exchange: &ExchangeReport) -> String {
    match (exchange.status, &exchange.no_answer) {
        (Some(status), _) => {
            let body = exchange.response_body.as_deref().unwrap_or_default();
            let cut = if exchange.response_cut {
                "… (cut)"
            } else {
                ""
            };
            format!("HTTP {status} {}{cut}", shown(body))
        }
        (None, Some(problem)) => format!("no response: {}", shown(problem)),
        (None, None) => "no response".to_owned(),
    }
}

/// The request of a report's exchange.
pub(super) fn sent(exchange: &ExchangeReport) -> Sent {
    let mut headers = HeaderMap::new();
    for (name, value) in &exchange.request_headers {
        let header = (name.parse::<HeaderName>(), HeaderValue::from_str(value));
        if let (Ok(name), Ok(value)) = header {
            headers.insert(name, value);
        }
    }
    Sent {
        method: exchange.method.parse().unwrap_or(Method::POST),
        url: exchange.url.clone(),
        headers,
        body: Bytes::from(exchange.request_body.clone()),
    }
}
