//! Bind (b93 to b98).

use super::Change;
use super::backend_group::judge;
use crate::admission::ask::{Asking, NotPassed};
use crate::admission::known::Known;
use crate::admission::refusal::{Denial, all_of, unless_none};
use crate::admission::rules::validate_bind;
use crate::api::{BindSpec, BindStatus, LoadBalancerDriver, TargetLoadBalancer};
use futures::future::join_all;
use lbcf_driver_sdk::webhook::{
    BackendType, Operation, StringMap, ValidateBackend, ValidateBackendRequest,
    ValidateLoadBalancer, ValidateLoadBalancerRequest,
};
use serde::Deserialize;

pub(super) async fn stored<S: Known>(
    change: &Change<BindSpec>,
    ask: &Asking<'_, S>,
) -> Result<(), Denial> {
    let new = &change.new.read;
    let old = change.old.as_ref().map(|old| &old.read);
    unless_none(&validate_bind(
        change.new.parts(),
        change.old.as_ref().map(|old| old.parts()),
    ))?;

    let judge = judge(
        new.deregister_policy,
        new.deregister_webhook.as_ref(),
        old.map(|old| (old.deregister_policy, old.deregister_webhook.as_ref())),
        &change.key,
        ask,
    );
    let target = Targets { change, ask };
    let lbs = join_all(
        new.load_balancers
            .iter()
            .enumerate()
            .map(|(i, lb)| target.one(i, lb)),
    );
    let (judge, lbs) = tokio::join!(judge, lbs);
    all_of(std::iter::once(judge).chain(lbs.into_iter().flatten()))
}

/// The load balancers of a Bind that is stored.
struct Targets<'a, S> {
    change: &'a Change<BindSpec>,
    ask: &'a Asking<'a, S>,
}

impl<S: Known> Targets<'_, S> {
    /// What speaks against one load balancer, and against its backends.
    async fn one(&self, i: usize, lb: &TargetLoadBalancer) -> [Result<(), Denial>; 2] {
        let old = self.change.old.as_ref().map(|old| &old.read);
        let before = old.and_then(|old| old.load_balancers.iter().find(|old| old.name == lb.name));
        // The driver is asked about what it sees of the change.
        let lb_changed = before.is_none_or(|before| before.attributes != lb.attributes);
        let parameters_changed =
            old.is_none_or(|old| old.parameters != self.change.new.read.parameters);
        let backends_changed = before.is_none() || parameters_changed;
        if !lb_changed && !backends_changed {
            return [Ok(()), Ok(())];
        }
        let field = format!("spec.loadBalancers[{i}].driver");
        let namespace = &self.change.key.namespace;
        let driver = if before.is_none() {
            self.ask.driver_for_new(&field, namespace, &lb.driver).await
        } else {
            self.ask.driver(&field, namespace, &lb.driver).await
        };
        let driver = match driver {
            Ok(driver) => driver,
            Err(denial) => return [Err(denial), Ok(())],
        };
        let about_lb = async {
            if lb_changed {
                self.ask_about_lb(&driver, lb, before).await
            } else {
                Ok(())
            }
        };
        let about_backends = async {
            if backends_changed {
                self.ask_about_backends(&driver, lb, old).await
            } else {
                Ok(())
            }
        };
        tokio::join!(about_lb, about_backends).into()
    }

    async fn ask_about_lb(
        &self,
        driver: &LoadBalancerDriver,
        lb: &TargetLoadBalancer,
        before: Option<&TargetLoadBalancer>,
    ) -> Result<(), Denial> {
        let request = ValidateLoadBalancerRequest {
            dry_run: self.ask.rehearses(),
            lb_spec: lb.spec.to_wire(),
            // A load balancer that is added to a Bind is a new one.
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
        self.ask
            .verdict::<ValidateLoadBalancer>(driver, &request)
            .await
            .map_err(|not_passed| match not_passed {
                NotPassed::NoAnswer(error) => Denial::Unknown(format!(
                    "call webhook validateLoadBalancer for LoadBalancer {name} failed: {error}"
                )),
                NotPassed::Refused(message) => {
                    Denial::Refused(format!("LoadBalancer {name} is invalid: {message}"))
                }
            })
    }

    async fn ask_about_backends(
        &self,
        driver: &LoadBalancerDriver,
        lb: &TargetLoadBalancer,
        old: Option<&BindSpec>,
    ) -> Result<(), Denial> {
        let request = ValidateBackendRequest {
            dry_run: self.ask.rehearses(),
            backend_type: BackendType::Pod,
            lb_info: self.identity(lb),
            operation: if self.change.is_new() {
                Operation::Create
            } else {
                Operation::Update
            },
            parameters: self.change.new.read.parameters.to_wire(),
            old_parameters: old.map(|old| old.parameters.to_wire()).unwrap_or_default(),
        };
        let name = &lb.name;
        self.ask
            .verdict::<ValidateBackend>(driver, &request)
            .await
            .map_err(|not_passed| match not_passed {
                NotPassed::NoAnswer(error) => Denial::Unknown(format!(
                    "call webhook validateBackend for LoadBalancer {name} failed: {error}"
                )),
                NotPassed::Refused(message) => Denial::Refused(format!(
                    "backend parameters for LoadBalancer {name} is invalid: {message}"
                )),
            })
    }

    /// The load balancer's identity; until it is created, what is known of it (b97).
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
