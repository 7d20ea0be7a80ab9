mod binds;
mod drivers;
mod endpoints;
mod gates;
mod load_balancers;
mod owners;
mod pause;
mod records;
mod selections;
mod service_classes;
mod services;
mod versions;

use super::*;
use crate::api::{
    BackendGroup, BackendGroupSpec, BackendRecord, BackendRecordSpec, BackendRecordStatus, Bind,
    BindSpec, Condition, LoadBalancer, LoadBalancerSpec, PodBackendRecord, PodSelection,
    SelectPodByLabel, ServiceSelection, TargetLoadBalancer, TargetLoadBalancerStatus,
    condition_types,
};
use crate::index::request::{BindLoadBalancerKey, Owner, Priority, Request, RequestKey};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use kube::Resource;
use std::collections::BTreeMap;

fn key(name: &str) -> ObjectKey {
    ObjectKey::new("ns", name)
}

fn placed<K: Resource>(mut object: K, version: u64) -> K {
    object.meta_mut().namespace = Some("ns".into());
    object.meta_mut().resource_version = Some(version.to_string());
    object.meta_mut().generation = Some(1);
    object
}

fn pod(name: &str, labels: &[(&str, &str)], version: u64) -> PodView {
    PodView {
        key: key(name),
        uid: format!("uid-{name}"),
        version,
        labels: labels
            .iter()
            .map(|&(label, value)| (label.into(), value.into()))
            .collect(),
        ip: format!("ip-{name}"),
        node: "n0".into(),
        ready: true,
        gate: None,
        running: true,
        finished: false,
        deleting: false,
        since: None,
    }
}

fn group(name: &str, selector: &[(&str, &str)], version: u64) -> BackendGroup {
    let selector = selector
        .iter()
        .map(|&(label, value)| (label.into(), value.into()))
        .collect();
    let spec = BackendGroupSpec {
        load_balancers: vec!["lb".into()],
        pods: Some(PodSelection {
            by_label: Some(SelectPodByLabel {
                selector,
                except: vec!["excepted".into()],
            }),
            ..PodSelection::default()
        }),
        ..BackendGroupSpec::default()
    };
    placed(BackendGroup::new(name, spec), version)
}

fn record(name: &str, version: u64) -> BackendRecord {
    let spec = BackendRecordSpec {
        lb_name: "lb".into(),
        lb_driver: "driver".into(),
        pod_backend: Some(PodBackendRecord {
            name: "p0".into(),
            ..PodBackendRecord::default()
        }),
        ..BackendRecordSpec::default()
    };
    let mut record = placed(BackendRecord::new(name, spec), version);
    record.metadata.finalizers = Some(vec!["f".into()]);
    record.metadata.owner_references = Some(vec![OwnerReference {
        kind: "BackendGroup".into(),
        name: "web".into(),
        controller: Some(true),
        ..OwnerReference::default()
    }]);
    record
}

fn with_address(mut record: BackendRecord) -> BackendRecord {
    let status = BackendRecordStatus {
        backend_addr: "10.0.0.1".into(),
        ..Default::default()
    };
    record.status = Some(status);
    record
}

fn deleting(mut record: BackendRecord) -> BackendRecord {
    record.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    record
}

fn keys(requests: Vec<Request>) -> Vec<String> {
    let mut keys: Vec<_> = requests
        .into_iter()
        .map(|request| request.key.to_string())
        .collect();
    keys.sort();
    keys.dedup();
    keys
}

fn of_group(name: &str) -> Owner {
    Owner::Group(key(name))
}

fn selected(index: &mut Index, group: &str) -> Vec<String> {
    let owner = of_group(group);
    index.pending.mark_all(&owner);
    let units = index.take_units(&owner, 100);
    let pods = index.pods_of(&owner, &units);
    pods.iter().map(|pod| pod.key.name.to_string()).collect()
}

/// The units of the group that are to be reconciled.
fn pending(index: &mut Index) -> Vec<String> {
    let units = index.take_units(&of_group("web"), 100);
    units.iter().map(ToString::to_string).collect()
}
