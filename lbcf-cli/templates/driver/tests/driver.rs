//! What has to hold of the driver, whatever cloud is behind it: the life of a load balancer and of
//! its backends, repeats of each call, rejections of what does not fit. The calls are a controller's,
//! without a socket. FILL-IN: your fields and values; keep the rest.

use lbcf_driver_sdk::testing::{
    Sample, TestDriver, WebhookCall, check_idempotency, create_load_balancer, delete_load_balancer,
    deregister_backend, ensure_load_balancer, generate_backend_addr, pod, service,
    validate_backend, validate_load_balancer,
};
use lbcf_driver_sdk::webhook::{self, BackendType, Protocol};

use __CRATE__::{Cloud, MyDriver};

/// The driver, and the cloud to look into.
fn driver() -> (TestDriver<MyDriver>, Cloud) {
    let cloud = Cloud::default();
    (TestDriver::new(MyDriver::new(cloud.clone())), cloud)
}

/// A load balancer as users write it.
fn wanted() -> WebhookCall<webhook::CreateLoadBalancer> {
    create_load_balancer()
        .spec("lbVpcID", "vpc-1")
        .spec("lbListenerPort", 80)
        .spec("lbListenerProtocol", "TCP")
        .attribute("max-bandwidth-out", 10)
}

/// The rules that every driver has to keep, each call made twice.
#[tokio::test(start_paused = true)]
async fn every_call_can_be_repeated_and_what_does_not_fit_is_refused() {
    let sample = Sample::new(wanted())
        .parameter("weight", 50)
        .bad_spec("lbVpcID", "")
        .bad_spec("lbListenerPort", "8o")
        .bad_spec("lbListenerPort", 0)
        .bad_spec("lbListenerProtocol", "HTTP")
        .bad_attribute("max-bandwidth-out", "much")
        .bad_attribute("chargeType", "FREE")
        .bad_parameter("weight", 256)
        .bad_parameter("wieght", 50);
    let (driver, cloud) = driver();
    check_idempotency(&driver, &sample).await.assert_none();
    assert!(cloud.load_balancers().await.is_empty(), "all is deleted");
}

#[tokio::test(start_paused = true)]
async fn the_life_of_a_load_balancer() {
    let (driver, cloud) = driver();
    let lb_info = driver.create(wanted()).await;
    let id = &lb_info["lbID"];

    let made = &cloud.load_balancers().await[id];
    assert_eq!(made.spec.vpc_id, "vpc-1");
    assert_eq!(made.attributes.max_bandwidth_out, Some(10));

    let faster = ensure_load_balancer()
        .lb_info(&lb_info)
        .attribute("max-bandwidth-out", 20);
    driver.call(faster).await.assert_succ();
    let made = &cloud.load_balancers().await[id];
    assert_eq!(made.attributes.max_bandwidth_out, Some(20));

    driver
        .delete(delete_load_balancer().lb_info(&lb_info))
        .await;
    assert!(cloud.load_balancers().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_repeated_create_makes_no_second_one_and_another_object_gets_its_own() {
    let (driver, cloud) = driver();
    let first = driver.create(wanted()).await;
    assert_eq!(driver.create(wanted()).await, first);
    let other = driver.create(wanted().record_id("createLoadBalancer(other)"));
    assert_ne!(other.await, first);
    assert_eq!(cloud.load_balancers().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_life_of_a_backend() {
    let (driver, cloud) = driver();
    let lb_info = driver.create(wanted()).await;
    let join = |name: &str, ip: &str| {
        generate_backend_addr()
            .lb_info(&lb_info)
            .pod(pod(name).ip(ip).port(80))
            .parameter("weight", 50)
    };
    let backends = async || {
        let load_balancers = cloud.load_balancers().await;
        let all = load_balancers[&lb_info["lbID"]].backends.iter();
        all.map(|(at, weight)| (at.to_string(), *weight))
            .collect::<Vec<_>>()
    };

    let web_0 = driver.register(join("web-0", "10.0.0.1")).await;
    let web_1 = driver.register(join("web-1", "10.0.0.2")).await;
    let [at_0, at_1] = ["10.0.0.1:80", "10.0.0.2:80"].map(str::to_owned);
    assert_eq!(backends().await, [(at_0, 50), (at_1.clone(), 50)]);

    // Another weight, under the same record ID.
    let heavier = web_1.ensure().parameter("weight", 80);
    driver.call(heavier).await.assert_succ();
    driver.deregister(&web_0).await;
    assert_eq!(backends().await, [(at_1, 80)], "the other one stays");

    driver.deregister(&web_1).await;
    assert_eq!(backends().await, []);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_is_gone_already_and_cannot_be_changed() {
    let (driver, _) = driver();
    let (nowhere, at) = ("lb-nowhere", "10.0.0.1:80");
    for gone in [
        delete_load_balancer(), // it never came to be
        delete_load_balancer().info("lbID", nowhere),
    ] {
        driver.call(gone).await.assert_succ();
    }
    let gone = deregister_backend().info("lbID", nowhere).addr(at);
    driver.call(gone).await.assert_succ();

    let change = ensure_load_balancer().info("lbID", nowhere);
    driver.call(change).await.assert_fail(nowhere);
}

#[tokio::test(start_paused = true)]
async fn refusals_name_field_and_value() {
    let (driver, _) = driver();
    let typo = validate_load_balancer()
        .spec("lbVpcID", "vpc-1")
        .spec("lbListenerPort", "8o");
    let refused = driver.call(typo).await.assert_refused("lbListenerPort");
    assert!(refused.msg.contains("8o"), "{}", refused.msg);

    let service = validate_backend().backend_type(BackendType::Service);
    driver.call(service).await.assert_refused("not services");
}

#[tokio::test(start_paused = true)]
async fn only_a_pod_with_an_address_and_the_right_protocol_gets_an_address() {
    let (driver, _) = driver();
    let lb_info = driver.create(wanted()).await;
    let ask = || generate_backend_addr().lb_info(&lb_info);

    let new = ask().pod(pod("web-0").without_ip());
    driver.call(new).await.assert_running();
    let udp = ask().pod(pod("web-0").protocol_port(Protocol::Udp, 53));
    driver.call(udp).await.assert_fail("UDP");
    let service = ask().service(service("web").node_port(80, 30080));
    driver.call(service).await.assert_fail("not services");
}
