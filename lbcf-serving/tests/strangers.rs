//! Clients that hold connections and send too little, while others are served.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests unwrap, too"
)]

mod wide;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper::{Request, Response};
use lbcf_serving::listener::{Limits, Listener, RequestBody};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use wide::{DEADLINE, WIDE};

const GET: &str = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
const HALF_A_HEAD: &str = "GET / HTTP/1.1\r\nho";
const HALF_A_BODY: &str = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\nhalf";
/// The response to this is more than sockets hold.
const LARGE_BODY: usize = 64 << 20;
const LARGE: &str = "GET /large HTTP/1.1\r\nhost: x\r\n\r\n";

/// Reads each request's body, and then answers.
async fn serve(limits: Limits) -> SocketAddr {
    let listener = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let listener = listener.limits(limits);
    let addr = listener.addr();
    let large = Bytes::from(vec![b'x'; LARGE_BODY]);
    let respond = move |request: Request<RequestBody>| {
        let is_large = request.uri().path() == "/large";
        let body = large.slice(..if is_large { LARGE_BODY } else { 6 });
        async {
            request.into_body().collect().await?;
            Ok::<_, hyper::Error>(Response::new(Full::new(body)))
        }
    };
    let serving = listener.serve(
        move |_| service_fn(respond.clone()),
        None,
        std::future::pending(),
    );
    tokio::spawn(async move { drop(serving.await) });
    addr
}

/// Connects from a loopback address of its own, and sends something.
async fn begin(from: [u8; 4], to: SocketAddr, text: &str) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    let mut stream = socket.connect(to).await?;
    stream.write_all(text.as_bytes()).await?;
    Ok(stream)
}

async fn is_served(from: [u8; 4], addr: SocketAddr) -> bool {
    let served = async {
        let mut response = String::new();
        let mut stream = begin(from, addr, GET).await?;
        stream.read_to_string(&mut response).await?;
        Ok::<_, io::Error>(response.ends_with("xxxxxx"))
    };
    timeout(DEADLINE, served).await.unwrap().unwrap_or(false)
}

async fn until_served(from: [u8; 4], addr: SocketAddr) {
    let served = async { while !is_served(from, addr).await {} };
    timeout(DEADLINE, served).await.unwrap();
}

#[tokio::test]
async fn d104_strangers_who_hold_connections_keep_no_other_out() {
    for begun in ["", HALF_A_HEAD, HALF_A_BODY, LARGE] {
        let addr = serve(WIDE).await;
        let mut strangers = Vec::new();
        for _ in 0..200 {
            strangers.push(begin([127, 0, 0, 1], addr, begun).await.unwrap());
        }
        until_served([127, 0, 0, 1], addr).await;
        drop(strangers);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d104_strangers_who_connect_again_and_again_cut_no_request_of_another_address() {
    for begun in ["", HALF_A_HEAD] {
        let addr = serve(WIDE).await;
        let mut strangers = JoinSet::new();
        for _ in 0..100 {
            strangers.spawn(async move {
                loop {
                    if let Ok(mut stream) = begin([127, 0, 0, 1], addr, begun).await {
                        let _ = stream.read_u8().await;
                    }
                }
            });
        }
        // A client that sends the rest of its request when many others have come.
        for _ in 0..10 {
            let mut slow = begin([127, 0, 0, 2], addr, HALF_A_HEAD).await.unwrap();
            sleep(Duration::from_millis(20)).await;
            assert!(is_served([127, 0, 0, 3], addr).await, "{begun}");
            slow.write_all(b"st: x\r\nconnection: close\r\n\r\n")
                .await
                .unwrap();
            let mut response = String::new();
            let read = timeout(DEADLINE, slow.read_to_string(&mut response));
            read.await.unwrap().unwrap();
            assert!(response.ends_with("xxxxxx"), "{response}");
        }
    }
}

#[tokio::test]
async fn d104_a_body_has_a_limit_however_it_trickles() {
    let body = Duration::from_millis(100);
    let addr = serve(Limits { body, ..WIDE }).await;
    let mut slow = begin([127, 0, 0, 1], addr, HALF_A_BODY).await.unwrap();
    let trickle = async {
        loop {
            sleep(Duration::from_millis(10)).await;
            if slow.write_all(b"x").await.is_err() {
                break;
            }
        }
    };
    timeout(DEADLINE, trickle).await.unwrap();
}
