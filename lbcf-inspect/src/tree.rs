//! Load balancers with their owners and backends, as lines.

use crate::backend::backend;
use crate::cluster::{Cluster, Object, conditions};
use crate::object::{Kind, ObjectRef};
use crate::printed::push_line;
use lbcf_controller::ObjectKey;
use lbcf_controller::api::{Conditions, condition_types};
use lbcf_controller::names::{LABEL_BACKEND_GROUP, LABEL_BIND};
use serde_json::Value;
use std::collections::BTreeSet;

/// All load balancers, or the one of this name, and those of Binds.
#[must_use]
pub fn tree(cluster: &Cluster, only: Option<&ObjectKey>) -> String {
    let mut text = String::new();
    let is_shown = |it: &ObjectRef| only.is_none_or(|only| *only == it.key);
    for (object, lb) in cluster
        .all(Kind::LoadBalancer)
        .filter(|(it, _)| is_shown(it))
    {
        let state = state(
            lb.at("/status/conditions"),
            condition_types::CREATED,
            "created",
        );
        line(
            &mut text,
            "",
            &[
                &object.to_string(),
                &state,
                &map(lb.at("/status/lbInfo")),
                &age(cluster, lb),
            ],
        );
        for (group, found) in cluster.all(Kind::BackendGroup) {
            let names = found.texts("/spec/loadBalancers");
            if names
                .iter()
                .any(|name| group.resolve(Kind::LoadBalancer, name) == object)
            {
                line(&mut text, "  ", &[&group.to_string(), &counts(found)]);
                records(
                    &mut text,
                    cluster,
                    (&group, LABEL_BACKEND_GROUP),
                    |record| {
                        group.resolve(Kind::LoadBalancer, record.text("/spec/lbName")) == object
                    },
                );
            }
        }
    }
    binds(&mut text, cluster, is_shown);
    text
}

fn binds(text: &mut String, cluster: &Cluster, is_shown: impl Fn(&ObjectRef) -> bool) {
    for (object, bind) in cluster.all(Kind::Bind).filter(|(it, _)| is_shown(it)) {
        line(
            text,
            "",
            &[&object.to_string(), &counts(bind), &age(cluster, bind)],
        );
        for part in bind.list("/status/loadBalancerStatuses") {
            let name = part["name"].as_str().unwrap_or_default();
            let state = state(&part["conditions"], condition_types::CREATED, "created");
            line(
                text,
                "  ",
                &[
                    &format!("load balancer {name}"),
                    &state,
                    &map(&part["lbInfo"]),
                ],
            );
            records(text, cluster, (&object, LABEL_BIND), |record| {
                record.text("/spec/lbName") == name
            });
        }
    }
}

/// The records with this label, whose value is the owner's name.
fn records(
    text: &mut String,
    cluster: &Cluster,
    (owner, label): (&ObjectRef, &str),
    is_here: impl Fn(&Object) -> bool,
) {
    let records = cluster.beside(owner, Kind::BackendRecord);
    let own = records.filter(|(_, it)| it.label(label) == &*owner.key.name && is_here(it));
    let lines: BTreeSet<_> = own
        .map(|(_, record)| {
            let state = match record.is_deleting() {
                true => "leaves".to_owned(),
                false => state(
                    record.at("/status/conditions"),
                    condition_types::REGISTERED,
                    "registered",
                ),
            };
            [
                backend(record),
                record.text("/status/backendAddr").to_owned(),
                state,
                map(record.at("/spec/parameters")),
                age(cluster, record),
            ]
        })
        .collect();
    for parts in lines {
        line(text, "    ", &parts.each_ref());
    }
}

fn line(text: &mut String, indent: &str, parts: &[&String]) {
    let parts: Vec<_> = parts
        .iter()
        .map(|it| it.trim())
        .filter(|it| !it.is_empty())
        .collect();
    push_line(text, &format!("{indent}{}", parts.join("  ")));
}

fn state(list: &Value, type_: &str, met: &str) -> String {
    let conditions = conditions(list);
    match conditions.find(type_) {
        _ if conditions.is_true(type_) => met.to_owned(),
        Some(it) => format!("not {met}: {} {}", it.reason, it.message),
        None => format!("not {met} yet"),
    }
}

fn counts(owner: &Object) -> String {
    let count = |field| owner.at(field).as_i64().unwrap_or_default();
    let (registered, all) = (
        count("/status/registeredBackends"),
        count("/status/backends"),
    );
    format!("{registered} of {all} registered")
}

fn map(value: &Value) -> String {
    let entries = value.as_object().into_iter().flatten();
    let entries =
        entries.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    entries.collect::<Vec<_>>().join(" ")
}

fn age(cluster: &Cluster, object: &Object) -> String {
    let created = object.metadata.creation_timestamp.as_ref();
    match created.map(|it| cluster.age(it.0).as_secs().max(0)) {
        None => String::new(),
        Some(seconds @ 0..120) => format!("{seconds}s"),
        Some(seconds @ 120..7200) => format!("{}m", seconds / 60),
        Some(seconds @ 7200..172_800) => format!("{}h", seconds / 3600),
        Some(seconds) => format!("{}d", seconds / 86_400),
    }
}
