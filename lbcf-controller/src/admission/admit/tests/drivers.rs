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
}

#[tokio::test]
async fn d33_with_its_namespace_a_driver_is_deleted_by_any_user_and_without_the_label() {
    let mut in_use = World::usual();
    in_use.users = vec!["LoadBalancer ns/lb".into()];
    in_use.namespaces_deleting = true;
    let in_use = Arc::new(in_use);
    let protected = with(
        driver("d"),
        [(
            "/metadata/finalizers",
            json!(["lbcf.tkestack.io/driver-in-use"]),
        )],
    );
    assert_eq!(delete(&in_use, &protected).await, Ok(()));
    // Without the finalizer it would be gone before its users.
    assert_denied(delete(&in_use, &driver("d")).await, &["LoadBalancer ns/lb"]);
    let mut unused = World::usual();
    unused.namespaces_deleting = true;
    assert_eq!(delete(&Arc::new(unused), &driver("d")).await, Ok(()));
    // Elsewhere the finalizer does not replace the label.
    assert_denied(delete(&usual(), &protected).await, &["driver-draining"]);
}

#[tokio::test]
async fn d33_a_driver_whose_namespace_cannot_be_read_stays_for_now() {
    let mut failing = World::usual();
    failing.lookups_fail = true;
    let failing = Arc::new(failing);
    assert_denied(
        delete(&failing, &driver("d")).await,
        &["cannot determine whether Namespace ns is being deleted"],
    );
    // Nothing has to be read of one that may be deleted anyway, or is being deleted.
    assert_eq!(delete(&failing, &draining("d")).await, Ok(()));
    let deleting = with(
        driver("d"),
        [("/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"))],
    );
    assert_eq!(delete(&failing, &deleting).await, Ok(()));
}
