//! The kit as a library.

use crate::checks;
use crate::driver::{Driver, Exec, ExecError};
use crate::exchange::NoAnswer;
use crate::fixture::places::DriverAddress;
use crate::fixture::{Fixture, FixtureError};
use crate::observer::{Observer, ObserverError};
use crate::progress::{Progress, Silent};
use crate::report::Report;
use crate::run::{self, Begin, Run};
use crate::settings::Settings;
use crate::transport::{self, Transport, TransportError};
use std::path::Path;
use std::sync::Arc;

/// Holds a driver to the specification.
///
/// ```
/// # async fn example(router: axum::Router) -> Result<(), lbcf_conformance::SuiteError> {
/// let suite = lbcf_conformance::Suite::of_router(router).fixture_file("conformance.yaml")?;
/// suite.run().await?.assert_passed();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Suite {
    transport: Transport,
    driver: Driver,
    fixture: Fixture,
    settings: Settings,
    observer: Option<Observer>,
    progress: Box<dyn Progress>,
}

/// Why a driver cannot be judged at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// What is known of the driver is not right.
    #[error(transparent)]
    Fixture(#[from] FixtureError),
    /// The way to the driver cannot be set up.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The driver cannot be started.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The cloud cannot be looked into.
    #[error(transparent)]
    Observer(#[from] ObserverError),
    /// The driver does not answer.
    #[error("the driver at {url} cannot be reached: {problem}{output}")]
    Unreachable {
        /// Where it should be.
        url: String,
        /// What came instead of an answer.
        problem: NoAnswer,
        /// The last lines that it wrote, if the kit started it.
        output: String,
    },
    /// Somebody ended it before the driver answered.
    #[error("interrupted while waiting for the driver at {url}")]
    Interrupted {
        /// Where it should be.
        url: String,
    },
}

impl Suite {
    /// A driver in this process, called over its router, without a port.
    #[must_use]
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
    #[must_use]
    pub fn over(transport: Transport) -> Self {
        Self {
            transport,
            driver: Driver::Elsewhere,
            fixture: Fixture::default(),
            settings: Settings::default(),
            observer: None,
            progress: Box::new(Silent),
        }
    }

    /// What is known of the driver, from a file. Its `endpoint.url` and `endpoint.headers` are for
    /// the command: here the way to the driver is what the suite was made with.
    ///
    /// # Errors
    /// [`SuiteError::Fixture`], when it cannot be read.
    pub fn fixture_file(self, path: impl AsRef<Path>) -> Result<Self, SuiteError> {
        let ids: Vec<&str> = checks::all().map(|check| check.id).collect();
        let fixture = Fixture::read(path.as_ref(), &ids)?;
        Ok(self.fixture(fixture))
    }

    /// What is known of the driver.
    #[must_use]
    pub fn fixture(mut self, fixture: Fixture) -> Self {
        self.fixture = fixture;
        self
    }

    /// How the run goes.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// How to look into the driver's cloud.
    #[must_use]
    pub fn observer(mut self, observer: Observer) -> Self {
        self.observer = Some(observer);
        self
    }

    /// The driver shows its cloud itself, at a path below its URL.
    #[must_use]
    pub fn observe_path(self, path: impl Into<String>) -> Self {
        let observer = Observer::Path(self.transport.clone(), path.into());
        self.observer(observer)
    }

    /// The process that serves the transport, which the kit started.
    #[must_use]
    pub(crate) fn started(mut self, exec: Exec) -> Self {
        self.driver = Driver::Ours(Box::new(exec));
        self
    }

    /// Tells how far the run is.
    #[must_use]
    pub fn progress(mut self, progress: impl Progress + 'static) -> Self {
        self.progress = Box::new(progress);
        self
    }

    /// Makes all checks that can be made.
    ///
    /// # Errors
    /// [`SuiteError::Unreachable`], when the driver does not answer; [`SuiteError::Observer`], when
    /// the cloud cannot be looked into.
    pub async fn run(self) -> Result<Report, SuiteError> {
        self.run_until(std::future::pending()).await
    }

    /// [`run`](Self::run), ended early when `interrupted` resolves: what was made is taken away
    /// all the same.
    ///
    /// # Errors
    /// As there.
    pub async fn run_until(
        self,
        interrupted: impl Future<Output = ()>,
    ) -> Result<Report, SuiteError> {
        let fixture = placed(self.fixture, &self.transport.url_of(""));
        let observer = match (self.observer, &fixture.observe) {
            (Some(observer), _) => Some(observer),
            (None, Some(observe)) => Some(Observer::of(observe, &self.transport)?),
            (None, None) => None,
        };
        let run = Arc::new(Run::new(Begin {
            transport: self.transport,
            driver: self.driver,
            fixture,
            settings: self.settings,
            observer,
            progress: self.progress,
        }));
        let outcome = Self::judged(&run, interrupted).await;
        if let Driver::Ours(exec) = &run.driver {
            exec.stop().await;
        }
        outcome
    }

    async fn judged(
        run: &Arc<Run>,
        interrupted: impl Future<Output = ()>,
    ) -> Result<Report, SuiteError> {
        let mut interrupted = std::pin::pin!(interrupted);
        let waited = tokio::select! {
            waited = run::reachable::wait_for(run) => waited,
            () = &mut interrupted => {
                let url = run.transport.url_of("");
                return Err(SuiteError::Interrupted { url });
            }
        };
        if let Err(problem) = waited {
            let output = match run.driver.last_words().await {
                Some(words) => format!("\n{words}"),
                None => String::new(),
            };
            return Err(SuiteError::Unreachable {
                url: run.transport.url_of(""),
                problem,
                output,
            });
        }
        Ok(run::run(run.clone(), interrupted).await?)
    }
}

/// The fixture with the driver's address in its places.
fn placed(mut fixture: Fixture, url: &str) -> Fixture {
    let Some(address) = DriverAddress::of(url) else {
        return fixture;
    };
    fixture.observe = fixture
        .observe
        .map(|observe| address.fill_observe(&observe));
    fixture.restart = fixture.restart.map(|action| address.fill_action(&action));
    fixture.fault = fixture.fault.map(|action| address.fill_action(&action));
    fixture
}
