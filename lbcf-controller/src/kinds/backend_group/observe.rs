//! What the index has about a group and some of its units.

use super::decide::{Candidates, GroupState};
use crate::api::{BackendGroup, BackendOwner, names};
use crate::backends::observe_service;
use crate::index::{Index, LoadBalancerUse, Owner, Unit};
use crate::runtime::Context;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn observe(
    context: &Context,
    owner: &Owner,
    units: &BTreeSet<Unit>,
) -> Option<GroupState> {
    let index = context.index();
    let group = index.find::<BackendGroup>(owner.key())?;
    let records = index.records_of(owner, units);
    let candidates = if group.pods().is_some() {
        let pods = index.pods_of(owner, units);
        let verdict = context.verdicts.current(owner, &pods);
        Candidates::Pods(pods, verdict)
    } else if let Some(service) = group.service() {
        let selection = (service, group.deregister_policy());
        let candidates = observe_service(context, &index, owner, selection, units, &records);
        Candidates::Service(candidates)
    } else {
        let addresses = group.spec.static_addresses.iter();
        let addresses = addresses.filter(|addr| units.contains(addr.as_str()));
        Candidates::Addresses(addresses.cloned().collect())
    };
    Some(GroupState {
        load_balancers: load_balancers(&index, owner, &group),
        candidates,
        records,
        group,
    })
}

pub(super) fn load_balancers(
    index: &Index,
    owner: &Owner,
    group: &BackendGroup,
) -> BTreeMap<String, LoadBalancerUse> {
    let namespace = &owner.key().namespace;
    let names = group.spec.load_balancer_names();
    let uses = names.map(|name| {
        let lb = index.get(&names::resolve(namespace, name));
        (name.to_owned(), LoadBalancerUse::of(&lb, namespace))
    });
    uses.collect()
}
