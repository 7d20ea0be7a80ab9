use super::super::outcome::Outcome;
use super::*;

fn calls() -> InFlightCalls<()> {
    limited_to(1 << 20)
}

fn limited_to(bytes: usize) -> InFlightCalls<()> {
    InFlightCalls::new(bytes, IntGauge::new("retained", "Results.").unwrap())
}

fn key(record: &str) -> IdempotencyKey {
    IdempotencyKey::new("ensureBackend", record, false, Bytes::new)
}

fn response(text: &str) -> HookResponse {
    HookResponse::ok(serde_json::to_vec(&text), Outcome::Succ)
}

#[derive(Debug, PartialEq, Eq)]
enum Routed {
    Started(CallId),
    Joined(CallId, ()),
    Collected(HookResponse),
}

impl InFlightCalls<()> {
    /// A call as the router makes it. Requests here only have equal content if they have equal
    /// bytes.
    fn call(
        &mut self,
        key: &IdempotencyKey,
        request: &Bytes,
        backend: Option<BackendId>,
        state: (),
    ) -> Routed {
        let known = match self.lookup(key, request, ContentMatch::NotCompared) {
            Lookup::Compare(id, other) => {
                assert_ne!(*request, other, "equal bytes need no comparison");
                self.lookup(key, request, ContentMatch::Different(id))
            }
            known => known,
        };
        match known {
            Lookup::Join(id, state) => Routed::Joined(id, state),
            Lookup::Collect(response) => Routed::Collected(response),
            Lookup::Miss => Routed::Started(self.start(key, request, backend, state)),
            Lookup::Compare(..) => panic!("compared twice"),
        }
    }
}

const A: Bytes = Bytes::from_static(b"A");
const B: Bytes = Bytes::from_static(b"B");
const C: Bytes = Bytes::from_static(b"C");

fn start(calls: &mut InFlightCalls<()>, key: &IdempotencyKey, content: &Bytes) -> CallId {
    match calls.call(key, content, None, ()) {
        Routed::Started(id) => id,
        other => panic!("{other:?}"),
    }
}

fn is_empty(calls: &InFlightCalls<()>) -> bool {
    calls.latest.is_empty() && calls.retained.is_empty() && calls.retained_bytes == 0
}

#[test]
fn equal_calls_join_and_the_result_is_removed_once_delivered() {
    let (mut calls, s) = (calls(), key("1"));
    let id = start(&mut calls, &s, &A);
    assert_eq!(calls.call(&s, &A, None, ()), Routed::Joined(id, ()));
    assert_eq!(calls.finished(&s, id, Some(response("x"))), Retained::No);
    calls.delivered(&s, id);
    calls.delivered(&s, id);
    assert!(is_empty(&calls));
    assert_ne!(start(&mut calls, &s, &A), id);
}

#[test]
fn a_call_between_finish_and_delivery_starts_a_new_operation() {
    let (mut calls, s) = (calls(), key("1"));
    let first = start(&mut calls, &s, &A);
    assert_eq!(calls.finished(&s, first, Some(response("x"))), Retained::No);
    let second = start(&mut calls, &s, &A);
    calls.delivered(&s, first);
    // The first operation's caller does not affect the second operation.
    assert_eq!(calls.call(&s, &A, None, ()), Routed::Joined(second, ()));
}

#[test]
fn a_result_without_waiting_calls_is_collected_once() {
    let (mut calls, s) = (calls(), key("1"));
    let id = start(&mut calls, &s, &A);
    assert_eq!(calls.left(&s, id, true), Retained::No);
    assert_eq!(calls.finished(&s, id, Some(response("x"))), Retained::Yes);
    assert_eq!(
        calls.call(&s, &A, None, ()),
        Routed::Collected(response("x"))
    );
    assert!(is_empty(&calls));
    start(&mut calls, &s, &A);
}

#[test]
fn a_result_is_retained_when_the_last_waiting_call_leaves_without_it() {
    let (mut calls, s) = (calls(), key("1"));
    let id = start(&mut calls, &s, &A);
    assert_eq!(calls.call(&s, &A, None, ()), Routed::Joined(id, ()));
    assert_eq!(calls.finished(&s, id, Some(response("x"))), Retained::No);
    assert_eq!(calls.left(&s, id, true), Retained::No);
    assert_eq!(calls.left(&s, id, true), Retained::Yes);
    assert_eq!(
        calls.call(&s, &A, None, ()),
        Routed::Collected(response("x"))
    );
}

#[test]
fn a_delivered_result_is_not_retained_when_another_call_leaves() {
    let (mut calls, s) = (calls(), key("1"));
    let id = start(&mut calls, &s, &A);
    assert_eq!(calls.call(&s, &A, None, ()), Routed::Joined(id, ()));
    assert_eq!(calls.finished(&s, id, Some(response("x"))), Retained::No);
    calls.delivered(&s, id);
    assert_eq!(calls.left(&s, id, true), Retained::No);
    assert!(is_empty(&calls));
}

#[test]
fn other_content_replaces_a_running_operation() {
    let (mut calls, s) = (calls(), key("1"));
    let a = start(&mut calls, &s, &A);
    let b = start(&mut calls, &s, &B);
    assert_eq!(calls.left(&s, a, true), Retained::No);
    assert_eq!(calls.finished(&s, a, Some(response("a"))), Retained::No);
    assert_eq!(calls.call(&s, &B, None, ()), Routed::Joined(b, ()));
    // A call equal to the first must not get the result from before the change.
    let again = start(&mut calls, &s, &A);
    assert!(again > b);
}

#[test]
fn other_content_drops_an_uncollected_result() {
    let (mut calls, s) = (calls(), key("1"));
    let a = start(&mut calls, &s, &A);
    assert_eq!(calls.left(&s, a, true), Retained::No);
    assert_eq!(calls.finished(&s, a, Some(response("a"))), Retained::Yes);
    let b = start(&mut calls, &s, &B);
    assert_eq!(calls.retained_bytes, 0);
    calls.expire(&s, a);
    assert_eq!(calls.call(&s, &B, None, ()), Routed::Joined(b, ()));
}

#[test]
fn an_operation_without_a_result_is_removed() {
    let (mut calls, s) = (calls(), key("1"));
    let id = start(&mut calls, &s, &A);
    assert_eq!(calls.left(&s, id, true), Retained::No);
    assert_eq!(calls.finished(&s, id, None), Retained::No);
    assert!(is_empty(&calls));
}

#[test]
fn results_expire() {
    let (mut calls, s) = (calls(), key("1"));
    let id = start(&mut calls, &s, &A);
    calls.expire(&s, id); // it calls
    assert_eq!(calls.left(&s, id, true), Retained::No);
    assert_eq!(calls.finished(&s, id, Some(response("x"))), Retained::Yes);
    calls.expire(&s, id);
    assert!(is_empty(&calls));
}

#[test]
fn retained_results_are_bounded_and_the_oldest_is_dropped_first() {
    let mut calls = limited_to(40);
    for record in ["1", "2", "3", "4"] {
        let s = key(record);
        let id = start(&mut calls, &s, &A);
        assert_eq!(calls.left(&s, id, true), Retained::No);
        // 1 byte of request and 12 bytes of response.
        assert_eq!(
            calls.finished(&s, id, Some(response("0123456789"))),
            Retained::Yes
        );
        assert!(calls.retained_bytes <= 40);
    }
    assert!(matches!(
        calls.call(&key("1"), &A, None, ()),
        Routed::Started(_)
    ));
    assert!(matches!(
        calls.call(&key("4"), &A, None, ()),
        Routed::Collected(_)
    ));

    let s = key("large");
    let id = start(&mut calls, &s, &A);
    assert_eq!(calls.left(&s, id, true), Retained::No);
    let large = response(&"x".repeat(50));
    assert_eq!(calls.finished(&s, id, Some(large)), Retained::No);
    assert_eq!(calls.retained_bytes, 0);
}

#[test]
fn subjects_differ_by_webhook_record_and_dry_run() {
    let keys = [
        key("1"),
        key("2"),
        IdempotencyKey::new("deregisterBackend", "1", false, || A),
        IdempotencyKey::new("ensureBackend", "1", true, || A),
        // Without a recordID the content is the key.
        IdempotencyKey::new("ensureBackend", "", false, || A),
        IdempotencyKey::new("ensureBackend", "", false, || B),
    ];
    let mut calls = calls();
    for key in &keys {
        start(&mut calls, key, &A);
    }
    assert_eq!(calls.latest.len(), keys.len());
}

#[test]
fn a_hang_up_promises_nothing() {
    let (mut calls, s) = (calls(), key("1"));
    let id = start(&mut calls, &s, &A);
    assert_eq!(calls.left(&s, id, false), Retained::No);
    assert_eq!(calls.finished(&s, id, Some(response("x"))), Retained::No);
    assert!(is_empty(&calls));
    // One of two was promised the result: the order in which they leave does not matter.
    let id = start(&mut calls, &s, &A);
    assert_eq!(calls.call(&s, &A, None, ()), Routed::Joined(id, ()));
    assert_eq!(calls.left(&s, id, true), Retained::No);
    assert_eq!(calls.left(&s, id, false), Retained::No);
    assert_eq!(calls.finished(&s, id, Some(response("x"))), Retained::Yes);
}

#[test]
fn the_result_of_a_creation_is_retained_after_a_hang_up_until_a_deletion() {
    let mut calls = calls();
    let create = IdempotencyKey::new("createLoadBalancer", "1", false, Bytes::new);
    for delete in [false, true] {
        let id = start(&mut calls, &create, &A);
        assert_eq!(calls.left(&create, id, false), Retained::No);
        assert_eq!(
            calls.finished(&create, id, Some(response("x"))),
            Retained::Yes
        );
        if delete {
            retain(&mut calls, "deleteLoadBalancer", None);
        }
        let collected = matches!(calls.call(&create, &A, None, ()), Routed::Collected(_));
        assert_eq!(collected, !delete);
    }
}

fn backend(addr: &str) -> BackendId {
    BackendId::new(&StringMap::from([("lbID".into(), "lb-1".into())]), addr)
}

/// Leaves a result that was promised to a caller.
fn retain(
    calls: &mut InFlightCalls<()>,
    webhook: &'static str,
    backend: Option<BackendId>,
) -> IdempotencyKey {
    let key = IdempotencyKey::new(webhook, &format!("{webhook}(1)"), false, || A);
    let Routed::Started(id) = calls.call(&key, &A, backend, ()) else {
        panic!("{webhook} calls already");
    };
    assert_eq!(calls.left(&key, id, true), Retained::No);
    assert_eq!(calls.finished(&key, id, Some(response("x"))), Retained::Yes);
    key
}

fn is_retained(calls: &InFlightCalls<()>, key: &IdempotencyKey) -> bool {
    calls.retained.values().any(|kept| kept.key == *key)
}

#[test]
fn d28_a_result_is_obsolete_once_another_webhook_worked_on_the_backend() {
    let mut calls = calls();
    let here = retain(&mut calls, "ensureBackend", Some(backend("a")));
    let dry_run = IdempotencyKey::new("deregisterBackend", "2", true, || A);
    calls.call(&dry_run, &A, Some(backend("a")), ());
    let elsewhere = IdempotencyKey::new("deregisterBackend", "3", false, || A);
    calls.call(&elsewhere, &A, Some(backend("b")), ());
    assert!(is_retained(&calls, &here));
    let same = IdempotencyKey::new("deregisterBackend", "4", false, || A);
    calls.call(&same, &A, Some(backend("a")), ());
    assert!(!is_retained(&calls, &here));
}

#[test]
fn d28_a_result_is_obsolete_if_another_webhook_was_running_meanwhile() {
    let mut calls = calls();
    let leaving = IdempotencyKey::new("deregisterBackend", "2", false, || A);
    let Routed::Started(id) = calls.call(&leaving, &A, Some(backend("a")), ()) else {
        panic!();
    };
    let ensured = retain(&mut calls, "ensureBackend", Some(backend("a")));
    assert_eq!(
        calls.finished(&leaving, id, Some(response("y"))),
        Retained::No
    );
    assert!(!is_retained(&calls, &ensured));
}

#[test]
fn d28_a_deletion_makes_every_other_result_obsolete_and_a_creation_those_of_deletions() {
    let mut calls = calls();
    let created = retain(&mut calls, "createLoadBalancer", None);
    let ensured = retain(&mut calls, "ensureBackend", Some(backend("a")));
    retain(&mut calls, "ensureLoadBalancer", None);
    assert!(is_retained(&calls, &created), "ensuring does not drop it");
    let deleted = retain(&mut calls, "deleteLoadBalancer", None);
    assert!(!is_retained(&calls, &created) && !is_retained(&calls, &ensured));
    assert!(is_retained(&calls, &deleted));
    retain(&mut calls, "createLoadBalancer", None);
    assert!(!is_retained(&calls, &deleted));
    assert!(calls.retained_by_backend.is_empty());
    assert_eq!(calls.retained_gauge.get(), 1, "of the creation");
}

#[test]
fn requests_of_different_bytes_are_equal_if_their_content_is() {
    let (mut calls, s) = (calls(), key("1"));
    let id = start(&mut calls, &s, &A);
    assert_eq!(
        calls.lookup(&s, &B, ContentMatch::NotCompared),
        Lookup::Compare(id, A)
    );
    assert_eq!(
        calls.lookup(&s, &B, ContentMatch::Equal(id)),
        Lookup::Join(id, ())
    );
    assert_eq!(
        calls.lookup(&s, &B, ContentMatch::Different(id)),
        Lookup::Miss
    );
    // A comparison with an operation does not apply to the one that replaced it.
    let next = start(&mut calls, &s, &C);
    assert_eq!(
        calls.lookup(&s, &B, ContentMatch::Equal(id)),
        Lookup::Compare(next, C)
    );
    assert_eq!(
        calls.lookup(&s, &B, ContentMatch::Different(id)),
        Lookup::Compare(next, C)
    );
}
