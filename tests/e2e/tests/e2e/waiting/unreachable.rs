//! Drivers that get no call: what has not begun with them waits, and is deleted without them.

use super::{condition, setup, until_condition};
use http::StatusCode;
use lbcf_controller::api::{Bind, LoadBalancer, LoadBalancerDriver};
use lbcf_controller::{Backoff, Options};
use lbcf_e2e::manifests::{self, BIND, DRIVER, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{ProxyAction, World, until};
use std::time::Duration;

const CREATE: &str = "createLoadBalancer";

async fn create_both(world: &World) {
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
}

/// Both say that no driver got a call.
async fn until_both_wait(world: &World, reason: &str) {
    until_condition::<LoadBalancer>(world, LB, "Created", ("Unknown", reason)).await;
    world
        .until_entry(BIND, "left", "Created", ("Unknown", reason))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d122_nothing_begins_until_the_driver_responds_and_then_at_once() {
    const NEVER: Duration = Duration::from_secs(3600);
    let mut world = World::bare().await;
    world.stop_driver().await;
    world.start(Options {
        driver_health_period: Some(Duration::from_millis(50)),
        backoff: Backoff {
            min: NEVER,
            step: NEVER,
            max: NEVER,
        },
        ..World::quick()
    });
    world.create_driver().await;
    until("the driver is known not to respond", async || {
        let driver = world.api::<LoadBalancerDriver>(SYSTEM).get(DRIVER).await;
        let status = driver.unwrap().status?;
        let mut conditions = status.conditions.into_iter();
        conditions.find(|it| it.type_ == "Healthy" && it.reason == "WebhookError")
    })
    .await;
    let before = world.cost();
    create_both(&world).await;
    until_both_wait(&world, "WebhookError").await;
    let cost = world.cost_since(&before);
    // The finalizer and one condition.
    assert_eq!(cost.writes("loadbalancers"), 2, "{cost:?}");
    world.start_driver().await;
    until_condition::<LoadBalancer>(&world, LB, "Created", ("True", "")).await;
    world
        .until_entry(BIND, "left", "Created", ("True", ""))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d122_what_no_driver_got_is_deleted_without_a_call() {
    let (mut world, proxy, _controller) = setup(World::quick()).await;
    proxy.rule(|_| ProxyAction::Reply(StatusCode::NOT_FOUND, "no such page".to_owned()));
    create_both(&world).await;
    until_both_wait(&world, "WebhookNotServed").await;
    let tried = proxy.calls_of(CREATE).len();
    until("both are tried again", async || {
        (proxy.calls_of(CREATE).len() > tried + 4).then_some(())
    })
    .await;
    delete_both(&world).await;
    assert_eq!(proxy.calls_of("deleteLoadBalancer").len(), 0);

    // One that refuses connections, and is not asked for its health.
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    world
        .until_deleted::<LoadBalancerDriver>(SYSTEM, DRIVER)
        .await;
    world.driver_addr.set_port(1);
    world.create_driver().await;
    create_both(&world).await;
    until_both_wait(&world, "WebhookError").await;
    delete_both(&world).await;
}

async fn delete_both(world: &World) {
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d122_what_a_driver_got_is_finished_before_it_is_deleted() {
    let (world, proxy, _controller) = setup(World::quick()).await;
    let before = world.cloud.observe().load_balancers.len();
    proxy.rule(|call| match call.webhook == CREATE && call.nth == 0 {
        // It creates the load balancer, and the response is lost.
        true => ProxyAction::ForwardThenReply(StatusCode::GATEWAY_TIMEOUT, "late".to_owned()),
        false => ProxyAction::Reply(StatusCode::NOT_FOUND, "no such page".to_owned()),
    });
    world.create(&manifests::load_balancer(LB)).await;
    let until_tried_again = async || {
        let tried = proxy.calls_of(CREATE).len();
        until("it is tried again", async || {
            (proxy.calls_of(CREATE).len() > tried + 2).then_some(())
        })
        .await;
    };
    until_condition::<LoadBalancer>(&world, LB, "Created", ("False", "WebhookNotServed")).await;
    until_tried_again().await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    until_tried_again().await;
    assert!(
        condition::<LoadBalancer>(&world, LB, "Created")
            .await
            .is_some()
    );
    proxy.forward_all();
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    assert_eq!(world.cloud.observe().load_balancers.len(), before);
}
