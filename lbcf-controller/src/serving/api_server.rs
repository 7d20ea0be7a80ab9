//! Calls to the API server that carry keys or what is trusted.
//!
//! They go past the client's typed calls on purpose: those log an answer that they cannot decode,
//! all of it, and a Secret's answer holds private keys.

use axum::http;
use kube::Client;
use kube::api::{GetParams, Patch, PatchParams, PostParams};
use kube::core::Request;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// Who writes, in `managedFields`.
const FIELD_MANAGER: &str = "lbcf-controller";
/// How long one call may take, as the client alone would retry for minutes.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Why a call to the API server had no success.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ApiError {
    /// The object changed since it was looked at, exists already, or is gone: look again.
    #[error("the object changed since it was looked at")]
    Stale,
    /// The API server did not answer in time.
    #[error("the API server did not answer within {}s", TIMEOUT.as_secs())]
    Timeout,
    /// The API server refused.
    #[error(transparent)]
    Refused(kube::Error),
    /// The answer, which may hold keys and is not told, is not of the kind that was asked for.
    #[error("what the API server answered is no such object")]
    Unreadable,
}

/// The API server, with a time limit for each call.
#[derive(Clone)]
pub(super) struct ApiServer {
    client: Client,
}

impl fmt::Debug for ApiServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiServer")
    }
}

impl ApiServer {
    pub(super) const fn new(client: Client) -> Self {
        Self { client }
    }

    /// Reads an object; `None` where there is none.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        resource: &str,
        name: &str,
    ) -> Result<Option<T>, ApiError> {
        let request = Request::new(resource).get(name, &GetParams::default());
        match self.call(request).await {
            Ok(object) => Ok(Some(object)),
            Err(ApiError::Refused(kube::Error::Api(status))) if status.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates an object.
    pub(super) async fn create<T: Serialize + DeserializeOwned + Sync>(
        &self,
        resource: &str,
        object: &T,
    ) -> Result<T, ApiError> {
        let body = serde_json::to_vec(object).map_err(|_| ApiError::Unreadable)?;
        let request = Request::new(resource).create(&post_params(), body);
        self.write(request).await
    }

    /// Replaces the version of an object that its `resourceVersion` names.
    pub(super) async fn replace<T: Serialize + DeserializeOwned + Sync>(
        &self,
        resource: &str,
        name: &str,
        object: &T,
    ) -> Result<T, ApiError> {
        let body = serde_json::to_vec(object).map_err(|_| ApiError::Unreadable)?;
        let request = Request::new(resource).replace(name, &post_params(), body);
        self.write(request).await
    }

    /// Merges a patch into an object, which names in it the version it is meant for.
    pub(super) async fn merge(
        &self,
        resource: &str,
        name: &str,
        patch: Value,
    ) -> Result<Value, ApiError> {
        let params = PatchParams {
            field_manager: Some(FIELD_MANAGER.into()),
            ..PatchParams::default()
        };
        let request = Request::new(resource).patch(name, &params, &Patch::Merge(patch));
        self.write(request).await
    }

    async fn write<T: DeserializeOwned>(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<T, ApiError> {
        match self.call(request).await {
            Err(ApiError::Refused(kube::Error::Api(status)))
                if status.is_conflict() || status.is_not_found() || status.is_already_exists() =>
            {
                Err(ApiError::Stale)
            }
            other => other,
        }
    }

    async fn call<T: DeserializeOwned>(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<T, ApiError> {
        let request =
            request.map_err(|error| ApiError::Refused(kube::Error::BuildRequest(error)))?;
        let text = tokio::time::timeout(TIMEOUT, self.client.request_text(request))
            .await
            .map_err(|_| ApiError::Timeout)?
            .map_err(ApiError::Refused)?;
        serde_json::from_str(&text).map_err(|_| ApiError::Unreadable)
    }
}

fn post_params() -> PostParams {
    PostParams {
        field_manager: Some(FIELD_MANAGER.into()),
        ..PostParams::default()
    }
}
