//! The condition of a pod's readiness gate, the only thing that is written to pods.

use super::{FIELD_MANAGER, Target, WriteError, Writer, parsed, unsendable};
use crate::api::names::READINESS_GATE;
use crate::index::PodView;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::Resource;
use kube::api::{Patch, PatchParams};
use kube::core::Request;
use serde_json::json;

/// What is written as the condition of a pod's readiness gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GateCondition {
    pub(crate) is_true: bool,
    pub(crate) reason: &'static str,
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
            "metadata": {"uid": target.uid},
            "status": {"conditions": [{
                "type": READINESS_GATE,
                "status": if condition.is_true { "True" } else { "False" },
                "reason": condition.reason,
                "message": condition.message,
                "lastTransitionTime": format!("{now:.0}"),
            }]},
        });
        self.check_dry_run("patch", &target, &patch)?;
        let params = PatchParams {
            field_manager: Some(FIELD_MANAGER.into()),
            ..PatchParams::default()
        };
        let patch = Patch::Strategic(patch);
        let request = Request::new(&target.url_path);
        let request = request.patch_subresource("status", &target.key.name, &params, &patch);
        let request = request.map_err(unsendable)?;
        let call = self.client.request_text(request);
        parsed(&self.measured(&target, "UpdateStatus", call).await?)
    }
}
