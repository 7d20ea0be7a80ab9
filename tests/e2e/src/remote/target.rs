//! What a request to an API server is about.

use http::{Method, Request};

/// The attributes by which an API server authorises a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) verb: &'static str,
    /// Empty for the core group.
    pub(super) group: String,
    pub(super) resource: String,
    /// Empty for the object itself.
    pub(super) subresource: String,
    /// Empty for objects of the cluster and for requests about all namespaces.
    pub(super) namespace: String,
    /// Empty for requests about several objects, and for a new one.
    pub(super) name: String,
}

impl Target {
    /// None if the request is not about a resource.
    pub(super) fn of<B>(request: &Request<B>) -> Option<Self> {
        let (method, uri) = (request.method(), request.uri());
        let parts: Vec<&str> = uri.path().trim_matches('/').split('/').collect();
        let (group, rest) = match parts.as_slice() {
            ["api", _version, rest @ ..] => ("", rest),
            ["apis", group, _version, rest @ ..] => (*group, rest),
            _ => return None,
        };
        let (namespace, rest) = match rest {
            // What follows is in the namespace, unless it is a subresource of the namespace itself.
            ["namespaces", namespace, in_namespace @ ..]
                if !matches!(in_namespace, [] | ["status" | "finalize", ..]) =>
            {
                (*namespace, in_namespace)
            }
            rest => ("", rest),
        };
        let (resource, name, subresource) = match rest {
            [resource] => (*resource, "", ""),
            [resource, name] => (*resource, *name, ""),
            [resource, name, subresource] => (*resource, *name, *subresource),
            _ => return None,
        };
        let query = uri.query().unwrap_or_default();
        let verb = match (method, name) {
            (&Method::GET, "") if query.contains("watch=") => "watch",
            (&Method::GET, "") => "list",
            (&Method::GET, _) => "get",
            (&Method::POST, _) => "create",
            (&Method::PUT, _) => "update",
            (&Method::PATCH, _) => "patch",
            (&Method::DELETE, "") => "deletecollection",
            (&Method::DELETE, _) => "delete",
            _ => return None,
        };
        // A list of one object by its name is authorised as that object.
        let name = match name {
            "" => selected_name(query).unwrap_or_default(),
            name => name,
        };
        Some(Self {
            verb,
            group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }

    /// `group/resource`, or `resource` of the core group.
    pub(super) fn qualified_resource(&self) -> String {
        match self.group.as_str() {
            "" => self.resource.clone(),
            group => format!("{group}/{}", self.resource),
        }
    }
}

fn selected_name(query: &str) -> Option<&str> {
    let selector = query
        .split('&')
        .find_map(|part| part.strip_prefix("fieldSelector="))?;
    let name = selector.strip_prefix("metadata.name")?;
    name.strip_prefix("%3D").or_else(|| name.strip_prefix('='))
}
