//! The same without a port.

use super::{LONG, SHORT, soon};
use crate::exchange::NoAnswer;
use crate::transport::{Request, Transport};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::routing::post;
use futures::{StreamExt as _, stream};
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::mpsc;

/// Tells when it is dropped.
struct Guard(mpsc::UnboundedSender<&'static str>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.send("dropped").ok();
    }
}

/// A router whose handler begins and never ends.
fn never_answering() -> (Transport, mpsc::UnboundedReceiver<&'static str>) {
    let (tell, told) = mpsc::unbounded_channel();
    let handler = move |_: Bytes| {
        let guard = Guard(tell.clone());
        async move {
            guard.0.send("begun").ok();
            std::future::pending::<()>().await;
            drop(guard);
        }
    };
    let router = Router::new().route("/x", post(handler));
    (Transport::in_process(router), told)
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
    let back = transport.send_raw(b"no http\r\n\r\n", LONG).await.unwrap();
    assert!(back.starts_with(b"HTTP/1.1 400"), "{back:?}");
}

#[tokio::test]
async fn transport_drops_a_handler_when_it_hangs_up() {
    let (transport, mut told) = never_answering();
    let request = Request::post("x", "{}");
    transport
        .send_and_hang_up(&request, Duration::from_millis(50))
        .await
        .unwrap();
    assert_eq!(soon(told.recv()).await, Some("begun"));
    assert_eq!(soon(told.recv()).await, Some("dropped"));
}

#[tokio::test]
async fn transport_drops_a_handler_when_the_time_is_over() {
    let (transport, mut told) = never_answering();
    let problem = transport.send(&Request::post("x", "{}"), SHORT).await;
    assert_eq!(problem.unwrap_err(), NoAnswer::TimedOut(SHORT));
    assert_eq!(soon(told.recv()).await, Some("begun"));
    assert_eq!(soon(told.recv()).await, Some("dropped"));
}

#[tokio::test]
async fn transport_begins_no_handler_that_wants_a_whole_body_with_a_part() {
    let (transport, mut told) = never_answering();
    let request = Request::post("x", vec![b' '; 1000]);
    transport
        .send_part_and_hang_up(&request, 999)
        .await
        .unwrap();
    // The router and its handler, with their sender, are gone when the connection is.
    drop(transport);
    assert_eq!(soon(told.recv()).await, None);
}

#[tokio::test]
async fn transport_says_when_a_handler_dies() {
    let dying = of(Router::new().route(
        "/x",
        post(|| async {
            std::panic::resume_unwind(Box::new("on purpose"));
            #[expect(unreachable_code, reason = "it says what the handler would give")]
            ""
        }),
    ));
    let problem = dying.send(&Request::post("x", "{}"), LONG).await;
    assert!(matches!(problem, Err(NoAnswer::Closed(_))), "{problem:?}");
}

#[tokio::test]
async fn transport_reads_no_endless_or_broken_body_of_a_handler() {
    let piece = Bytes::from_static(&[b'x'; 1024]);
    let endless = of(Router::new().route(
        "/x",
        post(|| async { Body::from_stream(stream::repeat(Ok::<_, Infallible>(piece))) }),
    ));
    let problem = endless.send(&Request::post("x", "{}"), LONG).await;
    assert_eq!(problem.unwrap_err(), NoAnswer::TooLarge(4 << 20));

    let broken = of(Router::new().route(
        "/x",
        post(|| async {
            let begin = stream::iter([Ok(Bytes::from_static(b"{\"he"))]);
            let end = stream::once(async { Err(std::io::Error::other("broken")) });
            Body::from_stream(begin.chain(end))
        }),
    ));
    let problem = broken.send(&Request::post("x", "{}"), LONG).await;
    assert!(matches!(problem, Err(NoAnswer::Closed(_))), "{problem:?}");
}

#[tokio::test(start_paused = true)]
async fn transport_sends_a_body_in_pieces() {
    let handler = |body: Body| async move {
        let began = tokio::time::Instant::now();
        let pieces: Vec<_> = body
            .into_data_stream()
            .map(|piece| piece.unwrap().len().to_string())
            .collect()
            .await;
        format!("{} in {:?}", pieces.join("+"), began.elapsed())
    };
    let transport = of(Router::new().route("/x", post(handler)));
    let request = Request::post("x", vec![b' '; 10]);
    let pause = Duration::from_secs(1);
    for (chunks, expected) in [
        (0, "10 in 0ns"),
        (1, "10 in 0ns"),
        (3, "4+4+2 in 2s"),
        (5, "2+2+2+2+2 in 4s"),
        (100, "1+1+1+1+1+1+1+1+1+1 in 9s"),
    ] {
        let received = transport.send_slowly(&request, chunks, pause, LONG).await;
        assert_eq!(received.unwrap().body, expected, "{chunks}");
    }
    let problem = transport
        .send_slowly(&request, 10, Duration::from_secs(10), LONG)
        .await;
    assert_eq!(problem.unwrap_err(), NoAnswer::TimedOut(LONG));
}

#[tokio::test(start_paused = true)]
async fn transport_closes_what_it_kept_for_a_second() {
    let (tell, mut told) = mpsc::unbounded_channel();
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
    assert_eq!(soon(told.recv()).await, Some("request"));
    drop(transport);
    // Nothing holds the router any more.
    assert_eq!(soon(told.recv()).await, None);
}
