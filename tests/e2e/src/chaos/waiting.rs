//! Everything that waits says so. What waits follows from what is declared, not from the controller's code.

use super::kind::Kind;
use super::model::{Cluster, Waiting};
use super::perform::Environment;
use kube::Client;
use kube::api::{DynamicObject, ListParams};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The condition that a kind's object has when nothing is left to do about it.
const FINAL: [(Kind, &str); 5] = [
    (Kind::Driver, "Accepted"),
    (Kind::LoadBalancer, "Created"),
    (Kind::Group, "Ready"),
    (Kind::Bind, "Ready"),
    (Kind::Record, "Registered"),
];

/// The objects that wait without a reason and message in a condition that is not met, or without an event of
/// this reason; and those that have nothing to wait for and are not done.
pub(super) async fn waits_in_silence(environment: &Environment, cluster: &Cluster) -> Vec<String> {
    let client = &environment.world.client();
    let mut violations = Vec::new();
    let waiting = cluster.waiting();
    let reported = reported(client).await;
    for (kind, type_) in FINAL {
        let objects = kind.api(client, "").list(&ListParams::default()).await;
        for object in objects.into_iter().flat_map(|list| list.items) {
            let is_waiting =
                is_deleting(&object) || waiting.contains(&Waiting::of(kind, &object.metadata));
            let name = object.metadata.name.clone().unwrap_or_default();
            let plural = kind.plural();
            let conditions = conditions(&object);
            if !is_waiting {
                let is_final = conditions.iter().any(|it| is(it, type_, "True"));
                if !is_final {
                    violations.push(format!("{plural} {name} is not {type_}: {conditions:?}"));
                }
                continue;
            }
            let explaining = conditions.iter().filter(|condition| explains(condition));
            let reasons = explaining.map(|condition| text(&condition["reason"]).to_owned());
            let reasons: BTreeSet<String> = reasons.collect();
            if reasons.is_empty() {
                violations.push(format!("{plural} {name} waits without a condition"));
            }
            let uid = object.metadata.uid.unwrap_or_default();
            let events = reported.get(&uid);
            let is_silent = events.is_none_or(|events| events.is_disjoint(&reasons));
            if is_silent && !environment.has_lost_events {
                violations.push(format!(
                    "{plural} {name} waits without an event: {reasons:?}"
                ));
            }
        }
    }
    violations
}

fn is_deleting(object: &DynamicObject) -> bool {
    object.metadata.deletion_timestamp.is_some()
}

/// The conditions of an object, and of the load balancers of a Bind.
fn conditions(object: &DynamicObject) -> Vec<Value> {
    let status = &object.data["status"];
    let entries = status["loadBalancerStatuses"].as_array();
    let entries = entries.into_iter().flatten();
    let parts = std::iter::once(status).chain(entries);
    let conditions = parts.filter_map(|part| part["conditions"].as_array());
    conditions.flatten().cloned().collect()
}

fn is(condition: &Value, type_: &str, status: &str) -> bool {
    condition["type"] == type_ && condition["status"] == status
}

/// Whether a condition is not met and says why.
fn explains(condition: &Value) -> bool {
    let has = |field: &str| !text(&condition[field]).is_empty();
    condition["status"] != "True" && has("reason") && has("message")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The reasons of events, by the uid of the object that they are about.
async fn reported(client: &Client) -> BTreeMap<String, BTreeSet<String>> {
    let events = Kind::Event
        .api(client, "")
        .list(&ListParams::default())
        .await;
    let events = events.into_iter().flat_map(|list| list.items);
    let mut reasons = BTreeMap::<String, BTreeSet<String>>::new();
    for event in events {
        let uid = text(&event.data["involvedObject"]["uid"]).to_owned();
        let reason = text(&event.data["reason"]).to_owned();
        reasons.entry(uid).or_default().insert(reason);
    }
    reasons
}
