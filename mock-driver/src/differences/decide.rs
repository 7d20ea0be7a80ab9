//! Compares what a cluster declares with what the cloud holds.
//!
//! A change that is on its way is no difference: a load balancer or backend that is being created, registered or
//! deleted is named by an object from before the first call until after the last.

use super::cluster::{ClusterBackend, ClusterLoadBalancer, ClusterView, ObjectReference};
use crate::fields::{LbInfo, Parameters};
use crate::resources::{CloudState, Endpoint, TargetGroupState, TargetState};
use lbcf_driver_sdk::fields;
use lbcf_driver_sdk::webhook::StringMap;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The parameter that the cloud holds as a number of its own.
const WEIGHT: &str = "weight";

/// One difference between cluster and cloud.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Difference {
    /// The kind of difference.
    pub(crate) kind: DifferenceKind,
    /// The object that declares it. For a backend that no object declares, that of its load balancer, if
    /// there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<ObjectReference>,
    /// The identity of the load balancer.
    pub(crate) lb_info: StringMap,
    /// The address of the backend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
    /// The `recordID` with which a backend was bound that no object declares.
    #[serde(rename = "recordID", skip_serializing_if = "Option::is_none")]
    pub(crate) record_id: Option<String>,
    /// The attributes or parameters that differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fields: Vec<FieldDifference>,
}

/// The kind of difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DifferenceKind {
    /// The cluster says that the load balancer exists, and the cloud has none.
    LoadBalancerNotInCloud,
    /// LBCF uses the load balancer, and no object of the cluster declares it.
    LoadBalancerNotInCluster,
    /// The load balancer has other attributes than its object.
    AttributesDiffer,
    /// The cluster says that the backend is registered, and the cloud does not have it.
    BackendNotInCloud,
    /// The cloud has the backend, and no BackendRecord names it.
    BackendNotInCluster,
    /// The backend has another weight or other parameters than its BackendRecord.
    ParametersDiffer,
}

/// An attribute or parameter that differs; absent on one side, if it is there only on the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FieldDifference {
    /// The key.
    pub(crate) name: String,
    /// The value in the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cluster: Option<String>,
    /// The value in the cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cloud: Option<String>,
}

/// The target groups of the cloud by `lbInfo`, as `createLoadBalancer` returns it.
struct Groups<'a>(BTreeMap<StringMap, &'a TargetGroupState>);

impl<'a> Groups<'a> {
    fn of(cloud: &'a CloudState) -> Self {
        let groups = cloud.groups();
        Self(groups.map(|(it, group)| (it.lb_info(), group)).collect())
    }

    /// The group with this identity, however its keys are spelled, and its own identity.
    fn find(&self, lb_info: &StringMap) -> Option<(&StringMap, &'a TargetGroupState)> {
        self.get(lb_info).or_else(|| {
            let read: LbInfo = fields::read("lbInfo", lb_info).ok()?;
            let it = Endpoint::from(read);
            let with_rule = Endpoint::new(&it.load_balancer, &it.listener, Some(&it.rule()));
            self.get(&it.lb_info())
                .or_else(|| self.get(&with_rule.lb_info()))
        })
    }

    fn iter(&self) -> impl Iterator<Item = (&StringMap, &'a TargetGroupState)> {
        self.0.iter().map(|(lb_info, group)| (lb_info, *group))
    }

    fn get(&self, lb_info: &StringMap) -> Option<(&StringMap, &'a TargetGroupState)> {
        let (lb_info, group) = self.0.get_key_value(lb_info)?;
        Some((lb_info, group))
    }
}

/// All differences, load balancers before backends, in the order of the objects and then of the cloud. The
/// cloud is in the order that [`Cloud::state`](crate::Cloud::state) has.
pub(crate) fn differences(cluster: &ClusterView, cloud: &CloudState) -> Vec<Difference> {
    let groups = Groups::of(cloud);
    let mut found = load_balancers(cluster, cloud, &groups);
    found.extend(backends(cluster, &groups));
    found
}

fn load_balancers(
    cluster: &ClusterView,
    cloud: &CloudState,
    groups: &Groups<'_>,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut declared = BTreeSet::new();
    let mut tokens = BTreeSet::new();
    for load_balancer in &cluster.load_balancers {
        tokens.insert(format!("createLoadBalancer({})", load_balancer.id));
        let group = groups.find(&load_balancer.lb_info);
        declared.extend(group.map(|(lb_info, _)| lb_info));
        if load_balancer.is_deleting || load_balancer.lb_info.is_empty() {
            continue;
        }
        found.extend(compare_load_balancer(load_balancer, group));
    }
    let not_in_cluster =
        |lb_info| Difference::new(DifferenceKind::LoadBalancerNotInCluster, lb_info);
    // Before it has a listener, only the token of its creation says whose it is.
    let being_created = cloud.load_balancers.iter().filter(|it| {
        let token = it.client_token.as_ref();
        it.creating.is_some() && token.is_some_and(|token| !tokens.contains(token))
    });
    found.extend(
        being_created
            .map(|it| not_in_cluster(StringMap::from([("lbID".to_owned(), it.id.clone())]))),
    );
    let used = groups.iter().filter(|(lb_info, group)| {
        !group.used_by.is_empty()
            && !declared.contains(lb_info)
            && group.used_by.is_disjoint(&tokens)
    });
    found.extend(used.map(|(lb_info, _)| not_in_cluster(lb_info.clone())));
    found
}

fn compare_load_balancer(
    declared: &ClusterLoadBalancer,
    group: Option<(&StringMap, &TargetGroupState)>,
) -> Option<Difference> {
    let difference = |kind| Difference {
        object: Some(declared.object.clone()),
        ..Difference::new(kind, declared.lb_info.clone())
    };
    let Some((_, group)) = group else {
        return Some(difference(DifferenceKind::LoadBalancerNotInCloud));
    };
    let fields = compare_maps(&declared.attributes, &group.attributes);
    (!fields.is_empty()).then(|| Difference {
        fields,
        ..difference(DifferenceKind::AttributesDiffer)
    })
}

fn backends(cluster: &ClusterView, groups: &Groups<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut declared: BTreeMap<(&StringMap, &str), Vec<&ClusterBackend>> = BTreeMap::new();
    for backend in cluster.backends.iter().filter(|it| !it.address.is_empty()) {
        let group = groups.find(&backend.lb_info);
        let target = group.and_then(|(_, group)| target(group, &backend.address));
        match (group, target) {
            (Some((lb_info, _)), Some(target)) => {
                let place = (lb_info, target.addr.as_str());
                declared.entry(place).or_default().push(backend);
            }
            _ if backend.is_registered && !backend.is_deleting => found.push(Difference {
                object: Some(backend.object.clone()),
                address: Some(backend.address.clone()),
                ..Difference::new(DifferenceKind::BackendNotInCloud, backend.lb_info.clone())
            }),
            _ => {}
        }
    }
    let owners: BTreeMap<_, _> = cluster
        .load_balancers
        .iter()
        .filter_map(|it| Some((groups.find(&it.lb_info)?.0, &it.object)))
        .collect();
    for (lb_info, group) in groups.iter() {
        for target in &group.targets {
            let difference = match declared.get(&(lb_info, target.addr.as_str())) {
                Some(backends) => compare_backend(backends, target),
                None => Some(Difference {
                    object: owners.get(lb_info).map(|object| (*object).clone()),
                    record_id: target.record_id.clone(),
                    ..Difference::new(DifferenceKind::BackendNotInCluster, StringMap::new())
                }),
            };
            found.extend(difference.map(|difference| Difference {
                lb_info: lb_info.clone(),
                address: Some(target.addr.clone()),
                ..difference
            }));
        }
    }
    found
}

/// Of several records of an address, one decides about the parameters.
fn compare_backend(declared: &[&ClusterBackend], target: &TargetState) -> Option<Difference> {
    let mut declared = declared.iter().filter(|it| !it.is_deleting);
    let first = declared.next()?;
    let fields = compare_parameters(&first.parameters, target);
    let agrees = |it: &&ClusterBackend| compare_parameters(&it.parameters, target).is_empty();
    (!fields.is_empty() && !declared.any(agrees)).then(|| Difference {
        object: Some(first.object.clone()),
        fields,
        ..Difference::new(DifferenceKind::ParametersDiffer, StringMap::new())
    })
}

fn compare_parameters(declared: &StringMap, target: &TargetState) -> Vec<FieldDifference> {
    // As the driver reads it: 100 where none is given. One that it refuses is shown as it is.
    let weight = match fields::read::<Parameters>("parameters", declared) {
        Ok(parameters) => parameters.weight().to_string(),
        Err(_) => declared.get(WEIGHT).cloned().unwrap_or_default(),
    };
    let with_weight = |map: &StringMap, weight: String| {
        let mut map = map.clone();
        map.insert(WEIGHT.to_owned(), weight);
        map
    };
    compare_maps(
        &with_weight(declared, weight),
        &with_weight(&target.parameters, target.weight.to_string()),
    )
}

fn compare_maps(cluster: &StringMap, cloud: &StringMap) -> Vec<FieldDifference> {
    let names: BTreeSet<_> = cluster.keys().chain(cloud.keys()).collect();
    let field = |name: &String| FieldDifference {
        name: name.clone(),
        cluster: cluster.get(name).cloned(),
        cloud: cloud.get(name).cloned(),
    };
    let fields = names.into_iter().map(field);
    fields.filter(|it| it.cluster != it.cloud).collect()
}

/// Targets are in the order of their addresses.
fn target<'a>(group: &'a TargetGroupState, address: &str) -> Option<&'a TargetState> {
    let targets = &group.targets;
    let index = targets.binary_search_by(|target| target.addr.as_str().cmp(address));
    targets.get(index.ok()?)
}

impl Difference {
    const fn new(kind: DifferenceKind, lb_info: StringMap) -> Self {
        Self {
            kind,
            object: None,
            lb_info,
            address: None,
            record_id: None,
            fields: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
