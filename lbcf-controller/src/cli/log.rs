//! Logs: to stderr, for people or for programs.

use clap::ValueEnum;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// What -v 3 says of libraries would hide what it says of us.
const DEBUG: &str = "debug,hyper=info,hyper_util=info,kube_client=info,kube_runtime=info,\
    rustls=info,tower=info";

/// What is logged, and how.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Log")]
pub struct LogArgs {
    /// What is logged, to stderr: a level, or a list such as warn,lbcf_controller=debug
    /// [default: info]
    #[arg(
        long,
        alias = "log",
        env = "LBCF_LOG_LEVEL",
        value_name = "FILTER",
        global = true
    )]
    pub log_level: Option<String>,

    /// The same as a number: up to 2 is info, 3 and 4 are debug, more is trace; --log-level wins
    #[arg(
        short = 'v',
        long = "v",
        env = "LBCF_V",
        value_name = "N",
        global = true
    )]
    pub verbosity: Option<u8>,

    /// Form of the log
    #[arg(
        long,
        env = "LBCF_LOG_FORMAT",
        value_name = "FORMAT",
        global = true,
        default_value = "human"
    )]
    pub log_format: LogFormat,
}

/// The form of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people
    #[default]
    #[value(alias = "text")]
    Human,
    /// A JSON object a line
    Json,
}

/// Why nothing can be logged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// What shall be logged is not understood.
    #[error(
        "--log-level {filter:?}: {source}; give a level such as info, or a list such as warn,lbcf_controller=debug"
    )]
    Filter {
        /// The value.
        filter: String,
        /// What is wrong with it.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    /// Something else in this process logs already.
    #[error("starting the log: {0}")]
    Start(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl LogArgs {
    /// Starts logging; `default` is what is logged where no flag says.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn start(&self, default: &str) -> Result<(), LogError> {
        let filter = self.filter(default);
        let filter = EnvFilter::try_new(filter).map_err(|source| LogError::Filter {
            filter: filter.to_owned(),
            source,
        })?;
        let logs = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal());
        match self.log_format {
            LogFormat::Human => logs.try_init(),
            LogFormat::Json => logs.json().try_init(),
        }
        .map_err(LogError::Start)
    }

    fn filter<'a>(&'a self, default: &'a str) -> &'a str {
        match (&self.log_level, self.verbosity) {
            (Some(filter), _) => filter,
            (None, Some(0..=2)) => "info",
            (None, Some(3 | 4)) => DEBUG,
            (None, Some(5..)) => "trace",
            (None, None) => default,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b147_a_verbosity_is_a_level_unless_a_level_is_given() {
        let filter = |log_level: Option<&str>, verbosity| {
            let args = LogArgs {
                log_level: log_level.map(str::to_owned),
                verbosity,
                log_format: LogFormat::Human,
            };
            args.filter("error").to_owned()
        };
        assert_eq!(filter(None, None), "error");
        assert_eq!(filter(None, Some(0)), "info");
        assert_eq!(filter(None, Some(4)), DEBUG);
        assert_eq!(filter(None, Some(10)), "trace");
        assert_eq!(filter(Some("warn"), Some(10)), "warn");
        assert!(EnvFilter::try_new(DEBUG).is_ok());
    }
}
