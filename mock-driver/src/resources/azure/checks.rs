//! The invariants, which the cloud checks with every request.

use super::error::AzureError;
use super::kinds::{
    AvailabilitySet, Frontend, PublicIp, ResourceId, SecurityGroup, SharedLoadBalancer,
};
use super::state::{AzureResource, AzureState, Table, Versioned};
use crate::resources::Incidental;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::Duration;

/// The first public address is the one after this: of a range that is for tests.
const PUBLIC: u32 = u32::from_be_bytes([198, 18, 0, 0]);
const PRIVATE: u32 = u32::from_be_bytes([10, 240, 0, 0]);

macro_rules! tables {
    ($kind:literal, $table:ident) => {
        const KIND: &'static str = $kind;

        fn table(state: &AzureState) -> &Table<Self> {
            &state.$table
        }

        fn table_mut(state: &mut AzureState) -> &mut Table<Self> {
            &mut state.$table
        }
    };
}

impl AzureResource for SharedLoadBalancer {
    tables!("loadBalancers", load_balancers);

    fn accept(
        &mut self,
        id: &ResourceId,
        state: &mut AzureState,
        now: Duration,
        ready_at: Duration,
    ) -> Result<(), AzureError> {
        check_rules(self, id, state)?;
        for (name, frontend) in &mut self.frontends {
            let before = state.load_balancers.get(id);
            let before = before.and_then(|it| it.resource.frontends.get(name));
            let same = before.filter(|before| {
                before.public_ip == frontend.public_ip && before.subnet == frontend.subnet
            });
            if let Some(same) = same {
                *frontend = same.clone();
                continue;
            }
            frontend.ready_at = Incidental(ready_at);
            frontend.address = match (&frontend.public_ip, &frontend.subnet) {
                (Some(public_ip), None) => {
                    check_unused(public_ip, id, name, state)?;
                    address_of(public_ip, state, now)?
                }
                (None, Some(_)) => {
                    Ipv4Addr::from(PRIVATE.wrapping_add(state.number(1))).to_string()
                }
                _ => {
                    return Err(AzureError::bad_request(
                        "InvalidFrontendIPConfiguration",
                        format!(
                            "frontend {name} of {id} needs a public IP or a subnet, and not both"
                        ),
                    ));
                }
            };
        }
        Ok(())
    }

    fn as_seen(&mut self, now: Duration) {
        for frontend in self.frontends.values_mut() {
            if frontend.ready_at.0 > now {
                frontend.address.clear();
            }
        }
    }
}

/// No rule refers to what does not exist, and no two have the same port of a frontend.
fn check_rules(
    load_balancer: &SharedLoadBalancer,
    id: &ResourceId,
    state: &AzureState,
) -> Result<(), AzureError> {
    let limit = state.limits.rules_per_load_balancer;
    let before = state.load_balancers.get(id);
    let before = before.map_or(0, |it| it.resource.rules.len());
    let rules = &load_balancer.rules;
    if rules.len() > limit && rules.len() > before {
        return Err(AzureError::bad_request(
            "LoadBalancingRuleCountLimitReached",
            format!("load balancer {id} may have {limit} rules"),
        ));
    }
    let mut ports = BTreeSet::new();
    for (name, rule) in rules {
        let missing = |kind: &str, target: &str| {
            let message = format!(
                "rule {name} of {id} refers to the {kind} {target:?}, which does not exist"
            );
            Err(AzureError::bad_request("InvalidResourceReference", message))
        };
        if !load_balancer.frontends.contains_key(&rule.frontend) {
            return missing("frontend", &rule.frontend);
        }
        if !load_balancer.pools.contains_key(&rule.pool) {
            return missing("pool", &rule.pool);
        }
        if let Some(probe) = &rule.probe
            && !load_balancer.probes.contains_key(probe)
        {
            return missing("probe", probe);
        }
        if !ports.insert((&rule.frontend, rule.protocol.to_string(), rule.port)) {
            return Err(AzureError::bad_request(
                "RulesUseSameFrontendPortProtocolAndIPConfig",
                format!("rule {name} of {id} uses a port of its frontend that another one uses"),
            ));
        }
    }
    Ok(())
}

/// A public IP belongs to one frontend.
fn check_unused(
    public_ip: &ResourceId,
    id: &ResourceId,
    name: &str,
    state: &AzureState,
) -> Result<(), AzureError> {
    let mut users = users(public_ip, state).filter(|user| *user != (id, name));
    match users.next() {
        None => Ok(()),
        Some((other, frontend)) => Err(AzureError::bad_request(
            "PublicIPAddressInUse",
            format!("public IP {public_ip} is used by frontend {frontend} of {other}"),
        )),
    }
}

/// The frontends with this public IP.
fn users<'a>(
    public_ip: &'a ResourceId,
    state: &'a AzureState,
) -> impl Iterator<Item = (&'a ResourceId, &'a str)> {
    let frontends = state.load_balancers.iter().flat_map(|(id, it)| {
        let frontends = it.resource.frontends.iter();
        frontends.map(move |(name, frontend): (&String, &Frontend)| (id, name.as_str(), frontend))
    });
    frontends
        .filter(move |(_, _, frontend)| frontend.public_ip.as_ref() == Some(public_ip))
        .map(|(id, name, _)| (id, name))
}

fn address_of(
    public_ip: &ResourceId,
    state: &AzureState,
    now: Duration,
) -> Result<String, AzureError> {
    match state.get::<PublicIp>(public_ip, now) {
        None => Err(AzureError::bad_request(
            "InvalidResourceReference",
            format!("public IP {public_ip} does not exist"),
        )),
        Some(found) if found.updating => Err(AzureError {
            status: 409,
            code: "ReferencedResourceNotProvisioned",
            message: format!("public IP {public_ip} is being created"),
        }),
        Some(found) => Ok(found.resource.address),
    }
}

impl AzureResource for PublicIp {
    tables!("publicIPAddresses", public_ips);

    const TAKES_TIME: bool = true;

    fn accept(
        &mut self,
        id: &ResourceId,
        state: &mut AzureState,
        _now: Duration,
        _ready_at: Duration,
    ) -> Result<(), AzureError> {
        let before = state.public_ips.get(id);
        let limit = state.limits.public_ips;
        if before.is_none() && state.public_ips.len() >= limit {
            return Err(AzureError::bad_request(
                "PublicIPCountLimitReached",
                format!("the subscription may have {limit} public IPs"),
            ));
        }
        let taken = |(other, it): (&ResourceId, &Versioned<Self>)| {
            other != id && self.dns_label.is_some() && it.resource.dns_label == self.dns_label
        };
        if state.public_ips.iter().any(taken) {
            let label = self.dns_label.as_deref().unwrap_or_default();
            return Err(AzureError::bad_request(
                "DnsRecordInUse",
                format!("the DNS label {label:?} is used by another public IP"),
            ));
        }
        self.address = match before {
            Some(before) => before.resource.address.clone(),
            None => Ipv4Addr::from(PUBLIC.wrapping_add(state.number(0))).to_string(),
        };
        Ok(())
    }

    fn check_deletion(id: &ResourceId, state: &AzureState) -> Result<(), AzureError> {
        match users(id, state).next() {
            None => Ok(()),
            Some((user, frontend)) => Err(AzureError::bad_request(
                "PublicIPAddressCannotBeDeleted",
                format!("public IP {id} is used by frontend {frontend} of load balancer {user}"),
            )),
        }
    }
}

impl AzureResource for SecurityGroup {
    tables!("networkSecurityGroups", security_groups);

    fn accept(
        &mut self,
        id: &ResourceId,
        state: &mut AzureState,
        _now: Duration,
        _ready_at: Duration,
    ) -> Result<(), AzureError> {
        let limit = state.limits.rules_per_security_group;
        let before = state.security_groups.get(id);
        let before = before.map_or(0, |it| it.resource.rules.len());
        if self.rules.len() > limit && self.rules.len() > before {
            return Err(AzureError::bad_request(
                "SecurityRuleCountLimitReached",
                format!("security group {id} may have {limit} rules"),
            ));
        }
        let mut priorities = BTreeSet::new();
        for (name, rule) in &self.rules {
            if rule.destinations.is_empty() || !(100..=4096).contains(&rule.priority) {
                return Err(AzureError::bad_request(
                    "SecurityRuleInvalid",
                    format!(
                        "rule {name} of {id} needs a destination and a priority from 100 to 4096"
                    ),
                ));
            }
            if !priorities.insert(rule.priority) {
                return Err(AzureError::bad_request(
                    "SecurityRuleConflict",
                    format!("rule {name} of {id} has the priority of another one"),
                ));
            }
        }
        Ok(())
    }

    fn check_deletion(id: &ResourceId, _state: &AzureState) -> Result<(), AzureError> {
        Err(AzureError::bad_request(
            "InUseNetworkSecurityGroupCannotBeDeleted",
            format!("security group {id} is in use by the cluster's subnet"),
        ))
    }
}

impl AzureResource for AvailabilitySet {
    tables!("availabilitySets", availability_sets);
}
