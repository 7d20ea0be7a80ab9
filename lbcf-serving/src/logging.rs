//! Logs to standard error, as flags ask for them.

use crate::streams;
use clap::ValueEnum;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

/// The value of a flag such as `--log-format`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line of text for each event
    #[default]
    #[value(alias = "human")]
    Text,
    /// A JSON object a line
    Json,
}

/// Why logging does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The filter is not in the syntax of [`EnvFilter`].
    #[error(
        "{flag} {filter:?}: {source}; give a level such as info, or a list such as warn,my_driver=debug"
    )]
    Filter {
        /// The flag that has the filter.
        flag: &'static str,
        /// The filter as it was given.
        filter: String,
        /// The mistake in it.
        #[source]
        source: ParseError,
    },
    /// Spans cannot be sent to the collector that the variables of OpenTelemetry name.
    #[error("OTEL_EXPORTER_OTLP_ENDPOINT or another variable of OpenTelemetry: {0}")]
    Traces(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The process has a `tracing` subscriber already.
    #[error("starting the log: {0}")]
    Start(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Logs what `filter`, the value of `flag`, selects to standard error. `fields` formats the fields of
/// spans and events as text; JSON ignores it.
///
/// # Errors
/// [`LogError`].
pub fn start<F>(
    flag: &'static str,
    filter: &str,
    format: LogFormat,
    fields: F,
) -> Result<(), LogError>
where
    F: for<'writer> FormatFields<'writer> + Send + Sync + 'static,
{
    let log = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        // Else a line that cannot be written, as on a terminal that is closed, ends its task by a panic.
        .log_internal_errors(false)
        .with_ansi(streams::has_color(&std::io::stderr()));
    let log = match format {
        LogFormat::Text => log.fmt_fields(fields).boxed(),
        LogFormat::Json => log.json().boxed(),
    };
    let subscriber = tracing_subscriber::registry().with(log.with_filter(parse(flag, filter)?));
    #[cfg(feature = "otlp")]
    let subscriber = subscriber.with(crate::traces::layer().map_err(LogError::Traces)?);
    subscriber
        .try_init()
        .map_err(|error| LogError::Start(error.into()))
}

fn parse(flag: &'static str, filter: &str) -> Result<EnvFilter, LogError> {
    EnvFilter::try_new(filter).map_err(|source| LogError::Filter {
        flag,
        filter: filter.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_in_error_is_quoted_with_examples() {
        let error = parse("--log", "my_driver=loud").unwrap_err().to_string();
        assert!(error.starts_with("--log \"my_driver=loud\""), "{error}");
        assert!(error.contains("warn,my_driver=debug"), "{error}");
        assert!(parse("--log", "info").is_ok());
    }
}
