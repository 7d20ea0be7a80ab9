//! Listings of drivers that have pages.

use super::{LIST, audits, bind, drift, events, register_a_pod, setup, start_with};
use lbcf_controller::Options;
use lbcf_controller::api::LoadBalancerDriver;
use lbcf_e2e::manifests::{DRIVER, SYSTEM};
use lbcf_e2e::{DriverProxy, ProxiedCall, ProxyAction, World, until};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::task::JoinHandle;

/// The backends of one page.
const PAGE: usize = 500;

/// Starts a controller that knows the driver's features when it audits.
async fn start_with_features(world: &World) -> JoinHandle<()> {
    let options = Options {
        driver_health_period: Some(Duration::from_millis(50)),
        ..World::quick()
    };
    let (controller, _) = start_with(world, options);
    until("the features are known", async || {
        let driver = world
            .api::<LoadBalancerDriver>(SYSTEM)
            .get(DRIVER)
            .await
            .unwrap();
        let features = driver.status?.features;
        features.iter().any(|it| it == "pages").then_some(())
    })
    .await;
    controller
}

fn bind_many(world: &World, count: usize) {
    for number in 0..count {
        let address = format!("198.18.{}.{}:80", number / 250, number % 250);
        bind(world, &address, None);
    }
}

/// The first listing of which there is a call after this one.
fn listing(proxy: &DriverProxy, after: usize) -> Vec<ProxiedCall> {
    let calls = proxy.calls_of(LIST);
    let next = calls[after].record_id().to_owned();
    let calls = calls.into_iter();
    calls.filter(|call| call.record_id() == next).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d114_thousands_of_backends_are_audited_in_pages() {
    let (world, proxy) = setup().await;
    let controller = start_with_features(&world).await;
    register_a_pod(&world).await;
    audits(&proxy, 1).await;
    bind_many(&world, 5000);
    until("all are found", async || {
        let message = drift(&world).await?.message;
        let all = "no BackendRecord accounts for 5000 registered backends: ";
        message.starts_with(all).then_some(())
    })
    .await;
    let begun = proxy.calls_of(LIST).len();
    audits(&proxy, 30).await;
    controller.abort();

    let pages = listing(&proxy, begun + 11);
    assert_eq!(pages.len(), 11);
    let mut listed = BTreeSet::new();
    let mut token = Value::Null;
    for page in &pages {
        assert_eq!(page.body["limit"], PAGE, "{}", page.body);
        assert_eq!(page.body["continue"], token, "{}", page.body);
        token = page.response["continue"].clone();
        let backends = page.response["backends"].as_array().unwrap();
        assert!(backends.len() <= PAGE);
        let addresses = backends.iter().map(|it| it["backendAddr"].to_string());
        listed.extend(addresses);
    }
    assert_eq!((token, listed.len()), (Value::Null, 5001));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d114_a_driver_of_before_gets_the_call_of_before() {
    let (world, proxy) = setup().await;
    let healthy = json!({"healthy": true});
    // What it has and does not name is not used.
    proxy.rule(move |call| match &*call.webhook {
        "healthz" => ProxyAction::reply_json(&healthy),
        _ => ProxyAction::Forward,
    });
    let options = Options {
        driver_health_period: Some(Duration::from_millis(50)),
        ..World::quick()
    };
    let (controller, _) = start_with(&world, options);
    register_a_pod(&world).await;
    bind_many(&world, PAGE + 1);
    audits(&proxy, 2).await;
    controller.abort();
    for call in proxy.calls_of(LIST) {
        let members: Vec<_> = call.body.as_object().unwrap().keys().collect();
        let of_before = [
            "dryRun",
            "lbInfo",
            "name",
            "namespace",
            "recordID",
            "retryID",
        ];
        assert_eq!(members, of_before);
    }
    let driver = world
        .api::<LoadBalancerDriver>(SYSTEM)
        .get(DRIVER)
        .await
        .unwrap();
    let status = driver.status.unwrap();
    assert_eq!(
        (status.specification, status.features),
        (String::new(), vec![])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d114_nothing_follows_from_a_list_whose_last_page_is_missing() {
    let (world, proxy) = setup().await;
    let fail = |msg: &str| ProxyAction::reply_json(&json!({"status": "Fail", "msg": msg}));
    proxy.rule(move |call| match &*call.webhook {
        LIST => fail("not yet"),
        _ => ProxyAction::Forward,
    });
    let controller = start_with_features(&world).await;
    register_a_pod(&world).await;
    bind_many(&world, PAGE + 1);
    proxy.rule(move |call| match &*call.webhook {
        LIST if call.body.get("continue").is_some() => fail("no second page"),
        _ => ProxyAction::Forward,
    });
    let listed = |call: &ProxiedCall| call.response["backends"].as_array().is_some();
    until("a first page is listed", async || {
        proxy.calls_of(LIST).iter().any(listed).then_some(())
    })
    .await;
    audits(&proxy, 4).await;
    assert_eq!(drift(&world).await, None);

    // A list without an end.
    let endless =
        json!({"status": "Succ", "msg": "", "backends": [{"backendAddr": "a"}], "continue": "a"});
    proxy.rule(move |call| match &*call.webhook {
        LIST => ProxyAction::reply_json(&endless),
        _ => ProxyAction::Forward,
    });
    let invalid = world
        .until_event("LoadBalancer", "InvalidListBackends")
        .await;
    assert!(invalid.contains("the list has no end"), "{invalid}");
    audits(&proxy, 4).await;
    assert_eq!(drift(&world).await, None);
    assert_eq!(events(&world, "OrphanedBackends").await, []);

    proxy.forward_all();
    let message = format!(
        "no BackendRecord accounts for {} registered backends",
        PAGE + 1
    );
    until("all are found", async || {
        let found = drift(&world).await?.message;
        found.starts_with(&message).then_some(())
    })
    .await;
    controller.abort();
}
