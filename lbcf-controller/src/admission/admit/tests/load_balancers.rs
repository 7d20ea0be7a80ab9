use super::*;

fn draining() -> Value {
    with(
        driver("lbcf-d"),
        [(
            "/metadata/labels",
            json!({"lbcf.tkestack.io/driver-draining": "TRUE"}),
        )],
    )
}

fn going() -> Value {
    with(
        driver("lbcf-d"),
        [("/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"))],
    )
}

fn attributes(lb: &Value, attributes: Value) -> Value {
    with(lb.clone(), [("/spec/attributes", attributes)])
}

#[tokio::test]
async fn b72_b78_a_new_load_balancer_is_put_to_its_driver() {
    let world = usual();
    let object = attributes(&load_balancer("x"), json!({"payment": "month", "count": 3}));
    let stored = create(&world, &object).await.unwrap();
    assert_eq!(
        stored["metadata"]["finalizers"],
        json!(["lbcf.tkestack.io/delete-load-loadbalancer"])
    );
    let [call] = &world.calls()[..] else { panic!() };
    assert_eq!(
        (call.driver.as_str(), call.webhook),
        ("lbcf-d", "validateLoadBalancer")
    );
    assert_eq!(
        call.request,
        json!({"dryRun": false, "namespace": "ns", "name": "x", "lbSpec": {"lbID": "x"}, "operation": "Create", "attributes": {"payment": "month", "count": "3"}})
    );
}

#[tokio::test]
async fn b72_b54_the_driver_has_to_be_there_and_to_stay() {
    for (world, says) in [
        (
            World::default(),
            &[
                "spec.lbDriver: \"lbcf-d\"",
                "LoadBalancerDriver kube-system/lbcf-d not found",
            ][..],
        ),
        (
            World::usual().with_driver(draining()),
            &["spec.lbDriver", "draining"],
        ),
        (
            World::usual().with_driver(going()),
            &["spec.lbDriver", "being deleted"],
        ),
    ] {
        let world = Arc::new(world);
        assert_denied(create(&world, &load_balancer("x")).await, says);
        assert_eq!(webhooks(&world), [""; 0]);
    }
    // A driver without the prefix is one of the same namespace.
    let own = with(load_balancer("x"), [("/spec/lbDriver", json!("d"))]);
    assert_denied(create(&usual(), &own).await, &["LoadBalancerDriver ns/d"]);
    assert!(
        create(&Arc::new(World::usual().with_driver(driver("d"))), &own)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn errors_of_the_object_are_reported_before_any_lookup() {
    let world = usual();
    let object = with(
        load_balancer("lbcf-x"),
        [
            ("/spec/scope", json!(["a"])),
            ("/spec/lbDriver", json!("x")),
        ],
    );
    assert_denied(
        create(&world, &object).await,
        &["metadata.name", "; ", "spec.scope"],
    );
    assert_eq!(webhooks(&world), [""; 0]);
}

#[tokio::test]
async fn b78_the_driver_has_its_say_in_the_originals_words() {
    let world = Arc::new(World::usual().when(
        "lbcf-d",
        "validateLoadBalancer",
        Behaviour::Refuses("lb-1 not found"),
    ));
    assert_eq!(
        create(&world, &load_balancer("x")).await,
        Err("invalid LoadBalancer: lb-1 not found".to_owned())
    );
    let world = Arc::new(World::usual().when("lbcf-d", "validateLoadBalancer", Behaviour::IsDown));
    assert_eq!(
        create(&world, &load_balancer("x")).await,
        Err("call webhook error, webhook: validateLoadBalancer, err: driver kube-system/lbcf-d: webhook validateLoadBalancer: cannot reach the driver: connection refused".to_owned())
    );
}

#[tokio::test]
async fn b74_changed_attributes_are_put_to_the_driver_with_the_old_ones() {
    // A draining driver still serves what it has.
    let world = Arc::new(World::usual().with_driver(draining()));
    let old = attributes(&load_balancer("lb"), json!({"payment": "month"}));
    let new = attributes(&old, json!({"payment": "hour"}));
    update(&world, &old, &new).await.unwrap();
    let [call] = &world.calls()[..] else { panic!() };
    assert_eq!(
        call.request,
        json!({"dryRun": false, "namespace": "ns", "name": "lb", "lbSpec": {"lbID": "lb"}, "operation": "Update",
               "attributes": {"payment": "hour"}, "oldAttributes": {"payment": "month"}})
    );
    assert_denied(
        update(&Arc::new(World::default()), &old, &new).await,
        &["kube-system/lbcf-d"],
    );
}

#[tokio::test]
async fn u45_what_the_driver_does_not_see_is_not_put_to_it() {
    let world = Arc::new(World::default());
    let old = with(
        attributes(&load_balancer("lbcf-lb"), json!({"count": "3"})),
        [("/metadata/namespace", json!("kube-system"))],
    );
    for change in [
        ("/spec/ensurePolicy", json!({"policy": "Always"})),
        ("/spec/scope", json!(["a"])),
        // The same, as a number.
        ("/spec/attributes", json!({"count": 3})),
    ] {
        assert!(
            update(&world, &old, &with(old.clone(), [change]))
                .await
                .is_ok()
        );
    }
}
