//! What a run goes by: flags and variables before the fixture, the fixture before defaults.

use super::Stop;
use super::names;
use super::run_args::RunArgs;
use super::values::{BudgetArg, Secret};
use crate::checks;
use crate::fixture::places::DriverAddress;
use crate::fixture::{Fixture, Observe, read_known_failures};
use crate::init;
use crate::report::Judging;
use crate::settings::Settings;
use std::path::PathBuf;

/// What is known of the driver, and from where.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) fixture: Fixture,
    /// The fixture's file, if there is one.
    pub(super) path: Option<PathBuf>,
    pub(super) settings: Settings,
}

/// Where the driver is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Where {
    /// Somebody else started it.
    Url(Secret),
    /// The kit starts it; the path is what its URL has behind the port.
    Exec { command: String, path: String },
}

impl Given {
    /// Reads the files that the flags name.
    pub(super) fn read(args: &RunArgs) -> Result<Self, Stop> {
        let path = match &args.fixture {
            Some(path) => Some(path.clone()),
            None => Some(PathBuf::from(init::FILE)).filter(|path| path.is_file()),
        };
        Self::from(args, path)
    }

    fn from(args: &RunArgs, path: Option<PathBuf>) -> Result<Self, Stop> {
        let settings = settings(args)?;
        let ids: Vec<&str> = checks::all().map(|check| check.id).collect();
        let mut fixture = match &path {
            Some(path) => Fixture::read(path, &ids).map_err(Stop::usage)?,
            None => Fixture::default(),
        };
        if let Some(known) = &args.known_failures {
            let known = read_known_failures(known, &ids).map_err(Stop::usage)?;
            fixture.known_failures.extend(known);
        }
        if args.timeout.is_some() {
            fixture.endpoint.timeout = None;
            fixture.endpoint.timeouts.clear();
        }
        if let Some(Secret(url)) = &args.observe_url {
            if let Some(problem) = crate::fixture::places::url_problem(url) {
                return Err(Stop::usage(format!("--observe-url: {problem}")));
            }
            fixture.observe = Some(Observe::Url(url.clone()));
        }
        if let Some(command) = &args.observe_cmd {
            let words = ["sh", "-c", command].map(str::to_owned);
            fixture.observe = Some(Observe::Command(words.to_vec()));
        }
        Ok(Self {
            fixture,
            path,
            settings,
        })
    }

    /// Where the driver is.
    pub(super) fn driver(&self, args: &RunArgs) -> Result<Where, Stop> {
        if let Some(command) = &args.exec {
            let path = match (&args.exec_path, &self.fixture.endpoint.url) {
                (Some(path), _) => path.clone(),
                (None, Some(url)) => path_of(url),
                (None, None) => String::new(),
            };
            let path = path.trim_matches('/').to_owned();
            return Ok(Where::Exec {
                command: command.clone(),
                path,
            });
        }
        let of_fixture = || self.fixture.endpoint.url.clone().map(Secret);
        match args.url.clone().or_else(of_fixture) {
            Some(url) => Ok(Where::Url(url)),
            None => Err(Stop::usage(
                "which driver? Name one that runs with --url URL, or have it started with --exec 'COMMAND {port}', or write endpoint.url into the fixture",
            )),
        }
    }

    /// What is said of the fixture before the run.
    pub(super) fn fixture_told(&self, args: &RunArgs) -> String {
        match &self.path {
            None => "no fixture: neutral values are tried, and more is skipped; `lbcf conformance init` writes one to begin with".to_owned(),
            Some(path) if args.fixture.is_none() => {
                format!("fixture: {}, found in this folder", path.display())
            }
            Some(path) => format!("fixture: {}", path.display()),
        }
    }
}

/// The path of a URL that was looked at.
fn path_of(url: &str) -> String {
    let is_url = DriverAddress::of(url).is_some();
    let uri = url.parse::<http::Uri>().ok().filter(|_| is_url);
    uri.map(|uri| uri.path().to_owned()).unwrap_or_default()
}

fn settings(args: &RunArgs) -> Result<Settings, Stop> {
    let mut settings = Settings {
        profile: args.profile,
        only: names::read("--only", &args.only)?,
        skip: names::read("--skip", &args.skip)?,
        // Short enough to be typed, and exact in each JSON reader.
        seed: args.seed.unwrap_or_else(|| u64::from(fastrand::u32(1..))),
        repeat: args.repeat,
        concurrency: args.concurrency,
        jobs: args.jobs,
        timeout: args.timeout,
        time_scale: args.time_scale,
        wait: args.wait,
        judging: Judging {
            fail_on: args.fail_on,
            strict_known: args.strict_known,
        },
        fail_fast: args.fail_fast,
        cleanup: !args.no_cleanup,
        verbose: args.verbose,
        ..Settings::default()
    };
    for budget in &args.budgets {
        match budget {
            BudgetArg::Async(time) => settings.async_budget = Some(*time),
            BudgetArg::Total(time) => settings.total_budget = Some(*time),
        }
    }
    Ok(settings)
}
