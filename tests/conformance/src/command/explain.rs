//! `explain`: the full description of checks.

use super::console::{CommandError, print};
use super::{example, list, names, needs};
use crate::check::Check;
use crate::checks;
use crate::output::human::layout::Page;
use crate::report::Exit;

/// The checks to explain.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ExplainArgs {
    /// Ids of checks, such as ENS-02; without any all are listed
    #[arg(value_name = "ID")]
    pub ids: Vec<String>,
}

pub(super) fn run(args: &ExplainArgs) -> Result<Exit, CommandError> {
    let checks = names::checks(&args.ids)?;
    let mut page = Page::on_stdout();
    if checks.is_empty() {
        list::table(&mut page, &checks::all().collect::<Vec<_>>());
    }
    for (index, check) in checks.into_iter().enumerate() {
        if index > 0 {
            page.gap();
        }
        explain(&mut page, check);
    }
    print(&page.text)?;
    Ok(Exit::Passed)
}

fn explain(page: &mut Page, check: &Check) {
    let title = format!("{} {} ({})", check.id, check.level, check.group.about());
    let title = page.paint.strong(&title);
    page.line(&title);
    page.paragraph("  ", check.rule);
    page.gap();
    page.paragraph("  why      ", check.why);
    page.paragraph("  source   ", check.source);
    page.paragraph("  typical  ", check.typical);
    for (index, need) in needs::sentences(check).iter().enumerate() {
        let first = match index {
            0 => "  needs    ",
            _ => "           ",
        };
        page.paragraph(first, &format!("- {need}"));
    }
    if let Some(example) = example::of(check.group) {
        page.gap();
        page.line("  A call of a controller, and a valid response:");
        for line in example.lines() {
            // Without wrapping, for copying.
            page.line(format!("    {line}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Paint;

    #[test]
    fn every_check_is_explained_within_the_width() {
        for check in checks::all() {
            let mut page = Page::new(72, Paint { on: false });
            explain(&mut page, check);
            let first = page.text.lines().next().unwrap();
            assert!(first.starts_with(check.id), "{first}");
            for part in ["  why ", "  source ", "  typical "] {
                assert!(page.text.contains(part), "{}: {part}", check.id);
            }
            let is_example = |line: &&str| line.starts_with("    {");
            let mut lines = page.text.lines().filter(|line| !is_example(line));
            let long = lines.find(|line| line.chars().count() > 72);
            assert_eq!(long, None, "{}", check.id);
        }
    }

    #[test]
    fn unknown_ids_are_wrong() {
        let args = ExplainArgs {
            ids: vec!["ens-02".to_owned(), "ENS2".to_owned()],
        };
        let stop = run(&args).unwrap_err();
        assert_eq!(stop.exit, Exit::Usage);
        assert!(
            stop.message.contains("did you mean ENS-02?"),
            "{}",
            stop.message
        );
    }
}
