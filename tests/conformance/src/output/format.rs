//! The formats of reports, and their options.

use super::Color;
use crate::classification::named;
use crate::report::FailurePolicy;

named! {
    /// The format of a report.
    Format (6),
    /// Its name in `--output`.
    name;
    /// For people at a terminal.
    Human = "human",
    /// The whole report; see [`schema`](super::schema).
    Json = "json",
    /// JUnit XML for Jenkins, GitLab and others.
    Junit = "junit",
    /// For `$GITHUB_STEP_SUMMARY` and similar.
    Markdown = "markdown",
    /// Workflow commands for GitHub's annotations.
    Github = "github",
    /// The document for publication, in YAML: `--report`.
    #[value(alias = "yaml")]
    Report = "report",
}

/// The options of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Show {
    /// The columns of the format for people.
    pub width: usize,
    /// True if the format for people has colors.
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

/// Why a value of `--output` is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongOutput {
    /// The format is none of the supported ones.
    #[error(
        "unknown format {0:?}: allowed are human, json, junit, markdown, github and report, each alone \
         for standard output or as FORMAT=PATH"
    )]
    Format(String),
    /// No path after the `=`.
    #[error("{0}= has no path: allowed are {0}=PATH, and {0} or {0}=- for standard output")]
    NoPath(Format),
}
