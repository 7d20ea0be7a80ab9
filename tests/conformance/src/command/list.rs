//! `list`: all checks, for people or programs.

use super::console::{CommandError, print};
use super::needs;
use crate::SPECIFICATION;
use crate::check::Check;
use crate::checks;
use crate::classification::{Group, Level};
use crate::output::human::layout::Page;
use crate::report::Exit;
use serde_json::json;

/// The checks to list, and the format.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(mut_args = lbcf_serving::flags::variables("LBCF_CONFORMANCE_LIST_"))]
pub struct ListArgs {
    /// Format of the list
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub format: ListFormat,

    /// Only checks of this group, such as ENS; may be repeated
    #[arg(long = "group", value_name = "GROUP")]
    #[arg(value_delimiter = ',', ignore_case = true)]
    pub groups: Vec<Group>,

    /// Only checks of this level
    #[arg(long, value_name = "LEVEL", ignore_case = true)]
    pub level: Option<Level>,
}

/// The format of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ListFormat {
    /// A table for each group of checks
    #[default]
    Human,
    /// A JSON document with all fields
    Json,
}

pub(super) fn run(args: &ListArgs) -> Result<Exit, CommandError> {
    let checks = selected(args);
    let text = match args.format {
        ListFormat::Human => {
            let mut page = Page::on_stdout();
            table(&mut page, &checks);
            page.text
        }
        ListFormat::Json => document(&checks),
    };
    print(&text)?;
    Ok(Exit::Passed)
}

fn selected(args: &ListArgs) -> Vec<&'static Check> {
    checks::all()
        .filter(|check| args.groups.is_empty() || args.groups.contains(&check.group))
        .filter(|check| args.level.is_none_or(|level| check.level == level))
        .collect()
}

/// The checks by group: id, level and rule, and below what they need beyond neutral values.
pub(super) fn table(page: &mut Page, checks: &[&Check]) {
    for group in Group::ALL {
        let of_group: Vec<_> = checks.iter().filter(|check| check.group == group).collect();
        if of_group.is_empty() {
            continue;
        }
        if !page.text.is_empty() {
            page.gap();
        }
        let title = format!("{}  {}", page.paint.strong(group.id()), group.about());
        page.line(&title);
        for check in of_group {
            let level = check.level.to_string();
            let first = format!("  {:<8} {level:<7} ", check.id);
            page.paragraph(&first, check.rule);
            let needs = needs::beyond_the_neutral(check);
            if !needs.is_empty() {
                let margin = " ".repeat(first.len());
                page.paragraph(&format!("{margin}needs "), &needs.join(", "));
            }
        }
    }
    let must = checks.iter().filter(|check| check.level == Level::Must);
    let (must, all) = (must.count(), checks.len());
    let (should, more) = (all - must, "`lbcf conformance explain ID` explains one");
    page.gap();
    page.paragraph(
        "",
        &format!("{all} checks: {must} MUST, {should} SHOULD; {more}"),
    );
}

fn document(checks: &[&Check]) -> String {
    let described = |check: &&Check| {
        json!({
            "id": check.id,
            "level": check.level,
            "group": check.group,
            "about": check.group.about(),
            "rule": check.rule,
            "why": check.why,
            "source": check.source,
            "typical": check.typical,
            "observer": check.observer,
            "needs": check.needs.iter().map(|need| need.name()).collect::<Vec<_>>(),
        })
    };
    let document = json!({
        "suiteVersion": env!("CARGO_PKG_VERSION"),
        "specVersion": SPECIFICATION,
        "checks": checks.iter().map(described).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Paint;

    #[test]
    fn the_table_fits_and_has_every_check() {
        let all: Vec<_> = checks::all().collect();
        for width in [60, 100, 160] {
            let mut page = Page::new(width, Paint { on: false });
            table(&mut page, &all);
            for check in &all {
                assert!(
                    page.text.contains(&format!("  {} ", check.id)),
                    "{}",
                    check.id
                );
            }
            let long = page.text.lines().find(|line| line.chars().count() > width);
            assert_eq!(long, None, "wider than {width}");
        }
    }

    #[test]
    fn groups_and_levels_select() {
        let args = |groups: &[Group], level| ListArgs {
            groups: groups.to_vec(),
            level,
            ..ListArgs::default()
        };
        let ens = selected(&args(&[Group::Ens], Some(Level::Must)));
        assert!(!ens.is_empty());
        assert!(
            ens.iter()
                .all(|c| c.group == Group::Ens && c.level == Level::Must)
        );
        assert_eq!(selected(&args(&[], None)).len(), checks::all().count());
    }

    #[test]
    fn programs_get_all_fields() {
        let document: serde_json::Value =
            serde_json::from_str(&document(&checks::all().collect::<Vec<_>>())).unwrap();
        let checks = document["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["id"] == "ENS-02").unwrap();
        assert_eq!(check["level"], "MUST");
        assert_eq!(check["group"], "ENS");
        assert_eq!(check["observer"], "improves");
        assert_eq!(check["needs"][0], "loadBalancer.valid");
        for field in ["rule", "why", "source", "typical"] {
            assert!(!check[field].as_str().unwrap().is_empty(), "{field}");
        }
    }
}
