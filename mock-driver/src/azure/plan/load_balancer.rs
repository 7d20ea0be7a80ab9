//! The frontend of a service, with its pool, rule and probe, on a load balancer that others share.

use super::Service;
use crate::azure::fields::FrontendProtocol;
use crate::azure::naming::{CLUSTER, FrontendTag, Side};
use crate::resources::azure::{Frontend, LoadBalancingRule, Member, Probe, SharedLoadBalancer};
use lbcf_driver_sdk::fields;
use std::collections::BTreeMap;

/// With the service; `members` are the backends that it had on another load balancer.
pub(in crate::azure) fn present(
    service: &Service,
    members: &BTreeMap<String, Member>,
    mut load_balancer: SharedLoadBalancer,
) -> SharedLoadBalancer {
    let name = &service.frontend;
    let it = &mut load_balancer;
    let attributes = &service.attributes;
    let tag = FrontendTag {
        spec: service.spec.clone(),
        attributes: fields::write("attributes", attributes).unwrap_or_default(),
    };
    it.tags.insert(name.clone(), tag.write());
    let frontend = it.frontends.entry(name.clone()).or_default();
    (frontend.public_ip, frontend.subnet) = match service.side() {
        Side::Public => (Some(service.public_ip()), None),
        Side::Internal => {
            let subnet = attributes.azure_load_balancer_internal_subnet.clone();
            (
                None,
                Some(subnet.unwrap_or_else(|| CLUSTER.subnet.to_owned())),
            )
        }
    };
    let pool = it.pools.entry(name.clone()).or_default();
    for (address, member) in members {
        let moved = pool.members.entry(address.clone());
        moved.or_insert_with(|| member.clone());
    }
    // Datagrams cannot be probed by connecting.
    let probe = (service.spec.protocol == FrontendProtocol::Tcp).then_some(Probe {
        interval_seconds: 5,
    });
    it.rules.insert(
        name.clone(),
        LoadBalancingRule {
            frontend: name.clone(),
            pool: name.clone(),
            probe: probe.is_some().then(|| name.clone()),
            protocol: service.spec.protocol.into(),
            port: service.spec.port.get(),
            idle_timeout_minutes: attributes.idle_minutes(),
        },
    );
    it.probes.extend(probe.map(|probe| (name.clone(), probe)));
    load_balancer
}

/// Without what clients reach the service by. Its pool stays, which holds the backends until they are
/// on another load balancer.
pub(in crate::azure) fn closed(
    frontend: &str,
    mut load_balancer: SharedLoadBalancer,
) -> SharedLoadBalancer {
    load_balancer.rules.remove(frontend);
    load_balancer.probes.remove(frontend);
    load_balancer.frontends.remove(frontend);
    load_balancer
}

/// Without the service; none if nothing is left.
pub(in crate::azure) fn absent(
    frontend: &str,
    load_balancer: SharedLoadBalancer,
) -> Option<SharedLoadBalancer> {
    let mut it = closed(frontend, load_balancer);
    it.pools.remove(frontend);
    it.tags.remove(frontend);
    let is_empty = it.frontends.is_empty() && it.pools.is_empty();
    (!is_empty).then_some(it)
}

impl Frontend {
    /// The address, once the cloud has set it.
    pub(in crate::azure) fn ready_address(&self) -> Option<&str> {
        Some(self.address.as_str()).filter(|address| !address.is_empty())
    }
}
