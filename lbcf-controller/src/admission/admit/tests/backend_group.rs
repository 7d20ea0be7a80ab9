use super::*;

fn with_lbs(lbs: Value) -> Value {
    with(group(), [("/spec/loadBalancers", lbs)])
}

fn parameters(group: &Value, parameters: Value) -> Value {
    with(group.clone(), [("/spec/parameters", parameters)])
}

fn shared(scope: Value) -> Value {
    with(
        load_balancer("lbcf-shared"),
        [
            ("/metadata/namespace", json!("kube-system")),
            ("/spec/scope", scope),
        ],
    )
}

fn going(lb: Value) -> Value {
    with(
        lb,
        [("/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"))],
    )
}

fn optional(group: Value) -> Value {
    with(
        group,
        [(
            "/metadata/annotations",
            json!({"lbcf.tkestack.io/validation-policy": "optional"}),
        )],
    )
}

#[tokio::test]
async fn b84_a_new_group_is_put_to_each_load_balancers_driver() {
    let creating = json!({"lbInfo": null, "conditions": [{"type": "Created", "status": "False"}]});
    let lb2 = with(
        load_balancer("lb-2"),
        [("/spec/lbDriver", json!("lbcf-e")), ("/status", creating)],
    );
    let world = Arc::new(World::usual().with_load_balancer(lb2));
    create(&world, &with_lbs(json!(["lb", "lb-2", "lb"])))
        .await
        .unwrap();
    let calls = world.calls();
    assert_eq!(calls.len(), 2, "{calls:?}");
    assert_eq!(
        calls[0].request,
        json!({"dryRun": false, "namespace": "ns", "name": "group", "backendType": "Pod", "lbInfo": {"id": "1"}, "operation": "Create", "parameters": {"weight": "50"}})
    );
    // Not created yet: what is known of it (u28).
    assert_eq!(calls[1].driver, "lbcf-e");
    assert_eq!(calls[1].request["lbInfo"], json!({"lbID": "lb-2"}));
}

#[tokio::test]
async fn b151_the_type_of_backends_is_sent() {
    for (kind, backends, name) in [
        (
            "service",
            json!({"name": "s", "port": {"port": 80}}),
            "Service",
        ),
        ("static", json!(["a"]), "Static"),
    ] {
        let world = usual();
        let object = with(
            group(),
            [
                ("/spec/pods", Value::Null),
                (&format!("/spec/{kind}"), backends),
            ],
        );
        create(&world, &object).await.unwrap();
        assert_eq!(world.calls()[0].request["backendType"], name);
    }
}

#[tokio::test]
async fn b83_the_load_balancers_have_to_be_there_and_open_to_the_namespace() {
    for (world, lbs, says) in [
        (
            World::usual(),
            json!(["lb", "other"]),
            &["\"other\"", "LoadBalancer ns/other not found", "optional"][..],
        ),
        (
            World::usual().with_load_balancer(going(load_balancer("lb"))),
            json!(["lb"]),
            &["ns/lb is being deleted"],
        ),
        (
            World::usual().with_load_balancer(shared(json!(["other-ns"]))),
            json!(["lbcf-shared"]),
            &["kube-system/lbcf-shared", "namespace ns", "other-ns"],
        ),
        (
            World::usual().with_load_balancer(shared(json!(null))),
            json!(["lbcf-shared"]),
            &["kube-system/lbcf-shared"],
        ),
    ] {
        let world = Arc::new(world);
        assert_denied(create(&world, &with_lbs(lbs.clone())).await, says);
        // On an update too (b83).
        let old = with_lbs(json!(["before"]));
        assert_denied(update(&world, &old, &with_lbs(lbs)).await, says);
    }
    for scope in [json!(["*"]), json!(["a", "ns"])] {
        let world = Arc::new(World::usual().with_load_balancer(shared(scope)));
        assert!(
            create(&world, &with_lbs(json!(["lbcf-shared"])))
                .await
                .is_ok()
        );
    }
}

#[tokio::test]
async fn b57_a_shared_load_balancer_is_looked_up_in_the_systems_namespace_only() {
    let namesake = with(
        load_balancer("lbcf-shared"),
        [("/metadata/namespace", json!("ns"))],
    );
    let world = Arc::new(World::usual().with_load_balancer(namesake));
    assert_denied(
        create(&world, &with_lbs(json!(["lbcf-shared"]))).await,
        &["LoadBalancer kube-system/lbcf-shared not found"],
    );
}

#[tokio::test]
async fn b61_b85_optional_lets_a_load_balancer_come_later() {
    let world = usual();
    create(&world, &optional(with_lbs(json!(["later", "lb"]))))
        .await
        .unwrap();
    assert_eq!(webhooks(&world), ["validateBackend"]);
    for lb in [going(load_balancer("lb"))] {
        let world = Arc::new(World::usual().with_load_balancer(lb));
        assert_denied(create(&world, &optional(group())).await, &["being deleted"]);
    }
    let world = Arc::new(World::usual().with_load_balancer(shared(json!(["x"]))));
    assert_denied(
        create(&world, &optional(with_lbs(json!(["lbcf-shared"])))).await,
        &["does not allow namespace ns"],
    );
    let other = with(
        group(),
        [
            (
                "/metadata/annotations",
                json!({"lbcf.tkestack.io/validation-policy": "strict"}),
            ),
            ("/spec/loadBalancers", json!(["later"])),
        ],
    );
    assert_denied(create(&usual(), &other).await, &["ns/later"]);
}

#[tokio::test]
async fn u28_optional_does_not_make_a_failed_lookup_a_missing_load_balancer() {
    let mut world = World::usual();
    world.lookups_fail = true;
    assert_denied(
        create(&Arc::new(world), &optional(group())).await,
        &["cannot determine"],
    );
}

#[tokio::test]
async fn b84_a_driver_that_is_being_deleted_accepts_no_new_groups() {
    let draining = with(
        driver("lbcf-d"),
        [(
            "/metadata/labels",
            json!({"lbcf.tkestack.io/driver-draining": "true"}),
        )],
    );
    let world = Arc::new(World::usual().with_driver(draining));
    assert_denied(
        create(&world, &group()).await,
        &["kube-system/lbcf-d", "draining", "LoadBalancer ns/lb"],
    );
    assert!(
        update(
            &world,
            &group(),
            &parameters(&group(), json!({"weight": "1"}))
        )
        .await
        .is_ok()
    );
    let lb = load_balancer("lb");
    let world = Arc::new(World::default().with_load_balancer(lb));
    assert_denied(
        create(&world, &group()).await,
        &["LoadBalancerDriver kube-system/lbcf-d not found"],
    );
}

#[tokio::test]
async fn b84_changed_parameters_are_put_to_the_driver_with_the_old_ones() {
    let world = usual();
    update(
        &world,
        &group(),
        &parameters(&group(), json!({"weight": 1})),
    )
    .await
    .unwrap();
    let [call] = &world.calls()[..] else { panic!() };
    assert_eq!(
        call.request,
        json!({"dryRun": false, "namespace": "ns", "name": "group", "backendType": "Pod", "lbInfo": {"id": "1"}, "operation": "Update", "parameters": {"weight": "1"},
               "oldParameters": {"weight": "50"}, "OldParameters": {"weight": "50"}})
    );
}

#[tokio::test]
async fn a_load_balancer_that_is_added_is_the_only_one_that_is_asked() {
    let world = Arc::new(World::usual().with_load_balancer(load_balancer("lb-2")));
    update(&world, &group(), &with_lbs(json!(["lb", "lb-2"])))
        .await
        .unwrap();
    let [call] = &world.calls()[..] else { panic!() };
    assert_eq!(call.request["lbInfo"], json!({"lbID": "lb-2"}));
    assert_eq!(call.request["operation"], "Update");
}

#[tokio::test]
async fn a_group_that_gets_its_first_backends_is_put_to_the_driver() {
    let world = usual();
    let none = with(group(), [("/spec/pods", Value::Null)]);
    update(&world, &none, &group()).await.unwrap();
    let [call] = &world.calls()[..] else { panic!() };
    assert_eq!(call.request["backendType"], "Pod");
}

#[tokio::test]
async fn u45_what_the_driver_does_not_see_is_not_put_to_it() {
    let world = usual();
    let pods = json!({"ports": [{"port": 81}], "byName": ["a"]});
    update(&world, &group(), &with(group(), [("/spec/pods", pods)]))
        .await
        .unwrap();
    assert_eq!(webhooks(&world), [""; 0]);
    // Policies concern no load balancer at all, not even one that is gone.
    for change in [
        ("/spec/ensurePolicy", json!({"policy": "Always"})),
        ("/spec/deregisterPolicy", json!("IfNotRunning")),
    ] {
        let new = with(group(), [change]);
        assert!(
            update(&Arc::new(World::default()), &group(), &new)
                .await
                .is_ok()
        );
    }
}

#[tokio::test]
async fn the_earlier_editions_form_of_a_group_is_no_change() {
    let old = with(
        group(),
        [
            ("/spec/loadBalancers", Value::Null),
            ("/spec/lbName", json!("lb")),
            ("/spec/pods/ports", Value::Null),
            ("/spec/pods/port", json!({"portNumber": 80})),
            ("/spec/parameters", json!({"weight": 50})),
        ],
    );
    let new = with(group(), [("/spec/deregisterPolicy", json!("IfNotReady"))]);
    assert!(
        update(&Arc::new(World::default()), &old, &new)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn b78_the_driver_has_its_say_in_the_originals_words() {
    let world = Arc::new(World::usual().when(
        "lbcf-d",
        "validateBackend",
        Behaviour::Refuses("weight: 0 to 100"),
    ));
    assert_eq!(
        create(&world, &group()).await,
        Err("invalid Backend, msg: weight: 0 to 100".to_owned())
    );
    let world = Arc::new(World::usual().when("lbcf-d", "validateBackend", Behaviour::IsDown));
    assert_denied(
        create(&world, &group()).await,
        &[
            "call webhook error, webhook validateBackend, err: driver kube-system/lbcf-d: webhook validateBackend: ",
            "connection refused",
        ],
    );
}

#[tokio::test]
async fn b97_each_reason_is_listed_once() {
    let lb2 = with(load_balancer("lb-2"), [("/spec/lbDriver", json!("lbcf-e"))]);
    let world = World::usual()
        .with_load_balancer(lb2)
        .with_load_balancer(load_balancer("lb-3"))
        .when("lbcf-d", "validateBackend", Behaviour::Refuses("a"))
        .when("lbcf-e", "validateBackend", Behaviour::Refuses("b"));
    assert_eq!(
        create(&Arc::new(world), &with_lbs(json!(["lb", "lb-2", "lb-3"]))).await,
        Err("[invalid Backend, msg: a], [invalid Backend, msg: b]".to_owned())
    );
}

#[tokio::test]
async fn b28_the_driver_that_judges_has_to_be_there_already() {
    let judged = |name: &str| {
        with(
            group(),
            [
                ("/spec/deregisterPolicy", json!("Webhook")),
                ("/spec/deregisterWebhook", json!({"driverName": name})),
            ],
        )
    };
    assert!(create(&usual(), &judged("lbcf-e")).await.is_ok());
    let field = "spec.deregisterWebhook.driverName";
    assert_denied(
        create(&usual(), &judged("foo-driver")).await,
        &[field, "ns/foo-driver", "kube-system"],
    );
    assert_denied(
        update(&usual(), &group(), &judged("lbcf-x")).await,
        &[field, "kube-system/lbcf-x"],
    );
    // One that was named before is not looked for again.
    let old = judged("lbcf-x");
    assert!(
        update(&usual(), &old, &parameters(&old, json!({})))
            .await
            .is_ok()
    );
    // Without the policy the name has no effect.
    let unused = with(
        judged("lbcf-x"),
        [("/spec/deregisterPolicy", json!("IfNotReady"))],
    );
    assert!(create(&usual(), &unused).await.is_ok());
}
