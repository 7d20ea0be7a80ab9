//! Backends of the types that the driver supports.

use super::{Backend, Lab, LoadBalancer, sources};
use crate::check::Feature;

impl Lab {
    /// A pod as a backend, without an address.
    pub(crate) fn pod_backend(&self, load_balancer: &LoadBalancer) -> Backend {
        let (n, uid, name) = self.named();
        let template = self.fixture().backend.pod_template.as_ref();
        let source = sources::pod(template, &name, &uid, &self.addresses().pod(n));
        self.backend_of(load_balancer, source)
    }

    /// A service's node port as a backend, without an address.
    pub(crate) fn service_backend(&self, load_balancer: &LoadBalancer) -> Backend {
        let (n, uid, name) = self.named();
        self.backend_of(load_balancer, self.addresses().service(&name, &uid, n))
    }

    /// An endpoint of a service that is no pod, without an address.
    pub(crate) fn endpoint_backend(&self, load_balancer: &LoadBalancer) -> Backend {
        let n = self.next();
        self.backend_of(load_balancer, self.addresses().endpoint(n))
    }

    /// One backend of each type whose address the driver generates.
    pub(crate) fn generated_backends(&self, load_balancer: &LoadBalancer) -> Vec<Backend> {
        let mut backends = Vec::new();
        if self.has(Feature::PodBackends) {
            backends.push(self.pod_backend(load_balancer));
        }
        if self.has(Feature::ServiceBackends) {
            backends.push(self.service_backend(load_balancer));
        }
        backends
    }

    pub(crate) fn has_backends(&self) -> bool {
        !self.backend_types().is_empty()
    }

    /// Whether the driver generates addresses, which it does not for static backends.
    pub(crate) fn generates_addresses(&self) -> bool {
        self.has(Feature::PodBackends) || self.has(Feature::ServiceBackends)
    }

    /// The values of `backendType` that the features of the fixture include.
    pub(crate) fn backend_types(&self) -> Vec<&'static str> {
        [
            (Feature::PodBackends, "Pod"),
            (Feature::ServiceBackends, "Service"),
            (Feature::StaticBackends, "Static"),
        ]
        .into_iter()
        .filter_map(|(feature, name)| self.has(feature).then_some(name))
        .collect()
    }

    /// A number, a uid and a name for an object in Kubernetes.
    fn named(&self) -> (u32, String, String) {
        let n = self.next();
        let name = format!("{}-{n}", self.check.id.to_ascii_lowercase());
        (n, self.uid(), name)
    }
}
