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
fn there_are_as_many_places_as_allowed_and_at_least_one() {
    for (allowed, there) in [(0, 1), (1, 1), (3, 3)] {
        let places = Places::new(allowed, 0);
        let taken: Vec<_> = std::iter::from_fn(|| places.try_place()).collect();
        assert_eq!(taken.len(), there);
        drop(taken);
        assert!(places.try_place().is_some());
    }
    // More than can be counted are as many as can be counted.
    assert!(Places::new(usize::MAX, usize::MAX).try_place().is_some());
}

#[test]
fn nobody_overtakes_who_waits_for_a_place() {
    let places = Places::new(1, 10);
    let place = places.try_place();
    let mut context = Context::from_waker(Waker::noop());
    let mut waits = pin!(places.place());
    assert!(waits.as_mut().poll(&mut context).is_pending());
    drop(place);
    assert!(places.try_place().is_none());
    assert!(matches!(
        waits.as_mut().poll(&mut context),
        Poll::Ready(Some(_))
    ));
}

#[test]
fn only_so_many_wait_with_only_so_many_bytes() {
    let (places, metrics) = (Places::new(1, 2), metrics());
    let first = places.queue(1, &metrics).unwrap();
    let second = places.queue(1, &metrics).unwrap();
    assert!(places.queue(1, &metrics).is_none());
    drop(first);
    // The second byte still counts.
    assert!(places.queue(WAITING_BYTES, &metrics).is_none());
    let all_the_rest = places.queue(WAITING_BYTES - 1, &metrics).unwrap();
    drop((second, all_the_rest));
    assert!(places.queue(usize::MAX, &metrics).is_none());
    assert!(places.queue(WAITING_BYTES, &metrics).is_some());
    assert!(Places::new(1, 0).queue(0, &metrics).is_none());
}
