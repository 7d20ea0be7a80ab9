//! The driver: each webhook is a few lines between the request and the cloud.
//!
//! It is written to be read by those who write one. What makes it right is mostly what it does
//! not do: it remembers nothing between calls (b158), so it may be restarted at any time; it
//! never answers by `recordID` from memory, since parameters change under the same one (d28); it
//! touches no backend but the one it was asked about (b157).

mod address;
mod charge;
mod field;
mod identity;
mod judge;
mod outage;
mod wanted;
mod weight;

pub use judge::KEEP_REGISTERED;

use crate::MockOptions;
use crate::cloud::{Cloud, CloudError, Creation, Endpoint, Target};
use address::address_of;
use field::FieldError;
use identity::Identity;
use k8s_openapi::api::core::v1::Pod;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancerRequest, DeleteLoadBalancerRequest, DeregisterBackendRequest,
    EnsureBackendRequest, EnsureLoadBalancerRequest, GenerateBackendAddrRequest,
    JudgePodDeregisterRequest, LoadBalancer, Operation, StringMap, ValidateBackendRequest,
    ValidateLoadBalancerRequest,
};
use lbcf_driver_sdk::{HookError, RawDriver, Rejection};
use outage::gone;
use std::time::Duration;
use wanted::WantedLoadBalancer;
use weight::weight;

/// The reference driver, for the cloud in memory.
#[derive(Debug, Clone)]
pub struct ClbDriver {
    cloud: Cloud,
    options: MockOptions,
}

impl ClbDriver {
    /// A driver of this cloud.
    #[must_use]
    pub const fn new(cloud: Cloud, options: MockOptions) -> Self {
        Self { cloud, options }
    }

    pub(crate) const fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    pub(crate) const fn options(&self) -> &MockOptions {
        &self.options
    }

    /// Where a call does its work: a dry run does it in a copy, so it is answered like any other
    /// and changes nothing.
    fn cloud_for(&self, dry_run: bool) -> Cloud {
        if dry_run {
            self.cloud.rehearsal()
        } else {
            self.cloud.clone()
        }
    }
}

impl RawDriver for ClbDriver {
    async fn validate_load_balancer(
        &self,
        request: ValidateLoadBalancerRequest,
    ) -> Result<(), Rejection> {
        if request.operation == Operation::Update {
            charge::check_change(&request.old_attributes, &request.attributes)?;
        }
        match WantedLoadBalancer::read(&request.lb_spec)? {
            WantedLoadBalancer::Existing(identity) => match self.cloud.find(&identity.endpoint) {
                Err(CloudError::Refused(not_found)) => Err(not_found.into()),
                // What cannot be known right now is let through: createLoadBalancer will tell,
                // and is tried again, which what the user is doing is not.
                Ok(()) | Err(CloudError::Unavailable(_)) => Ok(()),
            },
            WantedLoadBalancer::New(_) => Ok(()),
        }
    }

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancerRequest,
    ) -> Result<StringMap, HookError> {
        let cloud = self.cloud_for(request.dry_run);
        // The recordID is the client token that clouds ask for: a repeated call, also one that
        // reaches another process than the first, finds what the first one made.
        let token = &request.record_id;
        match WantedLoadBalancer::read(&request.lb_spec)? {
            WantedLoadBalancer::Existing(Identity { endpoint, lb_info }) => {
                cloud.take_into_use(token, &endpoint, &lb_info, request.attributes)?;
                Ok(lb_info)
            }
            WantedLoadBalancer::New(wanted) => {
                let pace = self.options.stage_duration;
                match cloud.create(token, wanted, request.attributes, pace)? {
                    Creation::Done(endpoint) => Ok(endpoint.lb_info()),
                    Creation::Running { stage, remaining } => {
                        let running = HookError::running(stage.to_string());
                        // The wire knows whole seconds: asking for less would ask for more.
                        Err(if pace < Duration::from_secs(1) {
                            running
                        } else {
                            running.retry_after(remaining)
                        })
                    }
                }
            }
        }
    }

    async fn ensure_load_balancer(
        &self,
        request: EnsureLoadBalancerRequest,
    ) -> Result<(), HookError> {
        let Identity { endpoint, .. } = Identity::from_lb_info(&request.lb_info)?;
        let cloud = self.cloud_for(request.dry_run);
        Ok(cloud.set_attributes(&endpoint, request.attributes)?)
    }

    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancerRequest,
    ) -> Result<(), HookError> {
        let cloud = self.cloud_for(request.dry_run);
        if let Ok(Identity { endpoint, lb_info }) = Identity::from_lb_info(&request.lb_info) {
            // One that is not there is deleted already.
            gone(cloud.release(&request.record_id, &endpoint, &lb_info))?;
        } else if let Some(instance) = Identity::load_balancer(&request.lb_info) {
            cloud.cancel_by_id(&instance)?;
        } else if let Some(token) = token_of_same_object(&request.record_id) {
            // Deleted while it was being created: the controller was never told an identity, but
            // the recordIDs say that it is the same object.
            cloud.cancel_by_token(&token)?;
        }
        Ok(())
    }

    async fn validate_backend(&self, request: ValidateBackendRequest) -> Result<(), Rejection> {
        weight(&request.parameters)?;
        Ok(())
    }

    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddrRequest,
    ) -> Result<String, HookError> {
        let pod = request.pod_backend.as_ref();
        let service = request.service_backend.as_ref();
        Ok(address_of(pod, service)?)
    }

    async fn ensure_backend(&self, request: EnsureBackendRequest) -> Result<StringMap, HookError> {
        let Identity { endpoint, .. } = Identity::from_lb_info(&request.lb_info)?;
        if request.backend_addr.is_empty() {
            return Err(HookError::fail(
                "backendAddr is empty: there is nothing to bind",
            ));
        }
        let target = Target {
            weight: weight(&request.parameters)?,
            parameters: request.parameters,
        };
        let cloud = self.cloud_for(request.dry_run);
        cloud.bind(&endpoint, &request.backend_addr, target)?;
        // All that is needed to find the target again is its address: nothing to remember.
        Ok(StringMap::new())
    }

    async fn deregister_backend(&self, request: DeregisterBackendRequest) -> Result<(), HookError> {
        if let Ok(Identity { endpoint, .. }) = Identity::from_lb_info(&request.lb_info) {
            let cloud = self.cloud_for(request.dry_run);
            // Not bound, or no such load balancer: either way it is not registered (b124).
            gone(cloud.unbind(&endpoint, &request.backend_addr))?;
        }
        Ok(())
    }

    async fn judge_pod_deregister(
        &self,
        request: JudgePodDeregisterRequest,
    ) -> Result<Vec<Pod>, Rejection> {
        let pods = request.not_ready_pods.into_iter();
        Ok(pods.filter(judge::stays).map(judge::reference).collect())
    }

    /// The cloud in memory would not mind, but most take one change of an instance after the
    /// other (b159).
    fn serial_key(&self, load_balancer: LoadBalancer<&StringMap, &StringMap>) -> Option<String> {
        Identity::load_balancer(load_balancer.either())
    }

    fn accepts_dry_run(&self) -> bool {
        true
    }
}

/// Where the cloud has the load balancer with this `lbInfo`, as the driver understands it.
pub(crate) fn endpoint_of(lb_info: &StringMap) -> Result<Endpoint, FieldError> {
    Ok(Identity::from_lb_info(lb_info)?.endpoint)
}

/// The client token of the creation that a `deleteLoadBalancer` belongs to, where its recordID
/// has the form `deleteLoadBalancer(<object>)` (d28).
fn token_of_same_object(record_id: &str) -> Option<String> {
    let object = record_id.strip_prefix("deleteLoadBalancer")?;
    Some(format!("createLoadBalancer{object}"))
}
