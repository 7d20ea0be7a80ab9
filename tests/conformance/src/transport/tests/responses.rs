//! What comes back, and what is made of it.

use super::server::{Server, read_request};
use super::{LONG, SHORT};
use crate::exchange::NoResponse;
use crate::transport::{Request, Settings, Transport};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::time::Instant;

fn request() -> Request {
    Request::post("healthz", "{}")
}

#[tokio::test]
async fn transport_reads_answers_with_and_without_a_length() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx-a: b\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nx-a: b\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\nx-a: b\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nx-a: b\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nx-a: b\r\n\r\nhello",
    ] {
        let server = Server::answering(answer).await;
        let received = server.transport().send(&request(), LONG).await.unwrap();
        assert_eq!(received.status, 200, "{answer}");
        assert_eq!(received.headers["x-a"], "b", "{answer}");
        assert_eq!(received.body, "hello", "{answer}");
    }
}

#[tokio::test]
async fn transport_takes_a_redirect_as_an_answer() {
    let server = Server::answering(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: /healthz/\r\ncontent-length: 0\r\n\r\n",
    )
    .await;
    let received = server.transport().send(&request(), LONG).await.unwrap();
    assert_eq!(received.status, 307);
    assert_eq!(received.headers["location"], "/healthz/");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn transport_gives_up_on_a_driver_that_hangs() {
    for begin in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\nhel"] {
        let server = Server::new(move |mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(begin.as_bytes()).await.ok();
            // Until the kit hangs up.
            read_request(&mut stream).await;
        })
        .await;
        let began = Instant::now();
        let problem = server.transport().send(&request(), SHORT).await;
        assert_eq!(
            problem.unwrap_err(),
            NoResponse::TimedOut(SHORT),
            "{begin:?}"
        );
        assert!(began.elapsed() < LONG);
    }
}

#[tokio::test]
async fn transport_reports_a_connection_that_closes_too_early() {
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-le",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
    ] {
        let server = Server::answering(answer).await;
        let problem = server.transport().send(&request(), LONG).await.unwrap_err();
        assert!(
            matches!(problem, NoResponse::Closed(_)),
            "{answer:?}: {problem}"
        );
    }
    let server = Server::new(|stream| async move { drop(stream) }).await;
    let problem = server.transport().send(&request(), LONG).await.unwrap_err();
    assert!(matches!(problem, NoResponse::Closed(_)), "{problem}");
}

#[tokio::test]
async fn transport_reports_a_response_that_is_not_http() {
    for answer in [
        "SSH-2.0-OpenSSH_9.9\r\n",
        "{\"healthy\":true}",
        "\0\x01\x02\x03",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nmany\r\n",
    ] {
        let server = Server::answering(answer).await;
        let problem = server.transport().send(&request(), LONG).await.unwrap_err();
        assert!(
            matches!(problem, NoResponse::NotHttp(_)),
            "{answer:?}: {problem}"
        );
    }
}

#[tokio::test]
async fn transport_reports_a_driver_that_sends_before_the_request() {
    let server = Server::new(|mut stream| async move {
        stream.write_all(b"220 welcome\r\n").await.ok();
        read_request(&mut stream).await;
    })
    .await;
    let problem = server.transport().send(&request(), LONG).await.unwrap_err();
    assert!(matches!(problem, NoResponse::NotHttp(_)), "{problem}");
}

#[tokio::test]
async fn transport_reads_no_body_beyond_4_mib() {
    let whole = 4 << 20;
    let server = Server::never_ending("HTTP/1.1 200 OK\r\n\r\n", "hello").await;
    let problem = server.transport().send(&request(), LONG).await;
    assert_eq!(problem.unwrap_err(), NoResponse::TooLarge(whole));

    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("400\r\n{}\r\n", "x".repeat(0x400));
    let server = Server::never_ending(head, &chunk).await;
    let problem = server.transport().send(&request(), LONG).await;
    assert_eq!(problem.unwrap_err(), NoResponse::TooLarge(whole));

    for (length, fits) in [(whole, true), (whole + 1, false)] {
        let mut answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        answer.push_str(&"x".repeat(length));
        let server = Server::answering(answer).await;
        let result = server.transport().send(&request(), LONG).await;
        assert_eq!(result.is_ok(), fits, "{length}");
    }
}

#[tokio::test]
async fn transport_reads_no_endless_heads() {
    for (begin, again) in [
        ("HTTP/1.1 200 OK\r\n", "a: b\r\n"),
        ("HTTP/1.1 200 OK\r\na: ", "b"),
        ("HTTP/1.1 200 ", "O"),
    ] {
        let server = Server::never_ending(begin, again).await;
        let problem = server.transport().send(&request(), LONG).await.unwrap_err();
        assert!(
            matches!(&problem, NoResponse::NotHttp(words) if words.contains("65536 bytes")),
            "{begin:?}: {problem}"
        );
    }
}

#[tokio::test]
async fn transport_gives_up_on_a_flood_of_interim_answers() {
    let interim = "HTTP/1.1 102 Processing\r\n\r\n";
    let server = Server::never_ending(interim, interim).await;
    let problem = server.transport().send(&request(), SHORT).await;
    assert_eq!(problem.unwrap_err(), NoResponse::TimedOut(SHORT));
}

#[tokio::test]
async fn transport_reads_an_answer_that_comes_byte_by_byte() {
    let server = Server::new(|mut stream| async move {
        read_request(&mut stream).await;
        for byte in b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}" {
            stream.write_all(&[*byte]).await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
    let received = server.transport().send(&request(), LONG).await.unwrap();
    assert_eq!(received.body, "{}");
}

#[tokio::test]
async fn transport_reads_an_answer_that_comes_before_the_whole_request_is_sent() {
    let large = Request::post("ensureBackend", vec![b' '; 10 << 20]);
    for _ in 0..20 {
        let server = Server::new(|mut stream| async move {
            // The rest is not read, so the kernel resets the connection when it is closed.
            let mut head = [0; 64];
            tokio::io::AsyncReadExt::read(&mut stream, &mut head)
                .await
                .ok();
            let answer = b"HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nlarge";
            stream.write_all(answer).await.unwrap();
        })
        .await;
        let transport = server.transport();
        let received = transport.send(&large, LONG).await.unwrap();
        assert_eq!((received.status, &received.body[..]), (413, &b"large"[..]));
        // On a connection with half a request no other one can go.
        assert_eq!(transport.idle.count(), 0);
    }
}

#[tokio::test]
async fn transport_reports_why_the_connection_failed() {
    // Bound, so that nothing else takes the port, and not listening.
    let refusing = tokio::net::TcpSocket::new_v4().unwrap();
    refusing.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = refusing.local_addr().unwrap();
    let transport = Transport::to_url(&format!("http://{address}"), &Settings::default()).unwrap();
    let problem = transport.send(&request(), LONG).await.unwrap_err();
    assert!(
        matches!(&problem, NoResponse::NotConnected(words) if words.contains("refused")),
        "{problem}"
    );
}
