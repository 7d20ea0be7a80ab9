//! What integration tests cannot show.

use crate::Defect;
use crate::dispatch::after;
use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::memory::Memory;
use crate::overlay::ObservationOverlay;
use crate::reply::Reply;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use mock_driver::Cloud;
use tokio_util::sync::CancellationToken;

fn call(webhook: &'static str, body: &'static str) -> HookRequest {
    let body = Bytes::from_static(body.as_bytes());
    let uri = Uri::from_static(webhook);
    HookRequest::new(Method::POST, &uri, HeaderMap::new(), body)
}

fn context() -> Driver {
    let (overlay, crash) = (ObservationOverlay::default(), CancellationToken::new());
    Driver::new(Cloud::empty(), Vec::new(), overlay, crash)
}

#[test]
fn rtry_05_a_cloud_that_is_out_crashes_the_call() {
    let request = call("/ensureBackend", "{}");
    for (message, status) in [
        (
            "the cloud's API is temporarily unavailable",
            StatusCode::INTERNAL_SERVER_ERROR,
        ),
        ("clb instance lb-x not found", StatusCode::OK),
    ] {
        let mut reply = Reply::fail(message);
        after(Defect::CloudFault500, &context(), &request, &mut reply);
        assert_eq!(reply.status, status, "{message}");
    }
}

#[test]
fn memory_is_bounded() {
    let memory = Memory::default();
    memory.put("first", "", true);
    for number in 0..60_000 {
        memory.put("numbers", &number.to_string(), true);
    }
    assert!(!memory.contains("first", ""));
    assert!(memory.contains("numbers", "59999"));
}

#[test]
fn calls_in_flight_are_counted_until_they_end() {
    let memory = Memory::default();
    let first = memory.enter("work", "a");
    let second = memory.enter("work", "a");
    assert_eq!((first.others, second.others), (0, 1));
    assert_eq!(memory.enter("work", "b").others, 0);
    drop((first, second));
    assert_eq!(memory.enter("work", "a").others, 0);
}
