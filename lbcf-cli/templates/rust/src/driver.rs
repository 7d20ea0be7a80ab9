//! The implementation of LBCF's webhooks. FILL-IN: five functions, numbered below.
//!
//! LBCF's controller watches pods and services and calls these functions. It repeats a call until it
//! succeeds, and later, for example when a response was lost, the controller restarted or a parameter
//! changed. So each function has to be idempotent: it brings the cloud to the requested state, and
//! succeeds if it is already in that state. Keep no state between calls: two replicas may be running,
//! and processes restart.
//!
//! The SDK does the rest. A call that is repeated while it runs joins the running one; a call that
//! takes too long continues and is answered with `Running`; values that do not fit the types in
//! `fields.rs` are rejected. `?` converts an error of any type into a response, and LBCF retries;
//! [`HookError::running`] means "not yet", [`HookError::fail`] is a failure with a reason.

use crate::cloud::{Cloud, CloudError};
use crate::fields::{Attributes, LbInfo, LbSpec, Parameters};
use lbcf_driver_sdk::request::{
    Backend, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
    EnsureLoadBalancer, GenerateBackendAddr, ValidateBackend,
};
use lbcf_driver_sdk::webhook::{BackendType, StringMap};
use lbcf_driver_sdk::{Driver, HookError, Reason, Rejection};
use std::net::SocketAddr;

/// The driver, which has no state but the client of the cloud.
#[derive(Debug)]
pub struct MyDriver {
    cloud: Cloud,
}

impl MyDriver {
    /// A driver for this cloud.
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
    /// The address of a backend. Any type with `Display` and `FromStr` can be used; the `static`
    /// addresses of users are parsed as this type, too.
    type BackendAddr = SocketAddr;

    /// FILL-IN 1 of 5: creates the load balancer and returns its identity.
    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<LbInfo, HookError> {
        // A repeated call has the same one, so that the cloud creates no second load balancer.
        let token = token(&request.record_id);
        let lb_id = self.cloud.create(token, &request.lb_spec).await?;
        self.cloud
            .set_attributes(&lb_id, &request.attributes)
            .await?;
        Ok(LbInfo {
            lb_id,
            protocol: request.lb_spec.protocol,
        })
    }

    /// FILL-IN 2 of 5: deletes the load balancer. Succeeds if it does not exist.
    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        // Without `lb_info`, creation has not completed, or its response was lost: what it has created is
        // found by its token, and this is the last call for it.
        let found = match request.lb_info {
            Some(lb_info) => Some(lb_info.lb_id),
            None => self.cloud.find(token(&request.record_id)).await?,
        };
        match found {
            Some(lb_id) => ignore_not_found(self.cloud.delete(&lb_id).await),
            None => Ok(()),
        }
    }

    /// FILL-IN 3 of 5: returns the address of this backend, always the same for the same backend.
    /// Registers nothing.
    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<SocketAddr, HookError> {
        let Backend::Pod(backend) = request.backend()? else {
            return Err(HookError::fail(ONLY_PODS));
        };
        let (port, protocol) = (backend.port.port, request.lb_info.protocol);
        if backend.port.protocol != protocol {
            return Err(HookError::fail(format!(
                "port {port} is {}, but the load balancer uses {protocol}",
                backend.port.protocol
            )));
        }
        request.target()?.socket_addr()
    }

    /// FILL-IN 4 of 5: registers the backend with these parameters, or updates its parameters.
    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let (lb_id, at) = (&request.lb_info.lb_id, request.backend_addr);
        if at.port() == 0 || at.ip().is_unspecified() || at.ip().is_multicast() {
            let problem = format!("backendAddr: {at}: not the address of a server");
            return Err(HookError::new(Reason::InvalidArgument, problem));
        }
        let weight = request.parameters.weight;
        self.cloud.register(lb_id, at, weight).await?;
        // LBCF stores this map and sends it in later calls, as `injected_info`.
        Ok(StringMap::new())
    }

    /// FILL-IN 5 of 5: deregisters the backend. Succeeds if it is not registered or the load balancer
    /// does not exist. Do not touch other backends, which may not be managed by LBCF.
    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        let lb_id = &request.lb_info.lb_id;
        ignore_not_found(self.cloud.deregister(lb_id, request.backend_addr).await)
    }

    // The following have defaults, as have `validate_load_balancer`, `judge_pod_deregister`,
    // `list_backends`, `healthz`, `serial_key`, `accepts_dry_run` and `cancels_deregistrations`: see the
    // documentation of `Driver`.

    /// Updates the attributes of a load balancer.
    async fn ensure_load_balancer(
        &self,
        request: EnsureLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let lb_id = &request.lb_info.lb_id;
        let set = self.cloud.set_attributes(lb_id, &request.attributes).await;
        set.map_err(|error| match error {
            // LBCF then creates it again.
            CloudError::NoLoadBalancer(_) => HookError::new(Reason::NotFound, error.to_string()),
            other => other.into(),
        })
    }

    /// Rejects values that fit the types but are not supported, when a user applies them.
    async fn validate_backend(&self, request: ValidateBackend<Self>) -> Result<(), Rejection> {
        if request.backend_type == BackendType::Service {
            return Err(Rejection::new(ONLY_PODS));
        }
        Ok(())
    }
}

const ONLY_PODS: &str = "this driver registers pods and static addresses, not services";

/// Deleting what does not exist succeeds.
fn ignore_not_found(result: Result<(), CloudError>) -> Result<(), HookError> {
    match result {
        Ok(()) | Err(CloudError::NoLoadBalancer(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The text in parentheses of a record ID, which is the same for creation and deletion of one object.
fn token(record_id: &str) -> &str {
    let inner = record_id.split_once('(').map_or(record_id, |(_, id)| id);
    inner.strip_suffix(')').unwrap_or(inner)
}
