use super::*;

fn refusing(driver: &str, webhook: &'static str, message: &'static str) -> World {
    World::usual().when(driver, webhook, Behaviour::Refuses(message))
}

#[tokio::test]
async fn b97_a_new_bind_is_put_to_each_driver_twice() {
    let world = usual();
    let stored = create(&world, &bind()).await.unwrap();
    assert_eq!(
        stored["metadata"]["finalizers"],
        json!(["lbcf.tkestack.io/delete-load-loadbalancer"])
    );
    let calls = world.calls();
    let asked: Vec<_> = calls
        .iter()
        .map(|call| (call.webhook, call.driver.as_str()))
        .collect();
    assert_eq!(
        asked,
        [
            ("validateBackend", "lbcf-d"),
            ("validateBackend", "lbcf-e"),
            ("validateLoadBalancer", "lbcf-d"),
            ("validateLoadBalancer", "lbcf-e")
        ]
    );
    assert_eq!(
        calls[0].request,
        json!({"dryRun": false, "namespace": "ns", "name": "bind", "backendType": "Pod", "lbInfo": {"lbID": "lb-foo"}, "operation": "Create", "parameters": {"weight": "100"}})
    );
    assert_eq!(
        calls[2].request,
        json!({"dryRun": false, "namespace": "ns", "name": "bind", "lbSpec": {"lbID": "lb-foo"}, "operation": "Create", "attributes": {"payment": "by-hour"}})
    );
}

#[tokio::test]
async fn b97_all_errors_are_listed_once_in_the_originals_words() {
    let world = refusing("lbcf-d", "validateLoadBalancer", "no such lb").when(
        "lbcf-e",
        "validateBackend",
        Behaviour::Refuses("bad weight"),
    );
    assert_eq!(
        create(&Arc::new(world), &bind()).await,
        Err("[LoadBalancer foo is invalid: no such lb], [backend parameters for LoadBalancer bar is invalid: bad weight]".to_owned())
    );
    let world = World::usual()
        .when("lbcf-d", "validateLoadBalancer", Behaviour::IsDown)
        .when("lbcf-e", "validateBackend", Behaviour::IsDown);
    assert_denied(
        create(&Arc::new(world), &bind()).await,
        &[
            "[call webhook validateLoadBalancer for LoadBalancer foo failed: driver ",
            "], [call webhook validateBackend for LoadBalancer bar failed: driver ",
        ],
    );
}

#[tokio::test]
async fn b97_the_drivers_have_to_be_there_and_to_stay() {
    let world = World::default().with_driver(driver("lbcf-d"));
    assert_denied(
        create(&Arc::new(world), &bind()).await,
        &["spec.loadBalancers[1].driver", "kube-system/lbcf-e"],
    );
    let draining = with(
        driver("lbcf-e"),
        [(
            "/metadata/labels",
            json!({"lbcf.tkestack.io/driver-draining": "true"}),
        )],
    );
    let world = Arc::new(World::usual().with_driver(draining));
    assert_denied(
        create(&world, &bind()).await,
        &["spec.loadBalancers[1].driver", "draining"],
    );
    // What it has, a draining driver keeps serving.
    let new = with(
        bind(),
        [("/spec/loadBalancers/1/attributes", json!({"a": "b"}))],
    );
    assert!(update(&world, &bind(), &new).await.is_ok());
    let without = with(
        bind(),
        [(
            "/spec/loadBalancers",
            json!([bind()["spec"]["loadBalancers"][0]]),
        )],
    );
    assert_denied(update(&world, &without, &bind()).await, &["draining"]);
}

#[tokio::test]
async fn b98_changes_are_put_to_the_drivers_that_see_them() {
    let other = |change: (&str, Value)| with(bind(), [change]);
    for (new, expected) in [
        (
            other((
                "/spec/loadBalancers/0/attributes",
                json!({"payment": "monthly"}),
            )),
            &[("validateLoadBalancer", "lbcf-d", "Update")][..],
        ),
        (
            other(("/spec/parameters", json!({"weight": "1"}))),
            &[
                ("validateBackend", "lbcf-d", "Update"),
                ("validateBackend", "lbcf-e", "Update"),
            ],
        ),
        (
            other(("/spec/loadBalancers/1/name", json!("new"))),
            &[
                ("validateBackend", "lbcf-e", "Update"),
                ("validateLoadBalancer", "lbcf-e", "Create"),
            ],
        ),
        (other(("/spec/pods/ports/0/port", json!(81))), &[]),
        (
            other(("/spec/ensurePolicy", json!({"policy": "Always"}))),
            &[],
        ),
        (
            other(("/spec/deregisterPolicy", json!("IfNotRunning"))),
            &[],
        ),
        (other(("/spec/parameters", json!({"weight": 100}))), &[]),
    ] {
        let world = usual();
        update(&world, &bind(), &new).await.unwrap();
        let calls = world.calls();
        let asked: Vec<_> = calls
            .iter()
            .map(|call| {
                (
                    call.webhook,
                    call.driver.as_str(),
                    call.request["operation"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(asked, expected, "{new}");
    }
}

#[tokio::test]
async fn d66_d78_drivers_validate_backends_of_another_type() {
    let of_service = |mode: &str| {
        let service = json!({"name": "web", "mode": mode, "port": {"port": 80}});
        with(
            bind(),
            [("/spec/pods", Value::Null), ("/spec/service", service)],
        )
    };
    let (nodes, endpoints) = (of_service("NodePort"), of_service("Endpoints"));
    for (old, new, expected) in [
        (bind(), nodes.clone(), &["Service", "Service"][..]),
        (nodes.clone(), endpoints.clone(), &["Pod", "Pod"]),
        (nodes, bind(), &["Pod", "Pod"]),
        // To a driver they are the same.
        (bind(), endpoints, &[]),
    ] {
        let world = usual();
        update(&world, &old, &new).await.unwrap();
        let calls = world.calls();
        assert!(calls.iter().all(|call| call.webhook == "validateBackend"));
        let types = calls
            .iter()
            .map(|call| call.request["backendType"].as_str().unwrap());
        assert_eq!(types.collect::<Vec<_>>(), expected);
    }
}

#[tokio::test]
async fn b98_old_attributes_and_parameters_are_sent() {
    let world = usual();
    let new = with(
        bind(),
        [
            ("/spec/loadBalancers/0/attributes", json!({})),
            ("/spec/parameters", json!({"weight": "1"})),
        ],
    );
    update(&world, &bind(), &new).await.unwrap();
    let calls = world.calls();
    assert_eq!(calls[0].request["oldParameters"], json!({"weight": "100"}));
    assert_eq!(
        calls[2].request["oldAttributes"],
        json!({"payment": "by-hour"})
    );
}

#[tokio::test]
async fn a_created_load_balancer_is_named_by_its_identity() {
    let status = json!({"loadBalancerStatuses": [{"name": "foo", "lbInfo": {"id": "lb-1"}}, {"name": "bar", "lbInfo": null}]});
    let old = with(bind(), [("/status", status)]);
    let new = with(old.clone(), [("/spec/parameters", json!({"weight": "1"}))]);
    let world = usual();
    update(&world, &old, &new).await.unwrap();
    let infos: Vec<_> = world
        .calls()
        .iter()
        .map(|call| call.request["lbInfo"].clone())
        .collect();
    assert_eq!(infos, [json!({"id": "lb-1"}), json!({"lbID": "lb-bar"})]);
}

#[tokio::test]
async fn u2_b95_every_valid_policy_passes_for_a_bind() {
    for change in [
        ("/spec/deregisterPolicy", json!("Sometimes")),
        (
            "/spec/deregisterWebhook",
            json!({"driverName": "d", "failurePolicy": "Sometimes"}),
        ),
        ("/spec/ensurePolicy", json!({"policy": "Sometimes"})),
    ] {
        let world = usual();
        let field = change.0[1..].replace('/', ".");
        let denied = create(&world, &with(bind(), [change])).await;
        assert_denied(denied, &[&field, "Sometimes", "IfNot"]);
        assert_eq!(webhooks(&world), [""; 0]);
    }
    for policy in ["IfNotReady", "IfNotRunning"] {
        let object = with(bind(), [("/spec/deregisterPolicy", json!(policy))]);
        assert!(create(&usual(), &object).await.is_ok());
    }
    let judged = |name: &str| {
        with(
            bind(),
            [
                ("/spec/deregisterPolicy", json!("Webhook")),
                ("/spec/deregisterWebhook", json!({"driverName": name})),
            ],
        )
    };
    assert!(create(&usual(), &judged("lbcf-e")).await.is_ok());
    assert_denied(
        create(&usual(), &judged("d")).await,
        &["spec.deregisterWebhook.driverName", "ns/d"],
    );
}
