//! The pod behind a record, whole, as drivers know it.

use crate::api::BackendRecord;
use crate::context::Context;
use crate::error_text::in_full;
use crate::index::PodView;
use crate::names;
use crate::work::Progress;
use k8s_openapi::api::core::v1::Pod;
use kube::api::Api;
use lbcf_driver_sdk::webhook::{BackendPort, PodBackend};

/// The pod as the API server has it now. None where it is not, or no longer, the pod that the
/// record was made for, or may not be registered (b120).
pub(super) async fn fetch_pod(
    context: &Context,
    record: &BackendRecord,
) -> Result<Option<PodBackend>, Progress> {
    let Some(backend) = &record.spec.pod_backend else {
        return Ok(None);
    };
    let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), namespace);
    let fetch = pods.get_opt(&backend.name);
    let pod = match tokio::time::timeout(context.options.write_timeout, fetch).await {
        Ok(Ok(Some(pod))) => pod,
        Ok(Ok(None)) => return Ok(None),
        Ok(Err(error)) => {
            tracing::warn!(pod = %backend.name, error = in_full(&error), "fetching a pod failed; trying again");
            return Err(Progress::Retry(None));
        }
        Err(_) => {
            tracing::warn!(pod = %backend.name, "fetching a pod took too long; trying again");
            return Err(Progress::Retry(None));
        }
    };
    let port = BackendPort {
        port: backend.port.number(),
        protocol: backend.port.protocol(),
    };
    let is_the_one = record_name(record, &pod, port) == record.metadata.name;
    let may_be_registered = is_the_one && PodView::of(&pod).is_available();
    Ok(may_be_registered.then_some(PodBackend { pod, port }))
}

/// The name of this pod's record: its uid is in it, so a namesake's is another one (b45).
fn record_name(record: &BackendRecord, pod: &Pod, port: BackendPort) -> Option<String> {
    let group = record.metadata.owner_references.iter().flatten().next()?;
    Some(names::pod_record_name(
        &record.spec.lb_name,
        &group.name,
        pod.metadata.uid.as_deref()?,
        port.port,
        port.protocol.as_str(),
    ))
}
