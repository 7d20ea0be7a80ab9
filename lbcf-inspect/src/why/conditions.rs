//! Problems that conditions tell, and what is behind them, by their reasons.

use super::general::{is_paused, unobserved};
use super::{nearest, selection, service_source};
use crate::backend::backend;
use crate::cluster::{Cluster, Object, conditions};
use crate::finding::{Finding, Fix, Problem, quoted};
use crate::object::{Kind, ObjectRef};
use lbcf_controller::ObjectKey;
use lbcf_controller::api::reasons::ReportReason;
use lbcf_controller::api::{Condition, ConditionStatus, condition_types, reasons};
use lbcf_controller::names::{
    LABEL_BACKEND_GROUP, LABEL_BIND, SYSTEM_NAMESPACE, SYSTEM_PREFIX, resolve,
};
use serde_json::json;
use std::collections::BTreeMap;

/// Conditions that are `True` where something is wrong. The others of this kind end by themselves.
const WRONG: [&str; 2] = [condition_types::DRIFT, condition_types::PARAMETERS_CONFLICT];
const PASSING: [&str; 2] = [condition_types::REPLACING, condition_types::UNREADY_KEPT];

/// Reasons that a driver's own problem explains.
const OF_DRIVER: &[&ReportReason] = &[
    reasons::WEBHOOK_ERROR,
    reasons::INVALID_RESPONSE,
    reasons::DRIVER_DELETING,
    reasons::DRIVER_UNREADABLE,
    reasons::UNAVAILABLE,
];
const OF_LOAD_BALANCERS: &[&ReportReason] = &[
    reasons::LOAD_BALANCER_NOT_FOUND,
    reasons::LOAD_BALANCER_NOT_CREATED,
    reasons::LOAD_BALANCER_DELETING,
    reasons::LOAD_BALANCER_OUT_OF_SCOPE,
    reasons::NOT_FOUND,
];
const OF_RECORDS: &[&ReportReason] = &[
    reasons::REGISTERING,
    reasons::RECORDS_REMAINING,
    reasons::PAUSED,
];

pub(super) fn problems(cluster: &Cluster, object: &ObjectRef, found: &Object) -> Vec<Problem> {
    let own = found
        .conditions()
        .into_iter()
        .map(|condition| (String::new(), condition));
    let of_parts = found
        .list("/status/loadBalancerStatuses")
        .iter()
        .flat_map(|part| {
            let name = format!(
                "load balancer {} ",
                part["name"].as_str().unwrap_or_default()
            );
            conditions(&part["conditions"])
                .into_iter()
                .map(move |it| (name.clone(), it))
        });
    let unmet = own.chain(of_parts).filter(|(_, it)| is_wrong(it));
    let mut problems: Vec<_> = unmet
        .map(|(part, condition)| problem(cluster, (object, found), &part, &condition))
        .collect();
    // It stops no load balancer of the driver, unlike its health.
    problems.sort_by_key(|it| it.finding.has_reason(&[reasons::SERVICE_CLASS_TAKEN]));
    if problems.len() > 1 {
        // The conditions of a Bind's load balancers say more.
        problems.retain(|it| !it.finding.has_reason(&[reasons::LOAD_BALANCERS_NOT_READY]));
    }
    let is_reported = [
        Kind::LoadBalancerDriver,
        Kind::LoadBalancer,
        Kind::BackendGroup,
        Kind::Bind,
    ];
    if problems.is_empty() && is_reported.contains(&object.kind) {
        problems.extend(unobserved(cluster, object, found));
    }
    if let Some(label) = record_label(object.kind).filter(|_| problems.is_empty()) {
        let overridden = records(cluster, object, label).find(|(_, record)| {
            let conflict = record.condition(condition_types::PARAMETERS_CONFLICT);
            conflict.is_some_and(|it| it.reason == reasons::PARAMETERS_OVERRIDDEN)
        });
        let message = "does not determine the parameters of its backends".to_owned();
        problems.extend(
            overridden.map(|(record, _)| Problem::following(object, message, vec![record])),
        );
    }
    problems
}

fn is_wrong(condition: &Condition) -> bool {
    let type_ = condition.type_.as_str();
    match WRONG.contains(&type_) {
        true => condition.status == ConditionStatus::True,
        // Optional webhooks leave it unknown.
        false if type_ == condition_types::HEALTHY => condition.status == ConditionStatus::False,
        false => condition.status != ConditionStatus::True && !PASSING.contains(&type_),
    }
}

fn problem(
    cluster: &Cluster,
    (object, found): (&ObjectRef, &Object),
    part: &str,
    condition: &Condition,
) -> Problem {
    let mut finding = Finding::of_condition(object, condition);
    if object.kind == Kind::BackendRecord {
        finding.message = of_record(found, condition);
    } else {
        finding.message = format!("{part}{}", finding.message);
    }
    let mut problem = Problem::from(finding);
    behind(cluster, (object, found), &mut problem);
    problem
}

/// Adds the objects with the cause, and what helps.
fn behind(cluster: &Cluster, (object, found): (&ObjectRef, &Object), problem: &mut Problem) {
    let is = |reasons| problem.finding.has_reason(reasons);
    if is(OF_DRIVER) {
        match object.kind {
            Kind::LoadBalancerDriver => unreachable_driver(cluster, found, &mut problem.finding),
            _ => problem.because = drivers(object, found),
        }
    } else if is(&[reasons::DRIVER_NOT_FOUND]) {
        problem.fix(other_driver(cluster, object, found));
    } else if is(OF_LOAD_BALANCERS) {
        of_load_balancers(cluster, (object, found), problem);
    } else if is(OF_RECORDS) {
        problem.because = match object.kind {
            Kind::BackendRecord => paused_by(cluster, object, found),
            _ => unregistered(cluster, object),
        };
    } else if is(&[reasons::BACKEND_NOT_AVAILABLE]) {
        let pod = found.text("/spec/podBackend/name");
        problem.because = vec![object.beside(Kind::Pod, pod)];
        problem.because.retain(|it| !it.key.name.is_empty());
    } else if is(&[reasons::DELAYED_ENSURE]) {
        let others = cluster.beside(object, Kind::BackendRecord);
        let named = others.filter(|(it, _)| problem.finding.message.contains(&*it.key.name));
        problem.because = named.map(|(it, _)| it).collect();
    } else if found.at("/spec/pods").is_object() {
        selection::behind(cluster, (object, found), problem);
    } else if found.at("/spec/service").is_object() {
        service_source::behind(cluster, (object, found), problem);
    }
}

/// A record's backend as a user knows it, and why it is not registered.
fn of_record(record: &Object, condition: &Condition) -> String {
    let what = match (&*condition.type_, record.is_deleting()) {
        (condition_types::PARAMETERS_CONFLICT, _) => "has parameters that owners disagree about",
        (_, true) => "is being deregistered",
        (_, false) => "is not registered",
    };
    let (backend, lb) = (backend(record), record.text("/spec/lbName"));
    format!("({backend}) {what} at {lb}: {}", condition.message)
}

/// The drivers of a LoadBalancer or record, or of a Bind's load balancers.
fn drivers(object: &ObjectRef, found: &Object) -> Vec<ObjectRef> {
    let of_parts = found.list("/spec/loadBalancers").iter();
    let of_parts = of_parts.filter_map(|it| it["driver"].as_str());
    let names = of_parts.chain([found.text("/spec/lbDriver")]);
    let names = names.filter(|name| !name.is_empty());
    names
        .map(|name| object.resolve(Kind::LoadBalancerDriver, name))
        .collect()
}

/// The Service that a driver's URL names may be missing.
fn unreachable_driver(cluster: &Cluster, driver: &Object, finding: &mut Finding) {
    let url = driver.text("/spec/url");
    let host = url
        .split_once("://")
        .and_then(|(_, rest)| rest.split(['/', ':']).next());
    let labels: Vec<_> = host.unwrap_or_default().split('.').collect();
    let service = match labels.as_slice() {
        [name, namespace, "svc", ..] => Some(ObjectRef::new(
            Kind::Service,
            ObjectKey::new(*namespace, *name),
        )),
        _ => None,
    };
    let missing = service.filter(|it| cluster.sees(it) && cluster.get(it).is_none());
    finding.message = format!("does not respond at {url}: {}", finding.message);
    finding.fix = Fix::Advice(match missing {
        Some(service) => format!(
            "{service} does not exist: deploy the driver with it, or create the LoadBalancerDriver again with another URL."
        ),
        None => format!(
            "Start the driver so that the controller reaches {url}; see its log and network policies."
        ),
    });
}

/// `lbDriver` cannot be changed, so that a LoadBalancer is created again which no driver knows yet.
fn other_driver(cluster: &Cluster, object: &ObjectRef, found: &Object) -> Option<Fix> {
    let is_known = found.has_condition(condition_types::CREATED) || found.is_deleting();
    if object.kind != Kind::LoadBalancer || is_known {
        return None;
    }
    let wanted = found.text("/spec/lbDriver");
    let all: Vec<_> = cluster
        .all(Kind::LoadBalancerDriver)
        .map(|(it, _)| it)
        .collect();
    let usable = all.iter().map(|it| &it.key).filter(|it| {
        let is_shared = it.name.starts_with(SYSTEM_PREFIX);
        *it.namespace
            == *if is_shared {
                SYSTEM_NAMESPACE
            } else {
                &object.key.namespace
            }
    });
    let near = nearest::name(wanted, usable.map(|it| &*it.name))?;
    let set = format!(r#"s/"lbDriver": ".*"/"lbDriver": "{near}"/"#);
    Some(Fix::Run(format!(
        "kubectl get {} -o json | sed {} | kubectl replace --force -f -",
        object.arguments(),
        quoted(&set)
    )))
}

/// The load balancers that an owner names, or a record is registered with.
fn of_load_balancers(
    cluster: &Cluster,
    (object, found): (&ObjectRef, &Object),
    problem: &mut Problem,
) {
    let names = found.texts("/spec/loadBalancers").into_iter();
    let names = names
        .chain([found.text("/spec/lbName")])
        .filter(|it| !it.is_empty());
    let named: Vec<_> = names
        .map(|it| (it, object.resolve(Kind::LoadBalancer, it)))
        .collect();
    let namespace = &*object.key.namespace;
    for (name, lb) in &named {
        let Some(found) = cluster.get(lb) else {
            if let Some(near) = nearest::object(cluster, lb) {
                let names = named
                    .iter()
                    .map(|(it, _)| if it == name { &*near } else { *it });
                let patch = json!({"spec": {"loadBalancers": names.collect::<Vec<_>>()}});
                problem.fix(Some(Fix::patch(object, &patch)));
            }
            continue;
        };
        let mut scope = found.texts("/spec/scope");
        if problem
            .finding
            .has_reason(&[reasons::LOAD_BALANCER_OUT_OF_SCOPE])
            && !scope.contains(&namespace)
        {
            scope.push(namespace);
            problem.fix(Some(Fix::patch(lb, &json!({"spec": {"scope": scope}}))));
        }
    }
    problem.because = named
        .into_iter()
        .map(|(_, lb)| lb)
        .filter(|it| cluster.get(it).is_some())
        .collect();
}

const fn record_label(owner: Kind) -> Option<&'static str> {
    match owner {
        Kind::BackendGroup => Some(LABEL_BACKEND_GROUP),
        Kind::Bind => Some(LABEL_BIND),
        _ => None,
    }
}

fn records<'a>(
    cluster: &'a Cluster,
    owner: &'a ObjectRef,
    label: &'static str,
) -> impl Iterator<Item = (ObjectRef, &'a Object)> {
    let records = cluster.beside(owner, Kind::BackendRecord);
    records.filter(move |(_, record)| record.label(label) == &*owner.key.name)
}

/// The records of an owner or load balancer that are not registered, or remain: one of each reason.
fn unregistered(cluster: &Cluster, object: &ObjectRef) -> Vec<ObjectRef> {
    let own: Vec<_> = match record_label(object.kind) {
        Some(label) => records(cluster, object, label).collect(),
        None => {
            let all = cluster.all(Kind::BackendRecord);
            let lb_of = |it: &ObjectRef, record: &Object| {
                resolve(&it.key.namespace, record.text("/spec/lbName"))
            };
            all.filter(|(it, record)| lb_of(it, record) == object.key)
                .collect()
        }
    };
    let mut first = BTreeMap::new();
    for (record, found) in own {
        let registered = found.condition(condition_types::REGISTERED);
        if !found.has_condition(condition_types::REGISTERED) {
            first
                .entry(registered.map(|it| it.reason))
                .or_insert(record);
        }
    }
    first.into_values().collect()
}

/// The owner or load balancer of a record whose annotation keeps drivers from being called.
fn paused_by(cluster: &Cluster, object: &ObjectRef, record: &Object) -> Vec<ObjectRef> {
    let candidates = [
        object.beside(Kind::BackendGroup, record.label(LABEL_BACKEND_GROUP)),
        object.beside(Kind::Bind, record.label(LABEL_BIND)),
        object.resolve(Kind::LoadBalancer, record.text("/spec/lbName")),
    ];
    let is_paused = |it: &ObjectRef| cluster.get(it).is_some_and(is_paused);
    candidates.into_iter().filter(is_paused).collect()
}
