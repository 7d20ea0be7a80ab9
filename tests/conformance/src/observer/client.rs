//! Requests to an observer: by URL, or by running a program.

use super::Observation;
use crate::fixture::Observe;
use crate::program;
use crate::transport::{Request, Transport, TransportError};
use bytes::Bytes;
use http::Method;
use serde_json::Value;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);
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

    /// Reads the state of the cloud.
    ///
    /// # Errors
    /// [`ObserverError`], when there is no valid response within 30 s.
    pub async fn observe(&self) -> Result<Observation, ObserverError> {
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
        serde_json::from_slice(&seen).map_err(|error| {
            self.error(format!(
                "not {{\"loadBalancers\":[{{\"lbInfo\":{{}},\"attributes\":{{}},\"backends\":[{{\"addr\":\"\",\"parameters\":{{}}}}]}}]}}: {error}: {}", excerpt(&seen)
            ))
        })
    }

    /// Whether the observer can change the cloud.
    #[must_use]
    pub const fn can_modify(&self) -> bool {
        matches!(self, Self::Path(..))
    }

    /// Changes the cloud without the driver: `foreign` registers a backend, `unbind` deregisters
    /// one, `attributes` changes those of a load balancer.
    ///
    /// # Errors
    /// [`ObserverError`], when that fails or is not supported.
    pub async fn modify(&self, what: &str, change: &Value) -> Result<(), ObserverError> {
        let Self::Path(transport, path) = self else {
            return Err(self.error("a program only shows the state".to_owned()));
        };
        let path = match path.as_str() {
            "" => what.to_owned(),
            path => format!("{path}/{what}"),
        };
        let request = Request::post(path, change.to_string());
        self.send(transport, &request).await.map(drop)
    }

    async fn send(&self, transport: &Transport, request: &Request) -> Result<Bytes, ObserverError> {
        let received = transport
            .send(request, TIMEOUT)
            .await
            .map_err(|problem| self.error(problem.to_string()))?;
        if (200..300).contains(&received.status) {
            return Ok(received.body);
        }
        Err(self.error(format!(
            "{} {} returned HTTP {}: {}",
            request.method,
            transport.url_of(&request.path),
            received.status,
            excerpt(&received.body).trim()
        )))
    }

    fn error(&self, problem: String) -> ObserverError {
        let from = match self {
            Self::Path(transport, path) => transport.url_of(path),
            Self::Command(command) => command.join(" "),
        };
        ObserverError { from, problem }
    }
}

fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(body)
        .chars()
        .take(EXCERPT)
        .collect()
}
