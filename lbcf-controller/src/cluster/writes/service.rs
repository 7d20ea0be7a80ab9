//! What is written to Services: an annotation, a finalizer and the addresses of load balancers.

use super::{Target, WriteError, Writer, parsed};
use crate::api::names::{ANNOTATION_SERVICE_CLASS, FINALIZER_SERVICE};
use crate::index::{Ingress, ServiceView};
use k8s_openapi::api::core::v1::Service;
use kube::Resource;
use serde_json::{Value, json};

impl Writer {
    /// Sets the annotation with the class, or removes it, and adds or removes the finalizer, in one write.
    pub(crate) async fn service_marks(
        &self,
        service: &ServiceView,
        class: Option<&str>,
        has_finalizer: bool,
    ) -> Result<ServiceView, WriteError> {
        let known = service.load_balancer.as_deref();
        let finalizers = known.map(|part| part.finalizers.clone());
        let mut finalizers = finalizers.unwrap_or_default();
        finalizers.retain(|finalizer| finalizer != FINALIZER_SERVICE);
        if has_finalizer {
            finalizers.push(FINALIZER_SERVICE.to_owned());
        }
        let mut metadata = json!({"annotations": {ANNOTATION_SERVICE_CLASS: class}});
        if known.is_some_and(|part| part.has_finalizer()) != has_finalizer {
            metadata["finalizers"] = json!(finalizers);
        }
        let patch = json!({ "metadata": metadata });
        parsed(&self.patch(target(service), patch, false).await?)
    }

    /// Replaces the addresses in the status.
    pub(crate) async fn service_ingress(
        &self,
        service: &ServiceView,
        ingress: &[Ingress],
    ) -> Result<ServiceView, WriteError> {
        let ingress: Option<Vec<Value>> =
            (!ingress.is_empty()).then(|| ingress.iter().map(to_json).collect());
        let patch = json!({"status": {"loadBalancer": {"ingress": ingress}}});
        parsed(&self.patch(target(service), patch, true).await?)
    }
}

fn target(service: &ServiceView) -> Target {
    let part = service.load_balancer.as_deref();
    let version = (service.version != 0).then(|| service.version.to_string());
    Target {
        kind: Service::kind(&()).into_owned(),
        url_path: Service::url_path(&(), Some(&service.key.namespace)),
        key: service.key.clone(),
        uid: part.map(|part| part.uid.clone()),
        resource_version: version,
    }
}

fn to_json(ingress: &Ingress) -> Value {
    let ports = ingress.ports.iter();
    let ports = ports.map(|(port, protocol)| json!({"port": port, "protocol": protocol}));
    let mut entry = json!({ "ports": ports.collect::<Vec<_>>() });
    for (field, text) in [("ip", &ingress.ip), ("hostname", &ingress.hostname)] {
        if !text.is_empty() {
            entry[field] = json!(text);
        }
    }
    entry
}
