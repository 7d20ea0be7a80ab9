//! The driver for this cloud: its webhooks, and the order of the steps.
//!
//! It keeps nothing in memory. A step that is done has nothing to write, so a driver that ended between
//! two steps begins at the first, and the cloud is the memory of how far it came. What belongs to an
//! object of the cluster is found by its name and tags (`naming.rs`).

pub(super) mod steps;

use super::cloud::{AzureApi, Member};
use super::fields::{AzureAttributes, AzureLbInfo, AzureLbSpec, AzureParameters};
use super::naming::{self, CLUSTER};
use super::plan::Service;
use crate::MockOptions;
use crate::backend_addr::backend_addr;
use crate::cloud::Cloud;
use crate::not_ready_pods::{reference, stays_registered};
use crate::router::MockedDriver;
use k8s_openapi::api::core::v1::Pod;
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, ListBackends, ValidateLoadBalancer,
};
use lbcf_driver_sdk::webhook::{JudgePodDeregisterRequest, LoadBalancer, StringMap, WebhookInfo};
use lbcf_driver_sdk::{Driver, HookError, ListedBackend, Rejection, fields};
use steps::Steps;

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

    async fn validate_load_balancer(
        &self,
        request: ValidateLoadBalancer<Self>,
    ) -> Result<(), Rejection> {
        let group = |attributes: &AzureAttributes| resource_group(Some(attributes));
        if let Some(old) = &request.old_attributes
            && group(old) != group(&request.attributes)
        {
            return Err(Rejection::new(format!(
                "attributes.azure-load-balancer-resource-group: {:?}: a load balancer cannot move from {:?}",
                group(&request.attributes),
                group(old),
            )));
        }
        let steps = self.steps(false);
        steps.validate(&request.lb_spec, &request.attributes)
    }

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<AzureLbInfo, HookError> {
        let service = Service {
            frontend: naming::frontend(request.object()),
            resource_group: resource_group(Some(&request.attributes)),
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
            None => (
                naming::frontend(request.object()),
                resource_group(request.attributes.as_ref()),
            ),
        };
        steps.delete(&frontend, &group).await
    }

    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        request.target().map(backend_addr)
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let member = Member {
            parameters: fields::write("parameters", &request.parameters)?,
            record_id: Some(request.record_id.clone()),
        };
        let steps = self.steps(request.dry_run);
        let address = &request.backend_addr;
        let pools = steps
            .change_pool(&request.lb_info, |pool| {
                pool.members.insert(address.clone(), member.clone());
            })
            .await?;
        if pools == 0 {
            return Err(steps::no_frontend(&request.lb_info.frontend));
        }
        Ok(StringMap::new())
    }

    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        let steps = self.steps(request.dry_run);
        let address = &request.backend_addr;
        let change = |pool: &mut super::cloud::Pool| {
            pool.members.remove(address);
        };
        steps.change_pool(&request.lb_info, change).await.map(drop)
    }

    async fn judge_pod_deregister(
        &self,
        request: JudgePodDeregisterRequest,
    ) -> Result<Vec<Pod>, Rejection> {
        let pods = request.not_ready_pods.into_iter();
        Ok(pods.filter(stays_registered).map(reference).collect())
    }

    async fn list_backends(
        &self,
        request: ListBackends<Self>,
    ) -> Result<Vec<ListedBackend<Self>>, HookError> {
        let members = self.steps(false).members(&request.lb_info)?;
        Ok(members.into_iter().map(listed).collect())
    }

    /// One worker changes the cloud at a time, because services share load balancers and the security
    /// group (a6). Another process is noticed by the etags.
    fn serial_key(
        &self,
        webhook: WebhookInfo,
        _load_balancer: LoadBalancer<&AzureLbSpec, &AzureLbInfo>,
    ) -> Option<String> {
        let serial = self.is_serial && webhook.changes_load_balancer();
        serial.then(|| CLUSTER.name.to_owned())
    }

    fn accepts_dry_run(&self) -> bool {
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

    /// The steps on the cloud, or for a dry run on a copy.
    fn steps(&self, dry_run: bool) -> Steps {
        let cloud = if dry_run {
            self.cloud.snapshot()
        } else {
            self.cloud.clone()
        };
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

/// The group of a service's load balancer and public IP: the cluster's by default (a18).
fn resource_group(attributes: Option<&AzureAttributes>) -> String {
    let named = attributes.and_then(|it| it.azure_load_balancer_resource_group.as_deref());
    named.unwrap_or(CLUSTER.resource_group).to_owned()
}

fn listed((address, member): (String, Member)) -> ListedBackend<AzureDriver> {
    let mut listed = ListedBackend::new(address);
    listed.record_id = member.record_id;
    if !member.parameters.is_empty() {
        listed.parameters = fields::read("parameters", &member.parameters).ok();
    }
    listed
}
