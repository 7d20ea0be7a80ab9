use super::super::metrics::{Measured, Metrics};
use super::*;
use crate::webhook::EnsureBackend;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

fn metrics() -> Arc<WebhookMetrics> {
    Arc::clone(EnsureBackend::of(&Metrics::new()))
}

#[test]
fn there_are_as_many_permits_as_configured_and_at_least_one() {
    for (allowed, there) in [(0, 1), (1, 1), (3, 3)] {
        let permits = HookPermits::new(allowed, 0);
        let taken: Vec<_> = std::iter::from_fn(|| permits.try_acquire()).collect();
        assert_eq!(taken.len(), there);
        drop(taken);
        assert!(permits.try_acquire().is_some());
    }
    // More than can be counted are as many as can be counted.
    assert!(
        HookPermits::new(usize::MAX, usize::MAX)
            .try_acquire()
            .is_some()
    );
}

#[test]
fn permits_are_given_in_the_order_of_the_requests() {
    let permits = HookPermits::new(1, 10);
    let permit = permits.try_acquire();
    let mut context = Context::from_waker(Waker::noop());
    let mut waits = pin!(permits.acquire());
    assert!(waits.as_mut().poll(&mut context).is_pending());
    drop(permit);
    assert!(permits.try_acquire().is_none());
    assert!(matches!(
        waits.as_mut().poll(&mut context),
        Poll::Ready(Some(_))
    ));
}

#[test]
fn only_so_many_wait_with_only_so_many_bytes() {
    let (permits, metrics) = (HookPermits::new(1, 2), metrics());
    let first = permits.queue(1, &metrics).unwrap();
    let second = permits.queue(1, &metrics).unwrap();
    assert!(permits.queue(1, &metrics).is_none());
    drop(first);
    // The second byte still counts.
    assert!(permits.queue(WAITING_BYTES, &metrics).is_none());
    let all_the_rest = permits.queue(WAITING_BYTES - 1, &metrics).unwrap();
    drop((second, all_the_rest));
    assert!(permits.queue(usize::MAX, &metrics).is_none());
    assert!(permits.queue(WAITING_BYTES, &metrics).is_some());
    assert!(HookPermits::new(1, 0).queue(0, &metrics).is_none());
}
