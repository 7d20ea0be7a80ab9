//! The target groups of the cloud by the identity that the cluster has of them.

use crate::cloud::{CloudState, Endpoint, TargetGroupState};
use crate::fields::LbInfo;
use lbcf_driver_sdk::fields;
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::BTreeMap;

/// By `lbInfo`, as `createLoadBalancer` returns it.
pub(super) struct Groups<'a>(BTreeMap<StringMap, &'a TargetGroupState>);

impl<'a> Groups<'a> {
    pub(super) fn of(cloud: &'a CloudState) -> Self {
        let mut groups = BTreeMap::new();
        for load_balancer in &cloud.load_balancers {
            for listener in &load_balancer.listeners {
                let endpoint = Endpoint {
                    load_balancer: load_balancer.id.clone(),
                    listener: listener.id.clone(),
                    domain: None,
                    url: None,
                };
                for rule in listener.rules.iter().flatten() {
                    let endpoint = Endpoint {
                        domain: Some(rule.domain.clone()),
                        url: Some(rule.url.clone()),
                        ..endpoint.clone()
                    };
                    groups.insert(endpoint.lb_info(), &rule.targets);
                }
                if let Some(group) = &listener.targets {
                    groups.insert(endpoint.lb_info(), group);
                }
            }
        }
        Self(groups)
    }

    /// The group with this identity, however its keys are spelled, and its own identity.
    pub(super) fn find(&self, lb_info: &StringMap) -> Option<(&StringMap, &'a TargetGroupState)> {
        self.get(lb_info).or_else(|| {
            let read: LbInfo = fields::read("lbInfo", lb_info).ok()?;
            let endpoint = Endpoint::from(read);
            let rule = endpoint.rule();
            let with_rule = Endpoint {
                domain: Some(rule.domain),
                url: Some(rule.url),
                ..endpoint.clone()
            };
            self.get(&endpoint.lb_info())
                .or_else(|| self.get(&with_rule.lb_info()))
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&StringMap, &'a TargetGroupState)> {
        self.0.iter().map(|(lb_info, group)| (lb_info, *group))
    }

    fn get(&self, lb_info: &StringMap) -> Option<(&StringMap, &'a TargetGroupState)> {
        let (lb_info, group) = self.0.get_key_value(lb_info)?;
        Some((lb_info, group))
    }
}
