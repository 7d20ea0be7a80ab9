//! A load balancer of a check, and the calls about it.

use super::call::Call;
use crate::fixture::Wanted;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancer, CreateLoadBalancerRequest, DeleteLoadBalancer, DeleteLoadBalancerRequest,
    EnsureLoadBalancer, EnsureLoadBalancerRequest, Operation, StringMap, ValidateLoadBalancer,
    ValidateLoadBalancerRequest,
};

/// A load balancer of a check.
#[derive(Debug, Clone)]
pub(crate) struct LoadBalancer {
    /// The uid of the object in Kubernetes, from which its recordIDs are made.
    pub(crate) uid: String,
    /// What it is created from.
    pub(crate) wanted: Wanted,
    /// Its identity: what the driver answered, or else `lbSpec`. Empty before it is created.
    pub(crate) lb_info: StringMap,
}

impl LoadBalancer {
    /// Is it acceptable as a new one?
    pub(crate) fn validate(&self) -> Call {
        Call::of::<ValidateLoadBalancer>(&ValidateLoadBalancerRequest {
            lb_spec: self.wanted.lb_spec.clone(),
            attributes: self.wanted.attributes.clone(),
            operation: Operation::Create,
            ..Default::default()
        })
    }

    /// Would these attributes be acceptable instead of its own?
    pub(crate) fn validate_update(&self, attributes: &StringMap) -> Call {
        Call::of::<ValidateLoadBalancer>(&ValidateLoadBalancerRequest {
            lb_spec: self.wanted.lb_spec.clone(),
            attributes: attributes.clone(),
            old_attributes: self.wanted.attributes.clone(),
            operation: Operation::Update,
            ..Default::default()
        })
    }

    /// Make it.
    pub(crate) fn create(&self) -> Call {
        Call::of::<CreateLoadBalancer>(&CreateLoadBalancerRequest {
            record_id: format!("createLoadBalancer({})", self.uid),
            lb_spec: self.wanted.lb_spec.clone(),
            attributes: self.wanted.attributes.clone(),
            ..Default::default()
        })
    }

    /// Give it these attributes.
    pub(crate) fn ensure_with(&self, attributes: &StringMap) -> Call {
        Call::of::<EnsureLoadBalancer>(&EnsureLoadBalancerRequest {
            record_id: format!("ensureLoadBalancer({})", self.uid),
            lb_info: self.lb_info.clone(),
            attributes: attributes.clone(),
            ..Default::default()
        })
    }

    /// Give it the attributes that it was created with.
    pub(crate) fn ensure(&self) -> Call {
        self.ensure_with(&self.wanted.attributes)
    }

    /// Delete it.
    pub(crate) fn delete(&self) -> Call {
        Call::of::<DeleteLoadBalancer>(&DeleteLoadBalancerRequest {
            record_id: format!("deleteLoadBalancer({})", self.uid),
            lb_info: self.lb_info.clone(),
            attributes: self.wanted.attributes.clone(),
            ..Default::default()
        })
    }
}
