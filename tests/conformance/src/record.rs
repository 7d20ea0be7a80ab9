//! Everything that was asked and answered in a run.

use crate::exchange::{Exchange, Kind, NoAnswer, Received, Sent};
use bytes::Bytes;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How much of a body is kept: what is longer is a check's on purpose, and judged at once.
const KEPT: usize = 64 << 10;

/// How much of answers that are longer than that is kept, all in all: a driver whose answers all
/// have the longest body there may be must not fill the memory.
const LONG_KEPT: usize = 64 << 20;

/// The exchanges of a run, in the order in which they ended.
#[derive(Debug, Default)]
pub(crate) struct Record {
    last: AtomicU64,
    /// The bytes of all long answers so far.
    long: AtomicUsize,
    exchanges: Mutex<Vec<Arc<Exchange>>>,
}

/// What is known of an exchange beside the bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About {
    pub(crate) check: Option<&'static str>,
    pub(crate) webhook: Option<&'static str>,
    pub(crate) kind: Kind,
    pub(crate) took: Duration,
}

impl Record {
    /// Adds one.
    pub(crate) fn add(
        &self,
        about: About,
        mut sent: Sent,
        outcome: Result<Received, NoAnswer>,
    ) -> Arc<Exchange> {
        if sent.body.len() > KEPT {
            // A copy, so that the long one goes.
            sent.body = Bytes::copy_from_slice(&sent.body[..KEPT]);
        }
        let exchange = Arc::new(Exchange {
            sequence: self.last.fetch_add(1, Ordering::Relaxed) + 1,
            check: about.check,
            webhook: about.webhook,
            kind: about.kind,
            sent,
            outcome,
            took: about.took,
        });
        self.lock().push(self.as_kept(&exchange));
        exchange
    }

    /// What is kept of an exchange: without the answer, when there were too many long ones.
    fn as_kept(&self, exchange: &Arc<Exchange>) -> Arc<Exchange> {
        let length = match &exchange.outcome {
            Ok(received) if received.body.len() > KEPT => received.body.len(),
            _ => return exchange.clone(),
        };
        if self.long.fetch_add(length, Ordering::Relaxed) + length <= LONG_KEPT {
            return exchange.clone();
        }
        Arc::new(Exchange {
            outcome: Err(NoAnswer::TooLarge(KEPT)),
            ..Exchange::clone(exchange)
        })
    }

    /// All of them.
    pub(crate) fn all(&self) -> Vec<Arc<Exchange>> {
        self.lock().clone()
    }

    /// Those of a check.
    pub(crate) fn of(&self, check: &str) -> Vec<Arc<Exchange>> {
        let mut exchanges = self.all();
        exchanges.retain(|exchange| exchange.check == Some(check));
        exchanges
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Exchange>>> {
        self.exchanges
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderMap, Method};

    #[test]
    fn long_answers_are_kept_until_there_are_too_many() {
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
            let about = About {
                check: None,
                webhook: Some("healthz"),
                kind: Kind::Proper,
                took: Duration::ZERO,
            };
            let exchange = record.add(about, sent, Ok(received));
            assert!(exchange.outcome.is_ok(), "whoever asked sees all of it");
        };
        for body in [&body, &body, &body, &Bytes::from_static(b"{}")] {
            add(body);
        }
        let kept: Vec<bool> = record.all().iter().map(|one| one.outcome.is_ok()).collect();
        assert_eq!(kept, [true, true, false, true]);
    }
}
