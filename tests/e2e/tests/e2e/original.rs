//! This controller in the place of the original, and the original in the place of this controller (d27), by
//! a recording of what the original left: see `original/README.md`.

mod comparison;
mod recording;

use comparison::differences;
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::api::{BackendGroup, Bind};
use lbcf_e2e::manifests::NAMESPACE;
use lbcf_e2e::{Cost, World, until_is};
use mock_driver::CloudState;
use recording::{
    create_surroundings, current, is_record, recorded, register, store, without_numbers,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// Where an object of this controller differs from one of the original on purpose, by which decision (of
/// `docs/decisions.md`), and what the original makes of it. Those with `+` are only in objects that this
/// controller has created or written.
const DIFFERENCES: &str = "
  BackendGroup status.backends: d8, counts pods, not records; written again
  BackendGroup status.registeredBackends: d8, as above
  BackendGroup status.records: d8, ignored
  BackendGroup status.registeredRecords: d8, ignored
  BackendGroup status.observedGeneration: d44, ignored
  BackendGroup status.conditions: d44, ignored
+ BackendRecord metadata.annotations: d36, the address that was registered; ignored
  BackendRecord metadata.labels.lbcf.tkestack.io/backend-static-addr: d17, ignored
+ BackendRecord status.conditions[].observedGeneration: d36, ignored
  Bind status.backends: d8, ignored
  Bind status.registeredBackends: d8, ignored
  Bind status.loadBalancers: d8, ignored
  Bind status.readyLoadBalancers: d8, ignored
  Bind status.conditions: d44, ignored
+ Bind status.loadBalancerStatuses[].conditions[].observedGeneration: d44, ignored
  LoadBalancer status.conditions[].observedGeneration: d44, ignored
  LoadBalancer status.lastSyncedDigest: d6, ignored
  LoadBalancerDriver metadata.finalizers: d32, stays; is removed by hand before the driver is deleted
  LoadBalancerDriver status.conditions[].observedGeneration: d44, ignored
";

fn expected(of_created: bool) -> BTreeSet<String> {
    let rows = DIFFERENCES.lines().filter_map(|row| {
        let (mark, row) = row.split_at_checked(2)?;
        let (path, _) = row.split_once(": ")?;
        (of_created || mark == "  ").then(|| path.to_owned())
    });
    rows.collect()
}

/// The calls since then that change something or might, without those of ensureLoadBalancer, which
/// LoadBalancer `c` repeats.
fn calls(world: &World, before: &Cost) -> Vec<(&'static str, u64)> {
    let calls = world.cost_since(before).calls;
    let calls = calls.as_map().iter().map(|(&name, &count)| (name, count));
    calls
        .filter(|call| call.0 != "ensureLoadBalancer")
        .collect()
}

async fn until_counts(world: &World, pods: i32, of_bind: i32) {
    world
        .until_counts("g", [pods, pods, 2 * pods, 2 * pods])
        .await;
    world.until_counts("gs", [1, 1, 2, 2]).await;
    world.until_counts("gst", [1; 4]).await;
    until_is("counts of bi", [2, 2, of_bind, of_bind], async || {
        let status = world.get::<Bind>("bi").await.status.unwrap();
        let lbs = [status.load_balancers, status.ready_load_balancers];
        [lbs[0], lbs[1], status.backends, status.registered_backends]
    })
    .await;
}

/// The names of the LoadBalancers that were ensured.
fn ensured(world: &World, objects: &[Value]) -> BTreeSet<String> {
    let journal = world.cloud.journal();
    let of = |object: &&Value| {
        let id = object["metadata"]["uid"].as_str().unwrap();
        let id = format!("ensureLoadBalancer({id})");
        journal.iter().any(|call| call.record_id == id)
    };
    let found = objects.iter().filter(of);
    let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
    found.map(name).collect()
}

/// The cloud after a pod's address has left it and the group `g` has got another weight.
fn changed(mut cloud: CloudState, address: &str, weight: u8) -> CloudState {
    for lb in &mut cloud.load_balancers {
        let targets = lb.listeners.iter_mut().filter_map(|it| it.targets.as_mut());
        for group in targets {
            group
                .targets
                .retain(|target| !target.addr.contains(address));
            for target in &mut group.targets {
                // Those of `a` and `c`.
                if ["lb-00000001", "lb-00000003"].contains(&lb.id.as_str()) {
                    target.weight = weight;
                    target.parameters = [("weight".into(), weight.to_string())].into();
                }
            }
        }
    }
    cloud
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d27_what_the_original_left_is_taken_over_and_nothing_is_registered_again() {
    let world = World::bare().await;
    create_surroundings(&world).await;
    let left = store(&world, recorded(&world).await).await;
    register(&world, &left).await;
    let (before, cloud) = (world.cost(), world.cloud.state());

    let _controller = world.start(World::quick());
    until_is("what is added", expected(false), async || {
        assert_eq!(calls(&world, &before), Vec::new());
        differences(&left, &current(&world).await)
    })
    .await;
    until_counts(&world, 19, 3).await;
    assert_eq!(world.cloud.state(), cloud);

    // Later changes reach what has changed.
    world.delete::<Pod>(NAMESPACE, "w-1").await;
    let cloud = changed(cloud, "\"10.244.0.2\"", 10);
    until_is("the cloud", cloud.clone(), async || world.cloud.state()).await;
    assert_eq!(calls(&world, &before), [("deregisterBackend", 4)]);
    world.set_weight::<BackendGroup>("g", "20").await;
    let cloud = changed(cloud, "none", 20);
    until_is("the cloud", cloud, async || world.cloud.state()).await;
    until_counts(&world, 18, 2).await;
    let expected = [("deregisterBackend", 4), ("ensureBackend", 36)];
    assert_eq!(calls(&world, &before), expected);
    // Its policy is `Always`; the others' attributes may have changed while the original did not notice (d6).
    let ensured = ensured(&world, &left);
    assert_eq!(ensured, ["a", "b", "c"].map(str::to_owned).into());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d27_what_this_controller_leaves_has_what_the_original_reads() {
    let world = World::bare().await;
    create_surroundings(&world).await;
    let left = recorded(&world).await;
    let mut declared = left.clone();
    declared.retain(|object| !is_record(object));
    for object in &mut declared {
        object.as_object_mut().unwrap().remove("status");
        object["metadata"]["finalizers"] = Value::Null;
    }
    let _controller = world.start(World::quick());
    store(&world, declared).await;
    let left = without_numbers(&left);
    until_is("what differs", expected(true), async || {
        differences(&left, &without_numbers(&current(&world).await))
    })
    .await;
    until_counts(&world, 19, 3).await;
}
