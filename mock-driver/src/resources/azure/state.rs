//! All resources, and how one is read, replaced and deleted: plain data, with the time as an argument.

use super::error::AzureError;
use super::kinds::{AvailabilitySet, PublicIp, ResourceId, SecurityGroup, SharedLoadBalancer};
use crate::resources::Incidental;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// The number of requests that are remembered.
const REMEMBERED: usize = 1000;

/// Everything that the cloud holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct AzureState {
    /// The resource groups.
    pub resource_groups: BTreeSet<String>,
    /// The load balancers.
    pub load_balancers: Table<SharedLoadBalancer>,
    /// The public IPs.
    #[serde(rename = "publicIPAddresses")]
    pub public_ips: Table<PublicIp>,
    /// The security groups.
    pub security_groups: Table<SecurityGroup>,
    /// The availability sets.
    pub availability_sets: Table<AvailabilitySet>,
    /// The numbers of the last public address, private address and etag.
    #[schemars(with = "[u32; 3]")]
    pub last_numbers: Incidental<[u32; 3]>,
    /// The quotas of the cloud.
    #[serde(skip)]
    pub limits: AzureLimits,
    /// The last requests that changed something, or were refused.
    #[serde(skip)]
    pub(crate) requests: Incidental<VecDeque<AzureRequest>>,
    /// The number of requests that have changed something.
    #[serde(skip)]
    pub(crate) writes: Incidental<u64>,
}

/// A request that changed something, or was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureRequest {
    /// `PUT` or `DELETE`.
    pub method: &'static str,
    /// Such as `publicIPAddresses`.
    pub kind: &'static str,
    /// The resource.
    pub id: ResourceId,
    /// The code with which it was refused.
    pub refused: Option<&'static str>,
}

/// The resources of one kind.
pub(super) type Table<R> = BTreeMap<ResourceId, Versioned<R>>;

/// A resource as it was read.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Versioned<R> {
    /// Different after each change.
    #[serde(default)]
    pub etag: u32,
    /// True until it is created.
    #[serde(skip)]
    pub updating: bool,
    /// When its creation is complete, by the cloud's clock.
    #[serde(skip)]
    pub(super) complete_at: Duration,
    /// The resource.
    pub resource: R,
}

/// The quotas of the cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AzureLimits {
    /// The rules of one load balancer.
    pub rules_per_load_balancer: usize,
    /// The rules of one security group.
    pub rules_per_security_group: usize,
    /// The public IPs.
    pub public_ips: usize,
}

impl Default for AzureLimits {
    fn default() -> Self {
        Self {
            rules_per_load_balancer: 250,
            rules_per_security_group: 1000,
            public_ips: 1000,
        }
    }
}

impl Default for AzureState {
    /// Nothing but the resource groups, the security group and the availability sets of a cluster.
    fn default() -> Self {
        let group = |name: &str| ResourceId::new("kubernetes", name);
        let set = |nodes: &[&str]| {
            let nodes = nodes.iter().map(|&node| node.to_owned()).collect();
            Versioned::new(AvailabilitySet { nodes })
        };
        Self {
            resource_groups: ["kubernetes", "shared"].map(str::to_owned).into(),
            load_balancers: Table::new(),
            public_ips: Table::new(),
            security_groups: Table::from([(
                group("kubernetes-nsg"),
                Versioned::new(SecurityGroup::default()),
            )]),
            availability_sets: Table::from([
                (group("agentpool1"), set(&["node-1", "node-2"])),
                (group("agentpool2"), set(&["node-3"])),
                (group("agentpool3"), set(&["node-4"])),
            ]),
            last_numbers: Incidental::default(),
            limits: AzureLimits::default(),
            requests: Incidental::default(),
            writes: Incidental::default(),
        }
    }
}

impl<R: PartialEq> PartialEq for Versioned<R> {
    fn eq(&self, other: &Self) -> bool {
        self.resource == other.resource
    }
}

impl<R: Eq> Eq for Versioned<R> {}

impl<R> Versioned<R> {
    fn new(resource: R) -> Self {
        Self {
            etag: 1,
            updating: false,
            complete_at: Duration::ZERO,
            resource,
        }
    }
}

/// A kind of resources.
pub trait AzureResource: Clone + PartialEq + Send + Sync + Sized + 'static {
    /// Its name in the cloud's API.
    const KIND: &'static str;

    /// True if a new one takes time to provision. It cannot be changed or referred to meanwhile.
    const TAKES_TIME: bool = false;

    #[doc(hidden)]
    fn table(state: &AzureState) -> &BTreeMap<ResourceId, Versioned<Self>>;

    #[doc(hidden)]
    fn table_mut(state: &mut AzureState) -> &mut BTreeMap<ResourceId, Versioned<Self>>;

    /// Checks the invariants, and sets what the cloud sets, such as addresses. What is new is ready at
    /// this time.
    #[doc(hidden)]
    fn accept(
        &mut self,
        _id: &ResourceId,
        _state: &mut AzureState,
        _now: Duration,
        _ready_at: Duration,
    ) -> Result<(), AzureError> {
        Ok(())
    }

    /// Hides what is not ready.
    #[doc(hidden)]
    fn as_seen(&mut self, _now: Duration) {}

    #[doc(hidden)]
    fn check_deletion(_id: &ResourceId, _state: &AzureState) -> Result<(), AzureError> {
        Ok(())
    }
}

impl AzureState {
    pub(crate) fn get<R: AzureResource>(
        &self,
        id: &ResourceId,
        now: Duration,
    ) -> Option<Versioned<R>> {
        let mut found = R::table(self).get(id)?.clone();
        found.updating = found.complete_at > now;
        found.resource.as_seen(now);
        Some(found)
    }

    /// Creates or replaces a resource. With an etag only the version that has it is replaced; without,
    /// there must be none.
    pub(crate) fn put<R: AzureResource>(
        &mut self,
        id: &ResourceId,
        etag: Option<u32>,
        mut resource: R,
        now: Duration,
        takes: Duration,
    ) -> Result<Versioned<R>, AzureError> {
        if !self.resource_groups.contains(&id.group) {
            return Err(AzureError {
                status: 404,
                code: "ResourceGroupNotFound",
                message: format!("resource group {} does not exist", id.group),
            });
        }
        self.check_version::<R>(id, etag, now)?;
        let ready_at = now + takes;
        resource.accept(id, self, now, ready_at)?;
        let is_slow = R::TAKES_TIME && etag.is_none();
        let mut stored = Versioned {
            etag: self.number(2),
            updating: is_slow && ready_at > now,
            complete_at: if is_slow { ready_at } else { now },
            resource,
        };
        R::table_mut(self).insert(id.clone(), stored.clone());
        self.writes.0 += 1;
        stored.resource.as_seen(now);
        Ok(stored)
    }

    pub(crate) fn delete<R: AzureResource>(
        &mut self,
        id: &ResourceId,
        etag: u32,
        now: Duration,
    ) -> Result<(), AzureError> {
        self.check_version::<R>(id, Some(etag), now)?;
        R::check_deletion(id, self)?;
        R::table_mut(self).remove(id);
        self.writes.0 += 1;
        Ok(())
    }

    /// Changes a load balancer by hand, if one fits.
    pub(crate) fn edit<T>(
        &mut self,
        fits: impl Fn(&SharedLoadBalancer) -> bool,
        change: impl FnOnce(&mut SharedLoadBalancer) -> T,
    ) -> Option<T> {
        let etag = self.number(2);
        let mut all = self.load_balancers.values_mut();
        let found = all.find(|it| fits(&it.resource))?;
        found.etag = etag;
        Some(change(&mut found.resource))
    }

    fn check_version<R: AzureResource>(
        &self,
        id: &ResourceId,
        etag: Option<u32>,
        now: Duration,
    ) -> Result<(), AzureError> {
        let found = self.get::<R>(id, now);
        match &found {
            None if etag.is_some() => Err(AzureError::not_found(R::KIND, id)),
            Some(found) if etag != Some(found.etag) => Err(AzureError::stale(R::KIND, id)),
            Some(found) if found.updating => Err(AzureError::busy(R::KIND, id)),
            _ => Ok(()),
        }
    }

    /// The next number of a kind.
    pub(super) fn number(&mut self, kind: usize) -> u32 {
        let number = &mut self.last_numbers.0[kind];
        *number = number.saturating_add(1);
        *number
    }

    pub(crate) fn remember(&mut self, request: AzureRequest) {
        let Incidental(requests) = &mut self.requests;
        if requests.len() == REMEMBERED {
            requests.pop_front();
        }
        requests.push_back(request);
    }
}
