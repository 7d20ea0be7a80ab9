//! The clients.

use std::io::Read as _;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const REQUEST: &[u8] = b"GET /path HTTP/1.1\r\nhost: www.example.com\r\nuser-agent: bench\r\n\
    accept: */*\r\n\r\n";
/// The last bytes of a response.
const BODY_END: &[u8] = b"0123456789abcdef";
const BODY: usize = 64;

/// Sends requests on so many connections, one after the other on each, and prints the number of
/// requests in a second, the median and the 99th percentile of the latency in microseconds, and the
/// number of requests with those of the warm-up.
pub(crate) async fn run(addr: &str, connections: &str, seconds: &str) {
    let duration = Duration::from_secs(seconds.parse().unwrap());
    let warm_up = Instant::now() + Duration::from_secs(1);
    let tasks: Vec<_> = (0..connections.parse().unwrap())
        .map(|_| {
            let addr = addr.to_owned();
            tokio::spawn(async move {
                let mut stream = connect(&addr).await;
                let mut latencies = Vec::new();
                let mut total = 0_u64;
                loop {
                    let began = Instant::now();
                    if began > warm_up + duration {
                        return (latencies, total);
                    }
                    request(&mut stream).await;
                    total += 1;
                    if began > warm_up {
                        latencies.push(u32::try_from(began.elapsed().as_micros()).unwrap());
                    }
                }
            })
        })
        .collect();
    let (mut latencies, mut total) = (Vec::new(), 0);
    for task in tasks {
        let (of_task, requests) = task.await.unwrap();
        latencies.extend(of_task);
        total += requests;
    }
    latencies.sort_unstable();
    let rate = latencies.len() as f64 / duration.as_secs_f64();
    let (p50, p99) = (
        latencies[latencies.len() / 2],
        latencies[latencies.len() * 99 / 100],
    );
    println!("{rate} {p50} {p99} {total}");
}

/// Opens so many connections, sends a request on each, and holds them until standard input ends.
pub(crate) async fn hold(addr: &str, connections: &str) {
    let mut held = Vec::new();
    for _ in 0..connections.parse::<usize>().unwrap() {
        let mut stream = connect(addr).await;
        request(&mut stream).await;
        held.push(stream);
    }
    println!("held");
    let _ = std::io::stdin().read(&mut [0]);
}

async fn connect(addr: &str) -> TcpStream {
    let stream = TcpStream::connect(addr).await.unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

async fn request(stream: &mut TcpStream) {
    stream.write_all(REQUEST).await.unwrap();
    let mut response = [0; 1024];
    let mut length = 0;
    loop {
        let read = stream.read(&mut response[length..]).await.unwrap();
        assert!(read > 0, "the proxy closed the connection");
        length += read;
        let head = response[..length]
            .windows(4)
            .position(|it| it == b"\r\n\r\n");
        if head.is_some_and(|head| length == head + 4 + BODY) {
            assert!(response[..length].ends_with(BODY_END));
            assert!(response.starts_with(b"HTTP/1.1 200 "));
            return;
        }
    }
}
