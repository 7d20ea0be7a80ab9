//! Calls to the driver: recorded, and in the ledger before they are made.

use super::{Run, lock};
use crate::exchange::{Exchange, Kind, NoAnswer, Received, Sent};
use crate::lab::{Answer, Call};
use crate::record::About;
use crate::transport::Request;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// For whom the ledger keeps what the run's own calls make: nobody cleans up for it by itself.
const RUN: &str = "the run";

impl Run {
    /// Makes a call of the run's own, or of a check.
    pub(crate) async fn call(
        &self,
        check: Option<&'static str>,
        call: &Call,
        timeout: Duration,
    ) -> Answer {
        let retry_id = lock(&self.retry_ids).u128(..);
        let request = call.request(
            &uuid::Builder::from_random_bytes(retry_id.to_le_bytes())
                .into_uuid()
                .to_string(),
        );
        self.call_as(check, call, &request, timeout).await
    }

    /// Makes a call by a request that was made of it.
    pub(crate) async fn call_as(
        &self,
        check: Option<&'static str>,
        call: &Call,
        request: &Request,
        timeout: Duration,
    ) -> Answer {
        self.ledger.before(check.unwrap_or(RUN), call);
        let exchange = self
            .exchange(check, request, Some(call.webhook()), call.kind(), timeout)
            .await;
        let answer = Answer::new(exchange);
        self.ledger.after(call, &answer);
        answer
    }

    /// Sends a request and records what came of it.
    pub(crate) async fn exchange(
        &self,
        check: Option<&'static str>,
        request: &Request,
        webhook: Option<&'static str>,
        kind: Kind,
        timeout: Duration,
    ) -> Arc<Exchange> {
        let began = Instant::now();
        let outcome = self.transport.send(request, timeout).await;
        let about = About {
            check,
            webhook,
            kind,
            took: began.elapsed(),
        };
        self.recorded(about, request, outcome)
    }

    /// Records what came of a request.
    pub(crate) fn recorded(
        &self,
        about: About,
        request: &Request,
        outcome: Result<Received, NoAnswer>,
    ) -> Arc<Exchange> {
        let sent = Sent {
            method: request.method.clone(),
            url: self.transport.url_of(&request.path),
            headers: self.transport.shown_headers(request),
            body: request.body.clone(),
        };
        let exchange = self.record.add(about, sent, outcome);
        self.heard(&exchange);
        exchange
    }
}
