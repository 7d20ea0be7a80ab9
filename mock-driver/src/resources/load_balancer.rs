//! A load balancer with its listeners, rules and targets.

use super::creation::{NewLoadBalancer, Origin};
use super::endpoint::{ListenerProtocol, LoadBalancerType, Rule};
use super::error::SetAttributesError;
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone)]
pub(crate) struct LoadBalancer {
    pub(crate) vpc: String,
    pub(crate) kind: LoadBalancerType,
    /// Absent for one that existed from the start.
    pub(crate) origin: Option<Origin>,
    pub(crate) listeners: BTreeMap<String, Listener>,
}

#[derive(Debug, Clone)]
pub(crate) struct Listener {
    pub(crate) protocol: ListenerProtocol,
    pub(crate) port: u16,
    /// By rule. A listener without rules has one group, whose key is `None`.
    pub(crate) groups: BTreeMap<Option<Rule>, TargetGroup>,
}

/// The targets of one endpoint, and what else belongs to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct TargetGroup {
    pub(crate) attributes: StringMap,
    pub(crate) targets: BTreeMap<String, Target>,
    /// The client tokens that took the endpoint into use, and those that released it. The last
    /// release ends the use.
    pub(crate) used_by: BTreeSet<String>,
    pub(crate) released_by: BTreeSet<String>,
}

/// A target of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its share of the traffic, 0 to 100.
    pub weight: u8,
    /// The parameters of the backend, as the driver gave them.
    pub parameters: StringMap,
    /// A tag that the driver gives a target and the cloud does not interpret: the `recordID` of the
    /// `ensureBackend` that bound it. A target that a user bound by hand has none.
    pub record_id: Option<String>,
}

impl LoadBalancer {
    pub(crate) const fn new(vpc: String, kind: LoadBalancerType, origin: Option<Origin>) -> Self {
        Self {
            vpc,
            kind,
            origin,
            listeners: BTreeMap::new(),
        }
    }

    /// The specification that it was created from.
    pub(super) fn desired(&self) -> Option<NewLoadBalancer> {
        let origin = self.origin.as_ref()?;
        Some(NewLoadBalancer {
            vpc: self.vpc.clone(),
            kind: self.kind,
            protocol: origin.state.protocol,
            port: origin.state.port,
            rule: origin.rule(),
        })
    }

    /// True if LBCF uses any endpoint of it.
    pub(super) fn is_in_use(&self) -> bool {
        let mut groups = self.listeners.values().flat_map(|it| it.groups.values());
        groups.any(|group| !group.used_by.is_empty())
    }

    /// True if LBCF uses an endpoint of it by another token than this one.
    pub(super) fn is_used_by_others(&self, token: &str) -> bool {
        let groups = self.listeners.values().flat_map(|it| it.groups.values());
        let mut users = groups.flat_map(|group| &group.used_by);
        users.any(|user| user != token)
    }

    /// The ID of the listener that a further one with this protocol and port would collide with.
    pub(super) fn taken_by(&self, protocol: ListenerProtocol, port: u16) -> Option<&String> {
        let mut taken = self.listeners.iter();
        taken
            .find(|(_, it)| it.port == port && it.protocol.collides_with(protocol))
            .map(|(id, _)| id)
    }
}

impl Listener {
    pub(crate) fn new(protocol: ListenerProtocol, port: u16) -> Self {
        let direct = (!protocol.has_rules()).then(|| (None, TargetGroup::default()));
        Self {
            protocol,
            port,
            groups: direct.into_iter().collect(),
        }
    }
}

impl TargetGroup {
    pub(crate) fn set_attributes(
        &mut self,
        attributes: StringMap,
    ) -> Result<(), SetAttributesError> {
        let charge_type = |of: &StringMap| of.get("chargeType").cloned().unwrap_or_default();
        let new = charge_type(&attributes);
        if is_prepaid(&new) != is_prepaid(&charge_type(&self.attributes)) {
            return Err(SetAttributesError::ChargeType(new));
        }
        self.attributes = attributes;
        Ok(())
    }

    pub(super) fn release(&mut self, token: &str) {
        self.released_by.insert(token.to_owned());
        if self.released_by.len() >= self.used_by.len() {
            self.released_by.clear();
            self.used_by.clear();
        }
    }
}

/// True if a load balancer of this charge type is paid for in advance.
pub(crate) fn is_prepaid(charge_type: &str) -> bool {
    charge_type.eq_ignore_ascii_case("PREPAID")
}
