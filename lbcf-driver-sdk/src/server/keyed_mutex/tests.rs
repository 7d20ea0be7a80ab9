use super::*;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

fn holds(waiter: &mut Waiter<&'static str>) -> bool {
    let acquired = pin!(waiter.acquire());
    acquired.poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
}

fn is_empty(mutex: &KeyedMutex<&'static str>) -> bool {
    mutex.0.lock().is_empty()
}

#[test]
fn a_key_is_granted_in_the_order_of_arrival() {
    let mutex = KeyedMutex::<_>::default();
    let mut first = mutex.enqueue("a", ());
    let mut second = mutex.enqueue("a", ());
    let mut third = mutex.enqueue("a", ());
    assert!(!holds(&mut third));
    assert!(!holds(&mut second));
    assert!(holds(&mut first));
    drop(first);
    assert!(!holds(&mut third));
    assert!(holds(&mut second));
    drop(second);
    assert!(holds(&mut third));
    drop(third);
    assert!(is_empty(&mutex));
}

#[test]
fn other_keys_do_not_wait() {
    let mutex = KeyedMutex::<_>::default();
    let _first = mutex.enqueue("a", ());
    assert!(holds(&mut mutex.enqueue("b", ())));
}

#[test]
fn a_released_key_can_be_held_again() {
    let mutex = KeyedMutex::<_>::default();
    for _ in 0..3 {
        assert!(holds(&mut mutex.enqueue("a", ())));
        assert!(is_empty(&mutex));
    }
}

#[test]
fn dropping_a_waiter_in_the_middle_lets_no_other_overtake() {
    let mutex = KeyedMutex::<_>::default();
    let first = mutex.enqueue("a", ());
    let second = mutex.enqueue("a", ());
    let mut third = mutex.enqueue("a", ());
    drop(second);
    assert!(!holds(&mut third));
    drop(first);
    assert!(holds(&mut third));
}

#[test]
fn dropping_the_last_waiter_lets_no_other_overtake() {
    let mutex = KeyedMutex::<_>::default();
    let first = mutex.enqueue("a", ());
    let second = mutex.enqueue("a", ());
    drop(second);
    let mut third = mutex.enqueue("a", ());
    assert!(!holds(&mut third));
    drop(first);
    assert!(holds(&mut third));
    drop(third);
    assert!(is_empty(&mutex));
}

#[test]
fn a_waiter_that_is_dropped_just_after_the_grant_passes_it_on() {
    let mutex = KeyedMutex::<_>::default();
    let first = mutex.enqueue("a", ());
    let second = mutex.enqueue("a", ());
    let mut third = mutex.enqueue("a", ());
    drop(first);
    // The second was granted the key and has not been polled since.
    drop(second);
    assert!(holds(&mut third));
    drop(third);
    assert!(is_empty(&mutex));
}

#[test]
fn only_later_waiters_wait() {
    let mutex = KeyedMutex::<_>::default();
    let first = mutex.enqueue("a", ());
    let mut second = mutex.enqueue("a", ());
    assert!(!first.is_waiting() && second.is_waiting());
    drop(first);
    assert!(holds(&mut second));
    assert!(!second.is_waiting());
}
