//! The backends of BackendGroups and Binds, as drivers validate them.

use crate::admission::cluster_reader::ClusterReader;
use crate::admission::denial::Denial;
use crate::admission::object::ObjectChange;
use crate::admission::validation_context::ValidationContext;
use crate::api::{
    BackendGroupSpec, BindSpec, DeregisterPolicy, DeregisterWebhook, PodSelection, ServiceMode,
    ServiceSelection, StringMap,
};
use lbcf_driver_sdk::webhook::{self, BackendType, ValidateBackend};

/// The part of a spec that selects backends.
pub(super) struct Backends<'a> {
    pods: Option<&'a PodSelection>,
    service: Option<&'a ServiceSelection>,
    parameters: &'a StringMap,
    policy: Option<DeregisterPolicy>,
    webhook: Option<&'a DeregisterWebhook>,
}

impl<'a> From<&'a BackendGroupSpec> for Backends<'a> {
    fn from(spec: &'a BackendGroupSpec) -> Self {
        Self {
            pods: spec.pods.as_ref(),
            service: spec.service.as_ref(),
            parameters: &spec.parameters,
            policy: spec.deregister_policy,
            webhook: spec.deregister_webhook.as_ref(),
        }
    }
}

impl<'a> From<&'a BindSpec> for Backends<'a> {
    fn from(spec: &'a BindSpec) -> Self {
        Self {
            pods: spec.pods.as_ref(),
            service: spec.service.as_ref(),
            parameters: &spec.parameters,
            policy: spec.deregister_policy,
            webhook: spec.deregister_webhook.as_ref(),
        }
    }
}

impl Backends<'_> {
    /// The type that a driver receives: endpoints are reached at addresses of their own, as pods are,
    /// and drivers know no fourth type.
    pub(super) fn type_on_the_wire(&self) -> BackendType {
        match (self.pods, self.service.map(ServiceSelection::mode)) {
            (Some(_), _) | (None, Some(ServiceMode::Endpoints)) => BackendType::Pod,
            (None, Some(ServiceMode::NodePort)) => BackendType::Service,
            (None, None) => BackendType::Static,
        }
    }

    /// True where a driver receives the same for both.
    pub(super) fn is_same_on_the_wire(&self, other: &Self) -> bool {
        self.parameters == other.parameters && self.type_on_the_wire() == other.type_on_the_wire()
    }

    /// The driver that decides about pods, if the policy uses it.
    fn deregister_driver(&self) -> Option<&str> {
        let webhook = self
            .webhook
            .filter(|_| self.policy == Some(DeregisterPolicy::Webhook));
        webhook.map(|webhook| webhook.driver_name.as_str())
    }
}

impl<S> ObjectChange<S> {
    pub(super) fn backends<'a>(&'a self) -> (Backends<'a>, Option<Backends<'a>>)
    where
        Backends<'a>: From<&'a S>,
    {
        let old = self.old.as_ref().map(|old| (&old.read).into());
        ((&self.new.read).into(), old)
    }

    /// The request to validate the backends of a load balancer with this identity.
    pub(super) fn backend_request<'a>(
        &'a self,
        lb_info: webhook::StringMap,
        dry_run: bool,
    ) -> ValidateBackend
    where
        Backends<'a>: From<&'a S>,
    {
        let (new, old) = self.backends();
        ValidateBackend {
            dry_run,
            namespace: self.key.namespace.to_string(),
            name: self.key.name.to_string(),
            backend_type: new.type_on_the_wire(),
            lb_info,
            operation: self.operation(),
            parameters: new.parameters.to_wire(),
            old_parameters: old.map(|old| old.parameters.to_wire()).unwrap_or_default(),
        }
    }

    /// The driver of a deregister webhook must exist when the webhook is set.
    pub(super) async fn check_deregister_driver<'a, C: ClusterReader>(
        &'a self,
        context: &ValidationContext<'_, C>,
    ) -> Result<(), Denial>
    where
        Backends<'a>: From<&'a S>,
    {
        let (new, old) = self.backends();
        let before = old.as_ref().and_then(Backends::deregister_driver);
        if let Some(name) = new.deregister_driver()
            && before != Some(name)
        {
            let field = "spec.deregisterWebhook.driverName";
            let namespace = &self.key.namespace;
            context.driver(field, namespace, name, true).await?;
        }
        Ok(())
    }
}
