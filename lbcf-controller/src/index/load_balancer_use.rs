use crate::api::{Condition, Conditions, LoadBalancer, ObjectExt, StringMap, condition_types};
use crate::index::Lookup;
use std::sync::Arc;

/// The use that a BackendGroup or Bind can make of a load balancer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoadBalancerUse {
    Usable(UsableLoadBalancer),
    /// The group's backends are deregistered from it.
    Unusable(UnusableLoadBalancer),
    /// It cannot be parsed: what is registered to it stays so.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnusableLoadBalancer {
    Missing,
    Deleting,
    /// Its scope does not include the group's namespace.
    OutOfScope,
    /// With the reason and message of its condition `Created`, if it has one.
    NotCreated(Option<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsableLoadBalancer {
    pub driver: String,
    pub lb_info: StringMap,
    pub attributes: StringMap,
}

impl LoadBalancerUse {
    /// The use that groups of a namespace can make of a load balancer.
    pub(crate) fn of(lb: &Lookup<Arc<LoadBalancer>>, namespace: &str) -> Self {
        let lb = match lb {
            Lookup::Found(lb) => lb,
            Lookup::Missing => return Self::Unusable(UnusableLoadBalancer::Missing),
            Lookup::Unreadable => return Self::Unknown,
        };
        let status = lb.status.as_ref();
        let is_created =
            status.is_some_and(|status| status.conditions.is_true(condition_types::CREATED));
        let problem = if lb.is_deleting() {
            Some(UnusableLoadBalancer::Deleting)
        } else if !is_in_scope(lb, namespace) {
            Some(UnusableLoadBalancer::OutOfScope)
        } else {
            (!is_created)
                .then(|| UnusableLoadBalancer::NotCreated(not_created(lb).map(Condition::cause)))
        };
        if let Some(problem) = problem {
            return Self::Unusable(problem);
        }
        let lb_info = status.map(|status| status.lb_info.clone());
        Self::Usable(UsableLoadBalancer {
            driver: lb.spec.lb_driver.clone(),
            lb_info: lb_info.unwrap_or_default(),
            attributes: lb.spec.attributes.clone(),
        })
    }
}

/// Its condition `Created`, as long as that is not met.
pub(super) fn not_created(lb: &LoadBalancer) -> Option<&Condition> {
    let status = lb.status.as_ref()?;
    status.conditions.find_unmet(condition_types::CREATED)
}

/// `*` includes every namespace, an empty scope only the load balancer's own.
pub(crate) fn is_in_scope(lb: &LoadBalancer, namespace: &str) -> bool {
    if lb.spec.scope.is_empty() {
        return lb.metadata.namespace.as_deref() == Some(namespace);
    }
    lb.spec
        .scope
        .iter()
        .any(|scope| scope == "*" || scope == namespace)
}
