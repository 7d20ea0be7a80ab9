//! Asking an observer: by URL, or a program that prints what it sees.

use super::Observation;
use crate::fixture::Observe;
use crate::transport::{Request, Settings, Transport, TransportError};
use bytes::Bytes;
use http::Method;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// How long an observer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much of what it says is quoted.
const EXCERPT: usize = 300;

/// Where to see what is in a driver's cloud.
#[derive(Debug, Clone)]
pub enum Observer {
    /// GET of a path over a transport. Below it things can be changed behind the driver's back.
    Path(Transport, String),
    /// What a program prints.
    Command(Vec<String>),
}

/// Why nothing can be seen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the observer {from}: {problem}")]
pub struct ObserverError {
    from: String,
    problem: String,
}

impl Observer {
    /// The observer that a fixture names; what is below the driver's URL is asked over the way to
    /// the driver.
    ///
    /// # Errors
    /// [`TransportError`], for a URL that is not absolute.
    pub fn of(observe: &Observe, driver: &Transport) -> Result<Self, TransportError> {
        match observe {
            Observe::Command(command) => Ok(Self::Command(command.clone())),
            Observe::Url(url) => match driver.path_below(url) {
                Some(path) => Ok(Self::Path(driver.clone(), path)),
                None => {
                    let transport = Transport::to_url(url, &Settings::default())?;
                    Ok(Self::Path(transport, String::new()))
                }
            },
        }
    }

    /// Looks.
    ///
    /// # Errors
    /// [`ObserverError`], when there is no proper answer.
    pub async fn look(&self) -> Result<Observation, ObserverError> {
        let seen = match self {
            Self::Path(transport, path) => {
                let request = Request::new(Method::GET, path);
                self.answer(transport, &request).await?
            }
            Self::Command(command) => self.printed(command).await?,
        };
        serde_json::from_slice(&seen).map_err(|error| {
            let text = String::from_utf8_lossy(&seen);
            let excerpt: String = text.chars().take(EXCERPT).collect();
            self.error(format!(
                "not {{\"loadBalancers\":[{{\"lbInfo\":{{}},\"attributes\":{{}},\"backends\":[{{\"addr\":\"\",\"parameters\":{{}}}}]}}]}}: {error}: {excerpt}"
            ))
        })
    }

    /// Whether things can be changed behind the driver's back.
    #[must_use]
    pub const fn can_meddle(&self) -> bool {
        matches!(self, Self::Path(..))
    }

    /// Changes something behind the driver's back: `foreign` registers a backend, `unbind` takes
    /// one away, `attributes` changes a load balancer's.
    ///
    /// # Errors
    /// [`ObserverError`], when it does not do so.
    pub async fn meddle(&self, what: &str, change: &Value) -> Result<(), ObserverError> {
        let Self::Path(transport, path) = self else {
            return Err(self.error("a program only shows what is there".to_owned()));
        };
        let path = match path.as_str() {
            "" => what.to_owned(),
            path => format!("{path}/{what}"),
        };
        let request = Request::post(path, change.to_string());
        self.answer(transport, &request).await.map(drop)
    }

    async fn answer(
        &self,
        transport: &Transport,
        request: &Request,
    ) -> Result<Bytes, ObserverError> {
        let received = transport
            .send(request, PATIENCE)
            .await
            .map_err(|problem| self.error(problem.to_string()))?;
        if (200..300).contains(&received.status) {
            return Ok(received.body);
        }
        let text = String::from_utf8_lossy(&received.body);
        let excerpt: String = text.chars().take(EXCERPT).collect();
        let problem = format!(
            "{} {} was answered with HTTP {}: {}",
            request.method,
            transport.url_of(&request.path),
            received.status,
            excerpt.trim()
        );
        Err(self.error(problem))
    }

    async fn printed(&self, command: &[String]) -> Result<Bytes, ObserverError> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(self.error("the command is empty".to_owned()));
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = tokio::time::timeout(PATIENCE, command.output())
            .await
            .map_err(|_| self.error(format!("it was still running after {PATIENCE:?}")))?
            .map_err(|error| self.error(error.to_string()))?;
        if output.status.success() {
            return Ok(output.stdout.into());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let excerpt: String = said.chars().take(EXCERPT).collect();
        Err(self.error(format!(
            "it ended with {}: {}",
            output.status,
            excerpt.trim()
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
