//! A load balancer of a check and its calls.

use super::call::WebhookCall;
use crate::fixture::LoadBalancerSample;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancer, CreateLoadBalancerRequest, DeleteLoadBalancer, DeleteLoadBalancerRequest,
    EnsureLoadBalancer, EnsureLoadBalancerRequest, Operation, StringMap, ValidateLoadBalancer,
    ValidateLoadBalancerRequest,
};

#[derive(Debug, Clone)]
pub(crate) struct LoadBalancer {
    /// The uid of the object in Kubernetes, which its recordIDs contain.
    pub(crate) uid: String,
    pub(crate) sample: LoadBalancerSample,
    /// The identity: the `lbInfo` of the driver, or else `lbSpec`. Empty before the creation.
    pub(crate) lb_info: StringMap,
}

impl LoadBalancer {
    /// `validateLoadBalancer` with the operation Create.
    pub(crate) fn validate(&self) -> WebhookCall {
        WebhookCall::of::<ValidateLoadBalancer>(&ValidateLoadBalancerRequest {
            lb_spec: self.sample.lb_spec.clone(),
            attributes: self.sample.attributes.clone(),
            operation: Operation::Create,
            ..Default::default()
        })
    }

    /// `validateLoadBalancer` with the operation Update to these attributes.
    pub(crate) fn validate_update(&self, attributes: &StringMap) -> WebhookCall {
        WebhookCall::of::<ValidateLoadBalancer>(&ValidateLoadBalancerRequest {
            lb_spec: self.sample.lb_spec.clone(),
            attributes: attributes.clone(),
            old_attributes: self.sample.attributes.clone(),
            operation: Operation::Update,
            ..Default::default()
        })
    }

    pub(crate) fn create(&self) -> WebhookCall {
        WebhookCall::of::<CreateLoadBalancer>(&CreateLoadBalancerRequest {
            record_id: format!("createLoadBalancer({})", self.uid),
            lb_spec: self.sample.lb_spec.clone(),
            attributes: self.sample.attributes.clone(),
            ..Default::default()
        })
    }

    pub(crate) fn ensure_with(&self, attributes: &StringMap) -> WebhookCall {
        WebhookCall::of::<EnsureLoadBalancer>(&EnsureLoadBalancerRequest {
            record_id: format!("ensureLoadBalancer({})", self.uid),
            lb_info: self.lb_info.clone(),
            attributes: attributes.clone(),
            ..Default::default()
        })
    }

    /// `ensureLoadBalancer` with the attributes of the creation.
    pub(crate) fn ensure(&self) -> WebhookCall {
        self.ensure_with(&self.sample.attributes)
    }

    pub(crate) fn delete(&self) -> WebhookCall {
        WebhookCall::of::<DeleteLoadBalancer>(&DeleteLoadBalancerRequest {
            record_id: format!("deleteLoadBalancer({})", self.uid),
            lb_info: self.lb_info.clone(),
            attributes: self.sample.attributes.clone(),
            ..Default::default()
        })
    }
}
