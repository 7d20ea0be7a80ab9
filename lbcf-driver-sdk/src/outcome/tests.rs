use super::*;
use std::io;

fn secret() -> io::Error {
    io::Error::other("token 42")
}

fn text(source: Option<&(dyn Error + Send + Sync)>) -> Option<String> {
    source.map(ToString::to_string)
}

#[test]
fn the_question_mark_shows_the_errors_own_text_and_keeps_the_error() {
    let fails = || -> Result<(), NotSucc> { Err(secret())? };
    let not_succ = fails().unwrap_err();
    assert_eq!(not_succ.status(), Status::Fail);
    assert_eq!(not_succ.message(), "token 42");
    assert_eq!(text(not_succ.source()).as_deref(), Some("token 42"));

    let refuses = || -> Result<(), Refusal> { Err(secret())? };
    assert_eq!(refuses(), Err(Refusal::new("token 42")));
}

#[test]
fn an_outer_message_keeps_the_inner_error_from_the_user() {
    let result = || Err::<(), _>(secret());
    for (not_succ, status) in [
        (result().or_fail("no luck").unwrap_err(), Status::Fail),
        (result().or_running("no luck").unwrap_err(), Status::Running),
    ] {
        assert_eq!(not_succ.status(), status);
        assert_eq!(not_succ.message(), "no luck");
        assert!(!not_succ.to_string().contains("42"));
        assert_eq!(text(not_succ.source()).as_deref(), Some("token 42"));
    }
    let refusal = result().or_refuse("no luck").unwrap_err();
    assert_eq!(refusal.to_string(), "no luck");
    assert_eq!(text(refusal.source()).as_deref(), Some("token 42"));
}

#[test]
fn what_is_not_there_has_no_inner_error_and_what_is_there_passes() {
    assert_eq!(None::<u8>.or_fail("gone").unwrap_err().message(), "gone");
    assert!(
        None::<u8>
            .or_running("gone")
            .unwrap_err()
            .source()
            .is_none()
    );
    assert_eq!(None::<u8>.or_refuse("gone"), Err(Refusal::new("gone")));
    assert_eq!(Some(1).or_fail("gone").unwrap(), 1);
    assert_eq!(Ok::<_, io::Error>(1).or_running("gone").unwrap(), 1);
    assert_eq!(Ok::<_, io::Error>(1).or_refuse("gone"), Ok(1));
}

#[test]
fn text_is_an_inner_error_too() {
    let failed = Err::<(), _>("token 42").or_fail("no luck").unwrap_err();
    assert_eq!(text(failed.source()).as_deref(), Some("token 42"));
}

#[test]
fn a_delay_goes_with_both_ends() {
    let delay = Duration::from_millis(1500);
    for not_succ in [NotSucc::fail("x"), NotSucc::running("x")] {
        assert_eq!(not_succ.delay(), None);
        assert_eq!(not_succ.retry_after(delay).delay(), Some(delay));
    }
    let chained = None::<u8>.or_running("x").retry_after(delay);
    assert_eq!(chained.unwrap_err().delay(), Some(delay));
    assert_eq!(Ok::<_, NotSucc>(1).retry_after(delay).unwrap(), 1);
}

#[test]
fn a_refusal_is_a_failure_and_not_yet_is_no() {
    let checked = || -> Result<(), NotSucc> { Err(Refusal::new("port").because(secret()))? };
    let failed = checked().unwrap_err();
    assert_eq!((failed.status(), failed.message()), (Status::Fail, "port"));
    assert_eq!(text(failed.source()).as_deref(), Some("token 42"));

    let asked = |not_succ: NotSucc| -> Result<(), Refusal> { Err(not_succ)? };
    let refusal = asked(NotSucc::fail("no quota").because(secret())).unwrap_err();
    assert_eq!(refusal.message(), "no quota");
    assert_eq!(text(refusal.source()).as_deref(), Some("token 42"));
    assert_eq!(
        asked(NotSucc::running("the zone is being built")),
        Err(Refusal::new(
            "the zone is being built, please try again later"
        ))
    );
}

#[cfg(feature = "server")]
#[test]
fn a_chain_has_all_errors() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot create")]
    struct Outer(#[source] io::Error);
    assert_eq!(chain(&Outer(secret())), "cannot create: token 42");
}
