//! The reference driver, to be read by authors of drivers: each webhook is a few lines between the
//! request and the cloud's API. The types of the requests' fields are in `fields.rs`.
//!
//! Three things make it correct. It keeps nothing in memory between calls, so it may be restarted at
//! any time. It never replies from a cache by `recordID`, because parameters change under the
//! same `recordID`. And it changes no backend but the one in the request.

use crate::backend_address::{BackendAddress, usable};
use crate::cloud::Cloud;
use crate::drivers::{MockedDriver, ignore_not_found, listed, only, stay_registered};
use crate::fields::{Attributes, LbInfo, LbSpec, Parameters};
use crate::options::MockOptions;
use crate::resources::{CloudError, Creation, Endpoint, SetAttributesError, Target};
use crate::traffic::Draining;
use futures::future::join_all;
use lbcf_driver_sdk::fields::DriverSchemas;
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, ListBackends, ListedBackend, ValidateLoadBalancer,
};
use lbcf_driver_sdk::webhook::{
    JudgePodDeregister, KubernetesObject, LoadBalancer, StringMap, WebhookInfo,
};
use lbcf_driver_sdk::{Driver, HookError, Rejection, fields};
use std::time::Duration;

/// The time that a call waits for the connections of a backend: most requests take less, and then one call
/// is enough.
const DRAIN_WAIT: Duration = Duration::from_millis(500);
/// When to ask again whether the connections of a backend have ended.
const DRAIN_POLL: Duration = Duration::from_secs(1);

/// The reference driver, for the cloud in memory.
#[derive(Debug, Clone)]
pub struct ClbDriver {
    cloud: Cloud,
    options: MockOptions,
}

impl Driver for ClbDriver {
    type LbSpec = LbSpec;
    type LbInfo = LbInfo;
    type Attributes = Attributes;
    type Parameters = Parameters;
    /// The driver's own addresses are JSON; users may write anything as a static one.
    type BackendAddr = String;

    fn schemas(&self) -> DriverSchemas {
        DriverSchemas::of::<Self>()
    }

    /// Rejects a load balancer that does not exist, and changes that the cloud does not support.
    async fn validate_load_balancer(
        &self,
        request: ValidateLoadBalancer<Self>,
    ) -> Result<(), Rejection> {
        let attributes = request.attributes;
        if let Some(old) = request.old_attributes
            && old.is_prepaid() != attributes.is_prepaid()
        {
            let new = attributes.charge_type.unwrap_or_default();
            return Err(SetAttributesError::ChargeType(new).into());
        }
        if let LbSpec::Existing(lb_info) = request.lb_spec {
            match self.cloud.find(&lb_info.into()) {
                Err(CloudError::Rejected(not_found)) => return Err(not_found.into()),
                // During an outage the load balancer is accepted: the controller retries
                // createLoadBalancer, but it does not retry the user's request.
                Ok(()) | Err(CloudError::Unavailable(_)) => {}
            }
        }
        Ok(())
    }

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<LbInfo, HookError> {
        let cloud = self.cloud.for_call(request.dry_run);
        // The recordID is the same in each try, so it serves as the client token: the cloud returns
        // what it has created for the token before, even if another process asked for it.
        let token = &request.record_id;
        let attributes = fields::write("attributes", &request.attributes)?;
        match request.lb_spec {
            LbSpec::Existing(lb_info) => {
                let endpoint = cloud.take_into_use(token, &lb_info.into(), attributes)?;
                Ok(endpoint.into())
            }
            LbSpec::New(new) => {
                match cloud.create(token, new.into(), attributes, self.options.creation())? {
                    Creation::Done(endpoint) => Ok(endpoint.into()),
                    Creation::Running { stage, remaining } => {
                        let running = HookError::running(stage.to_string());
                        // The wire counts in seconds. Without a delay the controller waits as long as
                        // it does by default, which may be far longer than a short stage.
                        Err(match remaining.filter(|_| self.options.name_delays) {
                            Some(time) => running.retry_after(time.max(Duration::from_secs(1))),
                            None => running,
                        })
                    }
                }
            }
        }
    }

    async fn ensure_load_balancer(
        &self,
        request: EnsureLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let cloud = self.cloud.for_call(request.dry_run);
        let attributes = fields::write("attributes", &request.attributes)?;
        let set = cloud.set_attributes(&request.lb_info.into(), attributes);
        Ok(set?)
    }

    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let cloud = self.cloud.for_call(request.dry_run);
        if let Some(lb_info) = request.lb_info {
            ignore_not_found(cloud.release(&request.record_id, &lb_info.into()))?;
        } else if let Some(token) = creation_token(&request.record_id) {
            // The controller has no identity: none was returned, or the response was lost. What was begun is
            // found by its token.
            cloud.cancel(&token)?;
        }
        Ok(())
    }

    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        request.target().map(BackendAddress::write)
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let cloud = self.cloud.for_call(request.dry_run);
        only(bind(&cloud, vec![request]))
    }

    async fn ensure_backends(
        &self,
        batch: Vec<EnsureBackend<Self>>,
    ) -> Vec<Result<StringMap, HookError>> {
        bind(&self.cloud, batch)
    }

    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        let cloud = self.cloud.for_call(request.dry_run);
        only(unbind(&cloud, vec![request]).await)
    }

    async fn deregister_backends(
        &self,
        batch: Vec<DeregisterBackend<Self>>,
    ) -> Vec<Result<(), HookError>> {
        unbind(&self.cloud, batch).await
    }

    async fn judge_pod_deregister(
        &self,
        request: JudgePodDeregister,
    ) -> Result<Vec<KubernetesObject>, Rejection> {
        Ok(stay_registered(&request.not_ready_pods))
    }

    async fn list_backends(
        &self,
        request: ListBackends<Self>,
    ) -> Result<Vec<ListedBackend<Self>>, HookError> {
        let targets = self.cloud.targets(&request.lb_info.into())?;
        let targets = targets.into_iter();
        Ok(targets
            .map(|(address, it)| listed(address, it.record_id, &it.parameters))
            .collect())
    }

    /// Serialises the changes of one CLB instance: this cloud would not need it, but most clouds
    /// reject concurrent changes of an instance.
    fn serial_key(
        &self,
        webhook: WebhookInfo,
        load_balancer: LoadBalancer<&LbSpec, &LbInfo>,
    ) -> Option<String> {
        if !webhook.changes_load_balancer() {
            return None;
        }
        match load_balancer {
            LoadBalancer::Wanted(LbSpec::Existing(lb_info)) | LoadBalancer::Created(lb_info) => {
                Some(lb_info.load_balancer.clone())
            }
            LoadBalancer::Wanted(LbSpec::New(_)) => None,
        }
    }

    /// As many as one call of RegisterTargets takes.
    fn batch_size(&self, _: WebhookInfo) -> usize {
        self.options.batch_size.unwrap_or(20)
    }

    fn accepts_dry_run(&self) -> bool {
        true
    }

    /// A target that is bound again keeps the connections that drain.
    fn cancels_deregistrations(&self) -> bool {
        true
    }
}

impl ClbDriver {
    /// A driver for this cloud.
    #[must_use]
    pub const fn new(cloud: Cloud, options: MockOptions) -> Self {
        Self { cloud, options }
    }
}

impl MockedDriver for ClbDriver {
    fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    fn options(&self) -> &MockOptions {
        &self.options
    }

    fn fixture(&self) -> &'static str {
        include_str!("../conformance.yaml")
    }
}

/// Binds targets in one call. One that is not usable is not in the call, and fails alone.
fn bind(cloud: &Cloud, batch: Vec<EnsureBackend<ClbDriver>>) -> Vec<Result<StringMap, HookError>> {
    let targets: Vec<_> = batch.into_iter().map(target).collect();
    let usable: Vec<_> = targets.iter().flatten().cloned().collect();
    let bound = cloud.bind_all(&usable).map_err(HookError::from);
    let mut bound = bound.map(Vec::into_iter);
    let outcomes = targets.into_iter().map(|target| {
        target?;
        // What is about the whole call holds for each.
        let each = bound.as_mut().map_err(|error| error.clone())?;
        each.next().transpose().map_err(CloudError::Rejected)?;
        // The address is enough to find the target again: no injectedInfo is needed.
        Ok(StringMap::new())
    });
    outcomes.collect()
}

fn target(request: EnsureBackend<ClbDriver>) -> Result<(Endpoint, String, Target), HookError> {
    usable(&request.backend_addr)?;
    let target = Target {
        weight: request.parameters.weight(),
        parameters: fields::write("parameters", &request.parameters)?,
        record_id: Some(request.record_id),
    };
    Ok((request.lb_info.into(), request.backend_addr, target))
}

/// Unbinds targets in one call. Not registered, or no such load balancer: either is a success.
async fn unbind(
    cloud: &Cloud,
    batch: Vec<DeregisterBackend<ClbDriver>>,
) -> Vec<Result<(), HookError>> {
    let targets = batch.into_iter();
    let targets = targets.map(|it| (it.lb_info.into(), it.backend_addr));
    let targets: Vec<(Endpoint, String)> = targets.collect();
    if let Err(error) = cloud.unbind_all(&targets) {
        return vec![Err(error.into()); targets.len()];
    }
    // One that drains makes no other wait.
    let targets = targets.iter();
    join_all(targets.map(|(endpoint, address)| drained(cloud, endpoint, address))).await
}

/// Waits for the connections of a target that was unbound. The cloud knows what is open, so a restarted driver
/// replies the same.
async fn drained(cloud: &Cloud, endpoint: &Endpoint, address: &str) -> Result<(), HookError> {
    match cloud.drained(endpoint, address, DRAIN_WAIT).await {
        None => Ok(()),
        Some(Draining { open, remaining }) => {
            let running = HookError::running(format!("{open} connections are draining"));
            Err(running.retry_after(remaining.min(DRAIN_POLL)))
        }
    }
}

/// The client token of the creation that a `deleteLoadBalancer` undoes, if its recordID has the form
/// `deleteLoadBalancer(<object>)`.
fn creation_token(record_id: &str) -> Option<String> {
    let object = record_id.strip_prefix("deleteLoadBalancer")?;
    Some(format!("createLoadBalancer{object}"))
}
