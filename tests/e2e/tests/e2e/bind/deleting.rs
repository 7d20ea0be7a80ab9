//! Load balancers are removed from a Bind, and Binds are deleted.

use super::{
    LEFT, RIGHT, bare_bound, bare_setup, bound, bound_on, delete_all, setup, setup_without_rules,
    webhooks,
};
use lbcf_controller::api::{BackendRecord, Bind, LoadBalancerDriver};
use lbcf_e2e::manifests::{self, BIND, DRIVER, NAMESPACE, SYSTEM};
use lbcf_e2e::{Latch, ProxyAction, World, until, until_is};
use mock_driver::MockOptions;
use serde_json::{Value, json};
use std::time::Duration;

fn responds(status: &str) -> ProxyAction {
    ProxyAction::reply_json(&json!({"status": status, "msg": "failed by the test"}))
}

fn only(lbs: &[&str]) -> Value {
    let targets: Vec<_> = lbs.iter().map(|lb| manifests::target(lb)).collect();
    json!({"spec": {"loadBalancers": targets}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u8_d15_a_removed_load_balancer_is_deleted_after_its_backends() {
    let (world, proxy, _controller) = bound(3).await;
    let (held_backends, held_deletion) = (Latch::default(), Latch::default());
    let (backends, deletion) = (held_backends.clone(), held_deletion.clone());
    proxy.rule(move |call| match call.webhook.as_str() {
        "deregisterBackend" => ProxyAction::Hold(backends.clone()),
        "deleteLoadBalancer" => ProxyAction::Hold(deletion.clone()),
        _ => ProxyAction::Forward,
    });
    let seen = proxy.count();
    world.patch::<Bind>(NAMESPACE, BIND, only(&[LEFT])).await;
    until("the entry has a deletion timestamp", async || {
        let entry = world.entry(BIND, RIGHT).await?;
        entry.deletion_timestamp
    })
    .await;
    until("its backends are being deregistered", async || {
        (proxy.count() == seen + 3).then_some(())
    })
    .await;
    assert_eq!(webhooks(&proxy, seen), ["deregisterBackend"; 3]);
    let info = world.entry(BIND, RIGHT).await.unwrap().lb_info;
    held_backends.open();
    until("it is being deleted", async || {
        (proxy.count() == seen + 4).then_some(())
    })
    .await;
    let deletion = &proxy.calls()[seen + 3];
    assert_eq!(deletion.webhook, "deleteLoadBalancer");
    assert_eq!(deletion.body["lbInfo"], serde_json::to_value(info).unwrap());
    assert!(world.bound_to(RIGHT).is_empty());
    assert!(
        world.entry(BIND, RIGHT).await.is_some(),
        "the entry exists until the load balancer is deleted"
    );
    held_deletion.open();
    until("the entry is deleted", async || {
        world.entry(BIND, RIGHT).await.is_none().then_some(())
    })
    .await;
    assert_eq!(world.cloud_load_balancer(RIGHT), None);
    assert_eq!(world.bound_to(LEFT).len(), 3);
    assert_eq!(
        proxy.count(),
        seen + 4,
        "the other load balancer is not called"
    );
    // It can be added again.
    world
        .patch::<Bind>(NAMESPACE, BIND, only(&[LEFT, RIGHT]))
        .await;
    until_is("bound addresses", 3, async || world.bound_to(RIGHT).len()).await;
    world.until_records(6).await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d15_a_load_balancer_added_again_during_its_deletion_is_created_again() {
    let (world, proxy, _controller) = bound(1).await;
    let old = world.entry(BIND, RIGHT).await.unwrap().lb_info;
    let latch = Latch::default();
    let held = latch.clone();
    proxy.rule(move |call| match call.webhook.as_str() {
        "deleteLoadBalancer" => ProxyAction::Hold(held.clone()),
        _ => ProxyAction::Forward,
    });
    world.patch::<Bind>(NAMESPACE, BIND, only(&[LEFT])).await;
    until("it is being deleted", async || {
        (proxy.calls_of("deleteLoadBalancer").len() == 1).then_some(())
    })
    .await;
    world
        .patch::<Bind>(NAMESPACE, BIND, only(&[LEFT, RIGHT]))
        .await;
    latch.open();
    until_is("bound addresses", 1, async || world.bound_to(RIGHT).len()).await;
    world.until_records(2).await;
    let new = world.entry(BIND, RIGHT).await.unwrap();
    assert_ne!(new.lb_info, old);
    assert_eq!(new.deletion_timestamp, None);
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d13_another_driver_under_the_same_name_is_another_load_balancer() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    // The CRDs reject this; where it was stored before, nothing leaks.
    let (world, _proxy, _controller) = bound_on(setup_without_rules(1).await, 1).await;
    let mut other = manifests::driver(&world.driver_url());
    other.metadata.name = Some("lbcf-other".into());
    world.create(&other).await;
    let mut targets = [LEFT, RIGHT].map(manifests::target);
    targets[1].driver = "lbcf-other".into();
    targets[1].attributes = [("name", "moved")].into();
    world
        .patch::<Bind>(NAMESPACE, BIND, json!({"spec": {"loadBalancers": targets}}))
        .await;
    until_is("bound addresses", 1, async || world.bound_to("moved").len()).await;
    assert_eq!(world.cloud_load_balancer(RIGHT), None);
    world.until_records(2).await;
    assert_eq!(world.entry(BIND, RIGHT).await.unwrap().driver, "lbcf-other");
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    world
        .delete::<LoadBalancerDriver>(SYSTEM, "lbcf-other")
        .await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u6_u4_a_deleted_binds_backends_are_deregistered_before_its_load_balancers_are_deleted() {
    let (world, proxy, _controller) = bound(3).await;
    let infos = [
        world.entry(BIND, LEFT).await.unwrap().lb_info,
        world.entry(BIND, RIGHT).await.unwrap().lb_info,
    ];
    // Deregistering from one of the load balancers is held.
    let latch = Latch::default();
    let held = latch.clone();
    let slow = serde_json::to_value(&infos[1]).unwrap();
    proxy.rule(move |call| match call.webhook.as_str() {
        "deregisterBackend" if call.body["lbInfo"] == slow => ProxyAction::Hold(held.clone()),
        _ => ProxyAction::Forward,
    });
    let seen = proxy.count();
    world.delete::<Bind>(NAMESPACE, BIND).await;
    until("the other load balancer is deleted", async || {
        let deleted = proxy.calls_of("deleteLoadBalancer");
        (deleted.len() == 1).then_some(())
    })
    .await;
    assert_eq!(
        proxy.calls_of("deleteLoadBalancer")[0].body["lbInfo"],
        serde_json::to_value(&infos[0]).unwrap()
    );
    until("the held calls have arrived", async || {
        (proxy.count() == seen + 7).then_some(())
    })
    .await;
    latch.open();
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    let calls = proxy.calls().split_off(seen);
    for info in infos {
        let info = serde_json::to_value(info).unwrap();
        let sequence: Vec<&str> = calls
            .iter()
            .filter(|call| call.body["lbInfo"] == info)
            .map(|call| call.webhook.as_str())
            .collect();
        let expected = [
            "deregisterBackend",
            "deregisterBackend",
            "deregisterBackend",
            "deleteLoadBalancer",
        ];
        assert_eq!(sequence, expected);
    }
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u3_a_failed_deletion_is_reported_and_retried() {
    let (world, proxy, controller) = bound(1).await;
    proxy.rule(|call| match call.webhook.as_str() {
        "deleteLoadBalancer" => responds("Fail"),
        _ => ProxyAction::Forward,
    });
    world.delete::<Bind>(NAMESPACE, BIND).await;
    let text = world.until_event("Bind", "FailedDeleteLoadBalancer").await;
    assert!(text.contains("failed by the test"), "{text}");
    until("it is retried", async || {
        (proxy.calls_of("deleteLoadBalancer").len() >= 6).then_some(())
    })
    .await;
    assert!(!controller.is_finished());
    let entry = world.entry(BIND, LEFT).await.unwrap();
    assert!(entry.retry_after.is_some(), "{entry:?}");
    assert!(
        world.all::<BackendRecord>().await.is_empty(),
        "the records are deleted"
    );
    // Removing a load balancer from a Bind fails in the same way.
    world.create(&manifests::bind("other", &["more"])).await;
    until_is("bound addresses", 1, async || world.bound_to("more").len()).await;
    world
        .patch::<Bind>(NAMESPACE, "other", only(&["another"]))
        .await;
    until_is("bound addresses", 1, async || {
        world.bound_to("another").len()
    })
    .await;
    until("the failure is stored", async || {
        world.entry("other", "more").await?.retry_after
    })
    .await;
    proxy.forward_all();
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    until("the entry is deleted", async || {
        world.entry("other", "more").await.is_none().then_some(())
    })
    .await;
    world.delete::<Bind>(NAMESPACE, "other").await;
    world.until_deleted::<Bind>(NAMESPACE, "other").await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u7_a_bind_of_which_nothing_was_created_is_deleted_at_once() {
    let (world, proxy, _controller) = bare_setup(1).await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
    for lb in [LEFT, RIGHT] {
        world
            .until_entry(BIND, lb, "Created", ("Unknown", "DriverNotFound"))
            .await;
    }
    world.patch::<Bind>(NAMESPACE, BIND, only(&[RIGHT])).await;
    until("one is removed", async || {
        world.entry(BIND, LEFT).await.is_none().then_some(())
    })
    .await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    assert_eq!(proxy.count(), 0, "no webhook was called");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u7_a_bind_whose_load_balancer_cannot_be_created_is_deleted() {
    let (world, proxy, _controller) = setup(1).await;
    proxy.rule(|call| match call.webhook.as_str() {
        "createLoadBalancer" => responds("Fail"),
        _ => ProxyAction::Forward,
    });
    world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
    world
        .until_entry(BIND, LEFT, "Created", ("False", "CreateFailed"))
        .await;
    world.patch::<Bind>(NAMESPACE, BIND, only(&[RIGHT])).await;
    until("one is removed", async || {
        world.entry(BIND, LEFT).await.is_none().then_some(())
    })
    .await;
    delete_all(&world).await;
    assert!(
        proxy.calls_of("deleteLoadBalancer").len() >= 2,
        "the driver may have created something"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u7_a_load_balancer_removed_during_its_creation_leaves_nothing() {
    let mut world = World::new().await;
    let slow_creation = MockOptions {
        stage_duration: Duration::from_millis(100),
        ..MockOptions::default()
    };
    let proxy = world.start_proxy_with(slow_creation).await;
    let _controller = super::start(&world);
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::pod("web-0")).await;
    for way in ["removed", "deleted"] {
        world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
        until("creation of both has begun", async || {
            (world.cloud.observe().load_balancers.len() == 2).then_some(())
        })
        .await;
        if way == "removed" {
            world.patch::<Bind>(NAMESPACE, BIND, only(&[LEFT])).await;
            until("it is deleted", async || {
                let is_deleted = world.entry(BIND, RIGHT).await.is_none();
                (is_deleted && world.cloud.observe().load_balancers.len() == 1).then_some(())
            })
            .await;
        }
        world.delete::<Bind>(NAMESPACE, BIND).await;
        world.until_deleted::<Bind>(NAMESPACE, BIND).await;
        until("nothing is left", async || {
            let is_empty = world.cloud.observe().load_balancers.is_empty();
            is_empty.then_some(())
        })
        .await;
    }
    assert_eq!(proxy.calls_of("deleteLoadBalancer").len(), 4);
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u27_a_bind_whose_driver_is_deleted_reports_it_and_is_deleted_when_the_driver_is_back() {
    let (world, _proxy, _controller) = bare_bound(1).await;
    world.remove_driver_by_hand().await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_event("BackendRecord", "DriverNotFound").await;
    world.create(&manifests::driver(&world.driver_url())).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    delete_all(&world).await;
}
