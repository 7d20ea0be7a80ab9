use super::*;
use std::io;

fn secret() -> io::Error {
    io::Error::other("token 42")
}

fn text(source: Option<&(dyn Error + Send + Sync)>) -> Option<String> {
    source.map(ToString::to_string)
}

#[test]
fn the_question_mark_uses_the_errors_text_and_keeps_the_error() {
    let fails = || -> Result<(), HookError> { Err(secret())? };
    let hook_error = fails().unwrap_err();
    assert_eq!(hook_error.status(), Status::Fail);
    assert_eq!(hook_error.message(), "token 42");
    assert_eq!(text(hook_error.source()).as_deref(), Some("token 42"));

    let refuses = || -> Result<(), Rejection> { Err(secret())? };
    assert_eq!(refuses(), Err(Rejection::new("token 42")));
}

#[test]
fn d115_only_what_the_author_rejects_is_an_invalid_argument() {
    let reason = |rejection: Rejection| HookError::from(rejection).reason();
    let invalid = Some(Reason::InvalidArgument);
    assert_eq!(reason(Rejection::new("no").because("details")), invalid);
    // What the cloud reports while something is checked may pass.
    assert_eq!(reason(secret().into()), None);
    assert_eq!(reason(HookError::fail("the cloud is down").into()), None);
    let down = HookError::new(Reason::Unavailable, "the cloud is down");
    assert_eq!(reason(down.into()), Some(Reason::Unavailable));
    let result = Err::<(), _>(secret()).or_reject("cannot be checked");
    assert_eq!(reason(result.unwrap_err()), None);
}

#[test]
fn an_outer_message_keeps_the_inner_error_from_the_user() {
    let result = || Err::<(), _>(secret());
    for (hook_error, status) in [
        (result().or_fail("no luck").unwrap_err(), Status::Fail),
        (result().or_running("no luck").unwrap_err(), Status::Running),
    ] {
        assert_eq!(hook_error.status(), status);
        assert_eq!(hook_error.message(), "no luck");
        assert!(!hook_error.to_string().contains("42"));
        assert_eq!(text(hook_error.source()).as_deref(), Some("token 42"));
    }
    let rejection = result().or_reject("no luck").unwrap_err();
    assert_eq!(rejection.to_string(), "no luck");
    assert_eq!(text(rejection.source()).as_deref(), Some("token 42"));
}

#[test]
fn a_missing_value_has_no_inner_error() {
    assert_eq!(None::<u8>.or_fail("gone").unwrap_err().message(), "gone");
    assert!(
        None::<u8>
            .or_running("gone")
            .unwrap_err()
            .source()
            .is_none()
    );
    assert_eq!(None::<u8>.or_reject("gone"), Err(Rejection::new("gone")));
    assert_eq!(Some(1).or_fail("gone").unwrap(), 1);
    assert_eq!(Ok::<_, io::Error>(1).or_running("gone").unwrap(), 1);
    assert_eq!(Ok::<_, io::Error>(1).or_reject("gone"), Ok(1));
}

#[test]
fn text_is_an_inner_error_too() {
    let failed = Err::<(), _>("token 42").or_fail("no luck").unwrap_err();
    assert_eq!(text(failed.source()).as_deref(), Some("token 42"));
}

#[test]
fn a_delay_applies_to_fail_and_running() {
    let delay = Duration::from_millis(1500);
    for hook_error in [HookError::fail("x"), HookError::running("x")] {
        assert_eq!(hook_error.delay(), None);
        assert_eq!(hook_error.retry_after(delay).delay(), Some(delay));
    }
    let chained = None::<u8>.or_running("x").retry_after(delay);
    assert_eq!(chained.unwrap_err().delay(), Some(delay));
    assert_eq!(Ok::<_, HookError>(1).retry_after(delay).unwrap(), 1);
}

#[test]
fn a_rejection_converts_to_fail_and_running_to_a_rejection() {
    let checked = || -> Result<(), HookError> { Err(Rejection::new("port").because(secret()))? };
    let failed = checked().unwrap_err();
    assert_eq!((failed.status(), failed.message()), (Status::Fail, "port"));
    assert_eq!(text(failed.source()).as_deref(), Some("token 42"));

    let asked = |hook_error: HookError| -> Result<(), Rejection> { Err(hook_error)? };
    let rejection = asked(HookError::fail("no quota").because(secret())).unwrap_err();
    assert_eq!(rejection.message(), "no quota");
    assert_eq!(text(rejection.source()).as_deref(), Some("token 42"));
    assert_eq!(
        asked(HookError::running("the zone is being built")),
        Err(Rejection::new(
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
