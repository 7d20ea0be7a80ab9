//! Many services at once on one load balancer, through the router (a6).

use super::lab::Lab;
use crate::azure::AzureDriver;
use crate::{MockOptions, router};
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use futures::future::join_all;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

const SERVICES: usize = 50;

async fn call(router: &Router, webhook: &str, body: &Value) -> Value {
    let request = Request::post(format!("/{webhook}"));
    let request = request.body(Body::from(body.to_string())).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

/// Calls until the answer is not `Running` any more, as a controller does.
async fn until_done(router: &Router, webhook: &str, body: Value) -> Value {
    loop {
        let answer = call(router, webhook, &body).await;
        if answer["status"] != "Running" {
            assert_eq!(answer["status"], "Succ", "{answer}");
            return answer;
        }
    }
}

/// Creates all services at once, registers a backend with each, and deletes half of them. Returns
/// how many writes were refused because others were faster.
async fn conflicts(lab: &Lab, driver: AzureDriver) -> usize {
    let router = router(driver);
    let created = join_all((0..SERVICES).map(|number| {
        let spec = json!({"service": format!("default/web{number}"), "port": "80"});
        let record = format!("createLoadBalancer({number})");
        let body = json!({"recordID": record, "lbSpec": spec, "attributes": {"azure-shared-securityrule": "true"}});
        until_done(&router, "createLoadBalancer", body)
    }))
    .await;
    join_all(created.iter().enumerate().map(|(number, created)| {
        let body = json!({
            "recordID": format!("ensureBackend({number})"), "lbInfo": created["lbInfo"],
            "backendAddr": format!("10.0.0.{number}:80"), "parameters": {},
        });
        until_done(&router, "ensureBackend", body)
    }))
    .await;
    let all = lab.load_balancer("kubernetes");
    let with_backend = all.pools.values().filter(|pool| pool.members.len() == 1);
    assert_eq!(
        (all.frontends.len(), with_backend.count()),
        (SERVICES, SERVICES)
    );
    assert_eq!(lab.security_rules()[0].1.len(), SERVICES);
    let half = created.iter().enumerate().take(SERVICES / 2);
    join_all(half.map(|(number, created)| {
        let record = format!("deleteLoadBalancer({number})");
        let body = json!({"recordID": record, "lbInfo": created["lbInfo"]});
        until_done(&router, "deleteLoadBalancer", body)
    }))
    .await;
    let left = SERVICES - SERVICES / 2;
    assert_eq!(lab.load_balancer("kubernetes").rules.len(), left);
    assert_eq!(
        (lab.left().1.len(), lab.security_rules()[0].1.len()),
        (left, left)
    );
    let requests = lab.requests_since(0).into_iter();
    requests
        .filter(|request| request.ends_with(" PreconditionFailed"))
        .count()
}

#[tokio::test]
async fn a06_d87_with_the_serial_key_50_services_lose_nothing_and_never_conflict() {
    let lab = Lab::new();
    let driver = AzureDriver::new(lab.cloud.clone(), MockOptions::default());
    assert_eq!(conflicts(&lab, driver).await, 0);
}

#[tokio::test]
async fn a06_without_it_writers_conflict_and_the_retry_still_loses_nothing() {
    let lab = Lab::new();
    let driver = AzureDriver::new(lab.cloud.clone(), MockOptions::default());
    let conflicts = conflicts(&lab, driver.without_serial_key()).await;
    assert!(conflicts > SERVICES, "{conflicts}");
}

#[tokio::test]
async fn it_cancels_deregistrations() {
    let driver = AzureDriver::new(Lab::new().cloud, MockOptions::default());
    let health = call(&router(driver), "healthz", &json!({})).await;
    assert_eq!(
        health["features"],
        json!(["batches", "cancel", "pages", "reasons"])
    );
}
