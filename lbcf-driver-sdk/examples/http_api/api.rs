//! The client of the API, and the conversion of its errors.

use crate::Scheduler;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode, header};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use lbcf_driver_sdk::{HookError, Reason};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// The timeout of a call, below the controller's 10 s.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The limit of a response, in bytes.
const ANSWER_LIMIT: usize = 1 << 20;

/// The id of an instance. Users may set it and it becomes part of URLs, so its format is checked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct InstanceId(String);

impl TryFrom<String> for InstanceId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_right = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if !text.is_empty() && text.chars().all(is_right) {
            Ok(Self(text))
        } else {
            Err("not an instance's name: letters, digits and hyphens".into())
        }
    }
}

impl From<InstanceId> for String {
    fn from(id: InstanceId) -> Self {
        id.0
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Not a `std::error::Error`, so that it can implement its own conversions to outcomes below.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// The object of the call does not exist.
    NotFound { message: String },
    /// Too many calls, with the delay until the next one.
    Throttled { wait: Duration },
    /// The API refused the call, with a message for users.
    Refused { code: String, message: String },
    /// The effect of the call is unknown. The cause is only logged, because it may name hosts.
    NoAnswer(Box<dyn Error + Send + Sync>),
}

impl From<ApiError> for HookError {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::NotFound { message } => Self::new(Reason::NotFound, message),
            ApiError::Throttled { wait } => {
                Self::new(Reason::Throttled, "the API takes no more calls for now")
                    .retry_after(wait)
            }
            ApiError::Refused { code, message } => Self::fail(format!("{code}: {message}")),
            ApiError::NoAnswer(inner) => {
                Self::new(Reason::Unavailable, "the API does not answer").because(inner)
            }
        }
    }
}

/// Deleting an object that does not exist succeeds.
pub(crate) trait OrGone {
    fn or_gone(self) -> Result<(), ApiError>;
}

impl OrGone for Result<Value, ApiError> {
    fn or_gone(self) -> Result<(), ApiError> {
        match self {
            Ok(_) | Err(ApiError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

pub(crate) struct Api {
    url: String,
    key: String,
    http: Client<HttpConnector, Full<Bytes>>,
}

impl Api {
    pub(crate) fn new(url: String, key: String) -> Self {
        Self {
            url,
            key,
            http: Client::builder(TokioExecutor::new()).build_http(),
        }
    }

    pub(crate) async fn ping(&self) -> Result<Value, ApiError> {
        self.call(Method::GET, "/ping", None).await
    }

    /// Creates an instance, or returns the existing one of the token.
    pub(crate) async fn create(&self, token: &str) -> Result<InstanceId, ApiError> {
        let body = json!({"clientToken": token});
        let answer = self.call(Method::POST, "/instances", Some(body)).await?;
        instance(answer)
    }

    /// The instance of this token, if there is one.
    pub(crate) async fn find(&self, token: &str) -> Result<Option<InstanceId>, ApiError> {
        let body = json!({"clientToken": token});
        match self.call(Method::POST, "/instances/find", Some(body)).await {
            Ok(answer) => instance(answer).map(Some),
            Err(ApiError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn delete(&self, id: &InstanceId) -> Result<Value, ApiError> {
        let path = format!("/instances/{id}");
        self.call(Method::DELETE, &path, None).await
    }

    pub(crate) async fn put_listener(
        &self,
        id: &InstanceId,
        port: u16,
        scheduler: Scheduler,
    ) -> Result<Value, ApiError> {
        let path = format!("/instances/{id}/listeners/{port}");
        let body = json!({"scheduler": scheduler});
        self.call(Method::PUT, &path, Some(body)).await
    }

    pub(crate) async fn delete_listener(
        &self,
        id: &InstanceId,
        port: u16,
    ) -> Result<Value, ApiError> {
        let path = format!("/instances/{id}/listeners/{port}");
        self.call(Method::DELETE, &path, None).await
    }

    pub(crate) async fn put_target(
        &self,
        id: &InstanceId,
        port: u16,
        target: SocketAddr,
        weight: u8,
    ) -> Result<Value, ApiError> {
        let path = format!("/instances/{id}/listeners/{port}/targets/{target}");
        let body = json!({"weight": weight});
        self.call(Method::PUT, &path, Some(body)).await
    }

    pub(crate) async fn delete_target(
        &self,
        id: &InstanceId,
        port: u16,
        target: SocketAddr,
    ) -> Result<Value, ApiError> {
        let path = format!("/instances/{id}/listeners/{port}/targets/{target}");
        self.call(Method::DELETE, &path, None).await
    }

    async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, ApiError> {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            // Brackets of IPv6 addresses are not allowed in paths.
            .uri(self.url.clone() + &path.replace('[', "%5B").replace(']', "%5D"))
            .header(header::AUTHORIZATION, format!("Bearer {}", self.key))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(body))
            .map_err(no_answer)?;
        let exchange = async {
            let response = self.http.request(request).await.map_err(no_answer)?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, ANSWER_LIMIT).collect().await;
            Ok((head, body.map_err(ApiError::NoAnswer)?.to_bytes()))
        };
        let (head, body) = tokio::time::timeout(TIMEOUT, exchange)
            .await
            .map_err(no_answer)??;
        if head.status.is_success() {
            return match body.is_empty() {
                true => Ok(Value::Null),
                false => serde_json::from_slice(&body).map_err(no_answer),
            };
        }
        let seconds = head.headers.get(header::RETRY_AFTER);
        let seconds = seconds.and_then(|seconds| seconds.to_str().ok()?.parse().ok());
        Err(rejection(head.status, seconds, &body))
    }
}

/// The body of an error response.
#[derive(Deserialize)]
struct Problem {
    code: String,
    message: String,
}

fn rejection(status: StatusCode, retry_after: Option<u64>, body: &[u8]) -> ApiError {
    if status == StatusCode::TOO_MANY_REQUESTS {
        let wait = Duration::from_secs(retry_after.unwrap_or(10));
        return ApiError::Throttled { wait };
    }
    match serde_json::from_slice(body) {
        Ok(Problem { message, .. }) if status == StatusCode::NOT_FOUND => {
            ApiError::NotFound { message }
        }
        Ok(Problem { code, message }) if status.is_client_error() => {
            ApiError::Refused { code, message }
        }
        // A proxy's page or an internal error, which do not help the user.
        _ => no_answer(format!("{status}: {}", String::from_utf8_lossy(body))),
    }
}

fn instance(answer: Value) -> Result<InstanceId, ApiError> {
    #[derive(Deserialize)]
    struct Instance {
        id: InstanceId,
    }
    let instance: Instance = serde_json::from_value(answer).map_err(no_answer)?;
    Ok(instance.id)
}

fn no_answer(inner: impl Into<Box<dyn Error + Send + Sync>>) -> ApiError {
    ApiError::NoAnswer(inner.into())
}
