use super::*;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

fn ready(turn: &mut Turn<&'static str>) -> bool {
    let come = pin!(turn.come());
    come.poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
}

fn is_empty(turns: &Turns<&'static str>) -> bool {
    turns.0.lock().is_empty()
}

#[test]
fn turns_come_in_the_order_of_the_places() {
    let turns = Turns::<_>::default();
    let mut first = turns.take_place("a");
    let mut second = turns.take_place("a");
    let mut third = turns.take_place("a");
    assert!(!ready(&mut third));
    assert!(!ready(&mut second));
    assert!(ready(&mut first));
    drop(first);
    assert!(!ready(&mut third));
    assert!(ready(&mut second));
    drop(second);
    assert!(ready(&mut third));
    drop(third);
    assert!(is_empty(&turns));
}

#[test]
fn other_keys_do_not_wait() {
    let turns = Turns::<_>::default();
    let _first = turns.take_place("a");
    assert!(ready(&mut turns.take_place("b")));
}

#[test]
fn a_line_that_ended_begins_anew() {
    let turns = Turns::<_>::default();
    for _ in 0..3 {
        assert!(ready(&mut turns.take_place("a")));
        assert!(is_empty(&turns));
    }
}

#[test]
fn who_leaves_the_middle_of_the_line_lets_nobody_overtake() {
    let turns = Turns::<_>::default();
    let first = turns.take_place("a");
    let second = turns.take_place("a");
    let mut third = turns.take_place("a");
    drop(second);
    assert!(!ready(&mut third));
    drop(first);
    assert!(ready(&mut third));
}

#[test]
fn who_leaves_the_end_of_the_line_lets_nobody_overtake() {
    let turns = Turns::<_>::default();
    let first = turns.take_place("a");
    let second = turns.take_place("a");
    drop(second);
    let mut third = turns.take_place("a");
    assert!(!ready(&mut third));
    drop(first);
    assert!(ready(&mut third));
    drop(third);
    assert!(is_empty(&turns));
}

#[test]
fn who_leaves_just_when_its_turn_has_come_passes_it_on() {
    let turns = Turns::<_>::default();
    let first = turns.take_place("a");
    let second = turns.take_place("a");
    let mut third = turns.take_place("a");
    drop(first);
    // The second has its turn, and never looked.
    drop(second);
    assert!(ready(&mut third));
    drop(third);
    assert!(is_empty(&turns));
}

#[test]
fn only_who_comes_later_waits() {
    let turns = Turns::<_>::default();
    let first = turns.take_place("a");
    let mut second = turns.take_place("a");
    assert!(!first.waits() && second.waits());
    drop(first);
    assert!(ready(&mut second));
    assert!(!second.waits());
}
