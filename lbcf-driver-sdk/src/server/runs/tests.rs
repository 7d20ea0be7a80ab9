use super::super::metrics::Outcome;
use super::*;

fn runs() -> Runs<()> {
    Runs::new(1 << 20)
}

fn subject(record: &str) -> Subject {
    Subject::new("ensureBackend", record, false, Bytes::new)
}

fn answer(text: &str) -> Answer {
    Answer::ok(&text, Outcome::Succ)
}

/// What came of a call.
#[derive(Debug, PartialEq, Eq)]
enum Call {
    Start(RunId),
    Join(RunId, ()),
    Collect(Answer),
}

impl Runs<()> {
    /// A call as whoever acts would see to it. Requests here have the same content only if they
    /// have the same bytes.
    fn call(
        &mut self,
        subject: &Subject,
        request: &Bytes,
        backend: Option<Backend>,
        listen: (),
    ) -> Call {
        let known = match self.known(subject, request, Same::Unknown) {
            Known::Maybe(id, other) => {
                assert_ne!(*request, other, "equal bytes need no comparing");
                self.known(subject, request, Same::NotAs(id))
            }
            known => known,
        };
        match known {
            Known::Join(id, listen) => Call::Join(id, listen),
            Known::Collect(answer) => Call::Collect(answer),
            Known::Nothing => Call::Start(self.start(subject, request, backend, listen)),
            Known::Maybe(..) => panic!("told and asked again"),
        }
    }
}

const A: Bytes = Bytes::from_static(b"A");
const B: Bytes = Bytes::from_static(b"B");
const C: Bytes = Bytes::from_static(b"C");

fn start(runs: &mut Runs<()>, subject: &Subject, content: &Bytes) -> RunId {
    match runs.call(subject, content, None, ()) {
        Call::Start(id) => id,
        other => panic!("{other:?}"),
    }
}

fn is_empty(runs: &Runs<()>) -> bool {
    runs.latest.is_empty() && runs.kept.is_empty() && runs.kept_bytes == 0
}

#[test]
fn equal_calls_join_and_the_result_is_forgotten_once_delivered() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.call(&s, &A, None, ()), Call::Join(id, ()));
    assert_eq!(runs.finished(&s, id, Some(answer("x"))), Kept::No);
    runs.got(&s, id);
    runs.got(&s, id);
    assert!(is_empty(&runs));
    assert_ne!(start(&mut runs, &s, &A), id);
}

#[test]
fn a_call_between_finish_and_delivery_starts_anew() {
    let (mut runs, s) = (runs(), subject("1"));
    let first = start(&mut runs, &s, &A);
    assert_eq!(runs.finished(&s, first, Some(answer("x"))), Kept::No);
    let second = start(&mut runs, &s, &A);
    runs.got(&s, first);
    // What the first one's caller does is no news about the second.
    assert_eq!(runs.call(&s, &A, None, ()), Call::Join(second, ()));
}

#[test]
fn a_result_that_nobody_waits_for_is_collected_once() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.left(&s, id, true), Kept::No);
    assert_eq!(runs.finished(&s, id, Some(answer("x"))), Kept::Yes);
    assert_eq!(runs.call(&s, &A, None, ()), Call::Collect(answer("x")));
    assert!(is_empty(&runs));
    start(&mut runs, &s, &A);
}

#[test]
fn a_result_is_kept_when_the_last_who_waited_leaves_without_it() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.call(&s, &A, None, ()), Call::Join(id, ()));
    assert_eq!(runs.finished(&s, id, Some(answer("x"))), Kept::No);
    assert_eq!(runs.left(&s, id, true), Kept::No);
    assert_eq!(runs.left(&s, id, true), Kept::Yes);
    assert_eq!(runs.call(&s, &A, None, ()), Call::Collect(answer("x")));
}

#[test]
fn a_result_that_one_got_is_not_kept_when_another_leaves() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.call(&s, &A, None, ()), Call::Join(id, ()));
    assert_eq!(runs.finished(&s, id, Some(answer("x"))), Kept::No);
    runs.got(&s, id);
    assert_eq!(runs.left(&s, id, true), Kept::No);
    assert!(is_empty(&runs));
}

#[test]
fn other_content_replaces_a_running_operation() {
    let (mut runs, s) = (runs(), subject("1"));
    let a = start(&mut runs, &s, &A);
    let b = start(&mut runs, &s, &B);
    assert_eq!(runs.left(&s, a, true), Kept::No);
    assert_eq!(runs.finished(&s, a, Some(answer("a"))), Kept::No);
    assert_eq!(runs.call(&s, &B, None, ()), Call::Join(b, ()));
    // An equal call must not be answered from before the change.
    let again = start(&mut runs, &s, &A);
    assert!(again > b);
}

#[test]
fn other_content_drops_an_uncollected_result() {
    let (mut runs, s) = (runs(), subject("1"));
    let a = start(&mut runs, &s, &A);
    assert_eq!(runs.left(&s, a, true), Kept::No);
    assert_eq!(runs.finished(&s, a, Some(answer("a"))), Kept::Yes);
    let b = start(&mut runs, &s, &B);
    assert_eq!(runs.kept_bytes, 0);
    runs.expire(&s, a);
    assert_eq!(runs.call(&s, &B, None, ()), Call::Join(b, ()));
}

#[test]
fn what_gave_no_result_is_forgotten() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.left(&s, id, true), Kept::No);
    assert_eq!(runs.finished(&s, id, None), Kept::No);
    assert!(is_empty(&runs));
}

#[test]
fn results_expire() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    runs.expire(&s, id); // it runs
    assert_eq!(runs.left(&s, id, true), Kept::No);
    assert_eq!(runs.finished(&s, id, Some(answer("x"))), Kept::Yes);
    runs.expire(&s, id);
    assert!(is_empty(&runs));
}

#[test]
fn kept_results_are_bounded_and_the_oldest_goes_first() {
    let mut runs: Runs<()> = Runs::new(40);
    for record in ["1", "2", "3", "4"] {
        let s = subject(record);
        let id = start(&mut runs, &s, &A);
        assert_eq!(runs.left(&s, id, true), Kept::No);
        // 1 byte of content and 12 bytes of answer.
        assert_eq!(runs.finished(&s, id, Some(answer("0123456789"))), Kept::Yes);
        assert!(runs.kept_bytes <= 40);
    }
    assert!(matches!(
        runs.call(&subject("1"), &A, None, ()),
        Call::Start(_)
    ));
    assert!(matches!(
        runs.call(&subject("4"), &A, None, ()),
        Call::Collect(_)
    ));

    let s = subject("large");
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.left(&s, id, true), Kept::No);
    let large = answer(&"x".repeat(50));
    assert_eq!(runs.finished(&s, id, Some(large)), Kept::No);
    assert_eq!(runs.kept_bytes, 0);
}

#[test]
fn subjects_differ_by_webhook_record_and_dry_run() {
    let subjects = [
        subject("1"),
        subject("2"),
        Subject::new("deregisterBackend", "1", false, || A),
        Subject::new("ensureBackend", "1", true, || A),
        // Without a record the content has to do.
        Subject::new("ensureBackend", "", false, || A),
        Subject::new("ensureBackend", "", false, || B),
    ];
    let mut runs = runs();
    for subject in &subjects {
        start(&mut runs, subject, &A);
    }
    assert_eq!(runs.latest.len(), subjects.len());
}

#[test]
fn who_hung_up_was_promised_nothing() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.left(&s, id, false), Kept::No);
    assert_eq!(runs.finished(&s, id, Some(answer("x"))), Kept::No);
    assert!(is_empty(&runs));
    // One of two was promised it: it is kept whoever leaves last.
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.call(&s, &A, None, ()), Call::Join(id, ()));
    assert_eq!(runs.left(&s, id, true), Kept::No);
    assert_eq!(runs.left(&s, id, false), Kept::No);
    assert_eq!(runs.finished(&s, id, Some(answer("x"))), Kept::Yes);
}

#[test]
fn what_was_created_is_kept_for_who_hung_up_until_it_is_deleted() {
    let mut runs = runs();
    let create = Subject::new("createLoadBalancer", "1", false, Bytes::new);
    for delete in [false, true] {
        let id = start(&mut runs, &create, &A);
        assert_eq!(runs.left(&create, id, false), Kept::No);
        assert_eq!(runs.finished(&create, id, Some(answer("x"))), Kept::Yes);
        if delete {
            keep(&mut runs, "deleteLoadBalancer", None);
        }
        let collected = matches!(runs.call(&create, &A, None, ()), Call::Collect(_));
        assert_eq!(collected, !delete);
    }
}

fn backend(addr: &str) -> Backend {
    Backend::new(&StringMap::from([("lbID".into(), "lb-1".into())]), addr)
}

/// Leaves a result that was promised to somebody.
fn keep(runs: &mut Runs<()>, webhook: &'static str, backend: Option<Backend>) -> Subject {
    let subject = Subject::new(webhook, &format!("{webhook}(1)"), false, || A);
    let Call::Start(id) = runs.call(&subject, &A, backend, ()) else {
        panic!("{webhook} runs already");
    };
    assert_eq!(runs.left(&subject, id, true), Kept::No);
    assert_eq!(runs.finished(&subject, id, Some(answer("x"))), Kept::Yes);
    subject
}

fn is_kept(runs: &Runs<()>, subject: &Subject) -> bool {
    runs.kept.values().any(|kept| kept.subject == *subject)
}

#[test]
fn d28_a_result_is_no_news_once_another_webhook_worked_on_the_backend() {
    let mut runs = runs();
    let here = keep(&mut runs, "ensureBackend", Some(backend("a")));
    let dry_run = Subject::new("deregisterBackend", "2", true, || A);
    runs.call(&dry_run, &A, Some(backend("a")), ());
    let elsewhere = Subject::new("deregisterBackend", "3", false, || A);
    runs.call(&elsewhere, &A, Some(backend("b")), ());
    assert!(is_kept(&runs, &here));
    let same = Subject::new("deregisterBackend", "4", false, || A);
    runs.call(&same, &A, Some(backend("a")), ());
    assert!(!is_kept(&runs, &here));
}

#[test]
fn d28_a_result_is_no_news_if_it_came_while_another_webhook_was_at_work() {
    let mut runs = runs();
    let leaving = Subject::new("deregisterBackend", "2", false, || A);
    let Call::Start(id) = runs.call(&leaving, &A, Some(backend("a")), ()) else {
        panic!();
    };
    let ensured = keep(&mut runs, "ensureBackend", Some(backend("a")));
    assert_eq!(runs.finished(&leaving, id, Some(answer("y"))), Kept::No);
    assert!(!is_kept(&runs, &ensured));
}

#[test]
fn d28_deleting_a_load_balancer_makes_every_other_result_old_and_creating_one_that_of_deleting() {
    let mut runs = runs();
    let created = keep(&mut runs, "createLoadBalancer", None);
    let ensured = keep(&mut runs, "ensureBackend", Some(backend("a")));
    keep(&mut runs, "ensureLoadBalancer", None);
    assert!(is_kept(&runs, &created), "ensuring keeps it");
    let deleted = keep(&mut runs, "deleteLoadBalancer", None);
    assert!(!is_kept(&runs, &created) && !is_kept(&runs, &ensured));
    assert!(is_kept(&runs, &deleted));
    keep(&mut runs, "createLoadBalancer", None);
    assert!(!is_kept(&runs, &deleted));
    assert!(runs.kept_of_backend.is_empty());
}

#[test]
fn a_request_of_other_bytes_is_the_same_call_if_its_content_is() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.known(&s, &B, Same::Unknown), Known::Maybe(id, A));
    assert_eq!(runs.known(&s, &B, Same::As(id)), Known::Join(id, ()));
    assert_eq!(runs.known(&s, &B, Same::NotAs(id)), Known::Nothing);
    // What was compared with an operation says nothing about the one that replaced it.
    let next = start(&mut runs, &s, &C);
    assert_eq!(runs.known(&s, &B, Same::As(id)), Known::Maybe(next, C));
    assert_eq!(runs.known(&s, &B, Same::NotAs(id)), Known::Maybe(next, C));
}
