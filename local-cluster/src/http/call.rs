//! A request for the objects of a kind, without its method.

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use http::StatusCode;
use http::header::USER_AGENT;
use http::request::Parts;

use super::accept::ResponseFormat;
use super::body;
use super::path::ResourcePath;
use super::query::{MAX_MANAGER, Params};
use super::response;
use crate::object::Object;
use crate::resources::Kind;
use crate::rules::WriteOptions;
use crate::status::ApiError;
use crate::store::Stored;
use crate::writer::{Cluster, Written};

#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) cluster: &'a Arc<Cluster>,
    pub(super) kind: &'a Arc<Kind>,
    pub(super) path: &'a ResourcePath,
    pub(super) params: &'a Params,
    pub(super) parts: &'a Parts,
    pub(super) form: ResponseFormat,
    /// Empty in a read.
    pub(super) body: Bytes,
}

impl<'a> Call<'a> {
    /// The namespace in the path; `None` for all of them and for cluster-scoped objects.
    pub(super) fn namespace(&self) -> Option<&'a str> {
        self.path.namespace.as_deref()
    }

    /// Namespace and name in the path.
    pub(super) fn address(&self) -> (&'a str, &'a str) {
        let name = self.path.name.as_deref().unwrap_or_default();
        (self.namespace().unwrap_or_default(), name)
    }

    pub(super) fn media_type(&self) -> &'a str {
        body::media_type(&self.parts.headers)
    }

    /// The object of a create or an update.
    pub(super) fn object(&self) -> Result<Object, ApiError> {
        body::decode(self.kind, &self.parts.headers, &self.body)
    }

    /// The object at the path, as it is stored.
    pub(super) fn stored(&self) -> Result<Arc<Stored>, ApiError> {
        let (namespace, name) = self.address();
        self.cluster.read(self.kind, namespace, name)
    }

    /// The options with the field manager, which defaults to the client's name.
    pub(super) fn options(&self) -> WriteOptions<'a> {
        let options = self.params.write_options();
        let manager = options.field_manager;
        let manager = manager.or_else(|| Some(default_manager(agent(self.parts))));
        WriteOptions { manager, ..options }
    }

    pub(super) fn respond(
        &self,
        code: StatusCode,
        written: &Written,
        warnings: &[String],
    ) -> Response {
        let response = response::object(code, self.form, self.kind, written);
        response::with_warnings(response, warnings)
    }
}

/// The `User-Agent`.
pub(super) fn agent(parts: &Parts) -> &str {
    let agent = parts.headers.get(USER_AGENT);
    agent
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}

/// The product in a `User-Agent` such as `kubectl/v1.36 (linux)`.
fn default_manager(agent: &str) -> &str {
    let name = agent.split('/').next().unwrap_or_default();
    name.get(..MAX_MANAGER).unwrap_or(name)
}
