//! The formats of a report for people and programs, and their destinations.
//!
//! ```
//! use lbcf_conformance::output::{Format, Output};
//!
//! let output: Output = "junit=conformance.xml".parse()?;
//! assert_eq!(output.format, Format::Junit);
//! assert_eq!(output.to_string(), "junit=conformance.xml");
//! # Ok::<(), lbcf_conformance::output::WrongOutput>(())
//! ```

mod badge;
mod causes;
mod color;
mod curl;
mod destination;
mod exchange;
mod format;
mod github;
pub(crate) mod human;
mod json;
mod junit;
mod markdown;
mod parts;
mod published;
mod text;

pub use badge::badge;
pub use color::Color;
pub use curl::curl_of;
pub(crate) use curl::word;
pub(crate) use destination::replace;
pub use destination::{CannotWrite, Output, step_summary};
pub use exchange::{REQUEST_KEPT, RESPONSE_KEPT, excerpt};
pub use format::{Format, Show, WrongOutput};
pub use json::{read, schema};
pub use published::{ConformanceReport, ProfileReport, ReportKind, ReportVersion, RuleResult};
pub use text::{one_line, shown, visible};

pub(crate) use color::Paint;
pub(crate) use text::glance;

use crate::report::{FailurePolicy, Report};

/// A report could not be put into a format.
#[derive(Debug, thiserror::Error)]
#[error("the report cannot be written as {format}: {problem}")]
pub struct CannotRender {
    /// The format that failed.
    pub format: Format,
    /// The error of the format's writer.
    pub problem: String,
}

/// The report in this format, with a newline at its end.
///
/// # Errors
/// [`CannotRender`] for an error of the format's writer; no report is known to cause one.
pub fn render(report: &Report, format: Format, show: &Show) -> Result<String, CannotRender> {
    let text = match format {
        Format::Human => Ok(human::render(report, show)),
        Format::Json => json::render(report).map_err(|e| e.to_string()),
        Format::Junit => junit::render(report, show.policy).map_err(|e| e.to_string()),
        Format::Markdown => Ok(markdown::render(report, show.policy)),
        Format::Github => Ok(github::render(report, show.policy)),
        Format::Report => published::render(report, show.policy).map_err(|e| e.to_string()),
    };
    text.map_err(|problem| CannotRender { format, problem })
}

impl Report {
    /// Panics unless the driver passed, with the report for people as message.
    ///
    /// # Panics
    /// When a failure fails the run, or the driver stopped responding.
    #[track_caller]
    pub fn assert_passed(&self) {
        let policy = FailurePolicy::default();
        let fails = self.results.iter().any(|result| policy.fails(result));
        let text = render(self, Format::Human, &Show::default()).unwrap_or_default();
        assert!(!fails && self.unreachable.is_none(), "{text}");
    }
}
