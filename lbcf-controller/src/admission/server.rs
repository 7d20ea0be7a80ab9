//! The server of the admission webhooks: its certificate, its routes, and the limits of requests.

use super::cluster_reader::ClusterReader;
use super::configurations::{MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION};
use super::slots::Slots;
use super::table::{HOOKS, Hook};
use super::validation_context::{Deadline, ValidationContext, request_timeout};
use super::{admit, review};
use crate::api::ObjectKey;
use crate::process::health_state::HealthState;
use crate::process::serving::{
    CertificateSource, ConfigurationName, NameError, Names, Server, ServingError,
};
use crate::process::text::shortened;
use crate::runtime::Context;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use lbcf_serving::body::{self, BodyBudget, BodyLimits, ReadBodyError};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout_at;

/// The source of the serving certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certificates {
    /// The controller issues its own, stores them in a Secret that all replicas share, and writes the
    /// CA bundle into the webhook configurations. In a dry run nothing is written, so admission is
    /// not served, and the controller not ready.
    SelfSignedCa {
        /// The Service by which API servers reach the controller.
        service: ObjectKey,
        /// The Secret, used by the controller only.
        secret: ObjectKey,
        /// Additional DNS names and IP addresses of the server.
        names: Vec<String>,
    },
    /// Files, such as a mounted Secret, which are read again when they change.
    Files {
        /// The certificate chain in PEM, the server's certificate first.
        cert: PathBuf,
        /// The private key in PEM.
        key: PathBuf,
    },
}

/// Why admission cannot be served.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct AdmissionError(#[from] Cause);

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("the names of the admission server: {0}")]
    Names(#[from] NameError),
    #[error("serving admission: {0}")]
    Serving(#[from] ServingError),
}

/// The server of the admission webhooks. It responds once the controller runs and its index is
/// complete.
#[derive(Debug)]
pub struct AdmissionServer {
    listener: TcpListener,
    source: CertificateSource,
    client_ca: Option<PathBuf>,
}

impl AdmissionServer {
    /// A server on this listener.
    ///
    /// # Errors
    /// [`AdmissionError`], if one of the names is invalid.
    pub fn new(listener: TcpListener, certificates: Certificates) -> Result<Self, AdmissionError> {
        let source = match certificates {
            Certificates::SelfSignedCa {
                service,
                secret,
                names,
            } => CertificateSource::SelfSignedCa {
                secret,
                names: Names::of_service(&service.name, &service.namespace, &names)
                    .map_err(Cause::Names)?,
                configurations: vec![
                    ConfigurationName::Validating(VALIDATING_CONFIGURATION.to_owned()),
                    ConfigurationName::Mutating(MUTATING_CONFIGURATION.to_owned()),
                ],
            },
            Certificates::Files { cert, key } => CertificateSource::Files { cert, key },
        };
        Ok(Self {
            listener,
            source,
            client_ca: None,
        })
    }

    /// Lets only clients in that have a certificate of the CAs in this PEM file, which is read again
    /// when it changes.
    #[must_use]
    pub fn client_ca(mut self, file: Option<PathBuf>) -> Self {
        self.client_ca = file;
        self
    }

    /// The local address, which tells the port where 0 was requested.
    ///
    /// # Errors
    /// If the operating system does not provide it.
    pub fn addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` completes.
    pub(crate) async fn serve(
        self,
        context: Arc<Context>,
        health: Arc<HealthState>,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), AdmissionError> {
        let is_self_signed = matches!(self.source, CertificateSource::SelfSignedCa { .. });
        if is_self_signed && context.options.dry_run {
            let problem = "a dry run stores no certificate to serve it with: set --server-crt and --server-key, or --admission-address off";
            health.admission(Err(problem.to_owned()));
            tracing::warn!(problem, "admission is not served");
            // Connections are refused rather than left to wait.
            drop(self.listener);
            stop.await;
            return Ok(());
        }
        let report = move |served: Result<(), String>| {
            let problem = served.clone().err();
            if health.admission(served) {
                match problem {
                    None => tracing::info!("serving admission"),
                    Some(problem) => tracing::warn!(problem, "admission is not ready"),
                }
            }
        };
        let server = Server::new(context.client.clone(), self.source, self.client_ca);
        let served = server.run(self.listener, routes(&context), stop, report);
        Ok(served.await.map_err(Cause::Serving)?)
    }
}

/// Bytes. The API server accepts objects of up to 3 MiB, and an update contains two of them.
const BODY_LIMIT: usize = 8 << 20;

/// The memory, in bytes, of all bodies of more than 64 KiB that are arriving or being decoded.
const BODIES: usize = 64 << 20;
/// The memory of a decoded value of JSON, in bytes: a member of a map that grows.
const VALUE: usize = 256;

/// Requests that are processed concurrently, half of them for one namespace at most; further ones wait.
const IN_FLIGHT: usize = 512;

/// Time after the deadline at which the request is answered even if a lookup or call has not ended.
const GRACE: Duration = Duration::from_millis(100);

/// The longest message about a malformed request, in characters.
const PROBLEM_LIMIT: usize = 500;

/// The response to a request that is not an admission review.
type BadRequest = (StatusCode, String);

pub(super) fn routes<S: ClusterReader>(state: &Arc<S>) -> Router {
    let in_flight = Slots::new(IN_FLIGHT);
    let bodies = BodyBudget::new(BODIES, VALUE);
    HOOKS.iter().fold(Router::new(), |router, hook| {
        let endpoint = Arc::new(WebhookEndpoint {
            state: Arc::clone(state),
            in_flight: in_flight.clone(),
            bodies: bodies.clone(),
            hook,
        });
        let route = post(serve::<S>).fallback(not_a_post).with_state(endpoint);
        let router = match hook.alias {
            Some(alias) => router.route(alias, route.clone()),
            None => router,
        };
        router.route(hook.path, route)
    })
}

struct WebhookEndpoint<S> {
    state: Arc<S>,
    in_flight: Slots,
    bodies: BodyBudget,
    hook: &'static Hook,
}

async fn serve<S: ClusterReader>(
    State(endpoint): State<Arc<WebhookEndpoint<S>>>,
    request: Request,
) -> Response {
    let deadline = Deadline::after(request_timeout(request.uri().query()));
    let response = timeout_at(deadline.at + GRACE, endpoint.respond(request, deadline)).await;
    let response = response.unwrap_or_else(|_| {
        Err((
            StatusCode::REQUEST_TIMEOUT,
            "the request was not received or not answered within its timeout".into(),
        ))
    });
    match response {
        Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(bad_request) => {
            tracing::warn!(path = endpoint.hook.path, status = %bad_request.0, error = bad_request.1, "not an admission request");
            bad_request.into_response()
        }
    }
}

fn unreadable(error: ReadBodyError) -> BadRequest {
    let status = match error {
        ReadBodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ReadBodyError::NoMemory => StatusCode::TOO_MANY_REQUESTS,
        ReadBodyError::OutOfTime => StatusCode::REQUEST_TIMEOUT,
        ReadBodyError::Broken(_) => StatusCode::BAD_REQUEST,
    };
    (status, error.to_string())
}

async fn not_a_post() -> BadRequest {
    (
        StatusCode::METHOD_NOT_ALLOWED,
        "only POST of an AdmissionReview of admission.k8s.io/v1 is allowed".into(),
    )
}

impl<S: ClusterReader> WebhookEndpoint<S> {
    async fn respond(&self, request: Request, deadline: Deadline) -> Result<Vec<u8>, BadRequest> {
        check_content_type(request.headers())?;
        let limits = BodyLimits {
            bytes: BODY_LIMIT,
            discarded: 0,
            until: deadline.at,
        };
        let body = body::read(request.into_body(), limits, Some(&self.bodies)).await;
        let body = body.map_err(unreadable)?;
        // After the body, so that one that does not end takes no place.
        let namespace = review::namespace(&body.bytes);
        let _slot = self.in_flight.acquire(&namespace).await;
        let request = review::read(&body.bytes, &self.hook.kind.resource()).map_err(bad)?;
        let context = ValidationContext {
            cluster: &*self.state,
            deadline,
            request_is_dry_run: request.dry_run.unwrap_or(false),
        };
        let decision = admit::admit(self.hook, &request, &context).await;
        if let review::AdmissionDecision::Denied(denial) = &decision {
            tracing::info!(
                path = self.hook.path,
                operation = request.operation,
                namespace = request.namespace,
                reason = denial.client_message(),
                "denied"
            );
        }
        review::write(&request.uid, &decision)
            .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
    }
}

fn bad(problem: String) -> BadRequest {
    (StatusCode::BAD_REQUEST, shortened(problem, PROBLEM_LIMIT))
}

fn check_content_type(headers: &HeaderMap) -> Result<(), BadRequest> {
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else {
        return Ok(());
    };
    let text = content_type.to_str().unwrap_or_default();
    let media_type = text.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(bad(format!(
        "content-type: {content_type:?}: must be application/json"
    )))
}

#[cfg(test)]
mod tests;
