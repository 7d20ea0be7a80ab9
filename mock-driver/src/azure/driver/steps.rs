//! The steps of ensuring and of deleting a service, in the order that the cloud requires.
//!
//! A step reads what it needs, lets a plan decide, and writes what differs. It returns `Running` while a
//! change is being completed; the next call comes back to it, because the steps before are done.

use crate::azure::fields::{AzureAttributes, AzureLbInfo, AzureLbSpec};
use crate::azure::naming::{CLUSTER, SERVICE_TAG, Side, resource_group};
use crate::azure::plan::{Service, load_balancer, public_ip, security_group};
use crate::azure::resource::{explained, reconciled, waits};
use crate::azure::select::{self, Mode};
use crate::cloud::AzureApi;
use crate::resources::azure::{
    AvailabilitySet, Member, PublicIp, ResourceId, SecurityGroup, SharedLoadBalancer,
};
use lbcf_driver_sdk::{HookError, Reason, Rejection};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(in crate::azure) struct Steps {
    api: AzureApi,
}

/// A change of a service's pool.
#[derive(Debug, Clone)]
pub(super) struct PoolChange {
    pub(super) frontend: String,
    /// The resource group of the load balancer.
    pub(super) group: String,
    pub(super) address: String,
    /// None for one that leaves.
    pub(super) member: Option<Member>,
}

impl PoolChange {
    fn apply(&self, load_balancer: &mut SharedLoadBalancer) {
        let Some(pool) = load_balancer.pools.get_mut(&self.frontend) else {
            return;
        };
        match &self.member {
            Some(member) => drop(pool.members.insert(self.address.clone(), member.clone())),
            None => drop(pool.members.remove(&self.address)),
        }
    }
}

pub(super) fn no_frontend(frontend: &str) -> HookError {
    HookError::new(
        Reason::NotFound,
        format!("no load balancer has the frontend {frontend}"),
    )
}

impl Steps {
    pub(in crate::azure) const fn new(api: AzureApi) -> Self {
        Self { api }
    }

    /// Makes the cloud what the service asks for, and returns its address. An update is the same.
    pub(in crate::azure) async fn ensure(&self, service: &Service) -> Result<String, HookError> {
        let members = self.close_opposite(service).await?;
        self.public_ip(service, true).await?;
        let address = self.load_balancer(service, &members).await?;
        self.security_group(service, &address).await?;
        self.leave_opposite(service).await?;
        Ok(address)
    }

    /// Removes everything that is the service's.
    pub(in crate::azure) async fn delete(
        &self,
        frontend: &str,
        group: &str,
    ) -> Result<(), HookError> {
        self.close_security_group(frontend, group, None).await?;
        for id in self.load_balancers_of(frontend, group)?.into_keys() {
            reconciled(&self.api, &id, |found| {
                Ok(found.and_then(|it| load_balancer::absent(frontend, it)))
            })
            .await?;
        }
        self.delete_public_ips(self.public_ips_of(frontend, group)?)
            .await
    }

    /// Closes the frontend on the other side, if the service has one there. Its backends stay in the
    /// pool, and are returned.
    pub(in crate::azure) async fn close_opposite(
        &self,
        service: &Service,
    ) -> Result<BTreeMap<String, Member>, HookError> {
        let frontend = &service.frontend;
        let Some((id, found)) = self.opposite(service)? else {
            return Ok(BTreeMap::new());
        };
        if let Some(open) = found.frontends.get(frontend) {
            // Once the frontend is closed, its address is unknown, and the rules would keep it.
            let address = Some(open.address.as_str());
            self.close_security_group(frontend, &service.resource_group, address)
                .await?;
        }
        let closed = reconciled(&self.api, &id, |found| {
            Ok(found.map(|it| load_balancer::closed(frontend, it)))
        });
        let mut closed = closed.await?.state.unwrap_or_default();
        Ok(closed.pools.remove(frontend).unwrap_or_default().members)
    }

    /// Removes the pool on the other side: the backends are on this side now.
    async fn leave_opposite(&self, service: &Service) -> Result<(), HookError> {
        let Some((id, _)) = self.opposite(service)? else {
            return Ok(());
        };
        let left = reconciled(&self.api, &id, |found| {
            Ok(found.and_then(|it| load_balancer::absent(&service.frontend, it)))
        });
        left.await.map(drop)
    }

    /// Gives the service the public IP that it should have, and no other.
    pub(in crate::azure) async fn public_ip(
        &self,
        service: &Service,
        wanted: bool,
    ) -> Result<(), HookError> {
        let all = self.api.list(&service.resource_group).map_err(explained)?;
        self.delete_public_ips(public_ip::surplus(service, wanted, &all))
            .await?;
        if wanted && service.side() == Side::Public {
            reconciled(&self.api, &service.public_ip(), |found| {
                public_ip::present(service, found).map(Some)
            })
            .await?;
        }
        Ok(())
    }

    /// Puts the service on a load balancer, and returns its address.
    pub(in crate::azure) async fn load_balancer(
        &self,
        service: &Service,
        members: &BTreeMap<String, Member>,
    ) -> Result<String, HookError> {
        let id = self.select(service)?;
        let done = reconciled(&self.api, &id, |found| {
            let found = found.unwrap_or_default();
            Ok(Some(load_balancer::present(service, members, found)))
        })
        .await?;
        let frontend = done
            .state
            .as_ref()
            .and_then(|it| it.frontends.get(&service.frontend));
        frontend
            .and_then(|it| it.ready_address())
            .map(str::to_owned)
            .ok_or_else(|| waits("frontend", &service.frontend))
    }

    /// Admits clients to the service's address, which the load balancer has to have.
    pub(in crate::azure) async fn security_group(
        &self,
        service: &Service,
        address: &str,
    ) -> Result<(), HookError> {
        reconciled(&self.api, &CLUSTER.security_group(), |found| {
            let group: SecurityGroup = found.unwrap_or_default();
            Ok(Some(security_group::present(service, address, group)))
        })
        .await
        .map(drop)
    }

    /// Removes an address of the service, or all of them, from the rules of the security group.
    async fn close_security_group(
        &self,
        frontend: &str,
        group: &str,
        address: Option<&str>,
    ) -> Result<(), HookError> {
        let mut addresses: BTreeSet<String> = address.map(str::to_owned).into_iter().collect();
        if address.is_none() {
            let on = self.load_balancers_of(frontend, group)?.into_values();
            let frontends = on.filter_map(|it| it.frontends.get(frontend).cloned());
            addresses.extend(frontends.map(|it| it.address));
        }
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        reconciled(&self.api, &CLUSTER.security_group(), |found| {
            let group: SecurityGroup = found.unwrap_or_default();
            Ok(Some(security_group::absent(frontend, &addresses, group)))
        })
        .await
        .map(drop)
    }

    async fn delete_public_ips(&self, ids: Vec<ResourceId>) -> Result<(), HookError> {
        for id in ids {
            reconciled::<PublicIp>(&self.api, &id, |_| Ok(None)).await?;
        }
        Ok(())
    }

    /// The load balancer that the service is on, or else the one that it gets.
    fn select(&self, service: &Service) -> Result<ResourceId, HookError> {
        let side = service.side();
        let group = &service.resource_group;
        let all = self.api.list::<SharedLoadBalancer>(group);
        let all = all.map_err(explained)?;
        let sets = self.availability_sets()?;
        if let Some(existing) = select::existing(side, &service.frontend, &all) {
            let set = select::set_of(&CLUSTER, &existing.name);
            if !sets.contains(set) {
                return Err(HookError::fail(format!(
                    "SetLost: availability set {set} does not exist any more; the service stays on its \
                     load balancer {existing} until it is deleted"
                )));
            }
            return Ok(existing.clone());
        }
        let mode = Mode::read(service.attributes.azure_load_balancer_mode.as_deref());
        let candidates = mode.candidates(&CLUSTER, &sets).map_err(HookError::fail)?;
        let id = |set: &str| ResourceId::new(group, &CLUSTER.load_balancer(set, side));
        let rules = |set: &str| all.get(&id(set)).map_or(0, |it| it.rules.len());
        let set = select::fewest_rules(&candidates, rules);
        set.map(id)
            .ok_or_else(|| HookError::fail("the cluster has no availability set"))
    }

    fn opposite(
        &self,
        service: &Service,
    ) -> Result<Option<(ResourceId, SharedLoadBalancer)>, HookError> {
        let mut all = self.load_balancers_of(&service.frontend, &service.resource_group)?;
        let opposite = service.side().opposite();
        let id = select::existing(opposite, &service.frontend, &all).cloned();
        Ok(id.and_then(|id| all.remove_entry(&id)))
    }

    /// The load balancers on which a service has anything.
    fn load_balancers_of(
        &self,
        frontend: &str,
        group: &str,
    ) -> Result<BTreeMap<ResourceId, SharedLoadBalancer>, HookError> {
        let mut all = self
            .api
            .list::<SharedLoadBalancer>(group)
            .map_err(explained)?;
        all.retain(|_, it| it.pools.contains_key(frontend));
        Ok(all)
    }

    fn public_ips_of(&self, frontend: &str, group: &str) -> Result<Vec<ResourceId>, HookError> {
        let all = self.api.list::<PublicIp>(group).map_err(explained)?;
        let own = all
            .into_iter()
            .filter(|(_, it)| public_ip::is_of(frontend, it));
        Ok(own.map(|(id, _)| id).collect())
    }

    fn availability_sets(&self) -> Result<BTreeSet<String>, HookError> {
        let sets = self.api.list::<AvailabilitySet>(CLUSTER.resource_group);
        let sets = sets.map_err(explained)?.into_keys();
        Ok(sets.map(|id| id.name).collect())
    }

    /// Changes pools, with one write for each load balancer. Returns for each change how many pools its service has, of
    /// which there are two while it moves from one load balancer to another.
    pub(super) async fn change_pools(
        &self,
        changes: &[PoolChange],
    ) -> Vec<Result<usize, HookError>> {
        let mut outcomes: Vec<Result<usize, HookError>> = vec![Ok(0); changes.len()];
        let mut done = |done: Result<(), HookError>, is_of: &dyn Fn(&PoolChange) -> bool| {
            let of = outcomes.iter_mut().zip(changes);
            for (outcome, _) in of.filter(|(_, change)| is_of(change)) {
                if let Ok(pools) = outcome {
                    *outcome = done.clone().map(|()| *pools + 1);
                }
            }
        };
        let groups: BTreeSet<&str> = changes.iter().map(|change| change.group.as_str()).collect();
        for group in groups {
            let all = match self.api.list::<SharedLoadBalancer>(group) {
                Ok(all) => all,
                Err(error) => {
                    done(Err(explained(error)), &|change| change.group == group);
                    continue;
                }
            };
            for (id, found) in &all {
                let is_on =
                    |it: &PoolChange| it.group == group && found.pools.contains_key(&it.frontend);
                if !changes.iter().any(is_on) {
                    continue;
                }
                let changed = reconciled(&self.api, id, |found: Option<SharedLoadBalancer>| {
                    Ok(found.map(|mut found| {
                        let changes = changes.iter().filter(|it| it.group == group);
                        changes.for_each(|change| change.apply(&mut found));
                        found
                    }))
                });
                done(changed.await.map(drop), &is_on);
            }
        }
        outcomes
    }

    /// The backends of a service.
    pub(in crate::azure) fn members(
        &self,
        lb_info: &AzureLbInfo,
    ) -> Result<BTreeMap<String, Member>, HookError> {
        let frontend = &lb_info.frontend;
        let found = self.load_balancers_of(frontend, &lb_info.resource_group)?;
        let mut pools = found.into_values().map(|mut it| it.pools.remove(frontend));
        match pools.next() {
            Some(pool) => Ok(pool.unwrap_or_default().members),
            None => Err(no_frontend(frontend)),
        }
    }

    /// Fails for a service that was never created, or was removed by hand.
    pub(in crate::azure) fn check_exists(&self, service: &Service) -> Result<(), HookError> {
        let found = self.load_balancers_of(&service.frontend, &service.resource_group)?;
        if found.is_empty() {
            return Err(no_frontend(&service.frontend));
        }
        Ok(())
    }

    /// Refuses what the cloud would refuse, as far as it is known before.
    pub(in crate::azure) fn validate(
        &self,
        spec: &AzureLbSpec,
        attributes: &AzureAttributes,
    ) -> Result<(), Rejection> {
        // During an outage nothing is known, and the controller retries what follows.
        let Ok(sets) = self.availability_sets() else {
            return Ok(());
        };
        let mode = Mode::read(attributes.azure_load_balancer_mode.as_deref());
        mode.candidates(&CLUSTER, &sets).map_err(Rejection::new)?;
        let group = resource_group(attributes);
        if !self.api.has_group(group).unwrap_or(true) {
            return Err(Rejection::new(format!(
                "attributes.azure-load-balancer-resource-group: {group:?}: there is no such resource group"
            )));
        }
        if let Some(label) = &attributes.azure_dns_label_name {
            let public_ips = self.api.list::<PublicIp>(group).unwrap_or_default();
            let is_taken = |it: &PublicIp| {
                let owner = it.tags.get(SERVICE_TAG).map(String::as_str);
                it.dns_label.as_deref() == Some(label.as_str())
                    && owner != Some(spec.service.as_str())
            };
            if public_ips.values().any(is_taken) {
                return Err(Rejection::new(format!(
                    "attributes.azure-dns-label-name: {:?}: is used by another public IP",
                    label.as_str()
                )));
            }
        }
        Ok(())
    }
}
