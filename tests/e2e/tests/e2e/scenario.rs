//! Scenarios that take load balancers and their backends from creation to deletion, for tests in
//! which requests fail meanwhile. Each phase waits for the one before it; in the end nothing is left.

use k8s_openapi::api::core::v1::{Pod, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use lbcf_controller::Options;
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, Conditions, DeregisterPolicy, DeregisterWebhook,
    LoadBalancer, LoadBalancerDriver, ServiceMode, condition_types,
};
use lbcf_e2e::manifests::{
    self, BIND, CLASS, DRIVER, GROUP, LB, NAMESPACE, NODES, OWN_DRIVER, SERVICE, SYSTEM,
};
use lbcf_e2e::{World, until, until_is};
use mock_driver::{FaultAction, FaultMatch, FaultRule, Glob, KEEP_REGISTERED, RunningFault};
use serde_json::json;
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenario {
    /// A load balancer and a group of pods.
    Pods,
    /// A group whose selector moves to another pod and back.
    Replacement,
    /// A group one of whose pods becomes ready again while the driver deregisters it.
    Cancel,
    /// A group on a service's node port.
    Service,
    /// A group on a service's endpoints.
    Endpoints,
    /// A group of addresses.
    Static,
    /// A Bind of two load balancers, one of which is replaced.
    Bind,
    /// A Bind that changes from a service's node port to its endpoints, and to pods.
    BindOfService,
    /// A group whose driver decides which unready pods stay registered.
    Verdicts,
    /// A load balancer and a group of pods that are Ready when they are registered.
    Gates,
    /// The same with a group on a service's endpoints.
    GatedEndpoints,
    /// A Service of type LoadBalancer.
    ServiceClass,
    /// A namespace with a driver, a load balancer and a group of pods, deleted as a whole.
    Namespace,
}

impl Scenario {
    pub(crate) const ALL: [Self; 13] = [
        Self::Pods,
        Self::Replacement,
        Self::Cancel,
        Self::Service,
        Self::Endpoints,
        Self::Static,
        Self::Bind,
        Self::BindOfService,
        Self::Verdicts,
        Self::Gates,
        Self::ServiceClass,
        Self::GatedEndpoints,
        Self::Namespace,
    ];

    /// The options of its controllers.
    pub(crate) fn options(self) -> Options {
        Options {
            // The driver says that it can cancel.
            driver_health_period: (self == Self::Cancel).then_some(Duration::from_millis(50)),
            ..World::quick()
        }
    }

    /// Runs the scenario; panics where the cloud does not reach the expected state.
    pub(crate) async fn run(self, world: &World) {
        match self {
            Self::Pods => run_with_pods(world).await,
            Self::Replacement => run_with_a_replacement(world).await,
            Self::Cancel => run_with_a_cancel(world).await,
            Self::Service => run_with_a_service(world).await,
            Self::Endpoints => run_with_endpoints(world).await,
            Self::Static => run_with_addresses(world).await,
            Self::Bind => run_with_a_bind(world).await,
            Self::BindOfService => run_with_a_bind_of_a_service(world).await,
            Self::Verdicts => run_with_verdicts(world).await,
            Self::Gates => run_with_gates(world, &manifests::group(GROUP, &[LB])).await,
            Self::GatedEndpoints => {
                world.create(&manifests::service(SERVICE, 30080)).await;
                let group = manifests::endpoint_group(GROUP, SERVICE, &[LB]);
                run_with_gates(world, &group).await;
            }
            Self::ServiceClass => run_with_a_service_class(world).await,
            Self::Namespace => run_with_a_namespace(world).await,
        }
    }
}

/// Deletes everything that a scenario has created so far, except the driver for all namespaces.
pub(crate) async fn delete_everything(world: &World) {
    world.cloud.faults().clear();
    world
        .delete::<LoadBalancerDriver>(NAMESPACE, OWN_DRIVER)
        .await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    // One of type LoadBalancer stays until a controller has released it.
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    for slice in ["slice-a", "slice-b"] {
        world.delete::<EndpointSlice>(NAMESPACE, slice).await;
    }
    for pod in ["web-0", "web-1", "web-2"] {
        world.delete::<Pod>(NAMESPACE, pod).await;
    }
}

async fn run_with_pods(world: &World) {
    world.register_basics(2).await;
    world.set_ready("web-0", false).await;
    world.until_targets(&["web-1"], "50").await;
    world.set_ready("web-0", true).await;
    world.until_pods(2).await;
    world.set_weight::<BackendGroup>(GROUP, "80").await;
    world.until_targets(&["web-0", "web-1"], "80").await;
    let attributes = json!({"spec": {"attributes": {"chargeType": "MONTHLY"}}});
    world.patch::<LoadBalancer>(NAMESPACE, LB, attributes).await;
    world.until_settled().await;
    until("the cloud has the attribute", async || {
        let observed = world.cloud.observe().load_balancers;
        (observed.len() == 1 && observed[0].attributes["chargeType"] == "MONTHLY").then_some(())
    })
    .await;
    world.delete_basics().await;
}

async fn run_with_a_replacement(world: &World) {
    world.register_basics(2).await;
    let mut green = manifests::pod("web-2");
    let labels = green.metadata.labels.get_or_insert_default();
    labels.insert("app".into(), "green".into());
    world.create(&green).await;
    for (app, pods) in [("green", &["web-2"][..]), ("web", &["web-0", "web-1"])] {
        let selector = json!({"app": app});
        let spec = json!({"pods": {"byLabel": {"selector": selector}}});
        let spec = json!({ "spec": spec });
        world.patch::<BackendGroup>(NAMESPACE, GROUP, spec).await;
        world.until_targets(pods, "50").await;
        world.until_settled().await;
    }
    world.delete_basics().await;
}

async fn run_with_a_cancel(world: &World) {
    world.register_basics(2).await;
    until("the driver can cancel", async || {
        let driver = world.api::<LoadBalancerDriver>(SYSTEM).get(DRIVER).await;
        let features = driver.ok()?.status?.features;
        features.iter().any(|it| it == "cancel").then_some(())
    })
    .await;
    let drains = FaultRule {
        matches: FaultMatch {
            webhook: Some(Glob::from("deregisterBackend")),
            ..FaultMatch::default()
        },
        action: FaultAction::Running(RunningFault::default()),
    };
    world.cloud.faults().add(drains).unwrap();
    world.set_ready("web-0", false).await;
    until("it drains", async || {
        let calls = world.cloud.journal().into_iter();
        calls
            .rev()
            .find(|call| call.webhook == "deregisterBackend" && call.fault.is_some())
    })
    .await;
    world.set_ready("web-0", true).await;
    world.until_registered(2).await;
    world.until_records(2).await;
    world.cloud.faults().clear();
    world.until_targets(&["web-0", "web-1"], "50").await;
    world.delete_basics().await;
}

async fn run_with_gates(world: &World, group: &BackendGroup) {
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(group).await;
    // A pod that the controller sees before its group or load balancer does not wait for them.
    until("the controller has seen both", async || {
        let lb = world.api::<LoadBalancer>(NAMESPACE).get(LB).await.ok()?;
        let group = world.api::<BackendGroup>(NAMESPACE).get(GROUP).await.ok()?;
        let is_seen = group.status?.observed_generation.is_some();
        let is_created = lb.status?.conditions.is_true(condition_types::CREATED);
        (is_seen && is_created).then_some(())
    })
    .await;
    for pod in ["web-0", "web-1"] {
        world.create(&manifests::gated(manifests::pod(pod))).await;
    }
    for pod in ["web-0", "web-1"] {
        until(&format!("{pod} is Ready"), async || {
            let pod = world.api::<Pod>(NAMESPACE).get(pod).await.ok()?;
            let mut conditions = pod.status?.conditions?.into_iter();
            let ready = conditions.find(|condition| condition.type_ == "Ready")?;
            (ready.status == "True").then_some(())
        })
        .await;
    }
    assert_eq!(
        world.targets_count(),
        2,
        "a pod is Ready when it is registered"
    );
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_targets(&["web-1"], "50").await;
    world.delete_basics().await;
}

async fn run_with_a_service(world: &World) {
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    let group = manifests::service_group(GROUP, SERVICE, &[LB]);
    world.create(&group).await;
    let (one, two) = ("192.168.100.11", "192.168.100.12");
    world
        .until_bound(&[&format!("{one}:30080"), &format!("{two}:30080")])
        .await;
    world.until_counts(GROUP, [1, 1, 2, 2]).await;
    let moved = json!({"spec": {"ports": [
        {"name": "http", "port": 80, "protocol": "TCP", "nodePort": 30081},
    ]}});
    world.patch::<Service>(NAMESPACE, SERVICE, moved).await;
    world
        .until_bound(&[&format!("{one}:30081"), &format!("{two}:30081")])
        .await;
    world.label_node_excluded("lbcf-e2e-2", Some("")).await;
    world.until_bound(&[&format!("{one}:30081")]).await;
    world.until_counts(GROUP, [1, 1, 1, 1]).await;
    world.set_node("lbcf-e2e-2", "192.168.100.99", true).await;
    world.label_node_excluded("lbcf-e2e-2", None).await;
    world
        .until_bound(&[&format!("{one}:30081"), "192.168.100.99:30081"])
        .await;
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_bound(&[]).await;
    world.create(&manifests::service(SERVICE, 30082)).await;
    world
        .until_bound(&[&format!("{one}:30082"), "192.168.100.99:30082"])
        .await;
    world.until_counts(GROUP, [1, 1, 2, 2]).await;
    world.delete_basics().await;
}

async fn run_with_endpoints(world: &World) {
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    let service = manifests::service_without_selector(SERVICE);
    world.create(&service).await;
    let slice = |name, addresses: &[&str]| {
        let endpoints = manifests::endpoints(addresses.iter().copied());
        manifests::endpoint_slice(name, SERVICE, &endpoints)
    };
    let patch = async |name: &str, addresses: &[&str]| {
        let endpoints = manifests::endpoints(addresses.iter().copied());
        let patch = json!({ "endpoints": endpoints });
        world.patch::<EndpointSlice>(NAMESPACE, name, patch).await;
    };
    world
        .create(&slice("slice-a", &["10.9.0.1", "10.9.0.2"]))
        .await;
    world.create(&slice("slice-b", &["10.9.0.3"])).await;
    world
        .create(&manifests::endpoint_group(GROUP, SERVICE, &[LB]))
        .await;
    let three = ["10.9.0.1:8080", "10.9.0.2:8080", "10.9.0.3:8080"];
    world.until_bound(&three).await;
    world.until_counts(GROUP, [3; 4]).await;
    // One moves to the other slice, one leaves, one is terminating.
    patch("slice-b", &["10.9.0.2", "10.9.0.3", "10.9.0.4"]).await;
    patch("slice-a", &["10.9.0.1"]).await;
    world.until_counts(GROUP, [4; 4]).await;
    let mut terminating = manifests::endpoints(["10.9.0.1"]);
    terminating[0]["conditions"] = json!({"ready": false, "serving": true, "terminating": true});
    let terminating = json!({ "endpoints": terminating });
    world
        .patch::<EndpointSlice>(NAMESPACE, "slice-a", terminating)
        .await;
    world
        .until_bound(&["10.9.0.2:8080", "10.9.0.3:8080", "10.9.0.4:8080"])
        .await;
    world.until_counts(GROUP, [3; 4]).await;
    world.delete::<EndpointSlice>(NAMESPACE, "slice-b").await;
    world.until_bound(&[]).await;
    patch("slice-a", &["10.9.0.1"]).await;
    world.until_bound(&["10.9.0.1:8080"]).await;
    world.until_counts(GROUP, [1; 4]).await;
    world.delete_basics().await;
}

async fn run_with_a_service_class(world: &World) {
    world.create_class_driver(ServiceMode::Endpoints).await;
    world.create_pods(2).await;
    let service = |ports| manifests::balanced_service(SERVICE, Some(CLASS), ports);
    world.create(&service(&[80, 443])).await;
    let until_targets = async |lbs: usize, targets: usize| {
        until_is("load balancers and targets", (lbs, targets), async || {
            let lbs = world.cloud.observe().load_balancers.len();
            (lbs, world.targets_count())
        })
        .await;
        until("the status shows them", async || {
            let service = world.api::<Service>(NAMESPACE).get(SERVICE).await.ok()?;
            let ingress = service.status?.load_balancer?.ingress.unwrap_or_default();
            (ingress.len() == lbs).then_some(())
        })
        .await;
    };
    until_targets(2, 4).await;
    let ports = json!({"spec": {"ports": service(&[80]).spec.and_then(|it| it.ports)}});
    world.patch::<Service>(NAMESPACE, SERVICE, ports).await;
    until_targets(1, 2).await;
    let cluster_ip = json!({"spec": {"type": "ClusterIP", "loadBalancerClass": null}});
    world.patch::<Service>(NAMESPACE, SERVICE, cluster_ip).await;
    until("nothing is left of it", async || {
        let service = world.api::<Service>(NAMESPACE).get(SERVICE).await.ok()?;
        let is_released = service.metadata.finalizers.is_none_or(|it| it.is_empty());
        (is_released && world.cloud.observe().load_balancers.is_empty()).then_some(())
    })
    .await;
    let again = json!({"spec": {"type": "LoadBalancer", "loadBalancerClass": CLASS}});
    world.patch::<Service>(NAMESPACE, SERVICE, again).await;
    until_targets(1, 2).await;
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_deleted::<Service>(NAMESPACE, SERVICE).await;
    world.delete_basics().await;
}

async fn run_with_addresses(world: &World) {
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    let mut group = manifests::group(GROUP, &[LB]);
    group.spec.pods = None;
    group.spec.static_addresses = vec!["1.1.1.1:80".into(), "2.2.2.2:80".into()];
    world.create(&group).await;
    world.until_bound(&["1.1.1.1:80", "2.2.2.2:80"]).await;
    world.until_counts(GROUP, [2; 4]).await;
    let others = json!({"spec": {"static": ["2.2.2.2:80", "three.example:80"]}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, others).await;
    world.until_bound(&["2.2.2.2:80", "three.example:80"]).await;
    world.until_counts(GROUP, [2; 4]).await;
    world.delete_basics().await;
}

async fn run_with_a_bind(world: &World) {
    world.create_driver().await;
    world.create_pods(2).await;
    world
        .create(&manifests::bind(BIND, &["left", "right"]))
        .await;
    let until_bound = async |left: usize, right: usize| {
        until_is("bound addresses", [left, right], async || {
            ["left", "right"].map(|lb| world.bound_to(lb).len())
        })
        .await;
    };
    until_bound(2, 2).await;
    world.until_records(4).await;
    world.set_ready("web-0", false).await;
    until_bound(1, 1).await;
    world.set_ready("web-0", true).await;
    until_bound(2, 2).await;
    world.set_weight::<Bind>(BIND, "80").await;
    until("all have the weight", async || {
        let targets = world.targets();
        (targets.len() == 4 && targets.iter().all(|(_, weight)| weight == "80")).then_some(())
    })
    .await;
    // One load balancer is removed, one changes, one is added.
    let mut left = manifests::target("left");
    left.attributes = [("name", "left"), ("max-bandwidth-out", "1")].into();
    let targets = [left, manifests::target("third")];
    let patch = json!({"spec": {"loadBalancers": targets}});
    world.patch::<Bind>(NAMESPACE, BIND, patch).await;
    until_bound(2, 0).await;
    until_is("bound addresses", 2, async || world.bound_to("third").len()).await;
    until("the cloud matches the Bind", async || {
        let left = world.cloud_load_balancer("left")?;
        let has_bandwidth = left.attributes.get("max-bandwidth-out")? == "1";
        let is_deleted = world.cloud_load_balancer("right").is_none();
        (has_bandwidth && is_deleted).then_some(())
    })
    .await;
    world.until_records(4).await;
    for lb in ["left", "third"] {
        world.until_entry(BIND, lb, "Created", ("True", "")).await;
        world.until_entry(BIND, lb, "Ready", ("True", "")).await;
    }
    until("the removed load balancer's entry is deleted", async || {
        world.entry(BIND, "right").await.is_none().then_some(())
    })
    .await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    world.until_nothing_left().await;
}

async fn run_with_a_bind_of_a_service(world: &World) {
    world.create_driver().await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    let new = manifests::service_bind(BIND, SERVICE, ServiceMode::NodePort, &["left"]);
    world.create(&new).await;
    let nodes = NODES.map(|(_, address)| format!("{address}:30080"));
    world
        .until_bound(&nodes.each_ref().map(String::as_str))
        .await;
    world.until_records(2).await;
    world.create_pods(2).await;
    // On a cluster with other nodes it selects those of the tests.
    let endpoints = json!({"spec": {"service": {"mode": "Endpoints", "nodeSelector": null}}});
    world.patch::<Bind>(NAMESPACE, BIND, endpoints).await;
    world.until_pods(2).await;
    world.until_records(2).await;
    world.set_ready("web-0", false).await;
    world.until_targets(&["web-1"], "50").await;
    world.set_ready("web-0", true).await;
    world.until_pods(2).await;
    let pods = manifests::bind(BIND, &[]).spec.pods;
    let pods = json!({"spec": {"pods": pods, "service": null}});
    world.patch::<Bind>(NAMESPACE, BIND, pods).await;
    until("all records are of pods", async || {
        let records: Vec<BackendRecord> = world.all().await;
        let are_of_pods = records
            .iter()
            .all(|record| record.spec.endpoint_backend.is_none());
        (records.len() == 2 && are_of_pods).then_some(())
    })
    .await;
    world.until_records(2).await;
    world.until_pods(2).await;
    world.delete::<Bind>(NAMESPACE, BIND).await;
    world.until_deleted::<Bind>(NAMESPACE, BIND).await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    world.until_nothing_left().await;
}

async fn run_with_verdicts(world: &World) {
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    for name in ["web-0", "web-1", "web-2"] {
        let mut pod = manifests::pod(name);
        if name == "web-0" {
            let keep = [(KEEP_REGISTERED.to_owned(), "true".to_owned())];
            pod.metadata.annotations = Some(keep.into());
        }
        world.create(&pod).await;
    }
    let mut group = manifests::group(GROUP, &[LB]);
    group.spec.deregister_policy = Some(DeregisterPolicy::Webhook);
    group.spec.deregister_webhook = Some(DeregisterWebhook {
        driver_name: DRIVER.to_owned(),
        failure_policy: None,
    });
    world.create(&group).await;
    world.until_pods(3).await;
    world.until_counts(GROUP, [3; 4]).await;
    world.set_ready("web-0", false).await;
    world.set_ready("web-1", false).await;
    world.until_targets(&["web-0", "web-2"], "50").await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_targets(&["web-2"], "50").await;
    world.set_ready("web-1", true).await;
    world.until_targets(&["web-1", "web-2"], "50").await;
    world.until_counts(GROUP, [2; 4]).await;
    world.delete_basics().await;
}

async fn run_with_a_namespace(world: &World) {
    world.apply_with_own_driver(3).await;
    let pods = ["web-0", "web-1", "web-2"];
    world.until_targets(&pods, "50").await;
    world.set_weight::<BackendGroup>(GROUP, "80").await;
    world.until_targets(&pods, "80").await;
    world.delete_namespace().await;
    world.until_nothing_left().await;
}
