//! Calls to the driver: recorded, and in the ledger before they are sent.

use super::Run;
use crate::call::{DriverReply, WebhookCall};
use crate::exchange::{Exchange, NoResponse, Received, RequestKind, Sent};
use crate::record::ExchangeInfo;
use crate::sync::lock;
use crate::transport::Request;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The owner of the resources that the run's own calls create.
const RUN: &str = "the run";

impl Run {
    /// Makes a call of the run, or of a check.
    pub(crate) async fn call(
        &self,
        check: Option<&'static str>,
        call: &WebhookCall,
        timeout: Duration,
    ) -> DriverReply {
        let retry_id = lock(&self.retry_ids).u128(..);
        let request = call.request(
            &uuid::Builder::from_random_bytes(retry_id.to_le_bytes())
                .into_uuid()
                .to_string(),
        );
        self.call_as(check, call, &request, timeout).await
    }

    /// Makes a call with a request that was built from it.
    pub(crate) async fn call_as(
        &self,
        check: Option<&'static str>,
        call: &WebhookCall,
        request: &Request,
        timeout: Duration,
    ) -> DriverReply {
        self.ledger.before(check.unwrap_or(RUN), call);
        let exchange = self
            .exchange(check, request, Some(call.webhook()), call.kind(), timeout)
            .await;
        let answer = DriverReply::new(exchange);
        self.ledger.after(call, &answer);
        answer
    }

    /// Sends a request and records the exchange.
    pub(crate) async fn exchange(
        &self,
        check: Option<&'static str>,
        request: &Request,
        webhook: Option<&'static str>,
        kind: RequestKind,
        timeout: Duration,
    ) -> Arc<Exchange> {
        let timeout = match webhook {
            Some(webhook) => self.patience().timeout(webhook, timeout),
            None => timeout,
        };
        let began = Instant::now();
        let outcome = self.transport.send(request, timeout).await;
        let about = ExchangeInfo {
            check,
            webhook,
            kind,
            took: began.elapsed(),
        };
        self.recorded(about, request, outcome)
    }

    /// Records the outcome of a request.
    pub(crate) fn recorded(
        &self,
        about: ExchangeInfo,
        request: &Request,
        outcome: Result<Received, NoResponse>,
    ) -> Arc<Exchange> {
        let sent = Sent {
            method: request.method.clone(),
            url: self.transport.url_of(&request.path),
            headers: self.transport.shown_headers(request),
            body: request.body.clone(),
        };
        let exchange = self.record.add(about, sent, outcome);
        self.watch_silence(&exchange);
        exchange
    }
}
