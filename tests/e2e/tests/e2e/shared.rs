//! A load balancer shared by several namespaces.

use lbcf_controller::api::{BackendGroup, LoadBalancer};
use lbcf_e2e::manifests::{self, GROUP, NAMESPACE, SYSTEM};
use lbcf_e2e::{World, until_is};
use serde_json::json;

const SHARED: &str = "lbcf-shared";
const OTHER: &str = "lbcf-e2e-other";

fn scope(namespaces: &[&str]) -> serde_json::Value {
    json!({"spec": {"scope": namespaces}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u17_b56_changes_of_a_shared_load_balancer_reach_every_namespace() {
    let world = World::bare().await;
    let _controller = world.start(World::quick());
    world.create_namespace(OTHER).await;
    world.create_driver().await;
    for namespace in [NAMESPACE, OTHER] {
        let mut pod = manifests::pod("web-0");
        pod.metadata.namespace = Some(namespace.into());
        world.create(&pod).await;
        let mut group = manifests::group(GROUP, &[SHARED]);
        group.metadata.namespace = Some(namespace.into());
        world.create(&group).await;
    }
    let bound = async || world.bound().len();
    // The load balancer is created last, and then its scope changes.
    let mut lb = manifests::load_balancer(SHARED);
    lb.metadata.namespace = Some(SYSTEM.into());
    lb.spec.scope = vec!["*".into()];
    world.create(&lb).await;
    until_is("both are bound", 2, bound).await;
    world.until_records(2).await;
    let change = async |patch| drop(world.patch::<LoadBalancer>(SYSTEM, SHARED, patch).await);
    change(scope(&[NAMESPACE])).await;
    until_is("one is bound", 1, bound).await;
    change(scope(&[NAMESPACE, OTHER])).await;
    until_is("both are bound", 2, bound).await;
    // An empty scope is the load balancer's own namespace.
    change(scope(&[])).await;
    until_is("none is bound", 0, bound).await;
    change(scope(&["*"])).await;
    until_is("both are bound", 2, bound).await;
    world.until_records(2).await;
    // It is deleted after the backends of both.
    world.delete::<LoadBalancer>(SYSTEM, SHARED).await;
    world.until_deleted::<LoadBalancer>(SYSTEM, SHARED).await;
    let calls = world.journal().await;
    let after_deletion: Vec<&String> = calls
        .iter()
        .skip_while(|webhook| *webhook != "deleteLoadBalancer")
        .collect();
    assert_eq!(after_deletion, ["deleteLoadBalancer"]);
    world.delete::<BackendGroup>(OTHER, GROUP).await;
    world.delete_basics().await;
}
