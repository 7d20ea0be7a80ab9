//! docs/reasons.md lists the reasons of conditions and events as the tables of them have them.

// Tests say what they expect by unwrapping, their helpers too.
#![allow(clippy::unwrap_used)]

use lbcf_controller::api::reasons::{self, ReportReason};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Rewrites the document instead of comparing it.
const UPDATE: &str = "UPDATE_REASONS";

fn sorted() -> Vec<&'static ReportReason> {
    let mut rows: Vec<_> = reasons::all().collect();
    rows.sort_by_key(|row| row.to_string());
    rows
}

#[test]
fn the_document_lists_every_reason() {
    let mut text = String::from(
        "# Reasons of conditions and events\n\nWhat a reason in `kubectl describe` means, and what helps. Written by\n\
         `UPDATE_REASONS=1 cargo test -p lbcf-controller --test reasons`.\n",
    );
    for reason in sorted() {
        let (kinds, meaning, advice) =
            (reason.kinds().join(", "), reason.meaning(), reason.advice());
        write!(text, "\n## {reason}\n\n{kinds}: {meaning}\n\n{advice}\n").unwrap();
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/reasons.md");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let advice =
        format!("rewrite it with\n  {UPDATE}=1 cargo test -p lbcf-controller --test reasons");
    assert_eq!(stored, text, "{}: {advice}", path.display());
}

#[test]
fn each_reason_has_one_row_in_the_order_of_names() {
    let names: Vec<_> = sorted().into_iter().map(|it| it.to_string()).collect();
    assert!(names.is_sorted_by(|one, next| one < next), "{names:?}");
    for table in [reasons::CONDITIONS, reasons::EVENTS] {
        assert!(table.is_sorted_by_key(|row| row.to_string()), "{table:?}");
    }
}
