//! What to do for each of LBCF's webhooks. FILL-IN: five functions, numbered below.
//!
//! LBCF's controller watches pods and services and calls these functions; it calls them again
//! until they succeed, and at any later time: an answer was lost, the controller was restarted,
//! a parameter changed. So each brings the cloud to what the request says, and is content where it
//! finds it like that. Remember nothing between calls: two replicas may be at work, and processes
//! end.
//!
//! The SDK sees to the rest. A call that is repeated while it runs joins the running one; one that
//! takes too long goes on and is answered with "still running"; values that do not fit the types of
//! `fields.rs` are refused. An error of any type becomes an answer by `?`, and LBCF tries again
//! later; [`HookError::running`] says "not yet", [`HookError::fail`] what is wrong.

use crate::cloud::{Cloud, CloudError};
use crate::fields::{Attributes, LbInfo, LbSpec, Parameters};
use lbcf_driver_sdk::request::{
    Backend, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
    EnsureLoadBalancer, GenerateBackendAddr, ValidateBackend,
};
use lbcf_driver_sdk::webhook::{BackendType, StringMap};
use lbcf_driver_sdk::{Driver, HookError, Rejection};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// The driver: all that it has is the way to the cloud.
#[derive(Debug)]
pub struct MyDriver {
    cloud: Cloud,
}

impl MyDriver {
    /// The driver of this cloud.
    #[must_use]
    pub const fn new(cloud: Cloud) -> Self {
        Self { cloud }
    }
}

impl Driver for MyDriver {
    type LbSpec = LbSpec;
    type LbInfo = LbInfo;
    type Attributes = Attributes;
    type Parameters = Parameters;
    /// By what the load balancer knows a backend. Any type with `Display` and `FromStr` will do;
    /// what users list as `static` backends has to fit it too.
    type BackendAddr = SocketAddr;

    /// FILL-IN 1 of 5: makes the load balancer and tells what it is known by from now on.
    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<LbInfo, HookError> {
        // The record ID stays the same when a call is repeated: as the token that clouds ask for,
        // it keeps a repeat from making a second load balancer.
        let token = &request.record_id;
        let lb_id = self.cloud.create(token, &request.lb_spec).await?;
        self.cloud
            .set_attributes(&lb_id, &request.attributes)
            .await?;
        Ok(LbInfo {
            lb_id,
            protocol: request.lb_spec.protocol,
        })
    }

    /// FILL-IN 2 of 5: deletes the load balancer. One that is not there is deleted already.
    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        // Without one, creating never came to its end. Where your cloud may have begun to, look
        // for what it has begun here, such as by a tag that creating gave it.
        let Some(lb_info) = request.lb_info else {
            return Ok(());
        };
        unless_gone(self.cloud.delete(&lb_info.lb_id).await)
    }

    /// FILL-IN 3 of 5: by which address the load balancer knows this backend. The same for the
    /// same backend whenever it is asked for; nothing is registered yet.
    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<SocketAddr, HookError> {
        let Backend::Pod(backend) = &request.backend else {
            return Err(HookError::fail(ONLY_PODS));
        };
        let (port, protocol) = (backend.port.port, request.lb_info.protocol);
        if backend.port.protocol != protocol {
            return Err(HookError::fail(format!(
                "port {port} is {}, and this load balancer listens for {protocol}",
                backend.port.protocol
            )));
        }
        let status = backend.pod.status.as_ref();
        let Some(ip) = status.and_then(|status| status.pod_ip.as_ref()) else {
            let wait = Duration::from_secs(2);
            return Err(HookError::running("the pod has no address yet").retry_after(wait));
        };
        let port = u16::try_from(port)
            .map_err(|_| HookError::fail(format!("port {port}: not a number from 1 to 65535")))?;
        Ok(SocketAddr::new(ip.parse::<IpAddr>()?, port))
    }

    /// FILL-IN 4 of 5: registers the backend with these parameters. One that is registered gets
    /// the parameters.
    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let lb_id = &request.lb_info.lb_id;
        let weight = request.parameters.weight;
        self.cloud
            .register(lb_id, request.backend_addr, weight)
            .await?;
        // LBCF would keep what stands here and send it along in later calls, as `injected_info`.
        Ok(StringMap::new())
    }

    /// FILL-IN 5 of 5: takes the backend away. One that is not registered is away already, and so
    /// is one on a load balancer that is not there. Leave all others as they are, also those that
    /// did not come from LBCF.
    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        let lb_id = &request.lb_info.lb_id;
        unless_gone(self.cloud.deregister(lb_id, request.backend_addr).await)
    }

    // What follows has a default, as have `validate_load_balancer`, `judge_pod_deregister`,
    // `healthz`, `serial_key` and `accepts_dry_run`: see the documentation of `Driver`.

    /// Brings the attributes of a load balancer to what users changed them to.
    async fn ensure_load_balancer(
        &self,
        request: EnsureLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let lb_id = &request.lb_info.lb_id;
        Ok(self
            .cloud
            .set_attributes(lb_id, &request.attributes)
            .await?)
    }

    /// Refuses what fits the types and still cannot be, while the user looks on.
    async fn validate_backend(&self, request: ValidateBackend<Self>) -> Result<(), Rejection> {
        if request.backend_type == BackendType::Service {
            return Err(Rejection::new(ONLY_PODS));
        }
        Ok(())
    }
}

const ONLY_PODS: &str = "this driver registers pods and static addresses, not services";

/// What was to go and is not there has gone.
fn unless_gone(result: Result<(), CloudError>) -> Result<(), HookError> {
    match result {
        Ok(()) | Err(CloudError::NoLoadBalancer(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
