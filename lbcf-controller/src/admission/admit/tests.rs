use crate::admission::tests::fixture::{
    Behaviour, World, ask, bind, create, delete, driver, group, load_balancer, paths, review,
    update, verdict, with,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

mod backend_group;
mod binds;
mod deadlines;
mod drivers;
mod load_balancers;

fn usual() -> Arc<World> {
    Arc::new(World::usual())
}

fn every_kind() -> [Value; 4] {
    [driver("d"), load_balancer("lb-2"), group(), bind()]
}

/// Asserts that something was denied, and the message has all of this in it.
#[track_caller]
fn assert_denied<T: std::fmt::Debug>(result: Result<T, String>, says: &[&str]) {
    let message = result.unwrap_err();
    for text in says {
        assert!(message.contains(text), "{text}: {message}");
    }
}

fn webhooks(world: &World) -> Vec<&'static str> {
    world.calls().iter().map(|call| call.webhook).collect()
}

#[tokio::test]
async fn every_kind_passes_as_the_documents_have_it() {
    for object in every_kind() {
        create(&usual(), &object).await.unwrap();
    }
}

#[tokio::test]
async fn b65_operations_and_subresources_without_a_rule_are_allowed() {
    for object in every_kind() {
        let nonsense = with(object, [("/spec", json!({"nonsense": true}))]);
        let (mutate, validate) = paths(&nonsense);
        for path in [mutate, validate] {
            for operation in ["CONNECT", "whatever"] {
                let response =
                    ask(&usual(), path, &review(operation, &nonsense, &Value::Null)).await;
                assert_eq!(verdict(&response), Ok(()));
            }
            let mut review = review(
                "UPDATE",
                &nonsense,
                &with(nonsense.clone(), [("/spec", json!({}))]),
            );
            review["request"]["subResource"] = json!("status");
            assert_eq!(verdict(&ask(&usual(), path, &review).await), Ok(()));
        }
    }
}

#[tokio::test]
async fn b66_finalizers_of_an_object_that_is_being_deleted_can_be_removed() {
    for object in every_kind() {
        let world = usual();
        let old = with(
            object,
            [
                ("/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z")),
                ("/metadata/finalizers", json!(["f"])),
                // Not even what it is has to be understood.
                (
                    "/spec",
                    json!({"lbDriver": 7, "deregisterPolicy": "Sometimes"}),
                ),
            ],
        );
        let new = with(
            old.clone(),
            [
                ("/metadata/finalizers", json!([])),
                ("/spec/changed", json!(true)),
            ],
        );
        assert_eq!(update(&world, &old, &new).await, Ok(new));
        assert_eq!(webhooks(&world), [""; 0]);
    }
}

#[tokio::test]
async fn b98_u45_a_change_of_labels_calls_no_driver() {
    for object in every_kind() {
        // There is no driver to call, and lookups would hang.
        let mut world = World::default();
        world.lookups_hang = true;
        let world = Arc::new(world);
        let new = with(object.clone(), [("/metadata/labels", json!({"a": "b"}))]);
        assert!(update(&world, &object, &new).await.is_ok());
        assert_eq!(webhooks(&world), [""; 0]);
    }
}

#[tokio::test]
async fn what_was_let_pass_long_ago_can_still_be_labelled() {
    for object in every_kind() {
        let old = with(
            object,
            [(
                "/spec",
                json!({"ensurePolicy": {"policy": "Sometimes"}, "url": 7}),
            )],
        );
        let new = with(old.clone(), [("/metadata/labels", json!({"a": "b"}))]);
        let (_, validate) = paths(&new);
        let response = ask(&usual(), validate, &review("UPDATE", &new, &old)).await;
        assert_eq!(verdict(&response), Ok(()));
    }
}

#[tokio::test]
async fn an_object_that_is_not_what_its_kind_should_be_is_denied_by_field() {
    for (object, says) in [
        (
            with(driver("d"), [("/spec/webhooks", json!(7))]),
            &["spec.webhooks: ", "7"][..],
        ),
        (
            with(driver("d"), [("/spec/url", Value::Null)]),
            &["spec: ", "url"],
        ),
        (
            with(load_balancer("x"), [("/spec/lbSpec", json!({"a": []}))]),
            &["spec.lbSpec", "a string or a number"],
        ),
        (
            with(load_balancer("x"), [("/spec/scope", json!([7]))]),
            &["spec.scope[0]: ", "7", "string"],
        ),
        (
            with(group(), [("/spec/pods/ports/0/port", json!("eighty"))]),
            &["spec.pods.ports[0].port: ", "eighty"],
        ),
        (
            with(group(), [("/spec/deregisterPolicy", json!("Never"))]),
            &["spec.deregisterPolicy: ", "Never", "IfNotRunning"],
        ),
        (
            with(bind(), [("/spec/loadBalancers/1", json!({"name": "x"}))]),
            &["spec.loadBalancers[1]: ", "driver"],
        ),
        (with(bind(), [("/spec", json!([]))]), &["spec: ", "object"]),
        (
            with(bind(), [("/spec", Value::Null)]),
            &["spec: ", "must be an object"],
        ),
        (
            with(group(), [("/metadata/labels", json!(["a"]))]),
            &["metadata.labels: "],
        ),
    ] {
        assert_denied(create(&usual(), &object).await, says);
    }
    let (_, validate) = paths(&group());
    let nothing = review("CREATE", &Value::Null, &group());
    assert_denied(
        verdict(&ask(&usual(), validate, &nothing).await),
        &["request.object: missing"],
    );
}

#[tokio::test]
async fn what_is_stored_and_not_understood_can_be_put_right() {
    let new = with(
        group(),
        [("/spec/ensurePolicy", json!({"policy": "Always"}))],
    );
    let old = with(
        group(),
        [("/spec/ensurePolicy", json!({"policy": "Sometimes"}))],
    );
    assert!(update(&usual(), &old, &new).await.is_ok());
    let worse = with(old.clone(), [("/spec/parameters", json!({}))]);
    assert_denied(update(&usual(), &old, &worse).await, &["Sometimes"]);
}

#[tokio::test]
async fn b76_b86_b99_do_not_delete_keeps_what_carries_it() {
    for (object, is_kept) in [
        (load_balancer("lb"), true),
        (group(), true),
        (bind(), false),
    ] {
        let labelled = with(
            object.clone(),
            [(
                "/metadata/labels",
                json!({"lbcf.tkestack.io/do-not-delete": ""}),
            )],
        );
        // Its spec is nothing that deleting asks about.
        let labelled = with(labelled, [("/spec", json!(7))]);
        let result = delete(&usual(), &labelled).await;
        if is_kept {
            assert_denied(result, &["ns/", "lbcf.tkestack.io/do-not-delete"]);
        } else {
            assert_eq!(result, Ok(()));
        }
        assert_eq!(delete(&usual(), &object).await, Ok(()));
    }
}

#[tokio::test]
async fn b70_deleting_an_unknown_object_is_allowed() {
    for object in every_kind() {
        let (_, validate) = paths(&object);
        let mut review = review("DELETE", &Value::Null, &object);
        review["request"]["oldObject"] = Value::Null;
        assert_eq!(verdict(&ask(&usual(), validate, &review).await), Ok(()));
    }
}

#[tokio::test]
async fn d23_b148_u10_in_dry_run_nothing_passes_though_all_is_checked() {
    let message = "validate succeeded, but this operation is rejected because lbcf-controller is in dry-run mode";
    let world = || {
        let mut world = World::usual();
        world.dry_run = true;
        Arc::new(world)
    };
    for object in every_kind() {
        assert_eq!(create(&world(), &object).await, Err(message.to_owned()));
        let new = with(object.clone(), [("/metadata/labels", json!({"a": "b"}))]);
        assert_eq!(
            update(&world(), &object, &new).await,
            Err(message.to_owned())
        );
    }
    for object in [load_balancer("lb"), group()] {
        assert_eq!(delete(&world(), &object).await, Err(message.to_owned()));
    }
    // What is wrong is still told, and finalizers can still go.
    let wrong = with(group(), [("/spec/loadBalancers", json!(["other"]))]);
    assert_denied(create(&world(), &wrong).await, &["ns/other"]);
    let old = with(
        bind(),
        [("/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"))],
    );
    let new = with(old.clone(), [("/spec/parameters", json!({}))]);
    assert!(update(&world(), &old, &new).await.is_ok());
}

#[tokio::test]
async fn d23_a_rehearsal_asks_only_drivers_that_agree_to_it() {
    let agreeing = with(driver("lbcf-d"), [("/spec/acceptDryRunCall", json!(true))]);
    for is_controller in [true, false] {
        let mut world = World::usual().with_driver(agreeing.clone()).when(
            "lbcf-d",
            "validateLoadBalancer",
            Behaviour::Refuses("no"),
        );
        world.dry_run = is_controller;
        let world = Arc::new(world);
        let (_, validate) = paths(&bind());
        let mut review = review("CREATE", &bind(), &Value::Null);
        review["request"]["dryRun"] = json!(!is_controller);
        let response = ask(&world, validate, &review).await;
        assert_denied(verdict(&response), &["LoadBalancer foo is invalid: no"]);
        let calls = world.calls();
        let asked: Vec<_> = calls
            .iter()
            .map(|call| (call.driver.as_str(), call.webhook))
            .collect();
        assert_eq!(
            asked,
            [
                ("lbcf-d", "validateBackend"),
                ("lbcf-d", "validateLoadBalancer")
            ]
        );
        assert!(calls.iter().all(|call| call.request["dryRun"] == true));
    }
}

#[tokio::test]
async fn u28_a_lookup_that_fails_is_never_taken_for_not_found() {
    for object in [load_balancer("x"), group(), bind()] {
        let mut world = World::usual();
        world.lookups_fail = true;
        let message = create(&Arc::new(world), &object).await.unwrap_err();
        assert!(message.contains("cannot determine"), "{message}");
        assert!(message.contains("did not respond within 5s"), "{message}");
        assert!(!message.contains("not found"), "{message}");
    }
}
