//! What Binds wait for.

use super::{impatient, respond, setup, until_condition, until_event, until_waits};
use lbcf_controller::api::Bind;
use lbcf_e2e::manifests::{self, BIND, NAMESPACE};
use lbcf_e2e::{World, until_is};

async fn until_bind(world: &World, reason: &str) -> String {
    until_waits::<Bind>(world, BIND, "Ready", "False", reason).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d44_a_bind_says_what_it_waits_for() {
    let (world, proxy, _controller) = setup(impatient()).await;
    respond(&proxy, "createLoadBalancer", "Fail");
    world.create(&manifests::bind(BIND, &["left"])).await;
    let waiting = ("False", "LoadBalancersNotReady");
    let expected = "left: made so by the test";
    until_is("the message", expected.to_owned(), async || {
        until_condition::<Bind>(&world, BIND, "Ready", waiting).await
    })
    .await;
    until_event(&world, "Bind", BIND, "FailedCreateLoadBalancer").await;
    proxy.forward_all();
    let message = until_bind(&world, "NoPodsSelected").await;
    assert!(message.contains("app=web"), "{message}");
    world.create(&manifests::pod("web-0")).await;
    until_condition::<Bind>(&world, BIND, "Ready", ("True", "AllRegistered")).await;
    world.set_ready("web-0", false).await;
    until_bind(&world, "PodsNotReady").await;
    world.set_ready("web-0", true).await;
    until_condition::<Bind>(&world, BIND, "Ready", ("True", "AllRegistered")).await;
    // Its deletion waits for its records.
    respond(&proxy, "deregisterBackend", "Fail");
    world.delete::<Bind>(NAMESPACE, BIND).await;
    let remaining = ("False", "RecordsRemaining");
    world.until_entry(BIND, "left", "Ready", remaining).await;
    let event = until_event(&world, "Bind", BIND, "RecordsRemaining").await;
    let message = event.message.unwrap_or_default();
    assert!(message.starts_with("left: "), "{message}");
    proxy.forward_all();
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d44_a_bind_without_its_driver_says_so() {
    let (world, _proxy, _controller) = setup(impatient()).await;
    world.create(&manifests::pod("web-0")).await;
    let mut bind = manifests::bind(BIND, &["left"]);
    bind.spec.load_balancers[0].driver = "none".into();
    world.create(&bind).await;
    let waiting = ("False", "LoadBalancersNotReady");
    let message = until_condition::<Bind>(&world, BIND, "Ready", waiting).await;
    assert!(
        message.contains("LoadBalancerDriver lbcf-e2e-web/none not found"),
        "{message}"
    );
    until_event(&world, "Bind", BIND, "DriverNotFound").await;
}
