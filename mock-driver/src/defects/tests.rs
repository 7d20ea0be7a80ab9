//! What cannot be shown from outside.

use super::answer::Answer;
use super::call::Call;
use super::context::Context;
use super::handed_out::HandedOut;
use super::memory::Memory;
use super::{Death, Defect, after};
use crate::MockOptions;
use crate::cloud::Cloud;
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};

fn call(webhook: &'static str, body: &'static str) -> Call {
    let body = Bytes::from_static(body.as_bytes());
    let uri = Uri::from_static(webhook);
    Call::new(Method::POST, &uri, HeaderMap::new(), body)
}

fn context() -> Context {
    Context::new(
        Router::new(),
        Cloud::empty(),
        &MockOptions::default(),
        HandedOut::default(),
        Death::default(),
    )
}

#[test]
fn rtry_05_a_cloud_that_is_out_crashes_the_call() {
    let call = call("/ensureBackend", "{}");
    for (message, status) in [
        (
            "the cloud's API is temporarily unavailable",
            StatusCode::INTERNAL_SERVER_ERROR,
        ),
        ("clb instance lb-x not found", StatusCode::OK),
    ] {
        let mut answer = Answer::fail(message);
        after(Defect::CloudFault500, &context(), &call, &mut answer);
        assert_eq!(answer.status, status, "{message}");
    }
}

#[test]
fn memory_is_bounded() {
    let memory = Memory::default();
    memory.put("first", "", true);
    for number in 0..60_000 {
        memory.put("numbers", &number.to_string(), true);
    }
    assert!(!memory.knows("first", ""));
    assert!(memory.knows("numbers", "59999"));
}

#[test]
fn calls_at_work_are_counted_until_they_end() {
    let memory = Memory::default();
    let first = memory.enter("work", "a");
    let second = memory.enter("work", "a");
    assert_eq!((first.others, second.others), (0, 1));
    assert_eq!(memory.enter("work", "b").others, 0);
    drop((first, second));
    assert_eq!(memory.enter("work", "a").others, 0);
}
