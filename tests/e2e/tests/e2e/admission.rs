//! With admission installed, what users write is validated and defaulted before it is stored, and the
//! controller's own writes pass.

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use lbcf_controller::api::{BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver};
use lbcf_controller::{Options, RunError};
use lbcf_e2e::manifests::{self, DRIVER, GROUP, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{
    CONTROLLER, DriverProxy, Latch, ProxyAction, World, kill, leads, needs_embedded, until,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::net::TcpStream;

async fn world() -> (World, lbcf_e2e::AdmittingController) {
    let world = World::bare().await;
    world.install_admission().await;
    let controller = world.start_admitting(CONTROLLER, World::options()).await;
    (world, controller)
}

/// The message with which an object is rejected.
async fn rejection<K: lbcf_controller::api::NamespacedKind>(
    world: &World,
    object: Value,
) -> String {
    let object: K = serde_json::from_value(object).unwrap();
    let namespace = object.meta().namespace.clone().unwrap();
    let created = world
        .api::<K>(&namespace)
        .create(&PostParams::default(), &object)
        .await;
    created.expect_err("it is rejected").to_string()
}

fn bind(changes: Value) -> Value {
    let mut bind = json!({
        "apiVersion": "lbcf.tkestack.io/v1",
        "kind": "Bind",
        "metadata": {"name": "bind", "namespace": NAMESPACE},
        "spec": {
            "loadBalancers": [{"name": "a", "driver": DRIVER, "spec": {
                "lbVpcID": "vpc-12345678", "lbListenerPort": 81, "lbListenerProtocol": "TCP",
            }}],
            "pods": {"ports": [{"port": 80, "protocol": "tcp"}], "byName": ["web-0"]},
            "parameters": {"weight": 50},
        },
    });
    merge(&mut bind, changes);
    bind
}

fn merge(into: &mut Value, changes: Value) {
    match (into, changes) {
        (Value::Object(into), Value::Object(changes)) => {
            for (key, value) in changes {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, changes) => *into = changes,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u46_d9_d30_from_creation_to_deletion_with_admission() {
    let (world, _controller) = world().await;
    world.create(&manifests::driver(&world.driver_url())).await;
    let stored: LoadBalancerDriver = world.api(SYSTEM).get(DRIVER).await.unwrap();
    assert!(
        stored
            .spec
            .webhooks
            .iter()
            .any(|hook| hook.name == "ensureBackend"),
        "b71"
    );
    let lb = world.create(&manifests::load_balancer(LB)).await;
    let finalizers = lb.metadata.finalizers.unwrap();
    assert_eq!(finalizers, ["lbcf.tkestack.io/delete-load-loadbalancer"]);
    world.create(&manifests::pod("web-0")).await;
    // The fields of the earlier version of the API, and a number in place of a string.
    let group: BackendGroup = serde_json::from_value(json!({
        "metadata": {"name": GROUP, "namespace": NAMESPACE},
        "spec": {
            "lbName": LB,
            "pods": {"port": {"portNumber": 80}, "byLabel": {"selector": {"app": "web"}}},
            "parameters": {"weight": "50"},
        },
    }))
    .unwrap();
    let group = world.create(&group).await;
    assert_eq!(group.spec.load_balancers, [LB]);
    assert_eq!(group.spec.lb_name, None);
    let port = &group.spec.pods.as_ref().unwrap().ports[0];
    assert_eq!(
        (port.port, port.protocol.as_deref()),
        (Some(80), Some("TCP"))
    );
    assert_eq!(
        group.metadata.labels.unwrap()["name.lb.lbcf.tkestack.io/web-lb"],
        "True"
    );
    world.until_pods(1).await;
    world.until_settled().await;
    let more: Bind = serde_json::from_value(bind(json!({}))).unwrap();
    let more = world.create(&more).await;
    assert_eq!(more.spec.parameters["weight"], "50", "d20");
    until("both load balancers have the pod", async || {
        (world.targets_count() == 2).then_some(())
    })
    .await;
    world.delete::<Bind>(NAMESPACE, "bind").await;
    world.until_deleted::<Bind>(NAMESPACE, "bind").await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;
    let draining = json!({"metadata": {"labels": {"lbcf.tkestack.io/driver-draining": "TRUE"}}});
    world
        .patch::<LoadBalancerDriver>(SYSTEM, DRIVER, draining)
        .await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    world.until_nothing_left().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b78_a_rejection_names_the_field_the_value_and_what_is_allowed() {
    let (world, _controller) = world().await;
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::load_balancer(LB)).await;
    let no_driver = json!({
        "metadata": {"name": "lb", "namespace": NAMESPACE},
        "spec": {"lbDriver": "nobody", "lbSpec": {"lbID": "lb-1"}},
    });
    let message = rejection::<LoadBalancer>(&world, no_driver).await;
    assert!(
        message.contains("spec.lbDriver") && message.contains("nobody"),
        "{message}"
    );
    let rejected_by_driver = json!({
        "metadata": {"name": "lb", "namespace": NAMESPACE},
        "spec": {"lbDriver": DRIVER, "lbSpec": {"lbVpcID": "vpc-12345678"}},
    });
    let message = rejection::<LoadBalancer>(&world, rejected_by_driver).await;
    assert!(message.contains("invalid LoadBalancer: "), "{message}");
    let two_names = json!({"spec": {"loadBalancers": [
        {"name": "a", "driver": DRIVER, "spec": {"lbID": "x"}},
        {"name": "a", "driver": DRIVER, "spec": {"lbID": "x"}},
    ]}});
    let message = rejection::<Bind>(&world, bind(two_names)).await;
    // The API server checks the CRD's rules before it calls admission (d48).
    assert!(
        message.contains("spec.loadBalancers: Invalid value: duplicate"),
        "{message}"
    );
    // Nothing that was rejected is stored.
    assert_eq!(world.all::<Bind>().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d12_u27_a_driver_in_use_is_not_deleted_by_name_or_with_all() {
    let (world, _controller) = world().await;
    world.settle_basics(1).await;
    let draining = json!({"metadata": {"labels": {"lbcf.tkestack.io/driver-draining": "true"}}});
    world
        .patch::<LoadBalancerDriver>(SYSTEM, DRIVER, draining)
        .await;
    let drivers = world.api::<LoadBalancerDriver>(SYSTEM);
    let error = drivers
        .delete(DRIVER, &DeleteParams::default())
        .await
        .unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains(&format!("LoadBalancer {NAMESPACE}/{LB}")),
        "{error}"
    );
    assert!(error.contains("BackendRecord"), "{error}");
    let all = drivers
        .delete_collection(&DeleteParams::default(), &kube::api::ListParams::default())
        .await;
    assert!(all.is_err());
    assert!(drivers.get_opt(DRIVER).await.unwrap().is_some());
    // b86: the label protects an object from deletion.
    let kept = json!({"metadata": {"labels": {"lbcf.tkestack.io/do-not-delete": ""}}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, kept).await;
    let groups = world.api::<BackendGroup>(NAMESPACE);
    let error = groups
        .delete(GROUP, &DeleteParams::default())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("do-not-delete"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b75_u45_changes_of_metadata_and_the_controllers_writes_call_no_driver() {
    let (world, _controller) = world().await;
    world.settle_basics(2).await;
    let calls = world.cloud.calls();
    assert_eq!(
        (
            calls.get("validateLoadBalancer"),
            calls.get("validateBackend")
        ),
        (1, 1),
        "{calls:?}"
    );
    let note = json!({"metadata": {"annotations": {"note": "x"}}});
    world
        .patch::<LoadBalancer>(NAMESPACE, LB, note.clone())
        .await;
    world.patch::<BackendGroup>(NAMESPACE, GROUP, note).await;
    assert_eq!(world.cloud.calls().difference(&calls).total(), 0);
    // The driver validates a change of parameters, and may reject it.
    let groups = world.api::<BackendGroup>(NAMESPACE);
    let patch = Patch::Merge(json!({"spec": {"parameters": {"weight": "heavy"}}}));
    let error = groups
        .patch(GROUP, &PatchParams::default(), &patch)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("invalid Backend, msg: "),
        "{error}"
    );
    let records: Vec<BackendRecord> = world.all().await;
    assert!(
        records
            .iter()
            .all(|record| record.spec.parameters["weight"] == "50")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_controller_nothing_is_stored_until_the_next_one_starts() {
    let (world, controller) = world().await;
    world.settle_basics(1).await;
    kill(controller.task).await;
    let groups = world.api::<BackendGroup>(NAMESPACE);
    let another = manifests::group("another", &[LB]);
    let error = groups
        .create(&PostParams::default(), &another)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("failed calling webhook"),
        "{error}"
    );
    // Pods may change meanwhile; the next controller uses the same certificates.
    world.create(&manifests::pod("web-1")).await;
    let _next = world.start_admitting(CONTROLLER, World::options()).await;
    world.until_pods(2).await;
    world.create(&another).await;
    let draining = json!({"metadata": {"labels": {"lbcf.tkestack.io/driver-draining": "true"}}});
    world
        .patch::<LoadBalancerDriver>(SYSTEM, DRIVER, draining)
        .await;
    world.delete::<BackendGroup>(NAMESPACE, "another").await;
    world.delete_basics().await;
}

/// The review of a load balancer is answered though its controller has to end meanwhile.
async fn is_answered(world: &World, proxy: &DriverProxy, addr: SocketAddr, end: impl Future) {
    let latch = Latch::default();
    let held = latch.clone();
    proxy.rule(move |call| match call.webhook.as_str() {
        "validateLoadBalancer" => ProxyAction::Hold(held.clone()),
        _ => ProxyAction::Forward,
    });
    world.create_driver().await;
    let lbs = world.api::<LoadBalancer>(NAMESPACE);
    let lb = manifests::load_balancer(LB);
    let creating = tokio::spawn(async move { lbs.create(&PostParams::default(), &lb).await });
    until("the driver is asked", async || {
        (!proxy.calls_of("validateLoadBalancer").is_empty()).then_some(())
    })
    .await;
    end.await;
    until("the port is closed", async || {
        TcpStream::connect(addr).await.err()
    })
    .await;
    latch.open();
    creating.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_does_not_lead_ends_when_it_has_answered() {
    if needs_embedded("another test's replica would be asked") {
        return;
    }
    let mut world = World::new().await;
    let proxy = world.start_proxy().await;
    let standby = world.standby().unwrap();
    let stop = async { standby.stop.notify_one() };
    is_answered(&world, &proxy, standby.addr, stop).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_loses_its_lease_ends_when_it_has_answered() {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    world.install_admission().await;
    let options = crate::leader::options("one");
    let leader = world.start_admitting("one", options).await;
    until("it leads", async || leads(&leader.health).then_some(())).await;
    let theirs = json!({"spec": {"holderIdentity": "usurper", "leaseDurationSeconds": 600}});
    let lose = world.patch::<Lease>(SYSTEM, "lbcf-controller", theirs);
    is_answered(&world, &proxy, leader.addr, lose).await;
    let ended = leader.task.await.unwrap();
    assert!(matches!(ended, Err(RunError::LostLease(_))), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u47_a_second_replica_serves_with_the_same_certificates() {
    let (world, one) = world().await;
    world.create(&manifests::driver(&world.driver_url())).await;
    let secrets = world.api::<k8s_openapi::api::core::v1::Secret>(SYSTEM);
    let before = secrets.get("lbcf-controller-admission").await.unwrap();
    let _two = world.start_admitting("two", World::options()).await;
    one.task.abort();
    // The first one may have been the last to put its own address into the configurations.
    let (lbs, lb) = (world.api(NAMESPACE), manifests::load_balancer(LB));
    until("the second replica admits", async || {
        lbs.create(&PostParams::default(), &lb).await.ok()
    })
    .await;
    let after = secrets.get("lbcf-controller-admission").await.unwrap();
    assert_eq!(
        before.metadata.resource_version,
        after.metadata.resource_version
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d23_d124_u10_in_a_dry_run_admission_with_self_signed_certificates_is_not_served() {
    let world = World::bare().await;
    let options = Options {
        dry_run: true,
        ..World::options()
    };
    let client = world.client_as("dry");
    let controller = world.launch_admitting(client, options, Vec::new()).await;
    until("it says why it is not ready", async || {
        let problem = controller.health.ready().err()?;
        problem
            .contains("a dry run stores no certificate")
            .then_some(())
    })
    .await;
    assert_eq!(world.cluster.requests().writes_by("dry"), 0);
}
