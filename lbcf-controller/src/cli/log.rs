use lbcf_serving::logging;
pub use lbcf_serving::logging::{LogError, LogFormat};
use tracing_subscriber::fmt::format::DefaultFields;

/// The libraries' debug lines would hide the controller's.
const DEBUG: &str = "debug,hyper=info,hyper_util=info,kube_client=info,kube_runtime=info,\
    rustls=info,tower=info";

/// The flags of the log.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Log", mut_args = lbcf_serving::flags::variables("LBCF_"))]
pub struct LogArgs {
    /// The filter of the log on stderr: a level, or a list such as warn,lbcf_controller=debug
    /// [default: info]
    #[arg(long, alias = "log", value_name = "FILTER", global = true)]
    pub log_level: Option<String>,

    /// The same as a number: up to 2 is info, 3 and 4 are debug, more is trace; --log-level wins
    #[arg(short = 'v', long = "v", value_name = "N", global = true)]
    pub verbosity: Option<u8>,

    /// Form of the log
    #[arg(long, value_name = "FORMAT", global = true, default_value = "text")]
    pub log_format: LogFormat,
}

impl LogArgs {
    /// Starts logging; `default` is the filter without a flag.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn start(&self, default: &str) -> Result<(), LogError> {
        let filter = self.filter(default);
        logging::start("--log-level", filter, self.log_format, DefaultFields::new())
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
    use tracing_subscriber::EnvFilter;

    #[test]
    fn b147_a_verbosity_is_a_level_unless_a_level_is_given() {
        let filter = |log_level: Option<&str>, verbosity| {
            let args = LogArgs {
                log_level: log_level.map(str::to_owned),
                verbosity,
                log_format: LogFormat::Text,
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
