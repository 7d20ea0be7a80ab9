use super::*;

fn runs() -> Runs<()> {
    Runs::new(1 << 20)
}

fn subject(record: &str) -> Subject {
    Subject::new("ensureBackend", record, false, &Bytes::new())
}

fn answer(text: &str) -> Answer {
    Answer::ok(&text)
}

const A: Bytes = Bytes::from_static(b"A");
const B: Bytes = Bytes::from_static(b"B");

fn start(runs: &mut Runs<()>, subject: &Subject, content: &Bytes) -> RunId {
    match runs.call(subject, content, ()) {
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
    assert_eq!(runs.call(&s, &A, ()), Call::Join(id, ()));
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
    assert_eq!(runs.call(&s, &A, ()), Call::Join(second, ()));
}

#[test]
fn a_result_that_nobody_waits_for_is_collected_once() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.left(&s, id), Kept::No);
    assert_eq!(runs.finished(&s, id, Some(answer("x"))), Kept::Yes);
    assert_eq!(runs.call(&s, &A, ()), Call::Collect(answer("x")));
    assert!(is_empty(&runs));
    start(&mut runs, &s, &A);
}

#[test]
fn a_result_is_kept_when_the_last_who_waited_leaves_without_it() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.call(&s, &A, ()), Call::Join(id, ()));
    assert_eq!(runs.finished(&s, id, Some(answer("x"))), Kept::No);
    assert_eq!(runs.left(&s, id), Kept::No);
    assert_eq!(runs.left(&s, id), Kept::Yes);
    assert_eq!(runs.call(&s, &A, ()), Call::Collect(answer("x")));
}

#[test]
fn a_result_that_one_got_is_not_kept_when_another_leaves() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.call(&s, &A, ()), Call::Join(id, ()));
    assert_eq!(runs.finished(&s, id, Some(answer("x"))), Kept::No);
    runs.got(&s, id);
    assert_eq!(runs.left(&s, id), Kept::No);
    assert!(is_empty(&runs));
}

#[test]
fn other_content_replaces_a_running_operation() {
    let (mut runs, s) = (runs(), subject("1"));
    let a = start(&mut runs, &s, &A);
    let b = start(&mut runs, &s, &B);
    assert_eq!(runs.left(&s, a), Kept::No);
    assert_eq!(runs.finished(&s, a, Some(answer("a"))), Kept::No);
    assert_eq!(runs.call(&s, &B, ()), Call::Join(b, ()));
    // An equal call must not be answered from before the change.
    let again = start(&mut runs, &s, &A);
    assert!(again > b);
}

#[test]
fn other_content_drops_an_uncollected_result() {
    let (mut runs, s) = (runs(), subject("1"));
    let a = start(&mut runs, &s, &A);
    assert_eq!(runs.left(&s, a), Kept::No);
    assert_eq!(runs.finished(&s, a, Some(answer("a"))), Kept::Yes);
    let b = start(&mut runs, &s, &B);
    assert_eq!(runs.kept_bytes, 0);
    runs.expire(&s, a);
    assert_eq!(runs.call(&s, &B, ()), Call::Join(b, ()));
}

#[test]
fn what_gave_no_result_is_forgotten() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.left(&s, id), Kept::No);
    assert_eq!(runs.finished(&s, id, None), Kept::No);
    assert!(is_empty(&runs));
}

#[test]
fn results_expire() {
    let (mut runs, s) = (runs(), subject("1"));
    let id = start(&mut runs, &s, &A);
    runs.expire(&s, id); // it runs
    assert_eq!(runs.left(&s, id), Kept::No);
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
        assert_eq!(runs.left(&s, id), Kept::No);
        // 1 byte of content and 12 bytes of answer.
        assert_eq!(runs.finished(&s, id, Some(answer("0123456789"))), Kept::Yes);
        assert!(runs.kept_bytes <= 40);
    }
    assert!(matches!(runs.call(&subject("1"), &A, ()), Call::Start(_)));
    assert!(matches!(runs.call(&subject("4"), &A, ()), Call::Collect(_)));

    let s = subject("large");
    let id = start(&mut runs, &s, &A);
    assert_eq!(runs.left(&s, id), Kept::No);
    let large = answer(&"x".repeat(50));
    assert_eq!(runs.finished(&s, id, Some(large)), Kept::No);
    assert_eq!(runs.kept_bytes, 0);
}

#[test]
fn subjects_differ_by_webhook_record_and_dry_run() {
    let subjects = [
        subject("1"),
        subject("2"),
        Subject::new("deregisterBackend", "1", false, &A),
        Subject::new("ensureBackend", "1", true, &A),
        // Without a record the content has to do.
        Subject::new("ensureBackend", "", false, &A),
        Subject::new("ensureBackend", "", false, &B),
    ];
    let mut runs = runs();
    for subject in &subjects {
        start(&mut runs, subject, &A);
    }
    assert_eq!(runs.latest.len(), subjects.len());
}
