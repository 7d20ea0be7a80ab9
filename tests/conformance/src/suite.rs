//! The kit as a library.

use crate::checks;
use crate::driver::{Driver, Exec, ExecError, ready};
use crate::exchange::NoResponse;
use crate::executor;
use crate::fixture::placeholders::DriverAddress;
use crate::fixture::{Fixture, FixtureError};
use crate::observer::{Observer, ObserverError};
use crate::progress::{Progress, Silent};
use crate::report::Report;
use crate::run::{Run, RunConfig, reachable};
use crate::selection;
use crate::served::{self, ServedFixture};
use crate::settings::Settings;
use crate::transport::{self, Transport, TransportError};
use std::path::Path;
use std::sync::Arc;
use tokio::time::Instant;

/// A conformance test of one driver.
///
/// ```
/// # async fn example(router: axum::Router) -> Result<(), lbcf_conformance::SuiteError> {
/// let suite = lbcf_conformance::Suite::of_router(router).fixture_file("conformance.yaml")?;
/// suite.run().await?.assert_passed();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Suite(RunConfig);

/// The reason why a run cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The fixture is invalid.
    #[error(transparent)]
    Fixture(#[from] FixtureError),
    /// The transport to the driver cannot be set up.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The driver cannot be started.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The observer does not work.
    #[error(transparent)]
    Observer(#[from] ObserverError),
    /// The driver does not respond.
    #[error("the driver at {url} cannot be reached: {problem}{output}")]
    Unreachable {
        /// The URL of the driver, without user and password.
        url: String,
        /// The reason of the last attempt.
        problem: NoResponse,
        /// The last output of the driver, if the kit started it.
        output: String,
    },
    /// The run was interrupted before the driver responded.
    #[error("interrupted while waiting for the driver at {url}")]
    Interrupted {
        /// The URL of the driver, without user and password.
        url: String,
    },
}

impl Suite {
    /// A driver in this process, called over its router, without a port.
    pub fn of_router(router: axum::Router) -> Self {
        Self::over(Transport::in_process(router))
    }

    /// A driver at a URL.
    ///
    /// # Errors
    /// [`SuiteError::Transport`], unless it is an absolute `http` or `https` URL.
    pub fn of_url(url: &str) -> Result<Self, SuiteError> {
        let settings = transport::Settings::default();
        Ok(Self::over(Transport::to_url(url, &settings)?))
    }

    /// A driver over a transport that is set up already.
    pub fn over(transport: Transport) -> Self {
        Self(RunConfig {
            transport,
            driver: Driver(None),
            fixture: Fixture::default(),
            settings: Settings::default(),
            observer: None,
            progress: Arc::new(Silent),
        })
    }

    /// Reads the fixture from a file. `endpoint.url` and `endpoint.headers` only apply to the command:
    /// the suite has its transport already.
    ///
    /// # Errors
    /// [`SuiteError::Fixture`], when it cannot be read.
    pub fn fixture_file(self, path: impl AsRef<Path>) -> Result<Self, SuiteError> {
        let fixture = Fixture::read(path.as_ref(), &checks::ids())?;
        Ok(self.fixture(fixture))
    }

    /// Sets the fixture, which describes the driver.
    #[must_use]
    pub fn fixture(mut self, fixture: Fixture) -> Self {
        self.0.fixture = fixture;
        self
    }

    /// Replaces the default settings.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.0.settings = settings;
        self
    }

    /// Sets the observer, which shows the state of the driver's cloud.
    #[must_use]
    pub fn observer(mut self, observer: Observer) -> Self {
        self.0.observer = Some(observer);
        self
    }

    /// Uses an observer that the driver itself serves, at a path below its URL.
    #[must_use]
    pub fn observe_path(self, path: impl Into<String>) -> Self {
        let observer = Observer::Path(self.0.transport.clone(), path.into());
        self.observer(observer)
    }

    /// The process of the driver, which the kit started.
    #[must_use]
    pub(crate) fn started(mut self, exec: Exec) -> Self {
        self.0.driver = Driver(Some(Box::new(exec)));
        self
    }

    /// Reports the progress of the run.
    #[must_use]
    pub fn progress(mut self, progress: Arc<dyn Progress>) -> Self {
        self.0.progress = progress;
        self
    }

    /// Waits for the driver, and reads the fixture that it serves; `None` when it serves none.
    ///
    /// # Errors
    /// [`SuiteError::Unreachable`]; [`SuiteError::Fixture`], when it serves an invalid one.
    pub(crate) async fn served_fixture(&self) -> Result<Option<ServedFixture>, SuiteError> {
        let (transport, driver) = (&self.0.transport, &self.0.driver);
        let until = Instant::now() + self.0.settings.wait;
        if let Err(problem) = ready::wait(transport, || driver.ended().is_some(), until).await {
            return Err(unreachable(transport, driver, problem).await);
        }
        Ok(served::fetch(transport, &checks::ids()).await?)
    }

    /// Runs all checks that apply.
    ///
    /// # Errors
    /// [`SuiteError::Unreachable`], when the driver does not respond; [`SuiteError::Observer`], when
    /// the observer does not work.
    pub async fn run(self) -> Result<Report, SuiteError> {
        self.run_until(std::future::pending()).await
    }

    /// [`run`](Self::run), which ends early when `interrupted` resolves, and still cleans up.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub async fn run_until(
        self,
        interrupted: impl Future<Output = ()>,
    ) -> Result<Report, SuiteError> {
        let Self(mut config) = self;
        config.fixture = filled(config.fixture, &config.transport.url_of(""));
        if let (None, Some(observe)) = (&config.observer, &config.fixture.observe) {
            config.observer = Some(Observer::of(observe, &config.transport)?);
        }
        let features = selection::features(&config.fixture);
        let run = Arc::new(Run::new(config, features, checks::all().count()));
        let outcome = Self::execute(&run, interrupted).await;
        if let Some(exec) = &run.driver.0 {
            exec.stop().await;
        }
        outcome
    }

    async fn execute(
        run: &Arc<Run>,
        interrupted: impl Future<Output = ()>,
    ) -> Result<Report, SuiteError> {
        let mut interrupted = std::pin::pin!(interrupted);
        let waited = tokio::select! {
            waited = reachable::wait_for(run) => waited,
            () = &mut interrupted => {
                let url = run.transport.url_of("");
                return Err(SuiteError::Interrupted { url });
            }
        };
        if let Err(problem) = waited {
            return Err(unreachable(&run.transport, &run.driver, problem).await);
        }
        Ok(executor::run(run.clone(), interrupted).await?)
    }
}

async fn unreachable(transport: &Transport, driver: &Driver, problem: NoResponse) -> SuiteError {
    let output = match driver.last_output().await {
        Some(output) => format!("\n{output}"),
        None => String::new(),
    };
    SuiteError::Unreachable {
        url: transport.url_of(""),
        problem,
        output,
    }
}

/// The fixture with the driver's address in its placeholders.
fn filled(mut fixture: Fixture, url: &str) -> Fixture {
    if let Some(address) = DriverAddress::of(url) {
        fixture.observe = fixture.observe.map(|observe| observe.filled(&address));
        fixture.restart = fixture.restart.map(|action| action.filled(&address));
        fixture.fault = fixture.fault.map(|action| action.filled(&address));
    }
    fixture
}
