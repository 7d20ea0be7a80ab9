//! The report for people: the checks by group, the failures in full, hints, and one summary line.

mod check;
mod ending;
mod failure;
pub(crate) mod layout;

use super::Paint;
use super::format::Show;
use super::parts::{about, by_group, driver};
use super::text::one_line;
use crate::report::{Report, SkipKind, Status};
use layout::Page;

pub(super) fn render(report: &Report, show: &Show) -> String {
    let mut page = Page::new(show.width, Paint { on: show.color });
    head(&mut page, report);
    for (group, mut results) in by_group(report) {
        // Excluded checks are not worth a line.
        results.retain(|result| result.skip != Some(SkipKind::Asked));
        if results.is_empty() {
            continue;
        }
        page.gap();
        let id = page.paint.strong(one_line(&group));
        page.line(format!("{id}  {}", about(&group)).trim_end());
        for result in results {
            check::write(&mut page, result, show.policy);
        }
    }
    let failures: Vec<_> = report
        .results
        .iter()
        .filter(|result| result.status == Status::Failed && result.known.is_none())
        .collect();
    if !failures.is_empty() {
        page.title("Failures");
        for (index, result) in failures.into_iter().enumerate() {
            if index > 0 {
                page.gap();
            }
            failure::write(&mut page, result, show.policy);
        }
    }
    ending::write(&mut page, report, show.policy);
    page.text
}

fn head(page: &mut Page, report: &Report) {
    let (name, url) = driver(report);
    let at = if name.is_empty() { "" } else { " at " };
    let title = format!("LBCF conformance of {name}{at}{url}");
    page.wrapped("", "  ", &one_line(&title), |paint, line| {
        paint.strong(line)
    });
    let facts = [
        format!("kit {}", report.suite_version),
        format!("specification {}", report.spec_version),
        format!("profile {}", report.profile),
        format!("seed {}", report.seed),
        match &report.fixture_digest {
            Some(digest) => {
                let digest: String = digest.chars().take(12).collect();
                let source = report.fixture.iter().map(|source| format!(" {source}"));
                format!("fixture{} {digest}", source.collect::<String>())
            }
            None => "no fixture".to_owned(),
        },
        if report.observer {
            "with an observer".to_owned()
        } else {
            "no observer".to_owned()
        },
    ];
    page.wrapped("", "", &one_line(&facts.join(", ")), |paint, line| {
        paint.faint(line)
    });
}
