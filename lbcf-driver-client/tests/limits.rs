//! Servers whose responses are too long, too slow, or not HTTP.

use super::sockets::{GOOD, read_request, response, serve_plain, settle};
use lbcf_driver_client::{CallError, DriverClient, HttpClient, HttpClientSettings, Timeouts};
use lbcf_driver_sdk::webhook::{CreateLoadBalancer, EnsureBackend, Healthz};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

async fn healthz(driver: &DriverClient) -> Result<(), CallError> {
    driver.call(&Healthz {}).await.map(|_| ())
}

/// A server that reads a request and then writes `part` again and again, for as long as it can.
async fn endless(start: &'static str, part: &str, pause: Duration) -> String {
    let part = part.to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        stream.write_all(start.as_bytes()).await.unwrap();
        while stream.write_all(part.as_bytes()).await.is_ok() {
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
    });
    url
}

#[tokio::test]
async fn a_body_without_end_is_cut_off_at_the_limit() {
    let chunks = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = "4\r\nabcd\r\n".repeat(1000);
    let url = endless(chunks, &chunk, Duration::ZERO).await;
    let http = HttpClient::with(HttpClientSettings {
        response_limit: 100,
        ..Default::default()
    })
    .unwrap();
    let driver = DriverClient::with_http(http, &url).unwrap();
    let error = healthz(&driver).await.unwrap_err();
    assert!(
        matches!(error, CallError::TooLarge { limit: 100 }),
        "{error}"
    );
    let url = endless(chunks, &chunk, Duration::ZERO).await;
    let http = HttpClient::with(HttpClientSettings {
        response_limit: 100,
        ..Default::default()
    })
    .unwrap();
    let driver = DriverClient::with_http(http, &url).unwrap();
    let error = driver.raw_call("healthz", "{}").await;
    assert!(
        matches!(error, Err(CallError::TooLarge { .. })),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_body_of_just_the_limit_is_read() {
    let (port, _) = serve_plain(response("200 OK", GOOD)).await;
    for (limit, is_ok) in [(GOOD.len(), true), (GOOD.len() - 1, false)] {
        let http = HttpClient::with(HttpClientSettings {
            response_limit: limit,
            ..Default::default()
        })
        .unwrap();
        let driver = DriverClient::with_http(http, &format!("http://127.0.0.1:{port}")).unwrap();
        assert_eq!(healthz(&driver).await.is_ok(), is_ok);
    }
}

#[tokio::test]
async fn a_head_without_end_is_no_answer() {
    let url = endless(
        "HTTP/1.1 200 OK\r\n",
        &"a: b\r\n".repeat(1000),
        Duration::ZERO,
    )
    .await;
    let error = healthz(&DriverClient::new(&url).unwrap())
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Unreachable(_)), "{error}");
}

#[tokio::test]
async fn d105_a_head_of_more_than_16_kib_is_no_answer() {
    for (size, is_ok) in [(8_000, true), (20_000, false)] {
        let head = format!("200 OK\r\nx: {}", "x".repeat(size));
        let (port, _) = serve_plain(response(&head, GOOD)).await;
        let driver = DriverClient::new(&format!("http://127.0.0.1:{port}")).unwrap();
        assert_eq!(healthz(&driver).await.is_ok(), is_ok, "{size}");
    }
}

#[tokio::test]
async fn a_body_that_comes_byte_by_byte_is_no_answer_in_time() {
    let start = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n";
    let url = endless(start, " ", Duration::from_millis(10)).await;
    let driver = DriverClient::new(&url).unwrap();
    let short = Duration::from_millis(100);
    let error = driver.call_within::<Healthz>(&Healthz {}, short).await;
    let error = error.unwrap_err();
    assert!(
        matches!(error, CallError::Timeout { after } if after == short),
        "{error}"
    );
}

#[tokio::test]
async fn an_error_page_that_never_ends_does_not_delay_the_error() {
    let start = "HTTP/1.1 503 Away\r\ncontent-length: 1000000\r\n\r\nback soon";
    let url = endless(start, "\n", Duration::from_millis(10)).await;
    let driver = DriverClient::new(&url).unwrap();
    let driver = driver.with_timeouts(Timeouts::new(Duration::from_secs(60)));
    let began = Instant::now();
    match healthz(&driver).await.unwrap_err() {
        CallError::Status { status, body, .. } => {
            assert_eq!(status, 503);
            assert!(body.starts_with("no media type, "), "{body}");
        }
        other => panic!("{other:?}"),
    }
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn what_is_no_http_is_no_answer() {
    for garbage in [
        "SSH-2.0-OpenSSH\r\n\r\n",
        "\0\0\0\0\0\0\0\0\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
    ] {
        let (port, _) = serve_plain(garbage.to_owned()).await;
        let driver = DriverClient::new(&format!("http://127.0.0.1:{port}")).unwrap();
        let error = healthz(&driver).await.unwrap_err();
        assert!(matches!(error, CallError::Unreachable(_)), "{error}");
        assert!(!error.is_connect() && !error.is_timeout());
    }
}

#[tokio::test]
async fn each_webhook_has_its_own_time() {
    // No response is ever sent.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (all, own) = (Duration::from_millis(40), Duration::from_millis(20));
    let driver = DriverClient::new(&url)
        .unwrap()
        .with_timeouts(Timeouts::new(all))
        .with_timeout::<EnsureBackend>(own);
    let request = EnsureBackend::default();
    let expect = |error: CallError, time| match error {
        CallError::Timeout { after } => assert_eq!(after, time),
        other => panic!("{other:?}"),
    };
    expect(driver.call(&request).await.unwrap_err(), own);
    let request = CreateLoadBalancer::default();
    expect(driver.call(&request).await.unwrap_err(), all);
    expect(driver.raw_call("ensureBackend", "").await.unwrap_err(), own);
    expect(driver.raw_call("elsewhere", "").await.unwrap_err(), all);
}

/// A server that responds to the first request of its first connection, and closes it on the
/// second after it wrote this. Counts the requests of all connections.
async fn hangs_up(last_words: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            while read_request(&mut stream).await.is_some() {
                if count.fetch_add(1, Ordering::SeqCst) == 1 {
                    let _ = stream.write_all(last_words.as_bytes()).await;
                    break;
                }
                let answer = response("200 OK", GOOD);
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    });
    (url, requests)
}

#[tokio::test]
async fn a_request_that_was_sent_is_never_sent_again() {
    for last_words in ["", "H", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"] {
        let (url, requests) = hangs_up(last_words).await;
        let driver = DriverClient::new(&url).unwrap();
        healthz(&driver).await.unwrap();
        settle().await;
        let error = healthz(&driver).await.unwrap_err();
        assert!(matches!(error, CallError::Unreachable(_)), "{error}");
        assert!(!error.is_connect(), "the driver may have acted");
        assert_eq!(requests.load(Ordering::SeqCst), 2, "{last_words:?}");
    }
}

#[tokio::test]
async fn idle_connections_are_kept_up_to_a_number_and_a_time() {
    for settings in [
        HttpClientSettings {
            idle_connections_per_host: 0,
            ..Default::default()
        },
        HttpClientSettings {
            idle_timeout: Duration::from_millis(1),
            ..Default::default()
        },
    ] {
        let (port, log) = serve_plain(response("200 OK", GOOD)).await;
        let url = format!("http://127.0.0.1:{port}");
        let driver = DriverClient::with_http(HttpClient::with(settings).unwrap(), &url).unwrap();
        for _ in 0..3 {
            healthz(&driver).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let connections: Vec<_> = log.all().iter().map(|seen| seen.connection).collect();
        assert_eq!(connections, [1, 2, 3]);
    }
}

/// A valid response of this many bytes.
fn padded(size: usize) -> String {
    format!("{GOOD}{}", " ".repeat(size - GOOD.len()))
}

/// Calls until the outcome is the one that is waited for.
async fn until(driver: &DriverClient, is_met: impl Fn(&Result<(), CallError>) -> bool) {
    let calling = async {
        while !is_met(&healthz(driver).await) {
            settle().await;
        }
    };
    let deadline = Duration::from_secs(60);
    tokio::time::timeout(deadline, calling).await.unwrap();
}

#[tokio::test]
async fn d105_large_responses_share_their_memory_and_small_ones_take_none_of_it() {
    const ALL: usize = 64 << 20;
    let http = HttpClient::with(HttpClientSettings {
        response_limit: ALL,
        ..Default::default()
    });
    let http = http.unwrap();
    let driver = |url: &str| DriverClient::with_http(http.clone(), url).unwrap();
    let (small, _) = serve_plain(response("200 OK", &padded(64 << 10))).await;
    let small = driver(&format!("http://127.0.0.1:{small}"));
    let (large, _) = serve_plain(response("200 OK", &padded((64 << 10) + 1))).await;
    let large = driver(&format!("http://127.0.0.1:{large}"));
    healthz(&large).await.unwrap();
    // More than half of the memory takes all of it, as memory is taken by doubling.
    let half = ALL / 2 + 1;
    let without_end = format!("HTTP/1.1 200 OK\r\ncontent-length: {ALL}\r\n\r\n");
    let (hog, _) = serve_plain(without_end + &" ".repeat(half)).await;
    let hog = driver(&format!("http://127.0.0.1:{hog}"));
    let hogging = tokio::spawn(async move {
        let hour = Duration::from_secs(3600);
        hog.call_within(&Healthz {}, hour).await.map(drop)
    });
    until(&large, |called| {
        matches!(called, Err(CallError::NoMemory { limit: ALL }))
    })
    .await;
    let error = healthz(&large).await.unwrap_err();
    assert!(error.to_string().contains(&ALL.to_string()), "{error}");
    healthz(&small).await.unwrap();
    hogging.abort();
    until(&large, Result::is_ok).await;
}
