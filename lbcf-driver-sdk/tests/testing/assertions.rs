//! The texts of failed assertions, and the lines that they report.

use super::cloudlet::Cloudlet;
use super::{cloudlet, complaint};
use lbcf_driver_sdk::testing::{
    TestDriver, create_load_balancer, ensure_backend, healthz, validate_backend,
};

#[tokio::test]
async fn failed_assertions_show_the_whole_reply() {
    let driver = cloudlet();
    let bad = ensure_backend()
        .info("id", "lb-web")
        .addr("a")
        .parameter("weight", "heavy");
    let text = complaint({
        let answer = driver.call(&bad).await;
        || answer.assert_succ()
    });
    assert!(
        text.starts_with("expected Succ\n  reply:   200 {"),
        "{text}"
    );
    for part in [
        r#""status":"Fail""#,
        "parameters.weight",
        "request: ensureBackend {",
        r#""weight":"heavy""#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let text = complaint({
        let answer = driver.call(&bad).await;
        || answer.assert_fail("quota")
    });
    assert!(text.starts_with(r#"expected Fail with "quota""#), "{text}");
    let text = complaint({
        let answer = driver.call(&bad).await;
        || answer.assert_running()
    });
    assert!(text.starts_with("expected Running"), "{text}");
    let text = complaint({
        let answer = driver.call(&bad).await;
        move || answer.assert_http(400, "")
    });
    assert!(
        text.starts_with(r#"expected the HTTP status 400 with """#),
        "{text}"
    );

    let bad = validate_backend().parameter("weight", "heavy");
    let text = complaint({
        let answer = driver.call(&bad).await;
        || answer.assert_accepted()
    });
    assert!(
        text.starts_with("expected a yes") && text.contains("heavy"),
        "{text}"
    );
    let text = complaint({
        let answer = driver.call(&bad).await;
        || answer.assert_refused("colour")
    });
    assert!(text.starts_with(r#"expected a no with "colour""#), "{text}");
    let text = complaint({
        let answer = driver.healthz(healthz()).await;
        || answer.assert_not_healthy()
    });
    assert!(text.contains("not healthy"), "{text}");

    // No response of the driver.
    let driver = TestDriver::new(Cloudlet::with(&["panics"]));
    let good = ensure_backend().info("id", "lb-web").addr("a");
    let text = complaint({
        let answer = driver.call(&good).await;
        assert!(answer.response().is_none());
        assert_eq!(answer.http().status, 500);
        || answer.assert_succ()
    });
    assert!(
        text.contains("only accepts the status 200") && text.contains("500 {"),
        "{text}"
    );
}

#[test]
fn a_failed_assertion_blames_the_line_of_the_test() {
    let (at, lines) = blamed(|driver| {
        Box::pin(async move {
            let answer = driver
                .call(ensure_backend().parameter("weight", "heavy"))
                .await;
            answer.assert_succ();
        })
    });
    assert!(at.ends_with("assertions.rs"), "{at}");
    assert!(lines.starts_with("expected Succ"));

    // Of an asynchronous one the text has it.
    let (_, text) = blamed(|driver| {
        Box::pin(async move {
            driver
                .create(create_load_balancer().spec("name", "no!"))
                .await;
        })
    });
    assert!(
        text.contains("at:") && text.contains("tests/testing/assertions.rs:"),
        "{text}"
    );
}

type Test = std::pin::Pin<Box<dyn Future<Output = ()>>>;

/// The location and the text of a failed test.
fn blamed(test: fn(TestDriver<Cloudlet>) -> Test) -> (String, String) {
    use std::panic::{set_hook, take_hook};
    use std::sync::{Arc, Mutex};
    let seen = Arc::new(Mutex::new(None));
    let thread = std::thread::current().id();
    let before = Arc::new(take_hook());
    let (to, otherwise) = (Arc::clone(&seen), Arc::clone(&before));
    // Other tests panic at the same time.
    set_hook(Box::new(move |info| {
        if std::thread::current().id() == thread {
            *to.lock().unwrap() = info.location().map(|at| at.file().to_owned());
        } else {
            otherwise(info);
        }
    }));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let text = complaint(|| runtime.block_on(test(cloudlet())));
    set_hook(Box::new(move |info| before(info)));
    let at = seen.lock().unwrap().take().unwrap();
    (at, text)
}
