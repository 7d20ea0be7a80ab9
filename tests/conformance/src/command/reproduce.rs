//! The command line that repeats a run, without secrets.

use super::console::CommandError;
use super::inputs::{DriverSource, RunInputs};
use super::run_args::RunArgs;
use crate::fixture::duration::shown;
use crate::output::word;
use crate::report::FailOn;
use crate::settings::{Profile, Settings};
use crate::transport::without_user;
use clap::ValueEnum as _;
use lbcf_serving::secret::Secret;
use std::fmt::Display;
use std::path::PathBuf;

/// The command line, with `***` instead of secrets, and with the names of files that contain some.
pub(super) fn command_line(
    args: &RunArgs,
    given: &RunInputs,
    driver: &DriverSource,
) -> Result<String, CommandError> {
    let (own, default, connection) = (&given.settings, Settings::default(), &args.connection);
    let mut line = CommandLine("lbcf conformance run".to_owned());
    match driver {
        DriverSource::Url(Secret(url)) => line.add("--url", Some(without_user(url))),
        DriverSource::Exec { command, .. } => line.add("--exec", Some(command)),
    }
    line.add("--exec-path", &args.exec_path);
    line.files("--fixture", &given.path);
    line.changed("--wait", shown(own.wait), shown(default.wait));
    for (name, _) in connection.read_headers()? {
        line.add("--header", Some(format!("{name}: ***")));
    }
    line.files("--ca-file", &connection.ca_files);
    line.files("--client-cert-file", &connection.client_cert_file);
    line.files("--client-key-file", &connection.client_key_file);
    line.files("--token-file", &connection.token_file);
    line.add("--profile", own.profile.map(Profile::name));
    line.changed("--only", own.only.join(","), String::new());
    line.changed("--skip", own.skip.join(","), String::new());
    line.files("--known-failures", &args.known_failures);
    line.switch("--strict-known", args.strict_known);
    let observe_url = args.observe_url.as_ref();
    let observe_url = observe_url.map(|Secret(url)| without_user(url));
    line.add("--observe-url", observe_url);
    line.add("--observe-cmd", &args.observe_cmd);
    line.changed("--repeat", own.repeat, default.repeat);
    line.changed("--concurrency", own.concurrency, default.concurrency);
    line.changed("--jobs", own.jobs, default.jobs);
    line.add("--seed", Some(own.seed));
    line.add("--timeout", own.timeout.map(shown));
    line.add("--budget", &args.budgets);
    line.changed("--time-scale", own.time_scale, default.time_scale);
    let more = (args.fail_on != FailOn::Must).then(|| args.fail_on.to_possible_value());
    line.add(
        "--fail-on",
        more.flatten().map(|it| it.get_name().to_owned()),
    );
    line.switch("--allow-partial", args.allow_partial);
    line.switch("--fail-fast", own.fail_fast);
    line.switch("--no-cleanup", args.no_cleanup);
    Ok(line.0)
}

struct CommandLine(String);

impl CommandLine {
    /// Adds a flag once for each value.
    fn add(&mut self, flag: &str, values: impl IntoIterator<Item = impl Display>) {
        for value in values {
            self.0 += &format!(" {flag} {}", word(&value.to_string()));
        }
    }

    /// Adds a flag whose value is not the default.
    fn changed<T: Display + PartialEq>(&mut self, flag: &str, value: T, default: T) {
        self.add(flag, (value != default).then_some(value));
    }

    fn files<'a>(&mut self, flag: &str, files: impl IntoIterator<Item = &'a PathBuf>) {
        self.add(flag, files.into_iter().map(|file| file.display()));
    }

    fn switch(&mut self, flag: &str, is_on: bool) {
        if is_on {
            self.0 += &format!(" {flag}");
        }
    }
}
