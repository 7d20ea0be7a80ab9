use super::*;

fn draining(name: &str) -> Value {
    with(
        driver(name),
        [(
            "/metadata/labels",
            json!({"lbcf.tkestack.io/driver-draining": "true"}),
        )],
    )
}

#[tokio::test]
async fn b67_a_driver_is_created_and_its_timeouts_change() {
    let stored = create(&usual(), &driver("lbcf-d")).await.unwrap();
    let new = with(stored.clone(), [("/spec/webhooks/1/timeout", json!("20s"))]);
    assert!(update(&usual(), &stored, &new).await.is_ok());
    let moved = with(stored.clone(), [("/spec/url", json!("http://elsewhere"))]);
    assert_denied(
        update(&usual(), &stored, &moved).await,
        &["spec.url", "immutable"],
    );
}

#[tokio::test]
async fn u24_a_manifest_that_names_two_webhooks_can_be_applied_again() {
    let two = with(
        driver("lbcf-d"),
        [(
            "/spec/webhooks",
            json!([{"name": "ensureBackend", "timeout": "1m"}, {"name": "validateLoadBalancer", "timeout": "15s"}]),
        )],
    );
    let stored = create(&usual(), &two).await.unwrap();
    assert_eq!(update(&usual(), &stored, &two).await, Ok(stored));
}

#[tokio::test]
async fn u24_an_old_driver_can_be_drained() {
    let old = with(
        driver("lbcf-d"),
        [(
            "/spec/webhooks",
            json!([{"name": "ensureBackend", "timeout": "10s"}]),
        )],
    );
    let new = with(
        old.clone(),
        [(
            "/metadata/labels",
            json!({"lbcf.tkestack.io/driver-draining": "true"}),
        )],
    );
    assert!(update(&usual(), &old, &new).await.is_ok());
}

#[tokio::test]
async fn b69_d12_a_driver_in_use_stays() {
    let mut world = World::usual();
    world.users = vec!["LoadBalancer ns/lb".into()];
    let world = Arc::new(world);
    assert_denied(
        delete(&world, &draining("lbcf-d")).await,
        &["LoadBalancer ns/lb"],
    );
    assert_denied(
        delete(&usual(), &driver("lbcf-d")).await,
        &["driver-draining"],
    );
    assert_eq!(delete(&usual(), &draining("lbcf-d")).await, Ok(()));
}

#[tokio::test]
async fn u27_the_deletion_of_a_collection_has_objects_and_no_name() {
    let mut world = World::usual();
    world.users = vec!["LoadBalancer ns/lb".into()];
    let world = Arc::new(world);
    let (_, validate) = paths(&driver("d"));
    let mut review = review("DELETE", &Value::Null, &driver("d"));
    review["request"]["name"] = json!("");
    let response = ask(&world, validate, &review).await;
    assert_denied(
        verdict(&response),
        &["ns/d", "driver-draining", "LoadBalancer ns/lb"],
    );
    // With its namespace, a driver that was not drained is deleted once it has no users.
    review["request"]["userInfo"]["username"] =
        json!("system:serviceaccount:kube-system:namespace-controller");
    let message = verdict(&ask(&world, validate, &review).await).unwrap_err();
    assert!(
        message.contains("LoadBalancer ns/lb") && !message.contains("draining"),
        "{message}"
    );
    assert_eq!(verdict(&ask(&usual(), validate, &review).await), Ok(()));
}
