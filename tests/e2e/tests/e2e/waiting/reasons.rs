//! What follows from the reason that a driver gives for a failure.

use super::{setup, until_condition, until_event};
use lbcf_controller::api::{EnsurePolicy, EnsurePolicyType, LoadBalancer};
use lbcf_controller::{Backoff, Options};
use lbcf_e2e::manifests::{self, GROUP, NAMESPACE, OWN_DRIVER};
use lbcf_e2e::{DriverProxy, ProxiedCall, ProxyAction, World, until};
use serde_json::json;
use std::time::Duration;

const CREATE: &str = "createLoadBalancer";

/// A load balancer with an attribute that tells its calls apart.
fn load_balancer(name: &str) -> LoadBalancer {
    let mut lb = manifests::load_balancer(name);
    lb.spec.attributes = [("name", name)].into();
    lb
}

fn is_about(call: &ProxiedCall, name: &str) -> bool {
    call.webhook == CREATE && call.body["attributes"]["name"] == name
}

fn creations(proxy: &DriverProxy, name: &str) -> Vec<ProxiedCall> {
    let calls = proxy.calls_of(CREATE).into_iter();
    calls.filter(|call| is_about(call, name)).collect()
}

async fn until_created(world: &World, name: &str) {
    until_condition::<LoadBalancer>(world, name, "Created", ("True", "")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d116_what_the_driver_will_not_accept_waits_until_it_is_changed() {
    let options = World::quick();
    let backoff = Backoff {
        max: Duration::from_secs(3600),
        ..options.backoff
    };
    let (world, proxy, controller) = setup(Options { backoff, ..options }).await;
    let invalid = json!({"status": "Fail", "msg": "name: no", "reason": "InvalidArgument"});
    let failed = json!({"status": "Fail", "msg": "again"});
    proxy.rule(move |call| match is_about(call, "wrong") {
        true => ProxyAction::reply_json(&invalid),
        false if is_about(call, "failing") => ProxyAction::reply_json(&failed),
        false => ProxyAction::Forward,
    });
    world.create(&load_balancer("wrong")).await;
    world.create(&load_balancer("failing")).await;
    let expected = ("False", "InvalidArgument");
    let message = until_condition::<LoadBalancer>(&world, "wrong", "Created", expected).await;
    assert!(
        message.starts_with("name: no; the driver will not accept"),
        "{message}"
    );
    until_event(&world, "LoadBalancer", "wrong", "FailedCreateLoadBalancer").await;
    until("the other one is tried often", async || {
        (creations(&proxy, "failing").len() > 4).then_some(())
    })
    .await;
    let calls = creations(&proxy, "wrong");
    assert_eq!(calls.len(), 1, "{calls:?} {:?}", world.cluster.requests());

    let corrected = json!({"spec": {"attributes": {"name": "right"}}});
    world
        .patch::<LoadBalancer>(NAMESPACE, "wrong", corrected)
        .await;
    until_created(&world, "wrong").await;
    assert_eq!(creations(&proxy, "right").len(), 1);
    controller.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d117_a_driver_whose_cloud_limits_calls_is_not_called_for_other_objects_meanwhile() {
    let options = Options {
        driver_health_period: Some(Duration::from_millis(50)),
        ..World::quick()
    };
    let (world, proxy, controller) = setup(options).await;
    let throttled = |seconds: u32| {
        json!({
            "status": "Fail", "msg": "slowly", "reason": "Throttled",
            "minRetryDelayInSeconds": seconds,
        })
    };
    let (briefly, long) = (throttled(1), throttled(50));
    proxy.rule(move |call| match is_about(call, "first") && call.nth == 0 {
        true => ProxyAction::reply_json(&briefly),
        false if is_about(call, "third") => ProxyAction::reply_json(&long),
        false => ProxyAction::Forward,
    });
    world.create(&load_balancer("first")).await;
    until("it is throttled", async || {
        let call = creations(&proxy, "first").pop()?;
        (!call.response.is_null()).then_some(())
    })
    .await;
    world.create(&load_balancer("second")).await;
    for name in ["first", "second"] {
        until_created(&world, name).await;
    }
    let began = creations(&proxy, "first")[0].at;
    let next = creations(&proxy, "second")[0].at;
    assert!(next.duration_since(began) >= Duration::from_secs(1));

    world.create(&load_balancer("third")).await;
    let expected = ("False", "Throttled");
    until_condition::<LoadBalancer>(&world, "third", "Created", expected).await;
    world.create(&load_balancer("fourth")).await;
    // Other drivers are called, and so are this one's decisions and health.
    let mut other = manifests::driver(&world.driver_url());
    other.metadata.name = Some(OWN_DRIVER.to_owned());
    other.metadata.namespace = Some(NAMESPACE.to_owned());
    world.create(&other).await;
    let mut of_other = load_balancer("of-other");
    of_other.spec.lb_driver = OWN_DRIVER.to_owned();
    world.create(&of_other).await;
    until_created(&world, "of-other").await;
    let probes = proxy.calls_of("healthz").len();
    until("it is probed", async || {
        (proxy.calls_of("healthz").len() > probes + 4).then_some(())
    })
    .await;
    assert_eq!(creations(&proxy, "third").len(), 1);
    assert_eq!(creations(&proxy, "fourth").len(), 0);
    controller.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d98_d115_a_load_balancer_that_a_backend_does_not_find_is_ensured_soon() {
    let options = Options {
        min_ensure_period: Duration::from_millis(100),
        ..World::quick()
    };
    let (world, proxy, controller) = setup(options).await;
    let mut lb = load_balancer("rarely");
    lb.spec.ensure_policy = Some(EnsurePolicy {
        policy: EnsurePolicyType::Always,
        min_period: Some("1h".to_owned()),
    });
    world.create(&lb).await;
    world.create(&manifests::group(GROUP, &["rarely"])).await;
    until_created(&world, "rarely").await;
    let gone = world.cloud.observe().load_balancers[0].lb_info["lbID"].clone();
    assert!(world.cloud.reset_load_balancer(&gone));
    world.create(&manifests::pod("web-0")).await;
    let message = world.until_event("LoadBalancer", "LoadBalancerGone").await;
    assert!(message.contains(&gone), "{message}");
    world.until_targets(&["web-0"], "50").await;
    // It is not ensured for each failure.
    let ensured = proxy.calls_of("ensureLoadBalancer").len();
    assert!(ensured <= 2, "{ensured}");
    controller.abort();
}
