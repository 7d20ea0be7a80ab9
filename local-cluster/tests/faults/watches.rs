//! Watches that end early.

use futures::{StreamExt as _, stream::BoxStream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{WatchEvent, WatchParams};
use kube::{Client, Error};
use local_cluster::{Fault, RequestFilter, WatchEnd};

use super::{create, maps, two};
use crate::fixture::DEADLINE;
use crate::wire;

type ConfigMapWatch = BoxStream<'static, Result<WatchEvent<ConfigMap>, Error>>;

async fn watch(client: &Client) -> ConfigMapWatch {
    let watch = maps(client)
        .watch(&WatchParams::default().disable_bookmarks(), "0")
        .await;
    watch.unwrap().boxed()
}

/// The next event, as a word.
async fn next(watch: &mut ConfigMapWatch) -> String {
    match tokio::time::timeout(DEADLINE, watch.next()).await.unwrap() {
        None => "end".to_owned(),
        Some(Ok(WatchEvent::Added(map))) => map.metadata.name.unwrap(),
        Some(Ok(WatchEvent::Error(status))) => format!("{} {}", status.code, status.reason),
        Some(Ok(other)) => format!("{other:?}"),
        Some(Err(_)) => "broken".to_owned(),
    }
}

/// kube takes a broken connection for the end of the watch.
fn is_broken(client: &str, seen: &str) -> bool {
    seen == "broken" || (client == "tcp" && seen == "end")
}

#[tokio::test]
async fn only_a_clean_end_terminates_the_chunked_body() {
    let two = two().await;
    create(&two.clients[0].1, "a").await.unwrap();
    let path = "/api/v1/configmaps?watch=true";
    for (end, has_end) in [(WatchEnd::Clean, true), (WatchEnd::Broken, false)] {
        let _guard = two.cluster.faults().inject(Fault::end_watch(end, 1));
        let text = wire::exchange(two.server.addr(), wire::get(path, "")).await;
        assert!(text.contains("\"name\":\"a\""), "{text}");
        assert_eq!(text.ends_with("\r\n0\r\n\r\n"), has_end, "{text}");
    }
}

#[tokio::test]
async fn a_watch_can_end_after_some_events_in_three_ways() {
    let two = two().await;
    for name in ["a", "b", "c"] {
        create(&two.clients[0].1, name).await.unwrap();
    }
    for (name, client) in &two.clients {
        for (end, expected) in [
            (WatchEnd::Clean, "end"),
            (WatchEnd::Broken, "broken"),
            (WatchEnd::Expired, "410 Expired"),
        ] {
            let maps = RequestFilter::default().resource("configmaps");
            let fault = Fault::end_watch(end, 2).of(maps).times(1);
            let guard = two.cluster.faults().inject(fault);
            let mut struck = watch(client).await;
            let mut spared = watch(client).await;
            for expected in ["a", "b", expected, "end"] {
                // kube's decoder decides what follows a broken body.
                let seen = next(&mut struck).await;
                if expected == "broken" {
                    assert!(is_broken(name, &seen), "{name}: {seen}");
                    break;
                }
                assert_eq!(seen, expected, "{name} {end:?}");
            }
            for expected in ["a", "b", "c"] {
                assert_eq!(next(&mut spared).await, expected, "{name} {end:?}");
            }
            assert_eq!(guard.hits(), 1);
        }
    }
}

#[tokio::test]
async fn running_watches_can_be_ended() {
    let two = two().await;
    let faults = two.cluster.faults();
    let secrets = RequestFilter::default().resource("secrets");
    let all = RequestFilter::default()
        .resource("configmaps")
        .namespace("default");
    for (name, client) in &two.clients {
        let mut struck = watch(client).await;
        assert_eq!(faults.end_watches(WatchEnd::Broken, &secrets), 0);
        assert_eq!(faults.end_watches(WatchEnd::Broken, &all), 1, "{name}");
        let mut last = next(&mut struck).await;
        while ["in-process", "tcp"].contains(&last.as_str()) {
            last = next(&mut struck).await;
        }
        assert!(is_broken(name, &last), "{name}: {last}");
        drop(struck);
        let mut spared = watch(client).await;
        create(client, name).await.unwrap();
        while next(&mut spared).await != *name {}
        assert_eq!(faults.end_watches(WatchEnd::Expired, &all), 1, "{name}");
        assert_eq!(next(&mut spared).await, "410 Expired", "{name}");
        assert_eq!(next(&mut spared).await, "end", "{name}");
        assert_eq!(faults.end_watches(WatchEnd::Clean, &all), 0, "{name}");
    }
}

#[tokio::test]
async fn a_watch_continues_when_its_fault_ends() {
    let two = two().await;
    let client = &two.clients[0].1;
    create(client, "a").await.unwrap();
    let guard = two
        .cluster
        .faults()
        .inject(Fault::end_watch(WatchEnd::Broken, 1));
    let mut spared = watch(client).await;
    drop(guard);
    assert_eq!(next(&mut spared).await, "a");
    create(client, "b").await.unwrap();
    assert_eq!(next(&mut spared).await, "b");
}
