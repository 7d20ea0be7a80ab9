//! A report as a badge: an image for the README of a driver.

use super::parts::html;
use super::published::{ConformanceReport, RuleResult};
use super::text::glance;
use crate::classification::Level;
use crate::report::{SkipKind, Status};

/// The width of a character, and the space before and after a text, in pixels. Fonts differ: `textLength` fits the text.
const CHARACTER: usize = 7;

/// The badge as SVG: how many of the MUST rules that apply to the driver it passed.
pub fn badge(report: &ConformanceReport) -> String {
    let left = format!("LBCF {}", glance(&report.spec_version));
    let (right, color) = verdict(report);
    let [left_text, right_text] = [&left, &right].map(|text| text.chars().count() * CHARACTER);
    let (begin, right_width) = (left_text + 2 * CHARACTER, right_text + 2 * CHARACTER);
    let (width, right_begin) = (begin + right_width, begin + CHARACTER);
    let left = html(&left);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<title>{left}: {right}</title>
<rect width="{begin}" height="20" fill="#444"/>
<rect x="{begin}" width="{right_width}" height="20" fill="{color}"/>
<text x="{CHARACTER}" y="14" textLength="{left_text}" fill="#fff">{left}</text>
<text x="{right_begin}" y="14" textLength="{right_text}" fill="#fff">{right}</text>
</svg>
"##
    )
}

/// The text on the right, and its color, which is dark enough for white text.
fn verdict(report: &ConformanceReport) -> (String, &'static str) {
    let applies = |rule: &&RuleResult| rule.skip != Some(SkipKind::NotApplicable);
    let count = |level: Level, status: Status| {
        let rules = report.results.values().filter(applies);
        let rules = rules.filter(|rule| (rule.level, rule.result) == (level, status));
        rules.count()
    };
    let passed = count(Level::Must, Status::Passed);
    let failed = count(Level::Must, Status::Failed);
    let all = passed + failed + count(Level::Must, Status::Skipped);
    let color = match (failed, passed == all && all > 0) {
        (1.., _) => "#c62828",                                      // Red.
        (_, false) => "#8a6500",                                    // Yellow.
        _ if count(Level::Should, Status::Failed) > 0 => "#667518", // Yellow-green.
        _ => "#2e7d32",                                             // Green.
    };
    (format!("{passed}/{all} MUST"), color)
}
