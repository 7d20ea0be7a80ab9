//! All requests and responses of a run.

use crate::exchange::{Exchange, NoResponse};
use crate::sync::lock;
use bytes::Bytes;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The limit for a recorded request body, in bytes. Checks that send longer ones do not read them back.
const KEPT: usize = 64 << 10;

/// The limit for the sum of all response bodies longer than [`KEPT`], in bytes: a driver that only
/// sends long responses must not fill the memory.
const LONG_KEPT: usize = 64 << 20;

/// The exchanges of a run, in the order in which they ended.
#[derive(Debug, Default)]
pub(crate) struct Record {
    last: AtomicU64,
    /// The bytes of all long responses so far.
    long: AtomicUsize,
    exchanges: Mutex<Vec<Arc<Exchange>>>,
}

impl Record {
    /// Records an exchange under the next number.
    pub(crate) fn add(&self, mut exchange: Exchange) -> Arc<Exchange> {
        exchange.sequence = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let body = &mut exchange.sent.body;
        if body.len() > KEPT {
            // A copy, so that the long body is dropped.
            *body = Bytes::copy_from_slice(&body[..KEPT]);
        }
        let exchange = Arc::new(exchange);
        lock(&self.exchanges).push(self.as_kept(&exchange));
        exchange
    }

    /// Drops the response once there were too many long ones.
    fn as_kept(&self, exchange: &Arc<Exchange>) -> Arc<Exchange> {
        let length = match &exchange.outcome {
            Ok(received) if received.body.len() > KEPT => received.body.len(),
            _ => return exchange.clone(),
        };
        if self.long.fetch_add(length, Ordering::Relaxed) + length <= LONG_KEPT {
            return exchange.clone();
        }
        Arc::new(Exchange {
            outcome: Err(NoResponse::TooLarge(KEPT)),
            ..Exchange::clone(exchange)
        })
    }

    pub(crate) fn all(&self) -> Vec<Arc<Exchange>> {
        lock(&self.exchanges).clone()
    }

    pub(crate) fn of(&self, check: &str) -> Vec<Arc<Exchange>> {
        let mut exchanges = self.all();
        exchanges.retain(|exchange| exchange.check == Some(check));
        exchanges
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{Received, RequestKind, Sent};
    use http::{HeaderMap, Method};
    use std::time::Duration;

    #[test]
    fn long_responses_are_kept_until_there_are_too_many() {
        let record = Record::default();
        let body = Bytes::from(vec![b'x'; LONG_KEPT / 2]);
        let add = |body: &Bytes| {
            let sent = Sent {
                method: Method::POST,
                url: String::new(),
                headers: HeaderMap::new(),
                body: Bytes::new(),
            };
            let received = Received {
                status: 200,
                headers: HeaderMap::new(),
                body: body.clone(),
            };
            let exchange = record.add(Exchange {
                sequence: 0,
                check: None,
                webhook: Some("healthz"),
                kind: RequestKind::Valid,
                sent,
                outcome: Ok(received),
                took: Duration::ZERO,
            });
            assert!(
                exchange.outcome.is_ok(),
                "the caller gets the whole response"
            );
        };
        for body in [&body, &body, &body, &Bytes::from_static(b"{}")] {
            add(body);
        }
        let kept: Vec<bool> = record.all().iter().map(|one| one.outcome.is_ok()).collect();
        assert_eq!(kept, [true, true, false, true]);
    }
}
