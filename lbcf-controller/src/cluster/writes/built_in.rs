//! Writes to kinds of Kubernetes: the condition of a pod's readiness gate, and a Service's annotation,
//! finalizer and addresses of load balancers.

use super::{Patched, Target, WriteError, Writer};
use crate::api::names::{ANNOTATION_SERVICE_CLASS, FINALIZER_SERVICE, READINESS_GATE};
use crate::api::reasons::ReportReason;
use crate::index::{Ingress, PodView, ServiceView};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::Resource;
use serde_json::{Value, json};

/// The condition of a pod's readiness gate, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GateCondition {
    pub(crate) is_true: bool,
    pub(crate) reason: &'static ReportReason,
    pub(crate) message: String,
}

impl Writer {
    /// Sets the condition of a pod's readiness gate; returns the pod's state.
    ///
    /// The patch names the pod's uid, but no version: the kubelet writes the other conditions at the same
    /// time, and a strategic merge patch leaves them as they are.
    pub(crate) async fn pod_gate(
        &self,
        pod: &PodView,
        condition: &GateCondition,
        now: Timestamp,
    ) -> Result<PodView, WriteError> {
        let target = Target {
            kind: Pod::kind(&()).into_owned(),
            url_path: Pod::url_path(&(), Some(&pod.key.namespace)),
            key: pod.key.clone(),
            uid: Some(pod.uid.clone()),
            resource_version: None,
        };
        let patch = json!({
            "status": {"conditions": [{
                "type": READINESS_GATE,
                "status": if condition.is_true { "True" } else { "False" },
                "reason": **condition.reason,
                "message": condition.message,
                "lastTransitionTime": format!("{now:.0}"),
            }]},
        });
        self.patch(target, patch, Patched::PartOfStatus).await
    }

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
        self.patch(target(service), patch, Patched::Object).await
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
        self.patch(target(service), patch, Patched::Status).await
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
