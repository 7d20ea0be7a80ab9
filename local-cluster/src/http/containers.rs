//! Subresources that take running containers, a network or another scheduler. This server has none of them, so
//! clients get the error of a cluster whose nodes are unreachable.

use axum::response::Response;
use http::StatusCode;

use super::response;
use super::subresource::Subresource;
use crate::object::text;
use crate::resources::Kind;
use crate::status::ApiError;
use crate::writer::Cluster;

/// The refusal of bindings.
pub(super) const NOT_BOUND: &str =
    "clients do not bind pods here, only the cluster's own scheduler";

/// Responds for an object that exists.
pub(super) fn respond(
    cluster: &Cluster,
    kind: &Kind,
    (namespace, name): (&str, &str),
    subresource: Option<Subresource>,
) -> Result<Response, ApiError> {
    let found = cluster.read(kind, namespace, name)?;
    if subresource == Some(Subresource::Binding) {
        return Err(ApiError::internal_because(NOT_BOUND));
    }
    let why = match subresource {
        Some(Subresource::Log) => {
            // Pods run nothing, so their logs are empty.
            let silence = response::bytes(StatusCode::OK, "text/plain", "");
            return Ok(silence);
        }
        Some(Subresource::Token) => "tokens of service accounts are not issued here",
        Some(Subresource::Proxy) => "nothing can be reached through the server here",
        _ => "pods run no containers here",
    };
    let is_placed = text(&found.object, &["spec", "nodeName"]).is_some_and(|node| !node.is_empty());
    if kind.is("", "pods") && !is_placed {
        return Err(ApiError::bad_request(format!(
            "pod {name} does not have a host assigned"
        )));
    }
    Err(ApiError::internal_because(why))
}
