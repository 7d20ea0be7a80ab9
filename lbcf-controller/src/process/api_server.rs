//! Requests to the API server about Secrets and the webhook configurations.
//!
//! They do not use the client's typed calls, because those log the whole of a response that they
//! cannot decode, and a Secret has private keys.

use crate::api::names::CONTROLLER;
use axum::http;
use kube::Client;
use kube::api::{GetParams, Patch, PatchParams, PostParams};
use kube::core::Request;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;

/// The client alone would retry for minutes.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// The object changed since it was read, exists already, or was deleted: read it again.
    #[error("the object changed since it was read")]
    Stale,
    #[error("no response from the API server within {}s", TIMEOUT.as_secs())]
    Timeout,
    #[error(transparent)]
    Refused(kube::Error),
    /// The response, which may have keys and is not quoted, is not an object of the kind.
    #[error("the API server's response is not such an object")]
    Unreadable,
}

/// The API server, with a timeout for each request.
#[derive(Clone)]
pub(super) struct ApiServer(pub(super) Client);

impl ApiServer {
    /// Reads an object; `None` where it does not exist.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        resource: &str,
        name: &str,
    ) -> Result<Option<T>, ApiError> {
        let request = Request::new(resource).get(name, &GetParams::default());
        match self.call(request).await {
            Ok(object) => Ok(Some(object)),
            Err(ApiError::Stale) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn create<T: Serialize + DeserializeOwned + Sync>(
        &self,
        resource: &str,
        object: &T,
    ) -> Result<T, ApiError> {
        let body = serde_json::to_vec(object).map_err(|_| ApiError::Unreadable)?;
        let request = Request::new(resource).create(&post_params(), body);
        self.call(request).await
    }

    /// Replaces an object whose `resourceVersion` is the same.
    pub(super) async fn replace<T: Serialize + DeserializeOwned + Sync>(
        &self,
        resource: &str,
        name: &str,
        object: &T,
    ) -> Result<T, ApiError> {
        let body = serde_json::to_vec(object).map_err(|_| ApiError::Unreadable)?;
        let request = Request::new(resource).replace(name, &post_params(), body);
        self.call(request).await
    }

    /// Applies a merge patch, which has the `resourceVersion` that it is for.
    pub(super) async fn merge(
        &self,
        resource: &str,
        name: &str,
        patch: Value,
    ) -> Result<Value, ApiError> {
        let params = PatchParams {
            field_manager: Some(CONTROLLER.into()),
            ..PatchParams::default()
        };
        let request = Request::new(resource).patch(name, &params, &Patch::Merge(patch));
        self.call(request).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<T, ApiError> {
        let request =
            request.map_err(|error| ApiError::Refused(kube::Error::BuildRequest(error)))?;
        let text = tokio::time::timeout(TIMEOUT, self.0.request_text(request))
            .await
            .map_err(|_| ApiError::Timeout)?
            .map_err(|error| match error {
                kube::Error::Api(status)
                    if status.is_conflict()
                        || status.is_not_found()
                        || status.is_already_exists() =>
                {
                    ApiError::Stale
                }
                error => ApiError::Refused(error),
            })?;
        serde_json::from_str(&text).map_err(|_| ApiError::Unreadable)
    }
}

fn post_params() -> PostParams {
    PostParams {
        field_manager: Some(CONTROLLER.into()),
        ..PostParams::default()
    }
}
