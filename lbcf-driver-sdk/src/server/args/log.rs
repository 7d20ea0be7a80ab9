//! Logs: to standard error, for people or for programs.

mod plain_fields;

use crate::server::ServerError;
use lbcf_serving::logging::{self, LogError, LogFormat};
use plain_fields::PlainFields;

/// The filter without a flag and a variable.
const DEFAULT: &str = "info";

const HEADING: &str = "Log";

/// The contents and the form of the log.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_DRIVER_"))]
pub(super) struct LogArgs {
    /// Filter of the log: a level, or a list such as warn,my_driver=debug [default: that of RUST_LOG,
    /// or info]
    #[arg(long = "log", help_heading = HEADING, value_name = "FILTER")]
    filter: Option<String>,

    /// Form of the log
    #[arg(
        long = "log-format", help_heading = HEADING,
        value_name = "FORMAT",
        default_value = "text"
    )]
    format: LogFormat,
}

impl LogArgs {
    pub(super) fn start(&self) -> Result<(), ServerError> {
        let filter = self.filter(std::env::var("RUST_LOG").ok());
        match logging::start("--log", &filter, self.format, PlainFields::default()) {
            Err(LogError::Filter { filter, source, .. }) => {
                Err(ServerError::Log { filter, source })
            }
            // A process with a subscriber of its own keeps it.
            _ => Ok(()),
        }
    }

    fn filter(&self, rust_log: Option<String>) -> String {
        let given = self.filter.clone().or(rust_log);
        given
            .filter(|filter| !filter.trim().is_empty())
            .unwrap_or_else(|| DEFAULT.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_precedes_rust_log() {
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
}
