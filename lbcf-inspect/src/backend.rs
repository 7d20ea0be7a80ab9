//! The backend of a BackendRecord, as a user knows it.

use crate::cluster::Object;

/// Its pod, node, endpoint or address.
pub(crate) fn backend(record: &Object) -> String {
    let text = |field: &str| record.text(&format!("/spec/{field}"));
    let port = record.at("/spec/podBackend/port/port");
    match [
        text("podBackend/name"),
        text("serviceBackend/nodeName"),
        text("endpointBackend/address"),
    ] {
        [pod, "", ""] if !pod.is_empty() => format!("Pod {pod} port {port}"),
        [_, node, ""] if !node.is_empty() => {
            format!("Service {} on Node {node}", text("serviceBackend/name"))
        }
        [_, _, address] if !address.is_empty() => {
            format!(
                "endpoint {address} of Service {}",
                text("endpointBackend/service")
            )
        }
        _ => text("staticAddr").to_owned(),
    }
}
