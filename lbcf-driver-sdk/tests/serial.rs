//! Operations with equal serial keys run one after the other.

use crate::support::{ok, spawn_ok, stage};
use lbcf_driver_sdk::webhook::{ALL, Class, Healthz, ValidateBackend, Webhook};
use serde_json::{Value, json};

fn on(load_balancer: &str, backend: &str) -> Value {
    json!({
        "recordID": format!("ensureBackend({backend})"), "lbInfo": {"id": load_balancer},
        "backendAddr": backend, "parameters": {"do": "wait"},
    })
}

async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn b159_one_load_balancer_sees_one_change_at_a_time() {
    let (router, stage) = stage();
    let mut calls: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .map(|backend| spawn_ok(&router, "/ensureBackend", on("lb-1", backend)))
        .collect();
    settle().await;
    assert_eq!(stage.log(), ["begin a"]);
    // Operations on another load balancer do not wait.
    calls.push(spawn_ok(&router, "/ensureBackend", on("lb-2", "x")));
    settle().await;
    assert_eq!(stage.log(), ["begin a", "begin x"]);
    stage.go.add_permits(4);
    for call in calls {
        assert_eq!(call.await.unwrap()["status"], "Succ");
    }
    let log = stage.log();
    let of_first: Vec<_> = log.iter().filter(|line| !line.contains('x')).collect();
    assert_eq!(
        of_first,
        ["begin a", "end a", "begin b", "end b", "begin c", "end c"]
    );
}

#[tokio::test(start_paused = true)]
async fn b159_creating_is_ordered_by_the_specification() {
    let (router, stage) = stage();
    let create = json!({
        "recordID": "createLoadBalancer(1)", "lbSpec": {"id": "lb-1"},
        "attributes": {"do": "wait"},
    });
    let created = spawn_ok(&router, "/createLoadBalancer", create);
    settle().await;
    let ensured = spawn_ok(&router, "/ensureBackend", on("lb-1", "a"));
    settle().await;
    assert_eq!(stage.log(), ["begin create"]);
    stage.go.add_permits(2);
    assert_eq!(created.await.unwrap()["lbInfo"], json!({"id": "lb-1"}));
    assert_eq!(ensured.await.unwrap()["status"], "Succ");
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_releases_its_key() {
    let (router, stage) = stage();
    let mut breaks = on("lb-1", "a");
    breaks["parameters"] = json!({"do": "panic"});
    let request = axum::http::Request::post("/ensureBackend")
        .body(breaks.to_string().into())
        .unwrap();
    let response = crate::support::send(&router, request).await;
    assert_eq!(response.status().as_u16(), 500);
    stage.go.add_permits(1);
    let answer = ok(&router, "/ensureBackend", &on("lb-1", "b")).await;
    assert_eq!(answer["status"], "Succ");
}

#[tokio::test(start_paused = true)]
async fn d83_an_address_is_generated_while_a_change_of_its_load_balancer_runs() {
    let (router, stage) = stage();
    let change = spawn_ok(&router, "/ensureBackend", on("lb-1", "a"));
    settle().await;
    assert_eq!(stage.log(), ["begin a"]);
    let generate = json!({
        "recordID": "generateBackendAddr(b)", "lbInfo": {"id": "lb-1"},
        "podBackend": {"pod": {"metadata": {"name": "b"}}, "port": {"portNumber": 80}},
    });
    let answer = ok(&router, "/generateBackendAddr", &generate).await;
    assert_eq!(answer["status"], "Succ", "{answer}");
    assert_eq!(stage.log(), ["begin a"], "the change still runs");
    stage.go.add_permits(1);
    assert_eq!(change.await.unwrap()["status"], "Succ");
}

#[test]
fn d83_operations_that_change_nothing_are_told_apart() {
    let reads: Vec<_> = ALL
        .iter()
        .filter(|webhook| webhook.class == Class::Operation && !webhook.changes_load_balancer())
        .map(|webhook| webhook.name)
        .collect();
    assert_eq!(reads, ["generateBackendAddr", "listBackends"]);
    assert!(!Healthz::INFO.changes_load_balancer());
    assert!(!ValidateBackend::INFO.changes_load_balancer());
}
