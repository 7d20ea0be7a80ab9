//! What defects look up in the cloud, and do there behind the right driver's back.

use crate::cloud::{
    Cloud, Creation, Endpoint, ListenerProtocol, LoadBalancerType, NewLoadBalancer, Target,
    TargetGroupState,
};
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::BTreeMap;
use std::time::Duration;

/// The targets of an endpoint and what else belongs to it; nothing where there is none.
pub(super) fn group(cloud: &Cloud, endpoint: &Endpoint) -> Option<TargetGroupState> {
    let state = cloud.state();
    let mut load_balancers = state.load_balancers.into_iter();
    let instance = load_balancers.find(|it| it.id == endpoint.load_balancer)?;
    let mut listeners = instance.listeners.into_iter();
    let listener = listeners.find(|it| it.id == endpoint.listener)?;
    if let Some(group) = listener.targets {
        return Some(group);
    }
    let rule = endpoint.rule();
    let mut rules = listener.rules.into_iter().flatten();
    let found = rules.find(|it| it.domain == rule.domain && it.url == rule.url)?;
    Some(found.targets)
}

/// The targets of an endpoint by address; none where there is no such endpoint.
pub(super) fn targets(cloud: &Cloud, endpoint: &Endpoint) -> BTreeMap<String, Target> {
    let group = group(cloud, endpoint);
    let targets = group.into_iter().flat_map(|group| group.targets);
    let target = |weight, parameters| Target { weight, parameters };
    targets
        .map(|it| (it.addr, target(it.weight, it.parameters)))
        .collect()
}

/// A target that nobody asked for.
pub(super) const fn stray(parameters: StringMap) -> Target {
    Target {
        weight: 100,
        parameters,
    }
}

/// Makes a load balancer that nobody asked for, at once: one that is finished later would be seen
/// as a new one by whoever looks then.
pub(super) fn make_one_more(cloud: &Cloud, token: &str) -> Option<Endpoint> {
    let wanted = NewLoadBalancer {
        vpc: "vpc-default".to_owned(),
        kind: LoadBalancerType::Open,
        protocol: ListenerProtocol::Tcp,
        port: 80,
        rule: None,
    };
    let made = cloud.create(token, wanted, StringMap::new(), Duration::ZERO);
    tracing::debug!(?made, token, "a defect made one load balancer more");
    match made {
        Ok(Creation::Done(endpoint)) => Some(endpoint),
        _ => None,
    }
}

/// The identity of an instance by its name, and the token that it was created with.
pub(super) struct Made {
    pub(super) endpoint: Endpoint,
    pub(super) token: String,
}

/// What drivers had created, and is there.
pub(super) fn made(cloud: &Cloud) -> Vec<Made> {
    let instances = cloud.state().load_balancers.into_iter();
    instances
        .filter_map(|instance| {
            let listener = instance.listeners.into_iter().next()?;
            let rule = listener.rules.into_iter().flatten().next();
            let (domain, url) = rule.map(|rule| (rule.domain, rule.url)).unzip();
            Some(Made {
                token: instance.client_token?,
                endpoint: Endpoint {
                    load_balancer: instance.id,
                    listener: listener.id,
                    domain,
                    url,
                },
            })
        })
        .collect()
}
