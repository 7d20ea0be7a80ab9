//! The same without a port.

use super::{LONG, SHORT, soon};
use crate::exchange::NoResponse;
use crate::transport::{Request, Transport};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::routing::post;
use futures::{StreamExt as _, stream};
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::mpsc;

/// Sends a message when it is dropped.
struct Guard(mpsc::UnboundedSender<&'static str>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.send("dropped").ok();
    }
}

/// A router whose handler begins and never ends.
fn never_answering() -> (Transport, mpsc::UnboundedReceiver<&'static str>) {
    let (tell, events) = mpsc::unbounded_channel();
    let handler = move |_: Bytes| {
        let guard = Guard(tell.clone());
        async move {
            guard.0.send("begun").ok();
            std::future::pending::<()>().await;
            drop(guard);
        }
    };
    let router = Router::new().route("/x", post(handler));
    (Transport::in_process(router), events)
}

fn of(handler: Router) -> Transport {
    Transport::in_process(handler)
}

#[tokio::test]
async fn transport_calls_a_router() {
    let handler = |headers: HeaderMap, body: Bytes| async move {
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["host"], "in-process");
        body
    };
    let transport = of(Router::new().route("/x", post(handler)));
    assert_eq!(transport.url_of("x"), "http://in-process/x");
    for _ in 0..3 {
        let received = transport
            .send(&Request::post("x", "{\"a\": "), LONG)
            .await
            .unwrap();
        assert_eq!(
            (received.status, &received.body[..]),
            (200, &b"{\"a\": "[..])
        );
    }
    let received = transport.send(&Request::post("y", "{}"), LONG).await;
    assert_eq!(received.unwrap().status, 404);
}

#[tokio::test]
async fn transport_drops_a_handler_when_it_hangs_up() {
    let (transport, mut events) = never_answering();
    let request = Request::post("x", "{}");
    transport
        .send_and_hang_up(&request, usize::MAX, Duration::from_millis(50))
        .await
        .unwrap();
    assert_eq!(soon(events.recv()).await, Some("begun"));
    assert_eq!(soon(events.recv()).await, Some("dropped"));
}

#[tokio::test]
async fn transport_drops_a_handler_when_the_time_is_over() {
    let (transport, mut events) = never_answering();
    let problem = transport.send(&Request::post("x", "{}"), SHORT).await;
    assert_eq!(problem.unwrap_err(), NoResponse::TimedOut(SHORT));
    assert_eq!(soon(events.recv()).await, Some("begun"));
    assert_eq!(soon(events.recv()).await, Some("dropped"));
}

#[tokio::test]
async fn transport_begins_no_handler_that_wants_a_whole_body_with_a_part() {
    let (transport, mut events) = never_answering();
    let request = Request::post("x", vec![b' '; 1000]);
    transport
        .send_and_hang_up(&request, 999, Duration::ZERO)
        .await
        .unwrap();
    // The router and its handler, with their sender, are dropped with the connection.
    drop(transport);
    assert_eq!(soon(events.recv()).await, None);
}

#[tokio::test]
async fn transport_reports_a_panic_of_the_handler() {
    let dying = of(Router::new().route(
        "/x",
        post(|| async {
            std::panic::resume_unwind(Box::new("on purpose"));
            #[expect(unreachable_code, reason = "the type of the response")]
            ""
        }),
    ));
    let problem = dying.send(&Request::post("x", "{}"), LONG).await;
    assert!(matches!(problem, Err(NoResponse::Closed(_))), "{problem:?}");
}

#[tokio::test]
async fn transport_reads_no_endless_or_broken_body_of_a_handler() {
    let piece = Bytes::from_static(&[b'x'; 1024]);
    let endless = of(Router::new().route(
        "/x",
        post(|| async { Body::from_stream(stream::repeat(Ok::<_, Infallible>(piece))) }),
    ));
    let problem = endless.send(&Request::post("x", "{}"), LONG).await;
    assert_eq!(problem.unwrap_err(), NoResponse::TooLarge(4 << 20));

    let broken = of(Router::new().route(
        "/x",
        post(|| async {
            let begin = stream::iter([Ok(Bytes::from_static(b"{\"he"))]);
            let end = stream::once(async { Err(std::io::Error::other("broken")) });
            Body::from_stream(begin.chain(end))
        }),
    ));
    let problem = broken.send(&Request::post("x", "{}"), LONG).await;
    assert!(matches!(problem, Err(NoResponse::Closed(_))), "{problem:?}");
}

#[tokio::test(start_paused = true)]
async fn transport_closes_what_it_kept_for_a_second() {
    let (tell, mut events) = mpsc::unbounded_channel();
    // The router is cloned for each connection, and with it a sender.
    let router = Router::new().route(
        "/x",
        post(move || {
            tell.send("request").ok();
            async {}
        }),
    );
    let transport = of(router);
    transport
        .send(&Request::post("x", "{}"), LONG)
        .await
        .unwrap();
    assert_eq!(transport.idle.count(), 1);
    tokio::time::sleep(Duration::from_millis(999)).await;
    assert_eq!(transport.idle.count(), 1);
    tokio::time::sleep(Duration::from_millis(2)).await;
    assert_eq!(transport.idle.count(), 0);
    assert_eq!(soon(events.recv()).await, Some("request"));
    drop(transport);
    // Nothing holds the router any more.
    assert_eq!(soon(events.recv()).await, None);
}
