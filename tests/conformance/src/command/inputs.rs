//! The inputs of a run: flags and variables override the fixture, the fixture overrides defaults.

use super::console::CommandError;
use super::names;
use super::run_args::{BudgetArg, RunArgs};
use crate::checks;
use crate::fixture::placeholders::DriverAddress;
use crate::fixture::{Fixture, Observe, read_known_failures};
use crate::init;
use crate::report::{FailOn, FailurePolicy};
use crate::served::ServedFixture;
use crate::settings::Settings;
use lbcf_serving::secret::Secret;
use std::path::PathBuf;

#[derive(Debug)]
pub(super) struct RunInputs {
    pub(super) fixture: Fixture,
    pub(super) path: Option<PathBuf>,
    /// The unused parts of a fixture that the driver serves; `None` when it serves none.
    pub(super) ignored: Option<Vec<String>>,
    pub(super) settings: Settings,
}

/// The driver to test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DriverSource {
    Url(Secret),
    /// A driver that the kit starts, with the path of its URL.
    Exec {
        command: String,
        path: String,
    },
}

impl RunInputs {
    /// Reads the files that the flags name.
    pub(super) fn read(args: &RunArgs) -> Result<Self, CommandError> {
        let found = || Some(PathBuf::from(init::FILE)).filter(|path| path.is_file());
        let path = args.fixture.clone().or_else(found);
        let settings = settings(args)?;
        let fixture = match &path {
            Some(path) => Fixture::read(path, &checks::ids()).map_err(CommandError::usage)?,
            None => Fixture::default(),
        };
        Ok(Self {
            fixture: with_flags(fixture, args)?,
            path,
            ignored: None,
            settings,
        })
    }

    /// Uses the fixture that the driver serves.
    pub(super) fn use_served(
        &mut self,
        served: ServedFixture,
        args: &RunArgs,
    ) -> Result<(), CommandError> {
        self.fixture = with_flags(served.fixture, args)?;
        self.ignored = Some(served.ignored);
        Ok(())
    }

    pub(super) fn driver(&self, args: &RunArgs) -> Result<DriverSource, CommandError> {
        if let Some(command) = &args.exec {
            let of_fixture = || self.fixture.endpoint.url.as_deref().map(path_of);
            let path = args.exec_path.clone().or_else(of_fixture);
            return Ok(DriverSource::Exec {
                command: command.clone(),
                path: path.unwrap_or_default().trim_matches('/').to_owned(),
            });
        }
        let of_fixture = || self.fixture.endpoint.url.clone().map(Secret);
        match args.url.clone().or_else(of_fixture) {
            Some(url) => Ok(DriverSource::Url(url)),
            None => Err(CommandError::usage(
                "no driver: pass the URL of a running one with --url URL, start one with --exec 'COMMAND {port}', or set endpoint.url in the fixture",
            )),
        }
    }

    /// The message about the fixture before the run.
    pub(super) fn fixture_message(&self, args: &RunArgs) -> String {
        if let Some(path) = &self.path {
            let is_found = args.fixture.is_none();
            let found = if is_found {
                ", found in this folder"
            } else {
                ""
            };
            return format!("fixture: {}{found}", path.display());
        }
        let Some(ignored) = &self.ignored else {
            return "no fixture: the kit uses neutral values and skips more checks; `lbcf conformance init` writes a first one".to_owned();
        };
        let source = self.fixture.source.as_deref().unwrap_or_default();
        let lines = ignored.iter().map(|part| format!("\n  ignored: {part}"));
        let lines: String = lines.collect();
        format!("fixture: {source}, served by the driver{lines}")
    }
}

/// A fixture with the values of the flags instead of its own.
fn with_flags(mut fixture: Fixture, args: &RunArgs) -> Result<Fixture, CommandError> {
    if let Some(known) = &args.known_failures {
        let known = read_known_failures(known, &checks::ids()).map_err(CommandError::usage)?;
        fixture.known_failures.extend(known);
    }
    if args.settings.timeout.is_some() {
        fixture.endpoint.timeouts.clear();
    }
    if let Some(Secret(url)) = &args.observe_url {
        if let Some(problem) = crate::fixture::placeholders::url_problem(url) {
            return Err(CommandError::usage(format!("--observe-url: {problem}")));
        }
        fixture.observe = Some(Observe::Url(url.clone()));
    }
    if let Some(command) = &args.observe_cmd {
        let words = ["sh", "-c", command].map(str::to_owned);
        fixture.observe = Some(Observe::Command(words.to_vec()));
    }
    Ok(fixture)
}

/// The path of a URL; empty, unless the URL is valid.
fn path_of(url: &str) -> String {
    let is_url = DriverAddress::of(url).is_some();
    let uri = url.parse::<http::Uri>().ok().filter(|_| is_url);
    uri.map(|uri| uri.path().to_owned()).unwrap_or_default()
}

fn settings(args: &RunArgs) -> Result<Settings, CommandError> {
    let mut settings = Settings {
        only: names::read("--only", &args.settings.only)?,
        skip: names::read("--skip", &args.settings.skip)?,
        // Short enough to type, and exact in all JSON parsers.
        seed: args.seed.unwrap_or_else(|| u64::from(fastrand::u32(1..))),
        policy: FailurePolicy {
            should: args.fail_on == FailOn::Should,
            partial: !args.allow_partial,
            strict_known: args.strict_known,
        },
        cleanup: !args.no_cleanup,
        ..args.settings.clone()
    };
    for budget in &args.budgets {
        match budget {
            BudgetArg::Async(time) => settings.async_budget = Some(*time),
            BudgetArg::Total(time) => settings.total_budget = Some(*time),
        }
    }
    Ok(settings)
}
