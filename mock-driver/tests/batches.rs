//! The reference drivers put the backends that wait into one call of their cloud.

use crate::support::{Mock, backend, sample};
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use futures::future::join_all;
use http_body_util::BodyExt;
use mock_driver::azure::{AzureApi, AzureDriver};
use mock_driver::{Clock, Cloud, MockOptions, Quotas};
use serde_json::{Value, json};
use std::time::Duration;
use tower::ServiceExt;

/// Of the rate, so that calls wait for each other.
fn options(batch_size: Option<usize>) -> MockOptions {
    MockOptions {
        batch_size,
        max_hooks_per_second: Some(100),
        ..MockOptions::default()
    }
}

async fn call(router: &Router, webhook: &str, body: Value) -> Value {
    let request = Request::post(format!("/{webhook}"));
    let request = request.body(Body::from(body.to_string())).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

/// Calls that all arrive at once.
async fn all(router: &Router, webhook: &str, bodies: impl Iterator<Item = Value>) -> Vec<Value> {
    join_all(bodies.map(|body| call(router, webhook, body))).await
}

fn succeeded(replies: &[Value]) -> usize {
    let replies = replies.iter();
    replies.filter(|reply| reply["status"] == "Succ").count()
}

/// A cloud that takes so many calls, each about at most 20 targets, and fewer targets than are called for.
fn limited(mock: &mut Mock, calls: u32, batch_size: Option<usize>) {
    mock.cloud.set_quotas(Quotas {
        calls_per_second: Some(calls),
        targets_per_call: Some(20),
        backends: Some(90),
        ..Quotas::default()
    });
    mock.start_driver(options(batch_size));
}

#[tokio::test(start_paused = true)]
async fn d120_each_target_of_a_call_has_its_own_outcome() {
    let mut mock = Mock::new();
    // The first one alone, and the others by 20.
    limited(&mut mock, 6, None);
    let ensure = |number: u32| match number {
        7 => backend(&sample(), "", Value::Null),
        _ => backend(&sample(), &format!("10.0.0.{number}:80"), Value::Null),
    };
    // What is not usable is no call of the cloud.
    assert_eq!(succeeded(&[mock.call("ensureBackend", ensure(7)).await]), 0);
    let replies = all(&mock.router, "ensureBackend", (0..101).map(ensure)).await;
    assert_eq!(replies[7]["status"], "Fail");
    assert_eq!(succeeded(&replies), 90, "as many as there may be");
    let refused = |reply: &&Value| reply["reason"] == "QuotaExceeded";
    assert_eq!(replies.iter().filter(refused).count(), 10);
    assert_eq!(mock.addresses().await.len(), 90);

    limited(&mut mock, 12, None);
    let replies = all(&mock.router, "deregisterBackend", (0..101).map(ensure)).await;
    assert_eq!(succeeded(&replies), 101);
    assert_eq!(mock.observe().await["loadBalancers"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn d120_a_driver_without_batches_needs_a_call_for_each() {
    let mut mock = Mock::new();
    limited(&mut mock, 10, Some(1));
    let ensure = |number: u32| backend(&sample(), &format!("10.0.0.{number}:80"), Value::Null);
    let replies = all(&mock.router, "ensureBackend", (0..15).map(ensure)).await;
    assert_eq!(succeeded(&replies), 10);
    let throttled = replies
        .iter()
        .find(|reply| reply["status"] == "Fail")
        .unwrap();
    assert_eq!(throttled["reason"], "Throttled");
    assert!(
        throttled["msg"]
            .as_str()
            .unwrap()
            .starts_with("RequestLimitExceeded: ")
    );
}

#[tokio::test(start_paused = true)]
async fn d120_more_targets_than_the_cloud_takes_fail_together() {
    let mut mock = Mock::new();
    limited(&mut mock, 10, Some(30));
    let ensure = |number: u32| backend(&sample(), &format!("10.0.0.{number}:80"), Value::Null);
    let replies = all(&mock.router, "ensureBackend", (0..31).map(ensure)).await;
    assert_eq!(succeeded(&replies), 1);
    let message = "InvalidParameterValue.Length: 30 targets in one call, at most 20";
    assert_eq!(replies[30]["msg"], message);
    assert_eq!(replies[30]["reason"], "Internal");
}

#[tokio::test(start_paused = true)]
async fn d120_services_that_share_a_load_balancer_share_its_write() {
    let clock = Clock::manual();
    let cloud = Cloud::azure().with_clock(clock.clone());
    let router = mock_driver::router(AzureDriver::new(cloud.clone(), options(None)));
    let mut infos = Vec::new();
    for name in ["one", "other"] {
        let spec = json!({"service": format!("default/{name}"), "port": "80"});
        let record = format!("createLoadBalancer({name})");
        let create = json!({"recordID": record, "lbSpec": spec});
        let created = call(&router, "createLoadBalancer", create).await;
        assert_eq!(created["status"], "Succ", "{created}");
        infos.push(created["lbInfo"].clone());
    }
    let ensure = |number: usize| {
        backend(
            &infos[number % 2],
            &format!("10.0.0.{number}:80"),
            Value::Null,
        )
    };
    clock.advance(Duration::from_secs(1));
    cloud.set_quotas(Quotas {
        calls_per_second: Some(3),
        ..Quotas::default()
    });
    for (webhook, left) in [("ensureBackend", 201), ("deregisterBackend", 0)] {
        // 1, 100 and 100 of both services.
        let replies = all(&router, webhook, (0..201).map(ensure)).await;
        assert_eq!(succeeded(&replies), 201, "{webhook}");
        let state = AzureApi::new(cloud.clone(), Duration::ZERO).state();
        let pools = state
            .load_balancers
            .values()
            .flat_map(|it| it.resource.pools.values());
        assert_eq!(pools.map(|pool| pool.members.len()).sum::<usize>(), left);
        clock.advance(Duration::from_secs(1));
    }
}
