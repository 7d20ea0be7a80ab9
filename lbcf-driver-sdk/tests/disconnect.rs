//! A client that hangs up cancels nothing.

use crate::support::{ensure, ok, serve, stage};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn request(address: SocketAddr, path: &str, body: &Value) -> TcpStream {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn b140_the_hook_completes_and_a_later_call_runs_it_again() {
    let (router, stage) = stage();
    let address = serve(router.clone()).await;
    let wait = |retry| ensure(retry, json!({"do": "wait"}));

    let stream = request(address, "/ensureBackend", &wait("1")).await;
    stage.lines(1).await;
    // Closed so that the peer hears of it at once.
    stream.set_zero_linger().unwrap();
    drop(stream);
    // The server has seen the closing when a later connection has its response; the pause lets
    // the server's task for the first connection be scheduled too.
    ok(&router, "/healthz", &json!({})).await;
    tokio::time::sleep(Duration::from_millis(200)).await;

    stage.go.add_permits(1);
    stage.lines(2).await;
    assert_eq!(stage.log(), ["begin a", "end a"]);
    // d28: who hung up was promised nothing, and what was done may have been undone since.
    stage.go.add_permits(1);
    let answer = ok(&router, "/ensureBackend", &wait("2")).await;
    assert_eq!(answer["injectedInfo"]["seen"], "2");
}

#[tokio::test]
async fn b140_a_repeated_call_joins_the_hook_whose_client_is_gone() {
    let (router, stage) = stage();
    let address = serve(router.clone()).await;
    let wait = |retry| ensure(retry, json!({"do": "wait"}));
    let stream = request(address, "/ensureBackend", &wait("1")).await;
    stage.lines(1).await;
    drop(stream);
    let repeated = crate::support::spawn_ok(&router, "/ensureBackend", wait("2"));
    // Without a socket and on one thread, this is enough for the call to arrive.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    stage.go.add_permits(1);
    assert_eq!(repeated.await.unwrap()["injectedInfo"]["seen"], "1");
    assert_eq!(stage.log(), ["begin a", "end a"]);
}

#[tokio::test]
async fn a_decision_completes_too() {
    let (router, stage) = stage();
    let address = serve(router).await;
    let body = json!({"operation": "Create", "parameters": {"do": "wait"}});
    let stream = request(address, "/validateBackend", &body).await;
    stage.lines(1).await;
    drop(stream);
    tokio::time::sleep(Duration::from_millis(50)).await;
    stage.go.add_permits(1);
    stage.lines(2).await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_answered_although_the_client_still_sends() {
    let (router, _) = stage();
    let address = serve(router).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let size = 10 << 20;
    let head = format!(
        "POST /ensureBackend HTTP/1.1\r\nhost: localhost\r\ncontent-length: {size}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![b' '; size]).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}
