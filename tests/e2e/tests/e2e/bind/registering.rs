//! Pods are registered, deregistered and changed.

use super::{LEFT, RIGHT, bare_setup, bound, delete_all, setup, setup_without_rules};
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::api::{Patch, PatchParams};
use lbcf_controller::Options;
use lbcf_controller::api::{BackendRecord, Bind, DeregisterPolicy, PodSelection, PortSelector};
use lbcf_e2e::manifests::{self, BIND, NAMESPACE};
use lbcf_e2e::{CONTROLLER, World, kill, until, until_is};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

fn port(port: i32, protocol: &str) -> PortSelector {
    PortSelector {
        port: Some(port),
        port_number: None,
        protocol: Some(protocol.to_owned()),
    }
}

/// The `ip:port` of pods, sorted.
async fn at(world: &World, pods: &[&str], port: i32) -> Vec<String> {
    let mut addresses = Vec::new();
    for name in pods {
        let ip = until(&format!("{name} has an address"), async || {
            let pod = world.api::<Pod>(NAMESPACE).get_opt(name).await.unwrap();
            pod?.status?.pod_ip
        })
        .await;
        addresses.push(format!("{ip}:{port}"));
    }
    addresses.sort();
    addresses
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b34_b35_each_port_of_each_pod_is_registered_at_each_load_balancer_at_its_cost() {
    let (world, proxy, _controller) = bare_setup(2).await;
    let before = world.cost();
    let mut bind = manifests::bind(BIND, &[LEFT, RIGHT]);
    // An existing load balancer next to one that is created.
    bind.spec.load_balancers[1].spec = [("lbID", "lb-1234"), ("lblID", "lbl-2234")].into();
    // Protocols in lower case, as in the documented example; one of them twice.
    bind.spec.pods.as_mut().unwrap().ports =
        vec![port(80, "tcp"), port(90, "udp"), port(80, "TCP")];
    world.create(&bind).await;
    let mut expected = at(&world, &["web-0", "web-1"], 80).await;
    expected.extend(at(&world, &["web-0", "web-1"], 90).await);
    expected.sort();
    for lb in [LEFT, RIGHT] {
        until_is("bound addresses", expected.clone(), async || {
            world.bound_to(lb)
        })
        .await;
    }
    world.until_records(8).await;
    // The finalizer; for each load balancer the mark that creation begins and the result; three
    // writes for each backend.
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("binds"), 1 + 2 * 2);
    assert_eq!(cost.writes("backendrecords"), 2 * 8);
    // The only other writes are the driver's finalizer and status.
    assert!(cost.all_writes() <= 2 + 1 + 4 + 16);
    let each = [("generateBackendAddr", 8), ("ensureBackend", 8)];
    cost.assert_calls([("createLoadBalancer", 2), each[0], each[1]]);
    for lb in [LEFT, RIGHT] {
        let entry = world.entry(BIND, lb).await.unwrap();
        assert!(!entry.lb_info.is_empty(), "{entry:?}");
        assert_eq!(entry.retry_after, None);
        assert_eq!(entry.deletion_timestamp, None);
        world.until_entry(BIND, lb, "Created", ("True", "")).await;
        world.until_entry(BIND, lb, "Ready", ("True", "")).await;
    }
    let protocols: BTreeSet<String> = proxy
        .calls_of("generateBackendAddr")
        .iter()
        .map(|call| call.body["podBackend"]["port"]["protocol"].to_string())
        .collect();
    assert_eq!(protocols, ["\"TCP\"", "\"UDP\""].map(String::from).into());

    let before = world.cost();
    world.delete::<Pod>(NAMESPACE, "web-1").await;
    world.until_records(4).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * 4);
    assert_eq!(cost.writes("binds"), 0);
    cost.assert_calls([("deregisterBackend", 4)]);

    let before = world.cost();
    world.set_weight::<Bind>(BIND, "80").await;
    until("all have the weight", async || {
        world
            .targets()
            .iter()
            .all(|(_, weight)| weight == "80")
            .then_some(())
    })
    .await;
    world.until_records(4).await;
    let cost = world.cost_since(&before);
    assert_eq!(cost.writes("backendrecords"), 2 * 4);
    cost.assert_calls([("ensureBackend", 4)]);
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b94_pods_are_selected_by_name() {
    let (world, _proxy, _controller) = setup(3).await;
    let mut bind = manifests::bind(BIND, &[LEFT]);
    bind.spec.pods = Some(PodSelection {
        ports: vec![port(80, "TCP")],
        by_name: vec!["web-0".into(), "web-2".into(), "later".into()],
        ..PodSelection::default()
    });
    world.create(&bind).await;
    let expect = async |pods: &[&str]| {
        let expected = at(&world, pods, 80).await;
        until_is("bound addresses", expected, async || world.bound_to(LEFT)).await;
    };
    expect(&["web-0", "web-2"]).await;
    world.create(&manifests::pod("later")).await;
    expect(&["web-0", "web-2", "later"]).await;
    let others = json!({"spec": {"pods": {"byName": ["web-1", "later"]}}});
    world.patch::<Bind>(NAMESPACE, BIND, others).await;
    expect(&["web-1", "later"]).await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b109_u31_an_unready_pod_stays_while_it_runs_under_that_policy() {
    let (world, _proxy, _controller) = setup(2).await;
    let mut bind = manifests::bind(BIND, &[LEFT]);
    bind.spec.deregister_policy = Some(DeregisterPolicy::IfNotRunning);
    world.create(&bind).await;
    world.until_pods(2).await;
    world.until_records(2).await;
    let calls = world.cloud.calls();
    world.set_ready("web-0", false).await;
    // A pod that was never ready is not registered by this policy.
    let unready = json!({"status": {
        "phase": "Running", "podIP": "10.9.9.9",
        "conditions": [{"type": "Ready", "status": "False"}],
    }});
    let mut late = manifests::pod("late");
    late.spec.as_mut().unwrap().node_name = Some("lbcf-e2e-1".into());
    world.create(&late).await;
    world
        .api::<Pod>(NAMESPACE)
        .patch_status("late", &PatchParams::default(), &Patch::Strategic(unready))
        .await
        .unwrap();
    // A later change that has arrived shows that the earlier ones have been processed.
    world.create(&manifests::pod("web-2")).await;
    until("the third is registered", async || {
        (world.targets().len() >= 3).then_some(())
    })
    .await;
    let targets = world.targets();
    let late_is_in = targets.iter().any(|(ip, _)| ip == "10.9.9.9");
    let called = world.cloud.calls().difference(&calls);
    assert_eq!(called.get("deregisterBackend"), 0);
    // It may have been ready for a moment before the test patched its status.
    assert!(
        !late_is_in || called.get("ensureBackend") == 2,
        "{targets:?}"
    );

    // web-0 is no longer running.
    let failed = json!({"status": {"phase": "Failed"}});
    world
        .api::<Pod>(NAMESPACE)
        .patch_status("web-0", &PatchParams::default(), &Patch::Merge(failed))
        .await
        .unwrap();
    let ip = at(&world, &["web-0"], 80).await;
    until("the failed pod is deregistered", async || {
        (!world.bound_to(LEFT).contains(&ip[0])).then_some(())
    })
    .await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u21_binds_whose_concatenated_names_are_equal_share_no_record() {
    let (world, _proxy, _controller) = bare_setup(1).await;
    // The original's name of the record is the same: `a-b-c-web-0-…`.
    let mut one = manifests::bind("a-b", &["c"]);
    one.spec.load_balancers[0].attributes = [("name", "one")].into();
    let mut other = manifests::bind("a", &["b-c"]);
    other.spec.load_balancers[0].attributes = [("name", "other")].into();
    tokio::join!(world.create(&one), world.create(&other));
    for lb in ["one", "other"] {
        until_is(lb, 1, async || world.bound_to(lb).len()).await;
    }
    world.until_records(2).await;
    let before = world.cost();
    // A change of each Bind reaches its own record.
    for bind in ["a-b", "a"] {
        world.set_weight::<Bind>(bind, "80").await;
    }
    until("both have the weight", async || {
        let targets = world.targets();
        (targets.len() == 2 && targets.iter().all(|(_, weight)| weight == "80")).then_some(())
    })
    .await;
    world
        .cost_since(&before)
        .assert_calls([("ensureBackend", 2)]);
    world.delete::<Bind>(NAMESPACE, "a-b").await;
    world.until_deleted::<Bind>(NAMESPACE, "a-b").await;
    assert_eq!(world.bound_to("other").len(), 1);
    world.until_records(1).await;
    world.delete::<Bind>(NAMESPACE, "a").await;
    world.until_deleted::<Bind>(NAMESPACE, "a").await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d27_u35_at_rest_and_after_a_restart_nothing_is_written_and_no_webhook_called() {
    let (world, proxy, controller) = bound(3).await;
    until("the last event is written", async || {
        let events = world.all::<Event>().await.into_iter();
        let of_creation =
            events.filter(|it| it.reason.as_deref() == Some("SuccCreateLoadBalancer"));
        let count: i32 = of_creation.map(|event| event.count.unwrap_or(1)).sum();
        (count == 2).then_some(())
    })
    .await;
    kill(controller).await;
    // The original controller stores neither observed generations nor the inputs of addresses.
    let bind = world.get::<Bind>(BIND).await;
    let mut status = serde_json::to_value(bind.status).unwrap();
    for entry in status["loadBalancerStatuses"].as_array_mut().unwrap() {
        for condition in entry["conditions"].as_array_mut().unwrap() {
            condition["observedGeneration"] = json!(null);
        }
    }
    // It has no counts and no condition of its own either, which cost a write; here they are already
    // there.
    status["registeredBackends"] = json!(3);
    status["conditions"] = json!([{
        "type": "Ready", "status": "True", "reason": "AllRegistered", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "observedGeneration": bind.metadata.generation,
    }]);
    let params = PatchParams::default();
    let binds = world.api::<Bind>(NAMESPACE);
    let patch = Patch::Merge(json!({ "status": status }));
    binds.patch_status(BIND, &params, &patch).await.unwrap();
    let records = world.api::<BackendRecord>(NAMESPACE);
    for record in world.all::<BackendRecord>().await {
        let name = record.metadata.name.unwrap();
        let mut status = serde_json::to_value(record.status).unwrap();
        status["conditions"][0]["observedGeneration"] = json!(null);
        let bare = json!({"metadata": {"annotations": null}});
        world.patch::<BackendRecord>(NAMESPACE, &name, bare).await;
        let patch = Patch::Merge(json!({ "status": status }));
        records.patch_status(&name, &params, &patch).await.unwrap();
    }
    world.forget_record_key().await;
    let (before, seen) = (world.cluster.requests(), proxy.count());
    let options = Options {
        resync_period: Duration::from_millis(100),
        ..World::quick()
    };
    let _controller = world.start(options);
    let since = || world.cluster.requests().since(&before);
    until("the controller watches every kind", async || {
        let watches = since().count(|key| key.user_agent == CONTROLLER && key.verb == "watch");
        (watches >= 8).then_some(())
    })
    .await;
    // Many resyncs in which nothing happens: absence can only be observed over time.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let at_rest = since();
    let writes = at_rest
        .count(|key| key.user_agent == CONTROLLER && key.is_write() && key.resource != "secrets");
    assert_eq!(writes, 0, "events included: {at_rest:?}");
    assert_eq!(proxy.count(), seen);
    // It does reconcile: a deleted pod is deregistered.
    world.delete::<Pod>(NAMESPACE, "web-2").await;
    until_is("bound addresses", [2, 2], async || {
        [LEFT, RIGHT].map(|lb| world.bound_to(lb).len())
    })
    .await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_of_the_same_name_and_another_address_is_another_backend() {
    let (world, _proxy, _controller) = bound(1).await;
    let old = at(&world, &["web-0"], 80).await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_deleted::<Pod>(NAMESPACE, "web-0").await;
    world.create(&manifests::pod("web-0")).await;
    let new = until("it has another address", async || {
        let new = at(&world, &["web-0"], 80).await;
        (new != old).then_some(new)
    })
    .await;
    for lb in [LEFT, RIGHT] {
        until_is("bound addresses", new.clone(), async || world.bound_to(lb)).await;
    }
    world.until_records(2).await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u22_d26_long_names_are_supported() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    let (world, _proxy, _controller) = setup_without_rules(0).await;
    let long = |name: &str| format!("{name}-{}", "x".repeat(70));
    world.create(&manifests::pod(&long("pod"))).await;
    world
        .create(&manifests::bind(&long("bind"), &[&long("lb")]))
        .await;
    until_is("bound addresses", 1, async || {
        world.bound_to(&long("lb")).len()
    })
    .await;
    let group = long("group");
    world
        .create(&manifests::load_balancer(&long("other-lb")))
        .await;
    world
        .create(&manifests::group(&group, &[&long("other-lb")]))
        .await;
    world.until_records(2).await;
    for record in world.all::<BackendRecord>().await {
        let labels = record.metadata.labels.unwrap();
        assert!(labels.values().all(|value| value.len() <= 63), "{labels:?}");
    }
    world
        .delete::<lbcf_controller::api::BackendGroup>(NAMESPACE, &group)
        .await;
    world
        .delete::<lbcf_controller::api::LoadBalancer>(NAMESPACE, &long("other-lb"))
        .await;
    world.delete::<Bind>(NAMESPACE, &long("bind")).await;
    world.until_deleted::<Bind>(NAMESPACE, &long("bind")).await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b48_b49_b41_records_have_the_originals_names_labels_and_owner() {
    let (world, _proxy, _controller) = bound(1).await;
    let ip = at(&world, &["web-0"], 80).await[0].replace(":80", "");
    let bind = world.get::<Bind>(BIND).await;
    let mut names = BTreeSet::new();
    for record in world.all::<BackendRecord>().await {
        let labels = record.metadata.labels.unwrap();
        let lb = &record.spec.lb_name;
        assert_eq!(
            labels,
            [
                ("lbcf.tkestack.io/driver", "lbcf-clb"),
                ("lbcf.tkestack.io/lb", lb.as_str()),
                ("lbcf.tkestack.io/bind", BIND),
                ("lbcf.tkestack.io/pod", "web-0"),
            ]
            .map(|(label, value)| (label.to_owned(), value.to_owned()))
            .into()
        );
        let owner = &record.metadata.owner_references.unwrap()[0];
        assert_eq!(
            (owner.kind.as_str(), owner.api_version.as_str()),
            ("Bind", "lbcf.tkestack.io/v1")
        );
        assert_eq!(Some(&owner.uid), bind.metadata.uid.as_ref());
        names.insert(record.metadata.name.unwrap());
    }
    let expected = [LEFT, RIGHT].map(|lb| {
        lbcf_controller::names::bind_record_names(BIND, lb, "web-0", &ip, "TCP", 80)[0].clone()
    });
    assert_eq!(names, expected.into());
    delete_all(&world).await;
}
