//! Which requests share a connection.

use super::server::{Server, read_request};
use super::{LONG, SHORT, soon};
use crate::exchange::NoResponse;
use crate::transport::Request;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
const OK_CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";

fn request() -> Request {
    Request::post("healthz", "{}")
}

/// Responds to `count` requests on each connection with these bytes, and closes it; reports each
/// request, and each closing.
async fn answers_so_many(
    count: usize,
    answer: &'static [u8],
) -> (Server, mpsc::UnboundedReceiver<&'static str>) {
    let (tell, told) = mpsc::unbounded_channel();
    let server = Server::new(move |mut stream| {
        let tell = tell.clone();
        async move {
            for number in 0..=count {
                let (head, _) = read_request(&mut stream).await;
                if head.is_empty() {
                    return;
                }
                tell.send("request").ok();
                if number == count {
                    return;
                }
                stream.write_all(answer).await.unwrap();
                if number + 1 == count && count == 1 {
                    break;
                }
            }
            drop(stream);
            tell.send("closed").ok();
        }
    })
    .await;
    (server, told)
}

#[tokio::test]
async fn transport_uses_a_connection_again() {
    let (server, _told) = answers_so_many(1000, OK).await;
    let transport = server.transport();
    for _ in 0..50 {
        transport.send(&request(), LONG).await.unwrap();
    }
    assert_eq!(server.connections(), 1);
    // Clones share them.
    transport.clone().send(&request(), LONG).await.unwrap();
    assert_eq!(server.connections(), 1);
    let request = request();
    let both = tokio::join!(
        transport.send(&request, LONG),
        transport.send(&request, LONG)
    );
    both.0.unwrap();
    both.1.unwrap();
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn transport_does_not_reuse_a_connection_that_the_driver_announced_to_close() {
    let (server, _told) = answers_so_many(1000, OK_CLOSE).await;
    let transport = server.transport();
    for number in 1..=3 {
        transport.send(&request(), LONG).await.unwrap();
        assert_eq!(server.connections(), number);
    }
}

#[tokio::test]
async fn transport_uses_no_connection_again_that_was_closed_without_a_word() {
    let (server, mut told) = answers_so_many(1, OK).await;
    let transport = server.transport();
    for number in 1..=20 {
        transport.send(&request(), LONG).await.unwrap();
        assert_eq!(soon(told.recv()).await, Some("request"));
        assert_eq!(soon(told.recv()).await, Some("closed"));
        assert_eq!(server.connections(), number);
    }
}

/// As after a restart: connections to the earlier process look open, and end with the next request.
#[tokio::test]
async fn transport_uses_no_connection_of_an_earlier_generation() {
    let (server, _told) = answers_so_many(3, OK).await;
    let transport = server.transport();
    let request = request();
    let send = || transport.send(&request, LONG);
    let (a, b, c) = tokio::join!(send(), send(), send());
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
    assert_eq!(server.connections(), 3);
    // A clone, as an observer's is.
    transport.clone().begin_generation();
    for _ in 0..3 {
        transport.send(&request, LONG).await.unwrap();
    }
    assert_eq!(server.connections(), 4);
}

#[tokio::test]
async fn transport_does_not_keep_a_connection_that_was_in_use_when_a_generation_began() {
    let go_on = Arc::new(Notify::new());
    let wait = Arc::clone(&go_on);
    let (tell, mut told) = mpsc::unbounded_channel();
    let server = Server::new(move |mut stream| {
        let (wait, tell) = (Arc::clone(&wait), tell.clone());
        async move {
            while !read_request(&mut stream).await.0.is_empty() {
                tell.send(()).ok();
                wait.notified().await;
                stream.write_all(OK).await.ok();
            }
        }
    })
    .await;
    let transport = server.transport();
    let in_use = transport.clone();
    let first = tokio::spawn(async move { in_use.send(&request(), LONG).await });
    soon(told.recv()).await;
    transport.begin_generation();
    go_on.notify_one();
    first.await.unwrap().unwrap();
    go_on.notify_one();
    transport.send(&request(), LONG).await.unwrap();
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn transport_sends_nothing_twice() {
    // The second request on the connection is read, and the connection closed.
    let (server, mut told) = answers_so_many(2, OK).await;
    let transport = server.transport();
    transport.send(&request(), LONG).await.unwrap();
    transport.send(&request(), LONG).await.unwrap();
    let problem = transport.send(&request(), LONG).await.unwrap_err();
    assert!(matches!(problem, NoResponse::Closed(_)), "{problem}");
    for _ in 0..3 {
        assert_eq!(soon(told.recv()).await, Some("request"));
    }
    assert!(told.try_recv().is_err());
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn transport_sends_requests_over_one_connection_as_long_as_it_lasts() {
    let (server, mut told) = answers_so_many(1000, OK).await;
    let transport = server.transport();
    transport.send(&request(), LONG).await.unwrap();
    let three = [request(), request(), request()];
    let results = transport.send_over_one_connection(&three, LONG).await;
    assert_eq!(results.len(), 3);
    assert!(results.iter().all(Result::is_ok));
    // A new one, not the kept one.
    assert_eq!(server.connections(), 2);
    for _ in 0..4 {
        assert_eq!(soon(told.recv()).await, Some("request"));
    }

    for (answer, count) in [(OK_CLOSE, 1000), (OK, 1)] {
        let (server, _told) = answers_so_many(count, answer).await;
        let transport = server.transport();
        let results = transport.send_over_one_connection(&three, LONG).await;
        assert_eq!(results.len(), 3);
        assert!(results[0].is_ok());
        assert!(matches!(results[1], Err(NoResponse::Closed(_))));
        assert!(matches!(results[2], Err(NoResponse::Closed(_))));
        assert_eq!(server.connections(), 1);
    }
    assert!(
        transport
            .send_over_one_connection(&[], LONG)
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn transport_hangs_up_when_the_time_is_over() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let tell = Arc::new(tell);
    let server = Server::new(move |mut stream| {
        let tell = Arc::clone(&tell);
        async move {
            read_request(&mut stream).await;
            // Returns when the other side hangs up.
            let (head, _) = read_request(&mut stream).await;
            tell.send(head).ok();
        }
    })
    .await;
    let transport = server.transport();
    let problem = transport.send(&request(), SHORT).await.unwrap_err();
    assert_eq!(problem, NoResponse::TimedOut(SHORT));
    assert_eq!(soon(told.recv()).await.as_deref(), Some(""));
    drop(transport);
}

#[tokio::test]
async fn transport_sends_no_more_when_the_time_is_over() {
    let (tell, mut told) = mpsc::unbounded_channel();
    let is_over = Arc::new(Notify::new());
    let go_on = Arc::clone(&is_over);
    let server = Server::new(move |mut stream| {
        let (tell, go_on) = (tell.clone(), Arc::clone(&go_on));
        async move {
            go_on.notified().await;
            let mut all = Vec::new();
            stream.read_to_end(&mut all).await.ok();
            tell.send(all.len()).ok();
        }
    })
    .await;
    let transport = server.transport();
    let large = Request::post("x", vec![b' '; 32 << 20]);
    let problem = transport.send(&large, SHORT).await.unwrap_err();
    assert_eq!(problem, NoResponse::TimedOut(SHORT));
    is_over.notify_one();
    let arrived = soon(told.recv()).await.unwrap();
    assert!(arrived < large.body.len(), "{arrived}");
}
