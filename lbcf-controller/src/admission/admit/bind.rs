//! Bind (b93 to b98, d77).

use super::ObjectChange;
use super::backend_group::{check_deregister_driver, deregister_driver};
use crate::admission::cluster_reader::ClusterReader;
use crate::admission::denial::{Denial, all_of};
use crate::admission::rules::{backend_type_on_the_wire, validate_bind};
use crate::admission::validation_context::ValidationContext;
use crate::api::{BindSpec, BindStatus, LoadBalancerDriver, TargetLoadBalancer};
use futures::future::join_all;
use lbcf_driver_sdk::webhook::{
    BackendType, Operation, StringMap, ValidateBackend, ValidateBackendRequest,
    ValidateLoadBalancer, ValidateLoadBalancerRequest,
};
use serde::Deserialize;

pub(super) async fn stored<S: ClusterReader>(
    change: &ObjectChange<BindSpec>,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    validate_bind(&change.new, change.old.as_ref()).into_result()?;

    let new = &change.new.read;
    let driver_of = |spec: &BindSpec| {
        deregister_driver(spec.deregister_policy, spec.deregister_webhook.as_ref())
    };
    let webhook = check_deregister_driver(
        driver_of(new),
        change.old.as_ref().and_then(|old| driver_of(&old.read)),
        &change.key,
        context,
    );
    let target = LoadBalancerChecks { change, context };
    let lbs = join_all(
        new.load_balancers
            .iter()
            .enumerate()
            .map(|(i, lb)| target.one(i, lb)),
    );
    let (webhook, lbs) = tokio::join!(webhook, lbs);
    all_of(std::iter::once(webhook).chain(lbs.into_iter().flatten()))
}

fn type_on_the_wire(spec: &BindSpec) -> BackendType {
    let backend_type = backend_type_on_the_wire(spec.pods.as_ref(), spec.service.as_ref());
    backend_type.unwrap_or(BackendType::Pod)
}

struct LoadBalancerChecks<'a, S> {
    change: &'a ObjectChange<BindSpec>,
    context: &'a ValidationContext<'a, S>,
}

impl<S: ClusterReader> LoadBalancerChecks<'_, S> {
    /// Checks one load balancer, and its backends.
    async fn one(&self, i: usize, lb: &TargetLoadBalancer) -> [Result<(), Denial>; 2] {
        let old = self.change.old.as_ref().map(|old| &old.read);
        let before = old.and_then(|old| old.load_balancers.iter().find(|old| old.name == lb.name));
        // Only what changed is validated again.
        let lb_changed = before.is_none_or(|before| before.attributes != lb.attributes);
        let new = &self.change.new.read;
        let backends_changed = before.is_none()
            || old.is_none_or(|old| {
                old.parameters != new.parameters || type_on_the_wire(old) != type_on_the_wire(new)
            });
        if !lb_changed && !backends_changed {
            return [Ok(()), Ok(())];
        }
        let field = format!("spec.loadBalancers[{i}].driver");
        let namespace = &self.change.key.namespace;
        let driver = self
            .context
            .driver(&field, namespace, &lb.driver, before.is_none());
        let driver = match driver.await {
            Ok(driver) => driver,
            Err(denial) => return [Err(denial), Ok(())],
        };
        let load_balancer = async {
            if lb_changed {
                self.validate_load_balancer(&driver, lb, before).await
            } else {
                Ok(())
            }
        };
        let backends = async {
            if backends_changed {
                self.validate_backends(&driver, lb, old).await
            } else {
                Ok(())
            }
        };
        tokio::join!(load_balancer, backends).into()
    }

    async fn validate_load_balancer(
        &self,
        driver: &LoadBalancerDriver,
        lb: &TargetLoadBalancer,
        before: Option<&TargetLoadBalancer>,
    ) -> Result<(), Denial> {
        let request = ValidateLoadBalancerRequest {
            dry_run: self.context.is_dry_run(),
            lb_spec: lb.spec.to_wire(),
            // A load balancer that is added to a Bind is new.
            operation: if before.is_none() {
                Operation::Create
            } else {
                Operation::Update
            },
            attributes: lb.attributes.to_wire(),
            old_attributes: before
                .map(|before| before.attributes.to_wire())
                .unwrap_or_default(),
        };
        let name = &lb.name;
        let failed = format!("call webhook validateLoadBalancer for LoadBalancer {name} failed");
        let rejected = format!("LoadBalancer {name} is invalid");
        self.context
            .validate::<ValidateLoadBalancer>(driver, &request, &failed, &rejected)
            .await
    }

    async fn validate_backends(
        &self,
        driver: &LoadBalancerDriver,
        lb: &TargetLoadBalancer,
        old: Option<&BindSpec>,
    ) -> Result<(), Denial> {
        let request = ValidateBackendRequest {
            dry_run: self.context.is_dry_run(),
            backend_type: type_on_the_wire(&self.change.new.read),
            lb_info: self.identity(lb),
            operation: self.change.operation(),
            parameters: self.change.new.read.parameters.to_wire(),
            old_parameters: old.map(|old| old.parameters.to_wire()).unwrap_or_default(),
        };
        let name = &lb.name;
        let failed = format!("call webhook validateBackend for LoadBalancer {name} failed");
        let rejected = format!("backend parameters for LoadBalancer {name} is invalid");
        self.context
            .validate::<ValidateBackend>(driver, &request, &failed, &rejected)
            .await
    }

    /// The load balancer's identity; its spec until it is created (b97).
    fn identity(&self, lb: &TargetLoadBalancer) -> StringMap {
        let status = self
            .change
            .stored
            .as_ref()
            .and_then(|stored| BindStatus::deserialize(stored.get("status")?).ok())
            .unwrap_or_default();
        status
            .load_balancer_statuses
            .iter()
            .find(|status| status.name == lb.name && !status.lb_info.is_empty())
            .map_or(&lb.spec, |status| &status.lb_info)
            .to_wire()
    }
}
