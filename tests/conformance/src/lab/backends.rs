//! Backends of the types that the driver supports, not registered yet.

use super::{Lab, sources};
use crate::call::{Backend, LoadBalancer, Source};
use crate::classification::Feature;
use lbcf_driver_sdk::webhook::StringMap;

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

    /// A backend without an address: a pod, or another type that the driver supports.
    pub(crate) fn backend(&self, load_balancer: &LoadBalancer) -> Backend {
        if self.has(Feature::PodBackends) {
            self.pod_backend(load_balancer)
        } else if self.has(Feature::ServiceBackends) {
            self.service_backend(load_balancer)
        } else {
            self.backend_of(load_balancer, Source::Static)
        }
    }

    /// A backend with an address that is not registered, for calls about unknown backends.
    pub(crate) fn unknown_backend(&self, load_balancer: &LoadBalancer) -> Backend {
        Backend {
            addr: self.fixture().backend.unknown_addr.clone(),
            ..self.backend(load_balancer)
        }
    }

    /// A backend from this source, without an address.
    pub(crate) fn backend_of(&self, load_balancer: &LoadBalancer, source: Source) -> Backend {
        let parameters = self.fixture().backend.parameters.valid.first();
        let mut backend = Backend {
            uid: self.uid(),
            source,
            lb_info: load_balancer.lb_info.clone(),
            lb_attributes: load_balancer.sample.attributes.clone(),
            addr: String::new(),
            parameters: parameters.map(|map| self.filled(map)).unwrap_or_default(),
            injected_info: StringMap::new(),
        };
        if backend.source == Source::Static {
            let addresses = &self.fixture().backend.static_addrs;
            let n = self.next();
            let index = usize::try_from(n).unwrap_or_default();
            backend.addr = match addresses.len() {
                0 => self.addresses().fixed(n),
                count => addresses[index % count].clone(),
            };
        }
        backend
    }

    /// The addresses of this check's backends.
    pub(crate) const fn addresses(&self) -> sources::Addresses {
        sources::Addresses { check: self.index }
    }

    pub(crate) fn has_backends(&self) -> bool {
        !self.backend_types().is_empty()
    }

    /// True if the driver generates addresses, which it does not for static backends.
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
        let name = format!("{}-{n}", self.check.to_ascii_lowercase());
        (n, self.uid(), name)
    }
}
