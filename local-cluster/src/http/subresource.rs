//! Subresources: parts of objects, and actions on them, that have paths of their own.

use axum::response::Response;
use http::StatusCode;

use super::call::Call;
use super::response;
use crate::object::text;
use crate::resources::Kind;
use crate::status::ApiError;

/// The refusal of bindings.
pub(super) const NOT_BOUND: &str =
    "clients do not bind pods here, only the cluster's own scheduler";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subresource {
    Approval,
    Attach,
    Binding,
    Ephemeralcontainers,
    Eviction,
    Exec,
    Finalize,
    Log,
    Portforward,
    Proxy,
    Resize,
    Scale,
    Status,
    Token,
}

use Subresource::{
    Approval, Attach, Binding, Ephemeralcontainers, Eviction, Exec, Finalize, Log, Portforward,
    Proxy, Resize, Scale, Status, Token,
};

const CHANGE: &[&str] = &["get", "patch", "update"];
const CONNECT: &[&str] = &["create", "get"];

/// Names and verbs, sorted by name.
const ALL: [(Subresource, &str, &[&str]); 14] = [
    (Approval, "approval", CHANGE),
    (Attach, "attach", CONNECT),
    (Binding, "binding", &["create"]),
    (Ephemeralcontainers, "ephemeralcontainers", CHANGE),
    (Eviction, "eviction", &["create"]),
    (Exec, "exec", CONNECT),
    (Finalize, "finalize", &["update"]),
    (Log, "log", &["get"]),
    (Portforward, "portforward", CONNECT),
    (
        Proxy,
        "proxy",
        &["create", "delete", "get", "patch", "update"],
    ),
    (Resize, "resize", CHANGE),
    (Scale, "scale", CHANGE),
    (Status, "status", CHANGE),
    (Token, "token", &["create"]),
];

impl Subresource {
    /// The subresources of a kind, sorted by name.
    pub(super) fn all(kind: &Kind) -> impl Iterator<Item = Self> {
        let served = |subresource: &Self| match subresource {
            Status => kind.has_status,
            Scale => kind.scale().is_some(),
            Proxy => ["pods", "services", "nodes"]
                .iter()
                .any(|plural| kind.is("", plural)),
            Finalize => kind.is("", "namespaces"),
            Token => kind.is("", "serviceaccounts"),
            Approval => kind.is("certificates.k8s.io", "certificatesigningrequests"),
            _ => kind.is("", "pods"),
        };
        ALL.into_iter()
            .map(|(subresource, ..)| subresource)
            .filter(served)
    }

    /// The subresource of this name, if the kind has it.
    pub(super) fn of(kind: &Kind, name: &str) -> Option<Self> {
        Self::all(kind).find(|subresource| subresource.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        ALL[self as usize].1
    }

    pub(super) fn verbs(self) -> &'static [&'static str] {
        ALL[self as usize].2
    }

    /// The kind of its request and response bodies, and the group and version of that kind where
    /// they differ from the resource's; `None` for the resource's own kind.
    pub(super) fn response_kind(
        self,
        resource_kind: &str,
    ) -> Option<(String, Option<(&'static str, &'static str)>)> {
        let named = |name: &str| Some((name.to_owned(), None));
        match self {
            Attach => named("PodAttachOptions"),
            Binding => named("Binding"),
            Exec => named("PodExecOptions"),
            Portforward => named("PodPortForwardOptions"),
            Proxy => named(&format!("{resource_kind}ProxyOptions")),
            Eviction => Some(("Eviction".to_owned(), Some(("policy", "v1")))),
            Scale => Some(("Scale".to_owned(), Some(("autoscaling", "v1")))),
            Token => Some((
                "TokenRequest".to_owned(),
                Some(("authentication.k8s.io", "v1")),
            )),
            _ => None,
        }
    }

    /// True if serving it takes containers, a network or another scheduler, which this server does not have.
    pub(super) fn needs_containers(self) -> bool {
        !matches!(self, Status | Scale | Approval | Eviction | Finalize)
    }

    /// Responds in place of containers: with the error of a cluster whose nodes are unreachable.
    pub(super) fn respond(self, call: &Call<'_>) -> Result<Response, ApiError> {
        let found = call.stored()?;
        let why = match self {
            Binding => return Err(ApiError::internal_because(NOT_BOUND)),
            // Pods run nothing, so their logs are empty.
            Log => return Ok(response::bytes(StatusCode::OK, "text/plain", "")),
            Token => "tokens of service accounts are not issued here",
            Proxy => "nothing can be reached through the server here",
            _ => "pods run no containers here",
        };
        let node = text(&found.object, &["spec", "nodeName"]).unwrap_or_default();
        if call.kind.is("", "pods") && node.is_empty() {
            let (_, name) = call.address();
            let why = format!("pod {name} does not have a host assigned");
            return Err(ApiError::bad_request(why));
        }
        Err(ApiError::internal_because(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subresources_stand_in_the_order_of_their_variants() {
        for (index, (subresource, name, _)) in ALL.into_iter().enumerate() {
            assert_eq!((subresource as usize, subresource.name()), (index, name));
        }
    }
}
