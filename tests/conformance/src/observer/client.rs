//! Requests to an observer: by URL, or by running a program.

use super::Observation;
use crate::fixture::Observe;
use crate::program;
use crate::transport::{Request, Transport, TransportError};
use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt as _, TryFutureExt as _};
use http::Method;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

const TIMEOUT: Duration = Duration::from_secs(30);
/// The waits before an observer that failed is asked again.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];
/// The longest quoted part of a wrong response, in characters.
const EXCERPT: usize = 300;

/// A source for the state of a driver's cloud.
#[derive(Debug, Clone)]
pub enum Observer {
    /// A GET of a path over a transport. A POST below it changes the cloud without the driver.
    Path(Transport, String),
    /// A program that prints the state.
    Command(Vec<String>),
}

/// Why the state of the cloud could not be read or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the observer {from}: {problem}")]
pub struct ObserverError {
    from: String,
    problem: String,
    is_unsupported: bool,
}

impl ObserverError {
    /// True if the observer does not offer what was asked for, which is no failure.
    pub(crate) const fn is_unsupported(&self) -> bool {
        self.is_unsupported
    }
}

impl Observer {
    /// The observer of a fixture. A URL below the driver's is called over the driver's transport.
    ///
    /// # Errors
    /// [`TransportError`], for a URL that is not absolute.
    pub fn of(observe: &Observe, driver: &Transport) -> Result<Self, TransportError> {
        Ok(match observe {
            Observe::Command(command) => Self::Command(command.clone()),
            Observe::Url(url) => {
                let (transport, path) = driver.for_url(url)?;
                Self::Path(transport, path)
            }
        })
    }

    /// Reads the state of the cloud. Where that fails, it is tried twice more, unless the observer took
    /// its whole time.
    ///
    /// # Errors
    /// [`ObserverError`], when there is no valid response within 30 s.
    pub async fn observe(&self) -> Result<Observation, ObserverError> {
        tried(|| self.observe_once().boxed()).await
    }

    async fn observe_once(&self) -> Result<Observation, ObserverError> {
        let seen = match self {
            Self::Path(transport, path) => {
                let request = Request::new(Method::GET, path);
                self.send(transport, &request).await?
            }
            Self::Command(command) => {
                let printed = program::run(command, TIMEOUT).await;
                printed.map_err(|problem| self.error(problem))?.into()
            }
        };
        let mut json = serde_json::Deserializer::from_slice(&seen);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            self.error(format!(
                "not {{\"loadBalancers\":[{{\"lbInfo\":{{}},\"attributes\":{{}},\"backends\":[{{\"addr\":\"\",\"parameters\":{{}}}}]}}]}}: {error}: {}", excerpt(&seen)
            ))
        })
    }

    /// True if the observer can change the cloud.
    pub const fn can_modify(&self) -> bool {
        matches!(self, Self::Path(..))
    }

    /// Changes the cloud without the driver: `foreign` registers a backend, `unbind` deregisters
    /// one, `attributes` changes those of a load balancer. Tried again like [`observe`](Self::observe):
    /// each of them may be made twice.
    ///
    /// # Errors
    /// [`ObserverError`], when that fails or is not supported.
    pub async fn modify(&self, what: &str, change: &Value) -> Result<(), ObserverError> {
        let Self::Path(transport, path) = self else {
            return Err(self.unsupported("a program only shows the state".to_owned()));
        };
        let path = match path.as_str() {
            "" => what.to_owned(),
            path => format!("{path}/{what}"),
        };
        let request = Request::post(path, change.to_string());
        let send = || self.send(transport, &request).map_ok(drop).boxed();
        tried(send).await
    }

    async fn send(&self, transport: &Transport, request: &Request) -> Result<Bytes, ObserverError> {
        let received = transport.send(request, TIMEOUT).await;
        let received = received.map_err(|problem| self.error(problem.to_string()))?;
        let status = received.status;
        if (200..300).contains(&status) {
            return Ok(received.body);
        }
        let (method, url) = (&request.method, transport.url_of(&request.path));
        let body = excerpt(&received.body);
        let problem = format!("{method} {url} returned HTTP {status}: {}", body.trim());
        Err(match status {
            404 | 405 | 501 => self.unsupported(problem),
            _ => self.error(problem),
        })
    }

    fn unsupported(&self, problem: String) -> ObserverError {
        ObserverError {
            is_unsupported: true,
            ..self.error(problem)
        }
    }

    fn error(&self, problem: String) -> ObserverError {
        let from = match self {
            Self::Path(transport, path) => transport.url_of(path),
            Self::Command(command) => command.join(" "),
        };
        ObserverError {
            from,
            problem,
            is_unsupported: false,
        }
    }
}

/// Calls until it succeeds, three times at most, and no more once the observer took its whole time.
async fn tried<'a, T>(
    call: impl Fn() -> BoxFuture<'a, Result<T, ObserverError>>,
) -> Result<T, ObserverError> {
    let began = Instant::now();
    for pause in PAUSES {
        match call().await {
            Err(error) if !error.is_unsupported && began.elapsed() + pause < TIMEOUT => {
                tokio::time::sleep(pause).await;
            }
            done => return done,
        }
    }
    call().await
}

fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.chars().take(EXCERPT).collect()
}
