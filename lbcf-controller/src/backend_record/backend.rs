//! The pod or service behind a record, whole, as drivers know it.

use crate::api::{BackendRecord, PodBackendRecord, ServiceBackendRecord};
use crate::backends::node_source;
use crate::context::Context;
use crate::error_text::in_full;
use crate::index::{PodView, ServiceView};
use crate::key::Owner;
use crate::names::{self, ANNOTATION_SOURCE};
use crate::work::Progress;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::Api;
use lbcf_driver_sdk::webhook::{
    BackendPort, GenerateBackendAddrRequest, PodBackend, ServiceBackend,
};

/// Puts the backend into the request, as the API server has it now. False where it is not, or no
/// longer, what the record was made for, or may not be registered (b120): the watch tells of that
/// too, and the record is replaced or woken.
pub(super) async fn fetch(
    context: &Context,
    record: &BackendRecord,
    request: &mut GenerateBackendAddrRequest,
) -> Result<bool, Progress> {
    if let Some(pod) = &record.spec.pod_backend {
        request.pod_backend = fetch_pod(context, record, pod).await?;
    } else if let Some(service) = &record.spec.service_backend {
        request.service_backend = fetch_service(context, record, service).await?;
    }
    Ok(request.pod_backend.is_some() || request.service_backend.is_some())
}

async fn fetch_pod(
    context: &Context,
    record: &BackendRecord,
    backend: &PodBackendRecord,
) -> Result<Option<PodBackend>, Progress> {
    let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), namespace);
    let Some(pod) = within(context, &backend.name, pods.get_opt(&backend.name)).await? else {
        return Ok(None);
    };
    let port = BackendPort {
        port: backend.port.number(),
        protocol: backend.port.protocol(),
    };
    let view = PodView::of(&pod);
    let may_be_registered = is_the_one(record, backend, &view) && view.is_available();
    Ok(may_be_registered.then_some(PodBackend { pod, port }))
}

/// Whether this is the pod that the record was made for. Its uid or its address is in the record's
/// name, so a namesake's is another one (b45, b48).
fn is_the_one(record: &BackendRecord, backend: &PodBackendRecord, pod: &PodView) -> bool {
    let name = record.metadata.name.as_deref().unwrap_or_default();
    let (lb, port) = (&record.spec.lb_name, backend.port.number());
    match Owner::of(record) {
        Some(Owner::Group(group)) => {
            let protocol = backend.port.protocol();
            names::pod_record_name(lb, &group.name, &pod.uid, port, protocol.as_str()) == name
        }
        Some(Owner::Bind(bind)) => {
            let protocol = backend.port.protocol.as_deref().unwrap_or_default();
            let (pod, ip) = (&pod.key.name, &pod.ip);
            names::bind_record_names(&bind.name, lb, pod, ip, protocol, port)
                .iter()
                .any(|known| known == name)
        }
        None => false,
    }
}

async fn fetch_service(
    context: &Context,
    record: &BackendRecord,
    backend: &ServiceBackendRecord,
) -> Result<Option<ServiceBackend>, Progress> {
    let Some(node) = context.index().get_node(&backend.node_name) else {
        return Ok(None);
    };
    // The addresses that the record stands for; another node's, or newer ones, make another record.
    let annotations = record.metadata.annotations.as_ref();
    let source = annotations.and_then(|annotations| annotations.get(ANNOTATION_SOURCE));
    if source.is_some_and(|source| *source != node_source(&node)) {
        return Ok(None);
    }
    let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
    let services: Api<Service> = Api::namespaced(context.client.clone(), namespace);
    let Some(service) = within(context, &backend.name, services.get_opt(&backend.name)).await?
    else {
        return Ok(None);
    };
    let port = BackendPort {
        port: backend.port.number(),
        protocol: backend.port.protocol(),
    };
    let node_port = ServiceView::of(&service).node_port(port.port, port.protocol.as_str());
    Ok(
        (node_port == Some(backend.node_port)).then(|| ServiceBackend {
            service,
            port,
            node_name: backend.node_name.clone(),
            node_addresses: node.addresses.clone(),
        }),
    )
}

async fn within<T>(
    context: &Context,
    name: &str,
    fetch: impl Future<Output = kube::Result<T>> + Send,
) -> Result<T, Progress> {
    match tokio::time::timeout(context.options.write_timeout, fetch).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => {
            let error = in_full(&error);
            tracing::warn!(name, error, "fetching a backend failed; trying again");
            Err(Progress::Retry(None))
        }
        Err(_) => {
            tracing::warn!(name, "fetching a backend took too long; trying again");
            Err(Progress::Retry(None))
        }
    }
}
