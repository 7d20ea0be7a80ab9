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

mod assert;
mod color;
mod curl;
mod destination;
mod exchange;
mod github;
pub(crate) mod human;
mod json;
mod junit;
mod markdown;
mod parts;
mod tap;
mod text;
mod yaml;

pub use color::Color;
pub use curl::curl_of;
pub(crate) use destination::replace;
pub use destination::{CannotWrite, Output, WrongOutput, step_summary};
pub use exchange::{REQUEST_KEPT, RESPONSE_KEPT, excerpt};
pub use json::{read, schema};
pub use text::{one_line, shown, visible};
pub use yaml::{ConformanceReport, ProfileReport, Statistics};

pub(crate) use color::Paint;
pub(crate) use text::glance;

use crate::report::{FailurePolicy, Report};
use std::fmt;
use std::str::FromStr;

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people at a terminal.
    Human,
    /// The whole report; see [`schema`].
    Json,
    /// JUnit XML for Jenkins, GitLab and others.
    Junit,
    /// The Test Anything Protocol, version 14.
    Tap,
    /// For `$GITHUB_STEP_SUMMARY` and similar.
    Markdown,
    /// Workflow commands for GitHub's annotations.
    Github,
    /// The document for publication: `--report`.
    Yaml,
}

impl Format {
    /// All formats in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::Human,
        Self::Json,
        Self::Junit,
        Self::Tap,
        Self::Markdown,
        Self::Github,
        Self::Yaml,
    ];

    /// Its name in `--output`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
            Self::Junit => "junit",
            Self::Tap => "tap",
            Self::Markdown => "markdown",
            Self::Github => "github",
            Self::Yaml => "yaml",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = WrongOutput;

    fn from_str(text: &str) -> Result<Self, WrongOutput> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| WrongOutput::Format(text.to_owned()))
    }
}

/// The options of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Show {
    /// The columns of the format for people.
    pub width: usize,
    /// Whether the format for people has colors.
    pub color: bool,
    /// Which results count as failures.
    pub policy: FailurePolicy,
}

impl Default for Show {
    fn default() -> Self {
        Self {
            width: Self::WIDTH,
            color: false,
            policy: FailurePolicy::default(),
        }
    }
}

impl Show {
    /// The columns without a terminal.
    pub const WIDTH: usize = 100;

    /// For standard output: with the width of the terminal, from 60 to 160 columns, and with colors
    /// if `color` and the environment's `NO_COLOR` allow them.
    #[must_use]
    pub fn on_stdout(color: Color, policy: FailurePolicy) -> Self {
        let width = terminal_size::terminal_size().map_or(Self::WIDTH, |(width, _)| {
            usize::from(width.0).clamp(60, 160)
        });
        Self {
            width,
            color: color.is_on_for(&std::io::stdout()),
            policy,
        }
    }
}

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
        Format::Json => json::render(report).map_err(|problem| problem.to_string()),
        Format::Junit => junit::render(report, show.policy).map_err(|e| e.to_string()),
        Format::Tap => tap::render(report, show.policy).map_err(|e| e.to_string()),
        Format::Markdown => Ok(markdown::render(report, show.policy)),
        Format::Github => Ok(github::render(report, show.policy)),
        Format::Yaml => yaml::render(report, show.policy).map_err(|e| e.to_string()),
    };
    text.map_err(|problem| CannotRender { format, problem })
}
