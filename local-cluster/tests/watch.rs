//! Watches: every event arrives once, and a watch that is too late receives `410 Expired`.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt as _;
use local_cluster::{LocalCluster, LocalClusterOptions};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::fixture::{DEADLINE, WIDGETS, call, cluster, quick, widget};

/// A running watch, read line by line.
pub(crate) struct Lines {
    body: Body,
    buffer: Vec<u8>,
    /// The timeout for the next frame.
    pub(crate) deadline: Duration,
}

impl Lines {
    async fn open(cluster: &LocalCluster, query: &str) -> Self {
        Self::of(cluster, &format!("{WIDGETS}?watch=true&{query}")).await
    }

    /// The watch at a path.
    pub(crate) async fn of(cluster: &LocalCluster, path: &str) -> Self {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = cluster.router().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        Self {
            body: response.into_body(),
            buffer: Vec::new(),
            deadline: DEADLINE,
        }
    }

    /// The next event; `None` when the watch has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            let frame = tokio::time::timeout(self.deadline, self.body.frame())
                .await
                .unwrap();
            self.buffer.extend(frame?.unwrap().into_data().unwrap());
        }
    }

    pub(crate) async fn expect(&mut self, kind: &str, name: &str) -> Value {
        let event = self.next().await.unwrap();
        assert_eq!(
            (
                event["type"].as_str(),
                event["object"]["metadata"]["name"].as_str()
            ),
            (Some(kind), Some(name))
        );
        event
    }
}

async fn patch(cluster: &LocalCluster, name: &str, body: Value) {
    let path = format!("{WIDGETS}/{name}");
    assert_eq!(call(cluster, "PATCH", &path, Some(body)).await.0, 200);
}

#[tokio::test]
async fn a_watch_resumes_where_a_list_ended() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let (_, list) = call(&cluster, "GET", WIDGETS, None).await;
    let version = list["metadata"]["resourceVersion"].as_str().unwrap();
    call(&cluster, "POST", WIDGETS, Some(widget("b"))).await;
    let mut watch = Lines::open(&cluster, &format!("resourceVersion={version}")).await;
    watch.expect("ADDED", "b").await;
    patch(&cluster, "a", json!({"spec": {"size": 2}})).await;
    watch.expect("MODIFIED", "a").await;
    call(&cluster, "DELETE", &format!("{WIDGETS}/a"), None).await;
    let deleted = watch.expect("DELETED", "a").await;
    let version = |v: &Value| v.as_str().unwrap().parse::<u64>().unwrap();
    assert!(
        version(&deleted["object"]["metadata"]["resourceVersion"])
            > version(&list["metadata"]["resourceVersion"])
    );
}

#[tokio::test]
async fn a_watch_without_a_version_starts_with_the_present_objects() {
    let cluster = cluster(quick()).await;
    for name in ["a", "b"] {
        call(&cluster, "POST", WIDGETS, Some(widget(name))).await;
    }
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    for (query, marked) in [("resourceVersion=0", false), ("", false), (query, true)] {
        let mut watch = Lines::open(&cluster, query).await;
        watch.expect("ADDED", "a").await;
        watch.expect("ADDED", "b").await;
        if marked {
            let bookmark = watch.next().await.unwrap();
            assert_eq!(bookmark["type"], "BOOKMARK");
            assert_eq!(
                bookmark["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
                "true"
            );
        }
    }
}

#[tokio::test]
async fn objects_enter_and_leave_a_selection() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let mut watch = Lines::open(&cluster, "labelSelector=on").await;
    patch(&cluster, "a", json!({"metadata": {"labels": {"on": "1"}}})).await;
    watch.expect("ADDED", "a").await;
    patch(&cluster, "a", json!({"spec": {"size": 3}})).await;
    watch.expect("MODIFIED", "a").await;
    patch(&cluster, "a", json!({"metadata": {"labels": null}})).await;
    let left = watch.expect("DELETED", "a").await;
    assert_eq!(left["object"]["metadata"]["labels"]["on"], "1");
}

#[tokio::test]
async fn a_version_that_is_no_longer_cached_has_expired() {
    let options = LocalClusterOptions {
        event_history: 3,
        ..quick()
    };
    let cluster = cluster(options).await;
    let (_, first) = call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    for size in 0..5 {
        patch(&cluster, "a", json!({"spec": {"size": size}})).await;
    }
    let version = first["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = Lines::open(&cluster, &format!("resourceVersion={version}")).await;
    let error = watch.next().await.unwrap();
    assert_eq!(
        (&error["type"], &error["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
    assert_eq!(error["object"]["reason"], "Expired");
    assert_eq!(watch.next().await, None);
}

#[tokio::test]
async fn watches_end_with_their_timeout_and_with_the_cluster() {
    let cluster = cluster(quick()).await;
    let mut timed = Lines::open(&cluster, "timeoutSeconds=1&allowWatchBookmarks=true").await;
    assert_eq!(timed.next().await.unwrap()["type"], "BOOKMARK");
    assert_eq!(timed.next().await, None);
    let mut endless = Lines::open(&cluster, "").await;
    cluster.shutdown().await;
    assert_eq!(endless.next().await, None);
}

#[tokio::test]
async fn a_thousand_watchers_see_every_write() {
    let cluster = cluster(quick()).await;
    let mut watches = Vec::new();
    for _ in 0..1000 {
        watches.push(Lines::open(&cluster, "").await);
    }
    for name in ["a", "b", "c"] {
        call(&cluster, "POST", WIDGETS, Some(widget(name))).await;
    }
    for watch in &mut watches {
        for name in ["a", "b", "c"] {
            watch.expect("ADDED", name).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writers_lose_nothing() {
    const WRITERS: u64 = 8;
    const WRITES: u64 = 50;
    let cluster = Arc::new(cluster(quick()).await);
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let mut watch = Lines::open(&cluster, "").await;
    watch.expect("ADDED", "a").await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let cluster = Arc::clone(&cluster);
            tokio::spawn(async move {
                for write in 0..WRITES {
                    let key = format!("w{writer}");
                    let labels = json!({"metadata": {"labels": {key: write.to_string()}}});
                    patch(&cluster, "a", labels).await;
                }
            })
        })
        .collect();
    let mut last = 0;
    for _ in 0..WRITERS * WRITES {
        let event = watch.expect("MODIFIED", "a").await;
        let version = event["object"]["metadata"]["resourceVersion"].as_str();
        let version: u64 = version.unwrap().parse().unwrap();
        assert!(version > last);
        last = version;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let (_, after) = call(&cluster, "GET", &format!("{WIDGETS}/a"), None).await;
    for writer in 0..WRITERS {
        let label = &after["metadata"]["labels"][format!("w{writer}")];
        assert_eq!(label, &json!((WRITES - 1).to_string()));
    }
}
