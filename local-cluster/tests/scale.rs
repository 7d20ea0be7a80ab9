//! Many watchers and many writes: every watcher receives every event once and in order.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use local_cluster::LocalCluster;
use serde_json::json;
use tower::ServiceExt as _;

use crate::fixture::{call, quick};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const WATCHERS: usize = 100;
const WRITERS: usize = 4;
/// Objects of each writer; each is created, changed twice and deleted.
const OBJECTS: usize = 150;
const LAST: &str = "the-last";

/// An event: its type, the object's version and name.
type Event = (String, u64, String);

/// The text between two others.
fn between<'a>(line: &'a str, before: &str) -> &'a str {
    let start = line.find(before).unwrap() + before.len();
    line[start..].split('"').next().unwrap()
}

/// Reads a watch until the event of the last object. Lines are not parsed, because there are many.
async fn read(mut body: Body) -> Vec<Event> {
    let mut events = Vec::new();
    let mut rest = String::new();
    loop {
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        rest.push_str(std::str::from_utf8(&frame).unwrap());
        let mut lines = rest.split_inclusive('\n').peekable();
        let mut left = String::new();
        while let Some(line) = lines.next() {
            if !line.ends_with('\n') {
                left = line.to_owned();
                break;
            }
            let version = between(line, "\"resourceVersion\":\"").parse().unwrap();
            let name = between(line, "\"name\":\"").to_owned();
            if name == LAST {
                assert!(lines.peek().is_none());
                return events;
            }
            let kind = between(line, "{\"type\":\"").to_owned();
            events.push((kind, version, name));
        }
        rest = left;
    }
}

async fn write(cluster: Arc<LocalCluster>, writer: usize) {
    for number in 0..OBJECTS {
        let name = format!("w{writer}-{number}");
        let one = format!("{MAPS}/{name}");
        let map = json!({"metadata": {"name": name, "labels": {"of": "test"}}});
        let (status, _) = call(&cluster, "POST", MAPS, Some(map)).await;
        assert_eq!(status, StatusCode::CREATED);
        for change in ["a", "b"] {
            let patch = json!({"data": {"change": change}});
            assert_eq!(call(&cluster, "PATCH", &one, Some(patch)).await.0, 200);
        }
        assert_eq!(call(&cluster, "DELETE", &one, None).await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_watchers_see_each_of_thousands_of_writes_once_and_in_order() {
    let cluster = Arc::new(LocalCluster::start(quick()).await.unwrap());
    let (_, list) = call(&cluster, "GET", MAPS, None).await;
    let now = list["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watchers = Vec::new();
    for watcher in 0..WATCHERS {
        let selector = match watcher % 4 {
            0 => "&labelSelector=of%3Dtest",
            1 => "&fieldSelector=metadata.namespace%3Ddefault",
            _ => "",
        };
        let path = format!("{MAPS}?watch=true&resourceVersion={now}{selector}");
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = cluster.router().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        watchers.push(tokio::spawn(read(response.into_body())));
    }
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(Arc::clone(&cluster), writer)))
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let last = json!({"metadata": {"name": LAST, "labels": {"of": "test"}}});
    call(&cluster, "POST", MAPS, Some(last)).await;

    let mut first: Option<Vec<Event>> = None;
    for watcher in watchers {
        let events = watcher.await.unwrap();
        match &first {
            None => first = Some(events),
            Some(first) => assert!(*first == events),
        }
    }
    let events = first.unwrap();
    assert_eq!(events.len(), WRITERS * OBJECTS * 4);
    assert!(events.is_sorted_by(|(_, a, _), (_, b, _)| a < b));
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (kind, _, name) in &events {
        by_name.entry(name).or_default().push(kind);
    }
    assert_eq!(by_name.len(), WRITERS * OBJECTS);
    let life = ["ADDED", "MODIFIED", "MODIFIED", "DELETED"];
    assert!(by_name.values().all(|kinds| *kinds == life));
}

#[tokio::test]
async fn reads_do_not_depend_on_the_other_objects() {
    // Nothing here is timed, but with a thousand times the objects each response would be as short.
    let cluster = LocalCluster::start(quick()).await.unwrap();
    for number in 0..2000 {
        let map = json!({"metadata": {"name": format!("m{number:04}")}});
        call(&cluster, "POST", MAPS, Some(map)).await;
    }
    let (mut token, mut seen, mut pages) = (String::new(), 0, 0);
    loop {
        let path = format!("{MAPS}?limit=500&continue={token}");
        let (_, page) = call(&cluster, "GET", &path, None).await;
        let count = page["items"].as_array().unwrap().len();
        (seen, pages) = (seen + count, pages + 1);
        let left = page["metadata"]["remainingItemCount"].as_u64();
        assert_eq!(seen as u64 + left.unwrap_or(0), 2000);
        match page["metadata"]["continue"].as_str() {
            Some(next) => next.clone_into(&mut token),
            None => break,
        }
    }
    assert_eq!((seen, pages), (2000, 4));
}
