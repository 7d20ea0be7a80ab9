//! The command line that repeats a run, without secrets.

use super::console::CommandError;
use super::inputs::{DriverSource, RunInputs};
use super::run_args::RunArgs;
use crate::fixture::duration::shown;
use crate::init::word;
use crate::report::FailOn;
use crate::settings::Settings;
use clap::ValueEnum as _;
use lbcf_serving::secret::Secret;
use std::path::Path;

/// The command line, with `***` instead of secrets, and with the names of files that contain some.
pub(super) fn command_line(
    args: &RunArgs,
    given: &RunInputs,
    driver: &DriverSource,
) -> Result<String, CommandError> {
    let defaults = Settings::default();
    let mut line = CommandLine(vec!["lbcf conformance run".to_owned()]);
    match driver {
        DriverSource::Url(Secret(url)) => line.flag("--url", without_user(url)),
        DriverSource::Exec { command, .. } => line.flag("--exec", command),
    }
    line.some("--exec-path", args.exec_path.as_ref());
    line.path("--fixture", given.path.as_deref());
    if args.wait != defaults.wait {
        line.flag("--wait", shown(args.wait));
    }
    for header in args.connection.read_headers()? {
        line.flag("--header", format!("{}: ***", header.name));
    }
    for file in &args.connection.ca_files {
        line.path("--ca-file", Some(file));
    }
    line.path(
        "--client-cert-file",
        args.connection.client_cert_file.as_deref(),
    );
    line.path(
        "--client-key-file",
        args.connection.client_key_file.as_deref(),
    );
    line.path("--token-file", args.connection.token_file.as_deref());
    line.some("--profile", args.profile.map(|profile| profile.name()));
    line.list("--only", &given.settings.only);
    line.list("--skip", &given.settings.skip);
    line.path("--known-failures", args.known_failures.as_deref());
    line.switch("--strict-known", args.strict_known);
    if let Some(Secret(url)) = &args.observe_url {
        line.flag("--observe-url", without_user(url));
    }
    line.some("--observe-cmd", args.observe_cmd.as_ref());
    for (name, value, default) in [
        ("--repeat", args.repeat, defaults.repeat),
        ("--concurrency", args.concurrency, defaults.concurrency),
        ("--jobs", args.jobs, defaults.jobs),
    ] {
        if value != default {
            line.flag(name, value.to_string());
        }
    }
    line.flag("--seed", given.settings.seed.to_string());
    line.some("--timeout", args.timeout.map(shown));
    for budget in &args.budgets {
        line.flag("--budget", budget.to_string());
    }
    if args.time_scale.to_bits() != defaults.time_scale.to_bits() {
        line.flag("--time-scale", args.time_scale.to_string());
    }
    let more = args.fail_on.iter().filter(|what| **what != FailOn::Must);
    let names = more.filter_map(|what| Some(what.to_possible_value()?.get_name().to_owned()));
    line.list("--fail-on", &names.collect::<Vec<_>>());
    line.switch("--fail-fast", args.fail_fast);
    line.switch("--no-cleanup", args.no_cleanup);
    Ok(line.0.join(" "))
}

struct CommandLine(Vec<String>);

impl CommandLine {
    fn flag(&mut self, name: &str, value: impl AsRef<str>) {
        self.0.push(name.to_owned());
        self.0.push(word(value.as_ref()));
    }

    fn some(&mut self, name: &str, value: Option<impl AsRef<str>>) {
        if let Some(value) = value {
            self.flag(name, value);
        }
    }

    fn path(&mut self, name: &str, value: Option<&Path>) {
        self.some(name, value.map(|path| path.display().to_string()));
    }

    fn list(&mut self, name: &str, values: &[String]) {
        if !values.is_empty() {
            self.flag(name, values.join(","));
        }
    }

    fn switch(&mut self, name: &str, is_on: bool) {
        if is_on {
            self.0.push(name.to_owned());
        }
    }
}

/// A URL without user and password.
pub(super) fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}
