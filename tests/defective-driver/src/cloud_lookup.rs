//! What defects read from the cloud, and change there without the right driver.

use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::{
    Cloud, Creation, Endpoint, ListenerProtocol, LoadBalancerType, NewLoadBalancer, Target,
    TargetGroupState,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// The target group of an endpoint, if it exists.
pub(crate) fn group(cloud: &Cloud, endpoint: &Endpoint) -> Option<TargetGroupState> {
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

/// The targets of an endpoint by address; empty if it does not exist.
pub(crate) fn targets(cloud: &Cloud, endpoint: &Endpoint) -> BTreeMap<String, Target> {
    let group = group(cloud, endpoint);
    let targets = group.into_iter().flat_map(|group| group.targets);
    targets
        .map(|it| {
            let target = Target {
                weight: it.weight,
                parameters: it.parameters,
                record_id: it.record_id,
            };
            (it.addr, target)
        })
        .collect()
}

/// A target that the controller has not requested.
pub(crate) const fn stray(parameters: StringMap) -> Target {
    Target {
        weight: 100,
        parameters,
        record_id: None,
    }
}

/// Creates a load balancer that the controller has not requested. It takes no time: one that
/// completes later would be observed as another new one.
pub(crate) fn create_another(cloud: &Cloud, token: &str) -> Option<Endpoint> {
    let desired = NewLoadBalancer {
        vpc: "vpc-default".to_owned(),
        kind: LoadBalancerType::Open,
        protocol: ListenerProtocol::Tcp,
        port: 80,
        rule: None,
    };
    let created = cloud.create(token, desired, StringMap::new(), Duration::ZERO);
    tracing::debug!(?created, token, "a defect created another load balancer");
    match created {
        Ok(Creation::Done(endpoint)) => Some(endpoint),
        _ => None,
    }
}

/// An instance that a driver has created.
pub(crate) struct CreatedInstance {
    pub(crate) endpoint: Endpoint,
    pub(crate) token: String,
}

pub(crate) fn created_instances(cloud: &Cloud) -> Vec<CreatedInstance> {
    let instances = cloud.state().load_balancers.into_iter();
    instances
        .filter_map(|instance| {
            let listener = instance.listeners.into_iter().next()?;
            let rule = listener.rules.into_iter().flatten().next();
            let (domain, url) = rule.map(|rule| (rule.domain, rule.url)).unzip();
            Some(CreatedInstance {
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
