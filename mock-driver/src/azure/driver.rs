//! The driver for this cloud: its webhooks, and the order of the steps.
//!
//! It keeps nothing in memory. A step that is done has nothing to write, so a driver that ended between
//! two steps begins at the first, and the cloud is the memory of how far it came. What belongs to an
//! object of the cluster is found by its name and tags (`naming.rs`).

pub(super) mod steps;

use super::fields::{AzureAttributes, AzureLbInfo, AzureLbSpec, AzureParameters};
use super::naming::{self, CLUSTER, resource_group};
use super::plan::Service;
use crate::backend_address::{BackendAddress, usable};
use crate::cloud::{AzureApi, Cloud};
use crate::drivers::{MockedDriver, listed, only, stay_registered};
use crate::options::MockOptions;
use crate::resources::azure::Member;
use lbcf_driver_sdk::fields::DriverSchemas;
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, ListBackends, ListedBackend, ValidateLoadBalancer,
};
use lbcf_driver_sdk::webhook::{
    JudgePodDeregister, KubernetesObject, LoadBalancer, StringMap, WebhookInfo,
};
use lbcf_driver_sdk::{Driver, HookError, Reason, Rejection, fields};
use steps::{PoolChange, Steps};

/// The reference driver for the profile `azure`.
#[derive(Debug, Clone)]
pub struct AzureDriver {
    cloud: Cloud,
    options: MockOptions,
    is_serial: bool,
}

impl Driver for AzureDriver {
    type LbSpec = AzureLbSpec;
    type LbInfo = AzureLbInfo;
    type Attributes = AzureAttributes;
    type Parameters = AzureParameters;
    /// The driver's own addresses are JSON; users may write anything as a static one.
    type BackendAddr = String;

    fn schemas(&self) -> DriverSchemas {
        DriverSchemas::of::<Self>()
    }

    async fn validate_load_balancer(
        &self,
        request: ValidateLoadBalancer<Self>,
    ) -> Result<(), Rejection> {
        if let Some(old) = request.old_attributes.as_ref().map(resource_group) {
            stays_in(old, &request.attributes)?;
        }
        let steps = self.steps(false);
        steps.validate(&request.lb_spec, &request.attributes)
    }

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<AzureLbInfo, HookError> {
        let service = Service {
            frontend: naming::frontend(request.object_id()),
            resource_group: resource_group(&request.attributes).to_owned(),
            spec: request.lb_spec,
            attributes: request.attributes,
        };
        let address = self.steps(request.dry_run).ensure(&service).await?;
        let Service {
            frontend,
            resource_group,
            spec,
            ..
        } = service;
        Ok(AzureLbInfo::new(frontend, resource_group, spec, address))
    }

    async fn ensure_load_balancer(
        &self,
        request: EnsureLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        stays_in(&request.lb_info.resource_group, &request.attributes)?;
        let spec = request.lb_info.spec();
        let service = Service {
            frontend: request.lb_info.frontend,
            resource_group: request.lb_info.resource_group,
            spec,
            attributes: request.attributes,
        };
        let steps = self.steps(request.dry_run);
        steps.check_exists(&service)?;
        steps.ensure(&service).await.map(drop)
    }

    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let steps = self.steps(request.dry_run);
        let (frontend, group) = match &request.lb_info {
            Some(lb_info) => (lb_info.frontend.clone(), lb_info.resource_group.clone()),
            // Deleted before the creation has returned an identity: its name follows from the object.
            None => {
                let attributes = request.attributes.clone().unwrap_or_default();
                let group = resource_group(&attributes).to_owned();
                (naming::frontend(request.object_id()), group)
            }
        };
        steps.delete(&frontend, &group).await
    }

    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        request.target().map(BackendAddress::write)
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let steps = self.steps(request.dry_run);
        only(join(&steps, vec![request]).await)
    }

    async fn ensure_backends(
        &self,
        batch: Vec<EnsureBackend<Self>>,
    ) -> Vec<Result<StringMap, HookError>> {
        join(&self.steps(false), batch).await
    }

    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        let steps = self.steps(request.dry_run);
        only(leave(&steps, vec![request]).await)
    }

    async fn deregister_backends(
        &self,
        batch: Vec<DeregisterBackend<Self>>,
    ) -> Vec<Result<(), HookError>> {
        leave(&self.steps(false), batch).await
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
        let members = self.steps(false).members(&request.lb_info)?.into_iter();
        Ok(members
            .map(|(address, it)| listed(address, it.record_id, &it.parameters))
            .collect())
    }

    /// One worker changes the cloud at a time, because services share load balancers and the security
    /// group. Another process is noticed by the etags.
    fn serial_key(
        &self,
        webhook: WebhookInfo,
        _load_balancer: LoadBalancer<&AzureLbSpec, &AzureLbInfo>,
    ) -> Option<String> {
        let serial = self.is_serial && webhook.changes_load_balancer();
        serial.then(|| CLUSTER.name.to_owned())
    }

    /// A write replaces a load balancer with everything on it, so there is no limit but its size.
    fn batch_size(&self, _: WebhookInfo) -> usize {
        self.options.batch_size.unwrap_or(100)
    }

    fn accepts_dry_run(&self) -> bool {
        true
    }

    /// Nothing but its next call continues a deregistration, so a member that is put back stays.
    fn cancels_deregistrations(&self) -> bool {
        true
    }
}

impl AzureDriver {
    /// A driver for this cloud.
    #[must_use]
    pub const fn new(cloud: Cloud, options: MockOptions) -> Self {
        Self {
            cloud,
            options,
            is_serial: true,
        }
    }

    /// The driver without a serial key, to see what happens then.
    #[must_use]
    pub const fn without_serial_key(mut self) -> Self {
        self.is_serial = false;
        self
    }

    fn steps(&self, dry_run: bool) -> Steps {
        let cloud = self.cloud.for_call(dry_run);
        Steps::new(AzureApi::new(cloud, self.options.stage_duration))
    }
}

impl MockedDriver for AzureDriver {
    fn cloud(&self) -> &Cloud {
        &self.cloud
    }

    fn options(&self) -> &MockOptions {
        &self.options
    }

    fn fixture(&self) -> &'static str {
        include_str!("../../azure/conformance.yaml")
    }
}

/// Puts backends into the pools of their services. One that is not usable fails alone.
async fn join(
    steps: &Steps,
    batch: Vec<EnsureBackend<AzureDriver>>,
) -> Vec<Result<StringMap, HookError>> {
    let changes: Vec<_> = batch.into_iter().map(member).collect();
    let usable: Vec<_> = changes.iter().flatten().cloned().collect();
    let mut pools = steps.change_pools(&usable).await.into_iter();
    let outcomes = changes.into_iter().map(|change| {
        let change = change?;
        match pools.next().transpose()? {
            Some(1..) => Ok(StringMap::new()),
            _ => Err(steps::no_frontend(&change.frontend)),
        }
    });
    outcomes.collect()
}

/// A load balancer does not move to another resource group.
fn stays_in(group: &str, attributes: &AzureAttributes) -> Result<(), HookError> {
    let new = resource_group(attributes);
    if new == group {
        return Ok(());
    }
    let problem = format!(
        "attributes.azure-load-balancer-resource-group: {new:?}: a load balancer cannot move from {group:?}"
    );
    Err(HookError::new(Reason::InvalidArgument, problem))
}

fn member(request: EnsureBackend<AzureDriver>) -> Result<PoolChange, HookError> {
    usable(&request.backend_addr)?;
    let member = Member {
        parameters: fields::write("parameters", &request.parameters)?,
        record_id: Some(request.record_id),
    };
    Ok(PoolChange {
        frontend: request.lb_info.frontend,
        group: request.lb_info.resource_group,
        address: request.backend_addr,
        member: Some(member),
    })
}

async fn leave(
    steps: &Steps,
    batch: Vec<DeregisterBackend<AzureDriver>>,
) -> Vec<Result<(), HookError>> {
    let changes = batch.into_iter().map(|request| PoolChange {
        frontend: request.lb_info.frontend,
        group: request.lb_info.resource_group,
        address: request.backend_addr,
        member: None,
    });
    let pools = steps.change_pools(&changes.collect::<Vec<_>>()).await;
    pools.into_iter().map(|pools| pools.map(drop)).collect()
}
