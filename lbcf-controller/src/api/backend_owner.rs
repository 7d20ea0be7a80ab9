//! BackendGroups and Binds as owners of BackendRecords.

use super::{
    BackendGroup, Bind, DeregisterPolicy, DeregisterWebhook, PodSelection, ServiceMode,
    ServiceSelection,
};

/// An object that selects backends. Pods take precedence over a Service where both are set.
pub(crate) trait BackendOwner {
    fn pods(&self) -> Option<&PodSelection>;

    /// None where it selects pods.
    fn service(&self) -> Option<&ServiceSelection>;

    fn deregister_policy(&self) -> Option<DeregisterPolicy>;

    fn deregister_webhook(&self) -> Option<&DeregisterWebhook>;

    /// The Service whose endpoints are the backends.
    fn service_of_endpoints(&self) -> Option<&ServiceSelection> {
        let service = self.service();
        service.filter(|service| service.mode() == ServiceMode::Endpoints)
    }

    /// The Service whose node port is the backend.
    fn service_of_node_port(&self) -> Option<&ServiceSelection> {
        let service = self.service();
        service.filter(|service| service.mode() == ServiceMode::NodePort)
    }
}

macro_rules! backend_owner {
    ($kind:ty) => {
        impl BackendOwner for $kind {
            fn pods(&self) -> Option<&PodSelection> {
                self.spec.pods.as_ref()
            }

            fn service(&self) -> Option<&ServiceSelection> {
                let service = self.spec.service.as_ref();
                service.filter(|_| self.spec.pods.is_none())
            }

            fn deregister_policy(&self) -> Option<DeregisterPolicy> {
                self.spec.deregister_policy
            }

            fn deregister_webhook(&self) -> Option<&DeregisterWebhook> {
                self.spec.deregister_webhook.as_ref()
            }
        }
    };
}

backend_owner!(BackendGroup);
backend_owner!(Bind);
