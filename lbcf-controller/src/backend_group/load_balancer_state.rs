//! What a group sees of a load balancer.

use crate::api::{Conditions, LoadBalancer, StringMap, condition_types};
use crate::index::Lookup;
use std::sync::Arc;

/// What a load balancer is to a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoadBalancerState {
    /// Backends can be registered.
    Usable {
        /// The driver's name.
        driver: String,
        /// The load balancer's identity.
        lb_info: StringMap,
        /// Its attributes.
        attributes: StringMap,
    },
    /// It is missing, going, not created, or not for this namespace: what is registered there
    /// goes (b107).
    Unusable,
    /// It cannot be understood: what is registered there stays (u9).
    Unknown,
}

impl LoadBalancerState {
    /// What a load balancer is to the groups of a namespace.
    #[must_use]
    pub(crate) fn of(lb: &Lookup<Arc<LoadBalancer>>, namespace: &str) -> Self {
        let lb = match lb {
            Lookup::Found(lb) => lb,
            Lookup::Missing => return Self::Unusable,
            Lookup::Unreadable => return Self::Unknown,
        };
        let status = lb.status.as_ref();
        let is_created =
            status.is_some_and(|status| status.conditions.is_true(condition_types::CREATED));
        if lb.metadata.deletion_timestamp.is_some() || !is_created || !is_in_scope(lb, namespace) {
            return Self::Unusable;
        }
        Self::Usable {
            driver: lb.spec.lb_driver.clone(),
            lb_info: status
                .map(|status| status.lb_info.clone())
                .unwrap_or_default(),
            attributes: lb.spec.attributes.clone(),
        }
    }
}

/// b56: `*` is every namespace; an empty scope is the load balancer's own.
pub(crate) fn is_in_scope(lb: &LoadBalancer, namespace: &str) -> bool {
    if lb.spec.scope.is_empty() {
        return lb.metadata.namespace.as_deref() == Some(namespace);
    }
    lb.spec
        .scope
        .iter()
        .any(|scope| scope == "*" || scope == namespace)
}
