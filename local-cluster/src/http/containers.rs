//! What needs containers that run, or a network to them: there are none here, and clients are told so
//! the way they are told on a cluster whose nodes cannot be reached.

use axum::response::Response;
use http::StatusCode;

use super::answer;
use super::subresource::Subresource;
use crate::object::text;
use crate::resources::Kind;
use crate::status::ApiError;
use crate::writer::Cluster;

/// Answers for an object that is there.
pub(super) fn answer(
    cluster: &Cluster,
    kind: &Kind,
    (namespace, name): (&str, &str),
    subresource: Option<Subresource>,
) -> Result<Response, ApiError> {
    let found = cluster.read(kind, namespace, name)?;
    let why = match subresource {
        Some(Subresource::Log) => {
            // They say nothing, which is a log, too.
            let silence = answer::bytes(StatusCode::OK, "text/plain", "");
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
