//! Logs: to standard error, for people or for programs.

mod plain_fields;

use crate::server::ServerError;
use clap::ValueEnum;
use plain_fields::PlainFields;
use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;

/// What is logged where nobody says.
const DEFAULT: &str = "info";

const HEADING: &str = "Log";

/// What is logged, and how.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct LogArgs {
    /// What is logged: a level, or a list such as warn,my_driver=debug [default: that of RUST_LOG,
    /// or info]
    #[arg(long = "log", help_heading = HEADING, env = "LBCF_DRIVER_LOG", value_name = "FILTER")]
    filter: Option<String>,

    /// Form of the log
    #[arg(
        long = "log-format", help_heading = HEADING,
        env = "LBCF_DRIVER_LOG_FORMAT",
        value_name = "FORMAT",
        default_value = "text"
    )]
    format: LogFormat,
}

/// The form of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// Lines for people
    #[default]
    Text,
    /// A JSON object a line
    Json,
}

impl LogArgs {
    pub(super) fn start(&self) -> Result<(), ServerError> {
        let filter = self.filter(std::env::var("RUST_LOG").ok());
        let filter = parse(&filter)?;
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal());
        // Where somebody listens already, there is nothing to start.
        let _ = match self.format {
            LogFormat::Text => log.fmt_fields(PlainFields::default()).try_init(),
            LogFormat::Json => log.json().try_init(),
        };
        Ok(())
    }

    fn filter(&self, rust_log: Option<String>) -> String {
        let given = self.filter.clone().or(rust_log);
        given
            .filter(|filter| !filter.trim().is_empty())
            .unwrap_or_else(|| DEFAULT.to_owned())
    }
}

fn parse(filter: &str) -> Result<EnvFilter, ServerError> {
    EnvFilter::try_new(filter).map_err(|source| ServerError::Log {
        filter: filter.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_goes_before_rust_log() {
        let filter = |flag: Option<&str>, rust_log: Option<&str>| {
            let args = LogArgs {
                filter: flag.map(str::to_owned),
                format: LogFormat::Text,
            };
            args.filter(rust_log.map(str::to_owned))
        };
        assert_eq!(filter(Some("warn"), Some("debug")), "warn");
        assert_eq!(filter(None, Some("debug")), "debug");
        assert_eq!(filter(None, Some("")), "info");
        assert_eq!(filter(None, None), "info");
    }

    #[test]
    fn a_filter_that_is_none_is_quoted_with_what_would_be_one() {
        let error = parse("my_driver=loud").unwrap_err().to_string();
        assert!(error.contains("\"my_driver=loud\""), "{error}");
        assert!(error.contains("warn,my_driver=debug"), "{error}");
        assert!(parse(DEFAULT).is_ok());
    }
}
