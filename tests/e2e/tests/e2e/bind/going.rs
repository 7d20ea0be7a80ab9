//! Load balancers are taken out of a Bind, and Binds are deleted.

use super::{LEFT, RIGHT, bare_bound, bare_stage, bound, delete_all, stage, webhooks};
use lbcf_controller::api::{BackendRecord, Bind, LoadBalancerDriver};
use lbcf_e2e::manifests::{self, BIND, DRIVER, NAMESPACE, SYSTEM};
use lbcf_e2e::{Gate, Reaction, World, until, until_is};
use mock_driver::MockOptions;
use serde_json::{Value, json};
use std::time::Duration;

fn says(status: &str) -> Reaction {
    Reaction::says(&json!({"status": status, "msg": "says the test"}))
}

fn only(lbs: &[&str]) -> Value {
    let targets: Vec<_> = lbs.iter().map(|lb| manifests::target(lb)).collect();
    json!({"spec": {"loadBalancers": targets}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u8_d15_a_load_balancer_that_is_taken_out_goes_after_its_backends() {
    let (world, front, _controller) = bound(3).await;
    let (held_backends, held_deletion) = (Gate::default(), Gate::default());
    let (backends, deletion) = (held_backends.clone(), held_deletion.clone());
    front.rule(move |call| match call.webhook.as_str() {
        "deregisterBackend" => Reaction::Behind(backends.clone()),
        "deleteLoadBalancer" => Reaction::Behind(deletion.clone()),
        _ => Reaction::Pass,
    });
    let seen = front.count();
    world.patch::<Bind>(NAMESPACE, BIND, only(&[LEFT])).await;
    until("its status says that it goes", async || {
        let entry = world.entry(BIND, RIGHT).await?;
        entry.deletion_timestamp
    })
    .await;
    until("its backends are being taken away", async || {
        (front.count() == seen + 3).then_some(())
    })
    .await;
    assert_eq!(webhooks(&front, seen), ["deregisterBackend"; 3]);
    let info = world.entry(BIND, RIGHT).await.unwrap().lb_info;
    held_backends.open();
    until("it is being deleted", async || {
        (front.count() == seen + 4).then_some(())
    })
    .await;
    let deletion = &front.calls()[seen + 3];
    assert_eq!(deletion.webhook, "deleteLoadBalancer");
    assert_eq!(deletion.body["lbInfo"], serde_json::to_value(info).unwrap());
    assert!(world.bound_to(RIGHT).is_empty());
    assert!(
        world.entry(BIND, RIGHT).await.is_some(),
        "the entry says that there is something to delete"
    );
    held_deletion.open();
    until("the entry is gone", async || {
        world.entry(BIND, RIGHT).await.is_none().then_some(())
    })
    .await;
    assert_eq!(world.cloud_load_balancer(RIGHT), None);
    assert_eq!(world.bound_to(LEFT).len(), 3);
    assert_eq!(front.count(), seen + 4, "the other one was let be");
    // It may come back.
    world
        .patch::<Bind>(NAMESPACE, BIND, only(&[LEFT, RIGHT]))
        .await;
    until_is("what is bound", 3, async || world.bound_to(RIGHT).len()).await;
    world.until_records(6).await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d15_one_that_comes_back_while_it_goes_is_made_anew() {
    let (world, front, _controller) = bound(1).await;
    let old = world.entry(BIND, RIGHT).await.unwrap().lb_info;
    let gate = Gate::default();
    let held = gate.clone();
    front.rule(move |call| match call.webhook.as_str() {
        "deleteLoadBalancer" => Reaction::Behind(held.clone()),
        _ => Reaction::Pass,
    });
    world.patch::<Bind>(NAMESPACE, BIND, only(&[LEFT])).await;
    until("it is being deleted", async || {
        (front.calls_of("deleteLoadBalancer").len() == 1).then_some(())
    })
    .await;
    world
        .patch::<Bind>(NAMESPACE, BIND, only(&[LEFT, RIGHT]))
        .await;
    gate.open();
    until_is("what is bound", 1, async || world.bound_to(RIGHT).len()).await;
    world.until_records(2).await;
    let new = world.entry(BIND, RIGHT).await.unwrap();
    assert_ne!(new.lb_info, old);
    assert_eq!(new.deletion_timestamp, None);
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d13_another_driver_under_the_same_name_is_another_load_balancer() {
    let (world, _front, _controller) = bare_bound(1).await;
    // Admission refuses this; where it was off, nothing leaks.
    let mut other = manifests::driver(&world.driver_url());
    other.metadata.name = Some("lbcf-other".into());
    world.create(&other).await;
    let mut targets = [LEFT, RIGHT].map(manifests::target);
    targets[1].driver = "lbcf-other".into();
    targets[1].attributes = [("name", "moved")].into();
    world
        .patch::<Bind>(NAMESPACE, BIND, json!({"spec": {"loadBalancers": targets}}))
        .await;
    until_is("what is bound", 1, async || world.bound_to("moved").len()).await;
    assert_eq!(world.cloud_load_balancer(RIGHT), None);
    world.until_records(2).await;
    assert_eq!(world.entry(BIND, RIGHT).await.unwrap().driver, "lbcf-other");
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_gone::<Bind>(NAMESPACE, BIND).await;
    world
        .delete::<LoadBalancerDriver>(SYSTEM, "lbcf-other")
        .await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u6_u4_a_deleted_bind_takes_its_backends_away_before_its_load_balancers() {
    let (world, front, _controller) = bound(3).await;
    let infos = [
        world.entry(BIND, LEFT).await.unwrap().lb_info,
        world.entry(BIND, RIGHT).await.unwrap().lb_info,
    ];
    // One backend of one load balancer takes its time.
    let gate = Gate::default();
    let held = gate.clone();
    let slow = serde_json::to_value(&infos[1]).unwrap();
    front.rule(move |call| match call.webhook.as_str() {
        "deregisterBackend" if call.body["lbInfo"] == slow => Reaction::Behind(held.clone()),
        _ => Reaction::Pass,
    });
    let seen = front.count();
    world.delete::<Bind>(NAMESPACE, BIND).await;
    until("the other load balancer is deleted", async || {
        let deleted = front.calls_of("deleteLoadBalancer");
        (deleted.len() == 1).then_some(())
    })
    .await;
    assert_eq!(
        front.calls_of("deleteLoadBalancer")[0].body["lbInfo"],
        serde_json::to_value(&infos[0]).unwrap()
    );
    until("the slow ones are being taken away", async || {
        (front.count() == seen + 7).then_some(())
    })
    .await;
    gate.open();
    world.until_gone::<Bind>(NAMESPACE, BIND).await;
    let calls = front.calls().split_off(seen);
    for info in infos {
        let info = serde_json::to_value(info).unwrap();
        let story: Vec<&str> = calls
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
        assert_eq!(story, expected);
    }
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u3_a_deletion_that_fails_is_told_of_and_tried_again() {
    let (world, front, controller) = bound(1).await;
    front.rule(|call| match call.webhook.as_str() {
        "deleteLoadBalancer" => says("Fail"),
        _ => Reaction::Pass,
    });
    world.delete::<Bind>(NAMESPACE, BIND).await;
    let text = world.until_event("Bind", "FailedDeleteLoadBalancer").await;
    assert!(text.contains("says the test"), "{text}");
    until("it is tried again", async || {
        (front.calls_of("deleteLoadBalancer").len() >= 6).then_some(())
    })
    .await;
    assert!(!controller.is_finished());
    let entry = world.entry(BIND, LEFT).await.unwrap();
    assert!(entry.retry_after.is_some(), "{entry:?}");
    assert!(
        world.all::<BackendRecord>().await.is_empty(),
        "what can go has gone"
    );
    // Taking one out of a Bind that stays is no different.
    world.create(&manifests::bind("other", &["more"])).await;
    until_is("what is bound", 1, async || world.bound_to("more").len()).await;
    world
        .patch::<Bind>(NAMESPACE, "other", only(&["another"]))
        .await;
    until_is("what is bound", 1, async || world.bound_to("another").len()).await;
    until("the failure is noted", async || {
        world.entry("other", "more").await?.retry_after
    })
    .await;
    front.behave();
    world.until_gone::<Bind>(NAMESPACE, BIND).await;
    until("the entry is gone", async || {
        world.entry("other", "more").await.is_none().then_some(())
    })
    .await;
    world.delete::<Bind>(NAMESPACE, "other").await;
    world.until_gone::<Bind>(NAMESPACE, "other").await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u7_a_bind_of_which_nothing_was_made_goes_at_once() {
    let (world, front, _controller) = bare_stage(1).await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
    for lb in [LEFT, RIGHT] {
        world
            .until_entry(BIND, lb, "Created", ("Unknown", "DriverNotFound"))
            .await;
    }
    world.patch::<Bind>(NAMESPACE, BIND, only(&[RIGHT])).await;
    until("one is taken out", async || {
        world.entry(BIND, LEFT).await.is_none().then_some(())
    })
    .await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_gone::<Bind>(NAMESPACE, BIND).await;
    assert_eq!(front.count(), 0, "nobody was ever called");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u7_a_bind_whose_load_balancer_cannot_be_made_goes() {
    let (world, front, _controller) = stage(1).await;
    front.rule(|call| match call.webhook.as_str() {
        "createLoadBalancer" => says("Fail"),
        _ => Reaction::Pass,
    });
    world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
    world
        .until_entry(BIND, LEFT, "Created", ("False", "CreateFailed"))
        .await;
    world.patch::<Bind>(NAMESPACE, BIND, only(&[RIGHT])).await;
    until("one is taken out", async || {
        world.entry(BIND, LEFT).await.is_none().then_some(())
    })
    .await;
    delete_all(&world).await;
    assert!(
        front.calls_of("deleteLoadBalancer").len() >= 2,
        "the driver may have made something"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u7_a_load_balancer_that_goes_while_it_is_being_made_leaves_nothing() {
    let mut world = World::new().await;
    let pace = MockOptions {
        stage_duration: Duration::from_millis(100),
        ..MockOptions::default()
    };
    let front = world.put_front_with(pace).await;
    let _controller = super::start(&world);
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::pod("web-0")).await;
    for way in ["taken out", "deleted"] {
        world.create(&manifests::bind(BIND, &[LEFT, RIGHT])).await;
        until("creating both has begun", async || {
            (world.cloud.observe().load_balancers.len() == 2).then_some(())
        })
        .await;
        if way == "taken out" {
            world.patch::<Bind>(NAMESPACE, BIND, only(&[LEFT])).await;
            until("it is gone", async || {
                let is_gone = world.entry(BIND, RIGHT).await.is_none();
                (is_gone && world.cloud.observe().load_balancers.len() == 1).then_some(())
            })
            .await;
        }
        world.delete::<Bind>(NAMESPACE, BIND).await;
        world.until_gone::<Bind>(NAMESPACE, BIND).await;
        until("nothing is left", async || {
            let is_empty = world.cloud.observe().load_balancers.is_empty();
            is_empty.then_some(())
        })
        .await;
    }
    assert_eq!(front.calls_of("deleteLoadBalancer").len(), 4);
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u27_a_bind_whose_driver_is_gone_says_so_and_goes_when_it_is_back() {
    let (world, _front, _controller) = bare_bound(1).await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_event("BackendRecord", "DriverNotFound").await;
    world.create(&manifests::driver(&world.driver_url())).await;
    world.until_gone::<Bind>(NAMESPACE, BIND).await;
    delete_all(&world).await;
}
