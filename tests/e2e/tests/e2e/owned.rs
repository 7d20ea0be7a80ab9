//! The first namespace that has a load balancer of the cloud owns it (d111).

use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, StringMap, condition_types, reasons,
};
use lbcf_e2e::manifests::{self, BIND, GROUP, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{World, until};
use serde_json::json;
use std::collections::BTreeSet;

const GREEN: &str = "lbcf-e2e-green";

/// A world in which a pod is registered with the load balancer of a namespace.
async fn owned() -> World {
    let world = World::bare().await;
    drop(world.start(World::quick()));
    world.apply_basics(1).await;
    world.until_records(1).await;
    world.until_counts(GROUP, [1; 4]).await;
    world.create_namespace(GREEN).await;
    world
}

/// The spec that adopts a load balancer of the cloud.
async fn spec_of(world: &World, namespace: &str, lb: &str) -> StringMap {
    let lb = world.api::<LoadBalancer>(namespace).get(lb).await.unwrap();
    lb.status.unwrap().lb_info
}

async fn adopt(world: &World, namespace: &str, spec: StringMap) -> LoadBalancer {
    let mut lb = manifests::load_balancer("mine");
    lb.metadata.namespace = Some(namespace.into());
    lb.spec.lb_spec = spec;
    world.create(&lb).await
}

async fn until_created(world: &World, namespace: &str, lb: &str, reason: &str) -> LoadBalancer {
    until(&format!("Created has the reason {reason}"), async || {
        let lb = world.api::<LoadBalancer>(namespace).get(lb).await.unwrap();
        let conditions = lb.status.as_ref()?.conditions.iter();
        let mut created = conditions.filter(|it| it.type_ == condition_types::CREATED);
        (created.next()?.reason == reason).then(|| lb.clone())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d111_another_namespace_neither_uses_nor_deletes_a_load_balancer() {
    let world = owned().await;
    let spec = spec_of(&world, NAMESPACE, LB).await;
    adopt(&world, GREEN, spec.clone()).await;
    let mut group = manifests::group(GROUP, &["mine"]);
    group.metadata.namespace = Some(GREEN.into());
    group.spec.pods = None;
    group.spec.static_addresses = vec!["10.0.0.99:80".into()];
    world.create(&group).await;
    let lb = until_created(&world, GREEN, "mine", reasons::OWNED_BY_OTHER_NAMESPACE).await;
    assert!(
        lb.status.unwrap().lb_info.is_empty(),
        "nothing is registered with it"
    );
    world
        .until_event("LoadBalancer", reasons::OWNED_BY_OTHER_NAMESPACE)
        .await;
    world.until_records(1).await;
    let before = world.cost();
    world.delete::<BackendGroup>(GREEN, GROUP).await;
    world.delete::<LoadBalancer>(GREEN, "mine").await;
    world.until_deleted::<LoadBalancer>(GREEN, "mine").await;
    let calls = world.cost_since(&before).calls;
    assert_eq!(calls.as_map().get("deregisterBackend"), None);
    assert_eq!(world.targets_count(), 1);

    // A Bind's load balancers are no others.
    let mut bind = manifests::bind(BIND, &["a"]);
    bind.metadata.namespace = Some(GREEN.into());
    bind.spec.load_balancers[0].spec = spec;
    world.create(&bind).await;
    world
        .until_event("Bind", reasons::OWNED_BY_OTHER_NAMESPACE)
        .await;
    world.delete::<Bind>(GREEN, BIND).await;
    world.until_deleted::<Bind>(GREEN, BIND).await;
    assert_eq!(world.targets_count(), 1);
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d111_the_scope_of_a_load_balancer_admits_other_namespaces() {
    let world = owned().await;
    let shared = "lbcf-shared";
    let mut lb = manifests::load_balancer(shared);
    lb.metadata.namespace = Some(SYSTEM.into());
    lb.spec.scope = vec![NAMESPACE.into()];
    world.create(&lb).await;
    until_created(&world, SYSTEM, shared, "").await;
    let spec = spec_of(&world, SYSTEM, shared).await;
    for namespace in [NAMESPACE, GREEN] {
        adopt(&world, namespace, spec.clone()).await;
    }
    until_created(&world, NAMESPACE, "mine", "").await;
    until_created(&world, GREEN, "mine", reasons::OWNED_BY_OTHER_NAMESPACE).await;
    let scope = json!({"spec": {"scope": ["*"]}});
    world.patch::<LoadBalancer>(SYSTEM, shared, scope).await;
    until_created(&world, GREEN, "mine", "").await;
    for namespace in [NAMESPACE, GREEN] {
        world.delete::<LoadBalancer>(namespace, "mine").await;
        world.until_deleted::<LoadBalancer>(namespace, "mine").await;
    }
    world.delete::<LoadBalancer>(SYSTEM, shared).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d112_every_request_names_its_object() {
    let (world, proxy, _controller) = World::behind_proxy(World::quick()).await;
    world.create_pods(1).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_records(1).await;
    world.until_counts(GROUP, [1; 4]).await;
    let records: Vec<BackendRecord> = world.all().await;
    let record = records[0].metadata.name.clone().unwrap();
    world.delete_basics().await;
    let calls = proxy.calls().into_iter();
    let named: BTreeSet<(String, String, String)> = calls
        .filter(|call| call.webhook != "healthz")
        .map(|call| {
            let text = |field: &str| call.body[field].as_str().unwrap_or_default().to_owned();
            (call.webhook.clone(), text("namespace"), text("name"))
        })
        .collect();
    let expected = [
        ("createLoadBalancer", LB),
        ("deleteLoadBalancer", LB),
        ("deregisterBackend", &record),
        ("ensureBackend", &record),
        ("generateBackendAddr", &record),
    ];
    let expected = expected.map(|(webhook, name)| (webhook.into(), NAMESPACE.into(), name.into()));
    assert_eq!(named, BTreeSet::from(expected));
}
