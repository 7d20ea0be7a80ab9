//! What holds when everything has come to rest.

use super::cloud::CloudHistory;
use super::kind::Kind;
use super::model::{Cluster, Expected};
use super::perform::Environment;
use super::waiting::waits_in_silence;
use crate::World;
use crate::proxy::ProxiedCall;
use crate::remote::PREFIX;
use crate::view::ip_and_port;
use kube::api::{DynamicObject, ListParams};
use std::collections::BTreeSet;

/// What does not hold; empty if everything does.
pub(super) async fn violations(environment: &Environment) -> Vec<String> {
    let world = &environment.world;
    let cluster = Cluster::read(&world.client()).await;
    let expected = cluster.expected();
    let mut violations = cloud_differs(world, &environment.cloud, &expected);
    violations.extend(objects_are_stuck(world).await);
    violations.extend(records_differ(world, &expected).await);
    violations.extend(waits_in_silence(environment, &cluster).await);
    violations.extend(called_after_deregistering(&environment.calls()));
    violations
}

fn cloud_differs(world: &World, history: &CloudHistory, expected: &Expected) -> Vec<String> {
    let mut violations = Vec::new();
    let left_over = history.left_over(world);
    let mut found = BTreeSet::new();
    for lb in world.cloud.observe().load_balancers {
        let id = lb.lb_info.get("lbID");
        if id.is_some_and(|id| left_over.contains(id)) {
            continue;
        }
        let name = lb.attributes.get("name").cloned().unwrap_or_default();
        let Some(wanted) = expected.get(&name) else {
            violations.push(format!(
                "the cloud has the load balancer {name:?}, which is not declared"
            ));
            continue;
        };
        if !found.insert(name.clone()) {
            violations.push(format!("the cloud has two load balancers {name}"));
        }
        for (attribute, value) in &wanted.attributes {
            if lb.attributes.get(attribute) != Some(value) {
                violations.push(format!("{name} has not the attribute {attribute}={value}"));
            }
        }
        let mut addresses = BTreeSet::new();
        let mut by_hand = history.by_hand(&lb);
        for backend in &lb.backends {
            if by_hand.remove(&*backend.addr) {
                continue;
            }
            let address = ip_and_port(&backend.addr);
            let weight = backend.parameters.get("weight").cloned();
            match wanted.backends.get(&address) {
                None => violations.push(format!("{name} has {address}, which is not declared")),
                Some(weights) if !weights.contains(&weight.clone().unwrap_or_default()) => {
                    violations.push(format!(
                        "{name} has {address} with weight {weight:?} instead of {weights:?}"
                    ));
                }
                Some(_) => {}
            }
            addresses.insert(address);
        }
        let removed = by_hand.into_iter();
        violations.extend(removed.map(|address| format!("{name} lost {address} of a user")));
        let missing = wanted.backends.keys();
        let missing = missing.filter(|address| !addresses.contains(*address));
        violations.extend(missing.map(|address| format!("{name} has not {address}")));
    }
    let missing = expected.keys().filter(|name| !found.contains(*name));
    violations.extend(missing.map(|name| format!("the cloud has not the load balancer {name}")));
    violations
}

/// Nothing waits for its deletion for ever.
async fn objects_are_stuck(world: &World) -> Vec<String> {
    let mut stuck = Vec::new();
    let pods = Kind::Pod.api(&world.client(), "");
    let pods = pods.list(&ListParams::default()).await;
    let pods: Vec<_> = pods.into_iter().flat_map(|list| list.items).collect();
    for kind in [&Kind::LBCF[..], &[Kind::Namespace]].concat() {
        let api = kind.api(&world.client(), "");
        let objects = api.list(&ListParams::default()).await;
        for object in objects.into_iter().flat_map(|list| list.items) {
            let name = object.metadata.name.unwrap_or_default();
            // Namespaces of others are not of interest.
            let is_own = kind != Kind::Namespace || name.starts_with(PREFIX);
            if is_own && object.metadata.deletion_timestamp.is_some() {
                // The pods of a node that is not Ready stay, and their namespace with them.
                let is_here =
                    |pod: &DynamicObject| pod.metadata.namespace.as_deref() == Some(&*name);
                if kind == Kind::Namespace && pods.iter().any(is_here) {
                    continue;
                }
                let finalizers = object.metadata.finalizers.unwrap_or_default();
                let plural = kind.plural();
                let conditions = &object.data["status"]["conditions"];
                stuck.push(format!(
                    "{plural} {name} is being deleted: {finalizers:?} {conditions}"
                ));
            }
        }
    }
    stuck
}

async fn records_differ(world: &World, expected: &Expected) -> Vec<String> {
    let records = Kind::Record.api(&world.client(), "");
    let records = records.list(&ListParams::default()).await;
    let records = records.map_or_else(|_| Vec::new(), |list| list.items);
    let mut violations = Vec::new();
    let wanted: usize = expected.values().map(|lb| lb.records).sum();
    if records.len() != wanted {
        violations.push(format!(
            "{} records exist instead of {wanted}",
            records.len()
        ));
    }
    for record in records {
        let conditions = record.data["status"]["conditions"].as_array();
        let mut conditions = conditions.into_iter().flatten();
        let is_registered = conditions
            .any(|condition| condition["type"] == "Registered" && condition["status"] == "True");
        let name = record.metadata.name.unwrap_or_default();
        if !is_registered {
            violations.push(format!("record {name} is not registered"));
        }
        if record.metadata.finalizers.unwrap_or_default().is_empty() {
            violations.push(format!("record {name} has no finalizer"));
        }
    }
    violations
}

/// No call asks for a backend to be registered whose deregistering has succeeded.
fn called_after_deregistering(calls: &[ProxiedCall]) -> Vec<String> {
    let mut gone = BTreeSet::new();
    let mut violations = Vec::new();
    for call in calls {
        let record = call
            .record_id()
            .split_once('(')
            .map(|(_, id)| id.to_owned());
        let Some(record) = record else { continue };
        match call.webhook.as_str() {
            "deregisterBackend" if call.response["status"] == "Succ" => {
                gone.insert(record);
            }
            "ensureBackend" if gone.contains(&record) => {
                let id = call.record_id();
                violations.push(format!("ensureBackend {id} after deregisterBackend"));
            }
            _ => {}
        }
    }
    violations
}
