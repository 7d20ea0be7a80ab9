//! Measures what writes, watches and lists cost, and how that grows with what is stored already.
//!
//! `cargo run --release -p local-cluster --example growth -- 1000 10000`
//!
//! For each number of objects as many config maps are created, in memory and with a data directory, while
//! watchers receive the events. Then one object is updated repeatedly, and read in the ways that should
//! not depend on the number of objects. Cluster, writers and watchers share this process and the machine's
//! cores. Memory is the growth of the process.

// A failed measurement panics.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use local_cluster::{LocalCluster, LocalClusterOptions};
use serde_json::{Value, json};
use tower::ServiceExt as _;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PODS: &str = "/api/v1/namespaces/default/pods";
const WATCHERS: usize = 100;
/// How often each operation is repeated.
const REPEATS: u32 = 2000;

#[tokio::main]
async fn main() {
    let mut sizes: Vec<usize> = std::env::args()
        .skip(1)
        .map(|size| size.parse().expect("the sizes are numbers of objects"))
        .collect();
    if sizes.is_empty() {
        sizes = vec![1000, 10_000];
    }
    memory_of_objects().await;
    for on_disk in [false, true] {
        let storage = if on_disk { "data directory" } else { "memory" };
        println!("\n{storage}, {WATCHERS} watchers");
        println!(
            "  objects  creates/s  all done after  updates/s  gets/s  by name/s  pages/s  whole list"
        );
        let mut first: Option<Measurement> = None;
        for &objects in &sizes {
            let row = measure(objects, on_disk).await;
            println!(
                "{:>9}  {:>9.0}  {:>13.2}s  {:>9.0}  {:>6.0}  {:>9.0}  {:>7.0}  {:>8.1}ms",
                row.objects,
                row.creates,
                row.watched.as_secs_f64(),
                row.updates,
                row.gets,
                row.by_name,
                row.pages,
                row.list.as_secs_f64() * 1000.0,
            );
            match &first {
                None => first = Some(row),
                Some(few) => println!(
                    "  with {:.0} times the objects, creates take {:.2} times as long each, updates {:.2}, gets {:.2}, by name {:.2}, pages {:.2}",
                    row.objects as f64 / few.objects as f64,
                    few.creates / row.creates,
                    few.updates / row.updates,
                    few.gets / row.gets,
                    few.by_name / row.by_name,
                    few.pages / row.pages,
                ),
            }
        }
    }
}

struct Measurement {
    objects: usize,
    creates: f64,
    watched: Duration,
    updates: f64,
    gets: f64,
    by_name: f64,
    pages: f64,
    list: Duration,
}

async fn measure(objects: usize, on_disk: bool) -> Measurement {
    let directory = on_disk.then(directory);
    let cluster = start(directory.clone()).await;
    let mut watchers = Vec::new();
    for _ in 0..WATCHERS {
        let body = send(&cluster, "GET", &format!("{MAPS}?watch=true"), None).await;
        watchers.push(tokio::spawn(count_lines(body, objects)));
    }
    let began = Instant::now();
    for number in 0..objects {
        drop(send(&cluster, "POST", MAPS, Some(map(number))).await);
    }
    let creates = objects as f64 / began.elapsed().as_secs_f64();
    for watcher in watchers {
        watcher.await.unwrap();
    }
    let watched = began.elapsed();
    let one = format!("{MAPS}/map-{}", objects / 2);
    let updates = per_second(REPEATS, async |n| {
        let patch = json!({"data": {"changed": n.to_string()}});
        drop(send(&cluster, "PATCH", &one, Some(patch)).await);
    })
    .await;
    let gets = reads(&cluster, &one).await;
    let by_name = format!("{MAPS}?fieldSelector=metadata.name%3Dmap-{}", objects / 2);
    let by_name = reads(&cluster, &by_name).await;
    let pages = reads(&cluster, &format!("{MAPS}?limit=10")).await;
    let began = Instant::now();
    read(&cluster, MAPS).await;
    let list = began.elapsed();
    cluster.shutdown().await;
    if let Some(directory) = directory {
        std::fs::remove_dir_all(directory).unwrap();
    }
    Measurement {
        objects,
        creates,
        watched,
        updates,
        gets,
        by_name,
        pages,
        list,
    }
}

/// The memory of an object, without its events in the watch cache.
async fn memory_of_objects() {
    const COUNT: u64 = 5000;
    println!("   object  as JSON  in memory");
    for (what, path, object) in [
        ("map", MAPS, map as fn(usize) -> Value),
        ("pod", PODS, pod as fn(usize) -> Value),
    ] {
        let options = LocalClusterOptions {
            event_history: 1,
            // Pods stay as they are created.
            nodes: Vec::new(),
            ..LocalClusterOptions::default()
        };
        let cluster = LocalCluster::start(options).await.unwrap();
        for number in 0..100 {
            drop(send(&cluster, "POST", path, Some(object(number))).await);
        }
        let before = resident();
        for number in 0..COUNT as usize {
            drop(send(&cluster, "POST", path, Some(object(100 + number))).await);
        }
        let grown = resident().saturating_sub(before);
        let length = read(&cluster, &format!("{path}?limit=1")).await;
        println!("{what:>9}  {length:>7}  {:>9}", grown / COUNT);
        cluster.shutdown().await;
    }
}

async fn start(data_dir: Option<PathBuf>) -> LocalCluster {
    let options = LocalClusterOptions {
        data_dir,
        ..LocalClusterOptions::default()
    };
    LocalCluster::start(options).await.unwrap()
}

fn directory() -> PathBuf {
    std::env::temp_dir().join(format!("local-cluster-scale-{}", std::process::id()))
}

fn map(number: usize) -> Value {
    json!({
        "metadata": {"name": format!("map-{number}"), "labels": {"app": "scale"}},
        "data": {"a": "some text that is not too short", "b": "1", "c": number.to_string()},
    })
}

fn pod(number: usize) -> Value {
    json!({
        "metadata": {"name": format!("pod-{number}"), "labels": {"app": "scale", "tier": "web"}},
        "spec": {"containers": [{
            "name": "web", "image": "nginx:1.29", "ports": [{"containerPort": 80, "name": "http"}],
            "env": [{"name": "A", "value": "b"}, {"name": "C", "value": "d"}],
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
        }]},
    })
}

async fn send(cluster: &LocalCluster, method: &str, path: &str, body: Option<Value>) -> Body {
    let media_type = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media_type)
        .body(body.map_or_else(Body::empty, |body| Body::from(body.to_string())))
        .unwrap();
    let response = cluster.router().oneshot(request).await.unwrap();
    assert!(response.status().is_success(), "{method} {path}");
    response.into_body()
}

async fn read(cluster: &LocalCluster, path: &str) -> usize {
    let body = send(cluster, "GET", path, None).await;
    body.collect().await.unwrap().to_bytes().len()
}

async fn reads(cluster: &LocalCluster, path: &str) -> f64 {
    per_second(REPEATS, async |_| {
        read(cluster, path).await;
    })
    .await
}

async fn per_second(times: u32, mut action: impl AsyncFnMut(u32)) -> f64 {
    let began = Instant::now();
    for time in 0..times {
        action(time).await;
    }
    f64::from(times) / began.elapsed().as_secs_f64()
}

async fn count_lines(mut body: Body, wanted: usize) {
    let mut lines = 0;
    while lines < wanted {
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        lines += frame.iter().filter(|byte| **byte == b'\n').count();
    }
}

/// The resident memory of the process in bytes; 0 if it is not known.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
