//! Records without an owner, records that are not wanted, records that are edited by hand, and drivers
//! that ask for delays.

mod delays;
mod edited;
mod forged;
mod orphans;
mod taken;
mod unwanted;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{DeleteParams, PropagationPolicy};
use lbcf_controller::Options;
use lbcf_controller::api::{BackendGroup, BackendRecord, NamespacedKind, StringMap};
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{CONTROLLER, World, until};
use local_cluster::RequestCounts;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Starts a controller that waits so long for owners of orphaned records.
fn start(world: &World, orphan_grace_period: Duration) -> JoinHandle<()> {
    let options = Options {
        orphan_grace_period,
        ..World::quick()
    };
    world.start(options)
}

/// For tests in which waiting for an owner must not end.
const LONG: Duration = Duration::from_secs(3600);
/// For tests in which it must.
const SHORT: Duration = Duration::from_millis(20);

/// A world in which the group has registered these pods.
async fn registered(pods: usize, orphan_grace_period: Duration) -> (World, JoinHandle<()>) {
    let world = World::bare().await;
    let controller = start(&world, orphan_grace_period);
    world.apply_basics(pods).await;
    world.until_records(pods).await;
    let count = i32::try_from(pods).unwrap();
    world.until_counts(GROUP, [count; 4]).await;
    (world, controller)
}

/// The name of the group of [`apply_static`].
const FIXED: &str = "fixed";

/// Creates a group of static addresses.
async fn apply_static(world: &World, addresses: &[&str]) -> BackendGroup {
    let mut group = manifests::group(FIXED, &[LB]);
    group.spec.pods = None;
    group.spec.static_addresses = addresses.iter().map(|&addr| addr.to_owned()).collect();
    world.create(&group).await
}

/// Deletes an object as `kubectl delete --cascade=orphan` does, and waits until it is gone.
async fn delete_orphaning<K: NamespacedKind>(world: &World, name: &str) {
    let params = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Orphan),
        ..DeleteParams::default()
    };
    let api = world.api::<K>(NAMESPACE);
    api.delete(name, &params).await.unwrap();
    world.until_deleted::<K>(NAMESPACE, name).await;
}

async fn record(world: &World, name: &str) -> Option<BackendRecord> {
    let record = world.api::<BackendRecord>(NAMESPACE).get_opt(name).await;
    record.expect("records can be read")
}

/// Waits until a record is so, and returns it.
async fn until_record(
    world: &World,
    name: &str,
    what: &str,
    is_so: impl Fn(&BackendRecord) -> bool,
) -> BackendRecord {
    until(what, async || {
        let record = record(world, name).await;
        record.filter(|record| is_so(record))
    })
    .await
}

fn controller_of(record: &BackendRecord) -> Option<&OwnerReference> {
    let mut owners = record.metadata.owner_references.iter().flatten();
    owners.find(|owner| owner.controller == Some(true))
}

fn name_of(record: &BackendRecord) -> &str {
    record.metadata.name.as_deref().unwrap()
}

/// A weight as a record's parameters have it.
fn weight(weight: &str) -> StringMap {
    StringMap::from([("weight", weight)])
}

/// How many requests with this verb the controller made about records.
fn requests(counts: &RequestCounts, verb: &str) -> u64 {
    counts.count(|key| {
        key.user_agent == CONTROLLER
            && key.verb == verb
            && key.resource == "lbcf.tkestack.io/backendrecords"
            && key.subresource.is_empty()
    })
}
