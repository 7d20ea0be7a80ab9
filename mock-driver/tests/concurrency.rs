//! Many calls at a time.

use crate::support::{Mock, backend, create, order, sample};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::task::JoinSet;

async fn all_at_once(mock: &Arc<Mock>, calls: Vec<(&'static str, Value)>) -> Vec<Value> {
    let mut tasks = JoinSet::new();
    for (webhook, body) in calls {
        let mock = Arc::clone(mock);
        tasks.spawn(async move { mock.succ(webhook, body).await });
    }
    tasks.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn conc_01_fifty_backends() {
    let mock = Arc::new(Mock::new());
    let calls = (0..50)
        .map(|n| {
            (
                "ensureBackend",
                backend(&sample(), &format!("10.0.0.{n}:80"), Value::Null),
            )
        })
        .collect();
    all_at_once(&mock, calls).await;
    assert_eq!(mock.addresses().await.len(), 50);
    assert_eq!(mock.cloud.calls().get("ensureBackend"), 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn conc_02_one_backend_ten_times() {
    let mock = Arc::new(Mock::new());
    let call = (
        "ensureBackend",
        backend(&sample(), "a", json!({"weight": "1"})),
    );
    all_at_once(&mock, vec![call; 10]).await;
    assert_eq!(mock.addresses().await, ["a"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn conc_03_one_creation_ten_times() {
    let mock = Arc::new(Mock::new());
    let calls = (0..10)
        .map(|n| {
            let mut request = create("1", order());
            request["retryID"] = n.to_string().into();
            ("createLoadBalancer", request)
        })
        .collect();
    let replies = all_at_once(&mock, calls).await;
    let identities: BTreeSet<String> = replies.iter().map(|it| it["lbInfo"].to_string()).collect();
    assert_eq!(identities.len(), 1);
    assert_eq!(mock.cloud.observe().load_balancers.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn conc_04_concurrent_registrations_and_removals_lose_nothing() {
    let mock = Arc::new(Mock::new());
    let addr = |n: usize| format!("10.0.0.{n}:80");
    let of = |webhook: &'static str, numbers: std::ops::Range<usize>| {
        numbers.map(move |n| (webhook, backend(&sample(), &addr(n), Value::Null)))
    };
    all_at_once(&mock, of("ensureBackend", 0..25).collect()).await;
    let mut calls: Vec<_> = of("deregisterBackend", 0..25).collect();
    calls.extend(of("ensureBackend", 25..50));
    all_at_once(&mock, calls).await;
    let expected: BTreeSet<String> = (25..50).map(addr).collect();
    let seen: BTreeSet<String> = mock.addresses().await.into_iter().collect();
    assert_eq!(seen, expected);
}
