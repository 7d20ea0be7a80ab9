//! `badge` and `diff`, which read reports for publication.

mod changes;

use super::console::{CommandError, print, print_error};
use crate::files;
use crate::fixture::yaml;
use crate::output::human::layout::Page;
use crate::output::{self, ConformanceReport, badge, glance};
use crate::report::Exit;
use lbcf_serving::streams;
use std::path::{Path, PathBuf};

/// The largest report, in bytes.
const LIMIT: u64 = 4 << 20;

/// The report, and the file of the image.
#[derive(Debug, Clone, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_CONFORMANCE_BADGE_"))]
pub struct BadgeArgs {
    /// Report of `run --output report=FILE`
    pub report: PathBuf,

    /// File of the SVG image [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The reports to compare.
#[derive(Debug, Clone, clap::Args)]
pub struct DiffArgs {
    /// Report of `run --output report=FILE`
    pub old: PathBuf,

    /// Later report of the same driver
    pub new: PathBuf,
}

pub(super) fn run_badge(args: &BadgeArgs) -> Result<Exit, CommandError> {
    let image = badge(&read(&args.report)?);
    let written = match &args.output {
        None => streams::print(&image),
        Some(path) => output::replace(path, &image),
    };
    written.map_err(|problem| CommandError::usage(format!("--output: {problem}")))?;
    Ok(Exit::Passed)
}

pub(super) fn run_diff(args: &DiffArgs) -> Result<Exit, CommandError> {
    let (old, new) = (read(&args.old)?, read(&args.new)?);
    if old.spec_version != new.spec_version {
        let (old, new) = (glance(&old.spec_version), glance(&new.spec_version));
        print_error(&format!(
            "warning: OLD is about version {old} of the specification, NEW about version {new}"
        ));
    }
    let changes = changes::find(&old, &new);
    let mut page = Page::on_stdout();
    for change in &changes {
        let sign = if change.is_regression { "✗" } else { "-" };
        let id = glance(change.id);
        let (level, result) = (change.rule.level.name(), change.rule.result.name());
        let first = format!("{sign} {id:<8} {level:<7} {result:<8} ");
        page.paragraph(&first, change.what);
        page.paragraph("    ", &glance(&change.rule.reason));
    }
    let regressions = changes.iter().filter(|change| change.is_regression).count();
    let all = changes.len();
    page.line(format!("{regressions} regressions in {all} changes"));
    print(&page.text)?;
    Ok(match regressions {
        0 => Exit::Passed,
        _ => Exit::Failed,
    })
}

/// Reads a report. The error names the field, its value and what is allowed.
fn read(path: &Path) -> Result<ConformanceReport, CommandError> {
    let wrong = |problem: String| {
        let expected = "expected a report of `run --output report=FILE`";
        CommandError::usage(format!("{}: {problem}; {expected}", path.display()))
    };
    let text = files::read_text(path, LIMIT).map_err(wrong)?;
    let report: Option<_> = yaml::parse(&text).map_err(wrong)?;
    report.ok_or_else(|| wrong("it is empty".to_owned()))
}

#[cfg(test)]
mod tests;
