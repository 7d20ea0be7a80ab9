//! Bind.

use crate::admission::cluster_reader::ClusterReader;
use crate::admission::denial::{Denial, all_of};
use crate::admission::object::ObjectChange;
use crate::admission::rules::validate_bind;
use crate::admission::validation_context::ValidationContext;
use crate::api::{BindSpec, BindStatus, LoadBalancerDriver, TargetLoadBalancer};
use futures::future::join_all;
use lbcf_driver_sdk::webhook::{Operation, StringMap, ValidateBackend, ValidateLoadBalancer};
use serde::Deserialize;

pub(super) async fn stored<S: ClusterReader>(
    change: &ObjectChange<BindSpec>,
    context: &ValidationContext<'_, S>,
) -> Result<(), Denial> {
    validate_bind(&change.new, change.old.as_ref()).into_result()?;
    let checks = LoadBalancerChecks { change, context };
    let lbs = change.new.read.load_balancers.iter().enumerate();
    let lbs = join_all(lbs.map(|(i, lb)| checks.one(i, lb)));
    let (webhook, lbs) = tokio::join!(change.check_deregister_driver(context), lbs);
    all_of(std::iter::once(webhook).chain(lbs.into_iter().flatten()))
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
        let (new_backends, old_backends) = self.change.backends();
        let is_same = old_backends.is_some_and(|old| old.is_same_on_the_wire(&new_backends));
        let backends_changed = before.is_none() || !is_same;
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
            match lb_changed {
                true => self.validate_load_balancer(&driver, lb, before).await,
                false => Ok(()),
            }
        };
        let backends = async {
            match backends_changed {
                true => self.validate_backends(&driver, lb).await,
                false => Ok(()),
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
        let bind = &self.change.key;
        let request = ValidateLoadBalancer {
            dry_run: self.context.is_dry_run(),
            namespace: bind.namespace.to_string(),
            name: bind.name.to_string(),
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
    ) -> Result<(), Denial> {
        let request = self
            .change
            .backend_request(self.identity(lb), self.context.is_dry_run());
        let name = &lb.name;
        let failed = format!("call webhook validateBackend for LoadBalancer {name} failed");
        let rejected = format!("backend parameters for LoadBalancer {name} is invalid");
        self.context
            .validate::<ValidateBackend>(driver, &request, &failed, &rejected)
            .await
    }

    /// The load balancer's identity; its spec until it is created.
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
