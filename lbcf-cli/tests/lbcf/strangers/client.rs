//! The client, in a process that calls a thousand hostile drivers and a healthy one.

use super::{
    CHILD, MIB, STRANGERS, address, assert_peak, child, idle, is_skipped, many_keys, tell,
};
use crate::process::Running;
use lbcf_driver_client::{CallError, DriverClient, HttpClient};
use lbcf_driver_sdk::webhook::{CreateLoadBalancer, Healthz};
use lbcf_driver_sdk::wire::from_value;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// What hostile drivers respond, without an end or costly.
fn responses() -> Vec<String> {
    let size = 4 * MIB;
    let sized = |size: usize| format!("HTTP/1.1 200 OK\r\ncontent-length: {size}\r\n\r\n");
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(64 << 10));
    let half_head = format!("HTTP/1.1 200 OK\r\nx: {}", "x".repeat(15 << 10));
    let page = format!(
        "HTTP/1.1 500 Oh\r\ncontent-length: {size}\r\n\r\n{}",
        "x".repeat(MIB)
    );
    let small = sized(64 << 10) + &" ".repeat((64 << 10) - 1);
    let held = [String::new(), half_head, page, small];
    let mut responses: Vec<String> = held.iter().cycle().take(36).cloned().collect();
    let keys = format!(r#"{{"status":"Succ","lbInfo":{}}}"#, many_keys(size - 100));
    responses.extend([
        sized(size) + &" ".repeat(size - 1),
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_owned()
            + &chunk.repeat(size >> 16),
        sized(MIB) + &"[".repeat(MIB),
        sized(keys.len()) + &keys,
    ]);
    responses
}

/// Responds to each connection with another of these, and then holds it.
async fn hostile_drivers(listener: TcpListener) {
    let responses = Arc::new(responses());
    let mut held = JoinSet::new();
    for number in 0.. {
        let (mut stream, _) = listener.accept().await.unwrap();
        let responses = Arc::clone(&responses);
        held.spawn(async move {
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await;
            let response = &responses[number % responses.len()];
            let _ = stream.write_all(response.as_bytes()).await;
            let _ = stream.read_to_end(&mut Vec::new()).await;
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d105_exhaustive_hostile_drivers_take_no_more_memory_than_the_client_has() {
    if is_skipped() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mock = Running::start(&["mock-driver", "--listen", "127.0.0.1:0"]);
    let healthy = address(&mock.line_with("http://"));
    let urls = format!("http://{} http://{healthy}", listener.local_addr().unwrap());
    let hostile = tokio::spawn(hostile_drivers(listener));
    let caller = Running::of(child("strangers::client::client_of_hostile_drivers", &urls));
    let (code, lines) = tokio::task::spawn_blocking(|| caller.wait()).await.unwrap();
    let peaks = lines.iter().filter_map(|it| it.strip_prefix("strangers: "));
    peaks.for_each(tell);
    assert_eq!(code, Some(0), "{lines:?}");
    hostile.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_of_hostile_drivers() {
    let Ok(urls) = std::env::var(CHILD) else {
        return;
    };
    let (hostile, healthy) = urls.split_once(' ').unwrap();
    let http = HttpClient::new();
    let driver = |url: &str| DriverClient::with_http(http.clone(), url).unwrap();
    let (hostile, healthy) = (driver(hostile), driver(healthy));
    let is_healthy = async || assert!(healthy.call(&Healthz {}).await.unwrap().healthy);
    is_healthy().await;
    let pid = std::process::id();
    let idle = idle(pid);
    let mut calls = JoinSet::new();
    for _ in 0..STRANGERS {
        let hostile = hostile.clone();
        let patience = Duration::from_secs(20);
        let create: CreateLoadBalancer = from_value(json!({})).unwrap();
        calls.spawn(async move { hostile.call_within(&create, patience).await.map(drop) });
    }
    let mut refused = 0;
    while let Some(called) = calls.join_next().await {
        refused += usize::from(matches!(called.unwrap(), Err(CallError::NoMemory { .. })));
        is_healthy().await;
    }
    println!("{refused} responses were refused for want of memory");
    // For large responses, and for the heads of a thousand connections, of 16 KiB each, and their small responses.
    let budget = (64 + 32) * MIB;
    assert_peak("the client of drivers", pid, idle, budget);
}
