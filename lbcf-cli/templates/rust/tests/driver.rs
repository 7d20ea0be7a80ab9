//! Tests of the driver with any cloud: load balancers and backends from creation to deletion,
//! repeated calls, rejections of invalid values. The calls are those of a controller, without a
//! socket. FILL-IN: your fields and values; keep the rest.

use lbcf_driver_sdk::testing::{
    Sample, TestDriver, WebhookCall, check_idempotency, create_load_balancer, delete_load_balancer,
    deregister_backend, ensure_load_balancer, generate_backend_addr, pod, service,
    validate_backend, validate_load_balancer,
};
use lbcf_driver_sdk::webhook::{self, BackendType, Protocol};

use __CRATE__::{Cloud, MyDriver};

/// The driver and its cloud.
fn driver() -> (TestDriver<MyDriver>, Cloud) {
    let cloud = Cloud::default();
    (TestDriver::new(MyDriver::new(cloud.clone())), cloud)
}

/// A valid load balancer.
fn valid() -> WebhookCall<webhook::CreateLoadBalancer> {
    create_load_balancer()
        .spec("lbVpcID", "vpc-1")
        .spec("lbListenerPort", 80)
        .spec("lbListenerProtocol", "TCP")
        .attribute("max-bandwidth-out", 10)
}

/// The rules for every driver, with each call made twice.
#[tokio::test(start_paused = true)]
async fn every_call_can_be_repeated_and_invalid_values_are_rejected() {
    let sample = Sample::new(valid())
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
async fn a_load_balancer_is_created_changed_and_deleted() {
    let (driver, cloud) = driver();
    let lb_info = driver.create(valid()).await;
    let id = &lb_info["lbID"];

    let created = &cloud.load_balancers().await[id];
    assert_eq!(created.spec.vpc_id, "vpc-1");
    assert_eq!(created.attributes.max_bandwidth_out, Some(10));

    let faster = ensure_load_balancer()
        .lb_info(&lb_info)
        .attribute("max-bandwidth-out", 20);
    driver.call(faster).await.assert_succ();
    let created = &cloud.load_balancers().await[id];
    assert_eq!(created.attributes.max_bandwidth_out, Some(20));

    driver
        .delete(delete_load_balancer().lb_info(&lb_info))
        .await;
    assert!(cloud.load_balancers().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_repeated_call_creates_one_load_balancer_and_another_object_a_second() {
    let (driver, cloud) = driver();
    let first = driver.create(valid()).await;
    assert_eq!(driver.create(valid()).await, first);
    let other = driver.create(valid().record_id("createLoadBalancer(other)"));
    assert_ne!(other.await, first);
    assert_eq!(cloud.load_balancers().await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn backends_are_registered_changed_and_deregistered() {
    let (driver, cloud) = driver();
    let lb_info = driver.create(valid()).await;
    let backend = |name: &str, ip: &str| {
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

    let web_0 = driver.register(backend("web-0", "10.0.0.1")).await;
    let web_1 = driver.register(backend("web-1", "10.0.0.2")).await;
    let [at_0, at_1] = ["10.0.0.1:80", "10.0.0.2:80"].map(str::to_owned);
    assert_eq!(backends().await, [(at_0, 50), (at_1.clone(), 50)]);

    // A changed weight has the same record ID.
    let weight_80 = web_1.ensure().parameter("weight", 80);
    driver.call(weight_80).await.assert_succ();
    driver.deregister(&web_0).await;
    assert_eq!(backends().await, [(at_1, 80)], "the other one stays");

    driver.deregister(&web_1).await;
    assert_eq!(backends().await, []);
}

#[tokio::test(start_paused = true)]
async fn deleting_what_does_not_exist_succeeds_and_changing_it_fails() {
    let (driver, _) = driver();
    let (unknown, at) = ("lb-unknown", "10.0.0.1:80");
    for deletion in [
        delete_load_balancer(), // its creation has not completed
        delete_load_balancer().info("lbID", unknown),
    ] {
        driver.call(deletion).await.assert_succ();
    }
    let deregistration = deregister_backend().info("lbID", unknown).addr(at);
    driver.call(deregistration).await.assert_succ();

    let change = ensure_load_balancer().info("lbID", unknown);
    driver.call(change).await.assert_fail(unknown);
}

#[tokio::test(start_paused = true)]
async fn rejections_name_field_and_value() {
    let (driver, _) = driver();
    let typo = validate_load_balancer()
        .spec("lbVpcID", "vpc-1")
        .spec("lbListenerPort", "8o");
    let rejected = driver.call(typo).await.assert_refused("lbListenerPort");
    assert!(rejected.msg.contains("8o"), "{}", rejected.msg);

    let service = validate_backend().backend_type(BackendType::Service);
    driver.call(service).await.assert_refused("not services");
}

#[tokio::test(start_paused = true)]
async fn only_a_pod_with_an_address_and_the_right_protocol_gets_an_address() {
    let (driver, _) = driver();
    let lb_info = driver.create(valid()).await;
    let call = || generate_backend_addr().lb_info(&lb_info);

    let new = call().pod(pod("web-0").without_ip());
    driver.call(new).await.assert_running();
    let udp = call().pod(pod("web-0").protocol_port(Protocol::Udp, 53));
    driver.call(udp).await.assert_fail("UDP");
    let service = call().service(service("web").node_port(80, 30080));
    driver.call(service).await.assert_fail("not services");
}
