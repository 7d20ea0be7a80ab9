//! A load balancer and its backends from creation to deletion, and failures meanwhile.

use k8s_openapi::api::core::v1::{Event, Pod};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Conditions, LoadBalancer, LoadBalancerDriver, PodSelection,
    PortSelector,
};
use lbcf_driver_sdk::webhook::Protocol;
use lbcf_e2e::manifests::{self, DRIVER, GROUP, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{World, until};
use mock_driver::MockOptions;
use serde_json::json;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_are_added_removed_and_changed() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.register_basics(3).await;
    world.set_ready("web-1", false).await;
    world.until_targets(&["web-0", "web-2"], "50").await;
    world.set_ready("web-1", true).await;
    world.until_pods(3).await;
    world.delete::<Pod>(NAMESPACE, "web-2").await;
    world.until_pods(2).await;
    world.set_weight::<BackendGroup>(GROUP, "80").await;
    world.until_targets(&["web-0", "web-1"], "80").await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b31_several_ports_and_load_balancers_and_pods_by_name() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.apply_basics(0).await;
    world.create(&manifests::load_balancer("second-lb")).await;
    for pod in ["web-0", "web-1", "unnamed"] {
        world.create(&manifests::pod(pod)).await;
    }
    let mut named = manifests::group("named", &[LB, "second-lb"]);
    named.spec.pods = Some(PodSelection {
        ports: vec![
            PortSelector::new(80, Protocol::Tcp),
            PortSelector::new(90, Protocol::Udp),
        ],
        by_name: vec!["web-0".into(), "web-1".into()],
        ..PodSelection::default()
    });
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.create(&named).await;
    until("eight backends on two load balancers", async || {
        let seen = world.cloud.observe().load_balancers;
        (seen.len() == 2 && seen.iter().all(|lb| lb.backends.len() == 4)).then_some(())
    })
    .await;
    until("d8: two backends, both registered", async || {
        let group = world.get::<BackendGroup>("named").await;
        let status = group.status.unwrap_or_default();
        ((
            status.backends,
            status.registered_backends,
            status.registered_records,
        ) == (2, 2, 8))
            .then_some(())
    })
    .await;
    world.delete::<BackendGroup>(NAMESPACE, "named").await;
    world.delete::<LoadBalancer>(NAMESPACE, "second-lb").await;
    world
        .until_deleted::<LoadBalancer>(NAMESPACE, "second-lb")
        .await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b26_static_addresses_are_sent_to_the_driver_unchanged() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.apply_basics(0).await;
    let mut fixed = manifests::group("fixed", &[LB]);
    fixed.spec.pods = None;
    fixed.spec.static_addresses = vec!["1.1.1.1:8080".into(), "my-web.com:8080".into()];
    world.create(&fixed).await;
    let addresses = || -> Vec<String> {
        let seen = world.cloud.observe().load_balancers.into_iter();
        seen.flat_map(|lb| lb.backends)
            .map(|backend| backend.addr)
            .collect()
    };
    until("both are registered", async || {
        (addresses() == ["1.1.1.1:8080", "my-web.com:8080"]).then_some(())
    })
    .await;
    assert_eq!(world.calls().get("generateBackendAddr"), None);
    let one = json!({"spec": {"static": ["my-web.com:8080"]}});
    world.patch::<BackendGroup>(NAMESPACE, "fixed", one).await;
    until("one is left", async || {
        (addresses() == ["my-web.com:8080"]).then_some(())
    })
    .await;
    until("d8: one of one", async || {
        let group = world.get::<BackendGroup>("fixed").await;
        let status = group.status.unwrap_or_default();
        ((status.backends, status.registered_backends) == (1, 1)).then_some(())
    })
    .await;
    world.delete::<BackendGroup>(NAMESPACE, "fixed").await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u1_d6_each_change_of_attributes_is_one_ensure() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.settle_basics(1).await;
    for (index, value) in ["10", "20", "30"].into_iter().enumerate() {
        let patch = json!({"spec": {"attributes": {"max-bandwidth-out": value}}});
        world.patch::<LoadBalancer>(NAMESPACE, LB, patch).await;
        until("the status has it", async || {
            let lb = world.get::<LoadBalancer>(LB).await;
            let is_current = lb.spec.attributes.get("max-bandwidth-out")? == value;
            (is_current && lb.status?.has_synced(&lb.spec.attributes)).then_some(())
        })
        .await;
        let observed = world.cloud.observe();
        assert_eq!(
            observed.load_balancers[0].attributes["max-bandwidth-out"],
            value
        );
        assert_eq!(
            observed.load_balancers[0].attributes["chargeType"],
            "TRAFFIC_POSTPAID_BY_HOUR"
        );
        assert_eq!(world.calls()["ensureLoadBalancer"], index as u64 + 1);
    }
    // u36: no backend was touched.
    assert_eq!(world.calls()["ensureBackend"], 1);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u34_an_outage_of_the_driver_is_reported_and_caught_up_with() {
    let mut world = World::new().await;
    let _controller = world.start_controller();
    world.register_basics(2).await;
    world.stop_driver().await;
    world.delete::<Pod>(NAMESPACE, "web-1").await;
    world.create(&manifests::pod("web-2")).await;
    until("the condition has the reason", async || {
        world
            .all::<BackendRecord>()
            .await
            .into_iter()
            .find_map(|record| {
                let status = record.status?;
                let condition = status.conditions.find("Registered")?;
                (condition.reason == "WebhookError"
                    && condition.message.contains("generateBackendAddr"))
                .then_some(())
            })
    })
    .await;
    world.start_driver().await;
    world.until_targets(&["web-0", "web-2"], "50").await;
    world.until_settled().await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u34_a_missing_driver_is_reported_and_waited_for() {
    let world = World::bare().await;
    let _controller = world.start_controller();
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    until("the condition names the missing driver", async || {
        let lb = world.get::<LoadBalancer>(LB).await;
        let status = lb.status?;
        let condition = status.conditions.find("Created")?;
        (condition.reason == "DriverNotFound" && condition.message.contains("kube-system/lbcf-clb"))
            .then_some(())
    })
    .await;
    world.create(&manifests::driver(&world.driver_url())).await;
    world.until_pods(1).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b102_a_rejected_creation_is_reported_and_a_corrected_one_succeeds() {
    let world = World::bare().await;
    let _controller = world.start_controller();
    world.create(&manifests::driver(&world.driver_url())).await;
    let mut lb = manifests::load_balancer(LB);
    lb.spec.lb_spec = [("lbID", "lb-notexist"), ("lblID", "lbl-2234")].into();
    world.create(&lb).await;
    until("the condition has the driver's message", async || {
        let lb = world.get::<LoadBalancer>(LB).await;
        let status = lb.status?;
        let condition = status.conditions.find("Created")?;
        (condition.reason == "NotFound"
            && condition
                .message
                .contains("clb instance lb-notexist not found"))
        .then_some(())
    })
    .await;
    // Its spec is immutable: it is corrected by deleting and creating it.
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    lb.spec.lb_spec = [("lbID", "lb-1234"), ("lblID", "lbl-2234")].into();
    world.create(&lb).await;
    until("it is created", async || {
        let lb = world.get::<LoadBalancer>(LB).await;
        lb.status?.conditions.is_true("Created").then_some(())
    })
    .await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u7_a_load_balancer_deleted_while_it_is_being_created_leaves_nothing() {
    let slow = MockOptions {
        stage_duration: Duration::from_millis(100),
        ..MockOptions::default()
    };
    let world = World::with(slow).await;
    let _controller = world.start_controller();
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::load_balancer(LB)).await;
    until("creation has begun", async || {
        (!world.cloud.observe().load_balancers.is_empty()).then_some(())
    })
    .await;
    world.delete_basics().await;
    assert!(world.calls()["deleteLoadBalancer"] >= 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b115_b134_b142_changes_are_recorded_as_events() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.register_basics(1).await;
    until("the events exist", async || {
        let events: Vec<Event> = world.all().await;
        let has = |kind: &str, reason: &str| {
            events.iter().any(|event| {
                event.involved_object.kind.as_deref() == Some(kind)
                    && event.reason.as_deref() == Some(reason)
                    && event.type_.as_deref() == Some("Normal")
                    && event
                        .source
                        .as_ref()
                        .and_then(|source| source.component.as_deref())
                        == Some("lbcf-controller")
            })
        };
        let all_exist = has("LoadBalancer", "SuccCreateLoadBalancer")
            && has("BackendGroup", "SuccSyncedBackendGroup");
        all_exist.then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b100_a_driver_is_accepted() {
    let world = World::new().await;
    let _controller = world.start_controller();
    world.create(&manifests::driver(&world.driver_url())).await;
    until("it is accepted", async || {
        let driver = world
            .api::<LoadBalancerDriver>(SYSTEM)
            .get(DRIVER)
            .await
            .unwrap();
        driver.status?.conditions.is_true("Accepted").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_cannot_be_decoded_affects_no_other() {
    let world = World::new().await;
    let _controller = world.start_controller();
    let mut odd = serde_json::to_value(manifests::load_balancer("odd")).unwrap();
    odd["status"] = json!({"conditions": "not a list"});
    let api: kube::Api<kube::api::DynamicObject> = kube::Api::namespaced_with(
        world.cluster.client_as("test"),
        NAMESPACE,
        &kube::api::ApiResource::erase::<LoadBalancer>(&()),
    );
    let odd: kube::api::DynamicObject = serde_json::from_value(odd).unwrap();
    // A cluster that validates schemas rejects it.
    if let Ok(created) = api.create(&Default::default(), &odd).await {
        let mut status = created.clone();
        status.data["status"] = json!({"conditions": "not a list"});
        let _ = api
            .patch_status(
                "odd",
                &Default::default(),
                &kube::api::Patch::Merge(&status.data),
            )
            .await;
    }
    world.register_basics(1).await;
}
