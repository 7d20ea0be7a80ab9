//! BackendGroups and Binds as owners of BackendRecords.

use super::{
    BackendGroup, Bind, DeregisterPolicy, DeregisterWebhook, EnsurePolicy, PodSelection,
    PortSelector, ServiceMode, ServiceSelection, StringMap,
};
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;
use kube::api::ObjectMeta;

/// An object that selects backends. Pods take precedence over a Service, and a Service over addresses,
/// where several are set.
pub(crate) trait BackendOwner: Send + Sync {
    fn metadata(&self) -> &ObjectMeta;

    /// The reference of events to it.
    fn reference(&self) -> ObjectReference;

    /// The reference of records to it; none if the API server has not stored it.
    fn owner_reference(&self) -> Option<OwnerReference>;

    fn pods(&self) -> Option<&PodSelection>;

    /// The ports of its pods, in the fields that its kind has for them.
    fn pod_ports(&self) -> Vec<&PortSelector>;

    /// None where it selects pods.
    fn service(&self) -> Option<&ServiceSelection>;

    /// The addresses in its spec, if its kind may have them.
    fn static_addresses(&self) -> &[String];

    fn parameters(&self) -> &StringMap;

    fn ensure_policy(&self) -> Option<EnsurePolicy>;

    fn deregister_policy(&self) -> Option<DeregisterPolicy>;

    /// The number of backends that stay registered, ready or not.
    fn min_registered(&self) -> usize;

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
            fn metadata(&self) -> &ObjectMeta {
                &self.metadata
            }

            fn reference(&self) -> ObjectReference {
                self.object_ref(&())
            }

            fn owner_reference(&self) -> Option<OwnerReference> {
                Some(OwnerReference {
                    block_owner_deletion: Some(true),
                    ..self.controller_owner_ref(&())?
                })
            }

            fn pods(&self) -> Option<&PodSelection> {
                self.spec.pods.as_ref()
            }

            fn pod_ports(&self) -> Vec<&PortSelector> {
                self.spec.pod_ports()
            }

            fn service(&self) -> Option<&ServiceSelection> {
                let service = self.spec.service.as_ref();
                service.filter(|_| self.spec.pods.is_none())
            }

            fn static_addresses(&self) -> &[String] {
                self.spec.static_addresses()
            }

            fn parameters(&self) -> &StringMap {
                &self.spec.parameters
            }

            fn ensure_policy(&self) -> Option<EnsurePolicy> {
                self.spec.ensure_policy()
            }

            fn deregister_policy(&self) -> Option<DeregisterPolicy> {
                self.spec.deregister_policy
            }

            fn min_registered(&self) -> usize {
                self.spec.min_registered()
            }

            fn deregister_webhook(&self) -> Option<&DeregisterWebhook> {
                self.spec.deregister_webhook.as_ref()
            }
        }
    };
}

backend_owner!(BackendGroup);
backend_owner!(Bind);
