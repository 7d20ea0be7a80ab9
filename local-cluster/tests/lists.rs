//! Lists and the start of watches: versions, pages, and errors.

use std::time::Duration;

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::RETRY_AFTER;
use http::{Request, StatusCode};
use local_cluster::{LocalCluster, LocalClusterOptions};
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::ServiceExt as _;

use crate::fixture::{call, quick};
use crate::tables::rows;
use crate::watch::Lines;

const ALL: &str = "/api/v1/configmaps";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn cluster() -> LocalCluster {
    LocalCluster::start(quick()).await.unwrap()
}

/// Creates a map and returns its version.
async fn create(cluster: &LocalCluster, namespace: &str, name: &str, labels: Value) -> u64 {
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let map = json!({"metadata": {"name": name, "labels": labels}});
    let (status, created) = call(cluster, "POST", &path, Some(map)).await;
    assert_eq!(status, StatusCode::CREATED);
    version(&created)
}

fn version(object: &Value) -> u64 {
    let version = object["metadata"]["resourceVersion"].as_str();
    version.unwrap().parse().unwrap()
}

async fn list(cluster: &LocalCluster, path: &str, query: &str) -> Value {
    let (status, list) = call(cluster, "GET", &format!("{path}?{query}"), None).await;
    assert_eq!(status, StatusCode::OK, "{query}: {list}");
    list
}

fn names(list: &Value) -> Vec<String> {
    let name = |item: &Value| {
        let text = |key: &str| item["metadata"][key].as_str().unwrap().to_owned();
        format!("{}/{}", text("namespace"), text("name"))
    };
    list["items"].as_array().unwrap().iter().map(name).collect()
}

/// All pages: their names, and their `remainingItemCount`.
async fn pages(cluster: &LocalCluster, path: &str, query: &str) -> Vec<(Vec<String>, Value)> {
    let mut pages = Vec::new();
    let mut token = String::new();
    loop {
        let page = list(cluster, path, &format!("{query}&continue={token}")).await;
        let left = page["metadata"]["remainingItemCount"].clone();
        pages.push((names(&page), left));
        token = match page["metadata"]["continue"].as_str() {
            Some(token) if !token.is_empty() => token.to_owned(),
            _ => return pages,
        };
    }
}

fn page(names: &[&str], left: Option<u64>) -> (Vec<String>, Value) {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    (names, left.map_or(Value::Null, Value::from))
}

#[tokio::test]
async fn pages_are_ordered_by_key_and_count_remaining_items() {
    let cluster = cluster().await;
    for namespace in ["a", "a-b"] {
        let body = json!({"metadata": {"name": namespace}});
        call(&cluster, "POST", "/api/v1/namespaces", Some(body)).await;
    }
    for (namespace, name) in [
        ("a", "x"),
        ("a-b", "x"),
        ("a", "y"),
        ("a", "w"),
        ("default", "d"),
    ] {
        let labels = json!({"even": if name == "x" { "yes" } else { "no" }});
        create(&cluster, namespace, name, labels).await;
    }
    let all = pages(&cluster, ALL, "limit=2").await;
    assert_eq!(
        all,
        [
            page(&["a-b/x", "a/w"], Some(3)),
            page(&["a/x", "a/y"], Some(1)),
            page(&["default/d"], None),
        ]
    );
    let one = pages(&cluster, "/api/v1/namespaces/a/configmaps", "limit=2").await;
    assert_eq!(one, [page(&["a/w", "a/x"], Some(1)), page(&["a/y"], None)]);
    // With a selector the remaining items are unknown, and the next page may be empty.
    let some = pages(&cluster, ALL, "limit=1&labelSelector=even%3Dyes").await;
    assert_eq!(
        some,
        [
            page(&["a-b/x"], None),
            page(&["a/x"], None),
            page(&[], None)
        ]
    );
    let named = pages(
        &cluster,
        ALL,
        "limit=1&fieldSelector=metadata.namespace%3Da",
    )
    .await;
    assert_eq!(
        named,
        [
            page(&["a/w"], None),
            page(&["a/x"], None),
            page(&["a/y"], None)
        ]
    );
    // A limit equal to the number of items.
    let whole = pages(&cluster, ALL, "limit=5").await;
    assert_eq!(whole.len(), 1);
    // Version 0 ignores the limit.
    let any = list(&cluster, ALL, "limit=2&resourceVersion=0").await;
    assert_eq!(names(&any).len(), 5);
    assert_eq!(any["metadata"].get("continue"), None);
}

#[tokio::test]
async fn pages_share_a_version() {
    let cluster = cluster().await;
    for name in ["a", "b", "c", "d"] {
        create(&cluster, "default", name, json!({})).await;
    }
    let first = list(&cluster, MAPS, "limit=2").await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    for name in ["c", "d"] {
        call(&cluster, "DELETE", &format!("{MAPS}/{name}"), None).await;
    }
    create(&cluster, "default", "bb", json!({})).await;
    create(&cluster, "default", "d", json!({"new": "one"})).await;
    let rest = list(&cluster, MAPS, &format!("limit=9&continue={token}")).await;
    assert_eq!(names(&rest), ["default/c", "default/d"]);
    assert_eq!(rest["items"][1]["metadata"].get("labels"), None);
    assert_eq!(version(&rest), version(&first));
    let (status, error) = call(
        &cluster,
        "GET",
        &format!("{MAPS}?continue={token}&resourceVersion=5"),
        None,
    )
    .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(
        error["message"],
        "specifying resource version is not allowed when using continue"
    );
}

#[tokio::test]
async fn resource_version_matches_are_honoured() {
    let cluster = cluster().await;
    let first = create(&cluster, "default", "a", json!({})).await;
    let second = create(&cluster, "default", "b", json!({})).await;
    let table = "
        resourceVersion=FIRST&resourceVersionMatch=Exact | 1 | FIRST
        resourceVersion=FIRST&resourceVersionMatch=NotOlderThan | 2 | SECOND
        resourceVersion=FIRST | 2 | SECOND
        resourceVersion=FIRST&limit=1 | 1 | FIRST
        resourceVersion=SECOND&resourceVersionMatch=Exact | 2 | SECOND
        resourceVersion=FIRST&resourceVersionMatch=Exact&fieldSelector=metadata.name%3Db | 0 | FIRST
        fieldSelector=metadata.name%3Db | 1 | SECOND
        fieldSelector=metadata.name%3Db,metadata.name%3Da | 0 | SECOND
        fieldSelector=metadata.name!%3Db | 1 | SECOND
        fieldSelector=metadata.name%3Db&limit=1 | 1 | SECOND
    ";
    let table = table.replace("FIRST", &first.to_string());
    for [query, found, at] in rows(&table.replace("SECOND", &second.to_string())) {
        let list = list(&cluster, MAPS, query).await;
        let answer = (names(&list).len().to_string(), version(&list).to_string());
        assert_eq!(answer, (found.to_owned(), at.to_owned()), "{query}");
    }
    let (status, error) = call(
        &cluster,
        "GET",
        &format!("{MAPS}?resourceVersionMatch=Exact"),
        None,
    )
    .await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        error["details"]["causes"],
        json!([{"reason": "FieldValueForbidden", "field": "resourceVersionMatch",
            "message": "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"}])
    );
}

#[tokio::test]
async fn compacted_versions_are_expired() {
    let options = LocalClusterOptions {
        event_history: 3,
        ..quick()
    };
    let cluster = LocalCluster::start(options).await.unwrap();
    let first = create(&cluster, "default", "a", json!({})).await;
    create(&cluster, "default", "b", json!({})).await;
    let page = list(&cluster, MAPS, "limit=1").await;
    let token = page["metadata"]["continue"].as_str().unwrap();
    for name in ["c", "d", "e", "f"] {
        create(&cluster, "default", name, json!({})).await;
    }
    let exact = format!("{MAPS}?resourceVersion={first}&resourceVersionMatch=Exact");
    let (status, error) = call(&cluster, "GET", &exact, None).await;
    assert_eq!(
        (status, error["message"].as_str()),
        (
            StatusCode::GONE,
            Some("The resourceVersion for the provided list is too old.")
        )
    );
    let next = format!("{MAPS}?limit=2&continue={token}");
    let (status, error) = call(&cluster, "GET", &next, None).await;
    assert_eq!(
        (status, &error["reason"]),
        (StatusCode::GONE, &json!("Expired"))
    );
    let message = error["message"].as_str().unwrap();
    assert!(
        message.ends_with("now may show up in the list."),
        "{message}"
    );
    // The token of the error continues at the latest version.
    let token = error["metadata"]["continue"].as_str().unwrap();
    let rest = list(&cluster, MAPS, &format!("limit=2&continue={token}")).await;
    assert_eq!(names(&rest), ["default/b", "default/c"]);
    assert_eq!(rest["metadata"]["remainingItemCount"], 3);
}

#[tokio::test(start_paused = true)]
async fn a_future_version_is_waited_for() {
    let cluster = cluster().await;
    let now = create(&cluster, "default", "a", json!({})).await;
    let future = now + 2;
    // A token of a version that does not exist.
    let place = json!({"v": "meta.k8s.io/v1", "rv": future, "start": "/a\u{0}"});
    let token = URL_SAFE_NO_PAD.encode(place.to_string());
    for path in [
        format!("{MAPS}?continue={token}"),
        format!("{MAPS}?resourceVersion={future}"),
        format!("{MAPS}?resourceVersion={future}&resourceVersionMatch=NotOlderThan"),
        format!("{MAPS}?resourceVersion={future}&resourceVersionMatch=Exact"),
        format!("{MAPS}?resourceVersion={future}&limit=1"),
        format!("{MAPS}/a?resourceVersion={future}"),
    ] {
        let began = Instant::now();
        let request = Request::get(&path).body(Body::empty()).unwrap();
        let response = cluster.router().oneshot(request).await.unwrap();
        assert_eq!(response.headers()[RETRY_AFTER], "1");
        let (status, error) = call(&cluster, "GET", &path, None).await;
        assert_eq!(status, StatusCode::GATEWAY_TIMEOUT, "{path}");
        assert_eq!(began.elapsed().as_secs(), 6);
        let message = format!("Timeout: Too large resource version: {future}, current: {now}");
        assert_eq!(error["message"], message);
        assert_eq!(error["reason"], "Timeout");
        assert_eq!(
            error["details"],
            json!({"retryAfterSeconds": 1, "causes": [
                {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]})
        );
    }
    // Once the store reaches the version, the request is served.
    let began = Instant::now();
    let query = format!("resourceVersion={future}&resourceVersionMatch=Exact");
    let listed = list(&cluster, MAPS, &query);
    let written = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        for name in ["b", "c", "d"] {
            create(&cluster, "default", name, json!({})).await;
        }
    };
    let (listed, ()) = tokio::join!(listed, written);
    assert_eq!(names(&listed).len(), 3);
    assert_eq!(began.elapsed().as_secs(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_future_version_sends_nothing_before_it() {
    let cluster = cluster().await;
    let now = create(&cluster, "default", "a", json!({})).await;
    let mut watch = Lines::of(
        &cluster,
        &format!(
            "{MAPS}?watch=true&allowWatchBookmarks=true&resourceVersion={}",
            now + 2
        ),
    )
    .await;
    for name in ["b", "c", "d"] {
        create(&cluster, "default", name, json!({})).await;
    }
    watch.expect("ADDED", "d").await;
    // With initial events, a watch waits as a list does, and reports the error as an event.
    let initial =
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let began = Instant::now();
    let path = format!("{MAPS}?watch=true&{initial}&resourceVersion={}", now + 10);
    let mut watch = Lines::of(&cluster, &path).await;
    let error = watch.next().await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 3);
    assert_eq!(
        (
            &error["type"],
            &error["object"]["code"],
            &error["object"]["reason"]
        ),
        (&json!("ERROR"), &json!(504), &json!("Timeout"))
    );
    assert_eq!(watch.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_have_the_latest_version() {
    let cluster = cluster().await;
    let now = create(&cluster, "default", "a", json!({})).await;
    let path = format!("{MAPS}?watch=true&timeoutSeconds=150&allowWatchBookmarks=true");
    let mut watch = Lines::of(&cluster, &format!("{path}&resourceVersion={now}")).await;
    watch.deadline = Duration::from_secs(3600);
    let began = Instant::now();
    // Without changes there are no events; then another resource changes.
    let write = async {
        tokio::time::sleep(Duration::from_secs(70)).await;
        let elsewhere = json!({"metadata": {"name": "elsewhere"}});
        let path = "/api/v1/namespaces";
        version(&call(&cluster, "POST", path, Some(elsewhere)).await.1)
    };
    let (made, bookmark) = tokio::join!(write, watch.next());
    let mut bookmark = bookmark.unwrap();
    for seconds in [120, 148] {
        assert_eq!(bookmark["type"], "BOOKMARK");
        assert_eq!(
            bookmark["object"],
            json!({"kind": "ConfigMap", "apiVersion": "v1",
                "metadata": {"resourceVersion": made.to_string()}})
        );
        assert_eq!(began.elapsed().as_secs(), seconds);
        bookmark = watch.next().await.unwrap_or_default();
    }
    assert_eq!(bookmark, Value::Null);
    assert_eq!(began.elapsed().as_secs(), 150);
    // A bookmark marks the end of the initial events.
    for query in ["", "&resourceVersion=0"] {
        let mut watch = Lines::of(&cluster, &format!("{path}{query}")).await;
        watch.expect("ADDED", "a").await;
        let bookmark = watch.next().await.unwrap();
        let annotations = &bookmark["object"]["metadata"]["annotations"];
        assert_eq!(annotations["k8s.io/initial-events-end"], "true");
    }
}

#[tokio::test]
async fn a_watch_of_one_name_sees_no_other() {
    let cluster = cluster().await;
    create(&cluster, "default", "a", json!({})).await;
    create(&cluster, "default", "b", json!({})).await;
    let path = format!("{MAPS}?watch=true&fieldSelector=metadata.name%3Db");
    let mut watch = Lines::of(&cluster, &path).await;
    watch.expect("ADDED", "b").await;
    create(&cluster, "default", "c", json!({})).await;
    for name in ["a", "b"] {
        call(&cluster, "DELETE", &format!("{MAPS}/{name}"), None).await;
    }
    watch.expect("DELETED", "b").await;
}

#[tokio::test]
async fn a_slow_watcher_gets_an_expired_error() {
    let options = LocalClusterOptions {
        event_history: 100,
        ..quick()
    };
    let cluster = LocalCluster::start(options).await.unwrap();
    for number in 0..600 {
        create(&cluster, "default", &format!("m{number:03}"), json!({})).await;
    }
    // Initial events are not held for clients that do not read them.
    let mut watch = Lines::of(&cluster, &format!("{MAPS}?watch=true")).await;
    watch.expect("ADDED", "m000").await;
    for number in 0..101 {
        create(&cluster, "default", &format!("n{number:03}"), json!({})).await;
    }
    let mut received = 1;
    let error = loop {
        let event = watch.next().await.unwrap();
        if event["type"] != "ADDED" {
            break event;
        }
        received += 1;
    };
    assert!(received < 600, "{received}");
    assert_eq!(
        (&error["type"], &error["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
    assert_eq!(watch.next().await, None);
}

#[tokio::test]
async fn invalid_watches_are_refused_before_they_begin() {
    let cluster = cluster().await;
    for (query, code) in [
        ("sendInitialEvents=true", 422),
        ("resourceVersionMatch=NotOlderThan&resourceVersion=3", 422),
        ("resourceVersion=x", 500),
        ("timeoutSeconds=x", 400),
        ("labelSelector=%3D%3D", 400),
    ] {
        let path = format!("{MAPS}?watch=true&{query}");
        let (status, error) = call(&cluster, "GET", &path, None).await;
        assert_eq!(
            (status.as_u16(), &error["kind"]),
            (code, &json!("Status")),
            "{query}"
        );
    }
}
