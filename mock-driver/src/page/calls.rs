//! The last webhook calls, newest first.

use crate::cloud::Cloud;
use crate::journal::JournalEntry;
use maud::{Markup, html};

/// How many calls the page shows; `/_mock/requests` has all that are kept.
const SHOWN: usize = 50;

pub(super) fn list(cloud: &Cloud) -> Markup {
    let entries = cloud.journal();
    let last = entries.iter().rev().take(SHOWN);
    html! {
        @if entries.is_empty() {
            p { "No webhook was called yet." }
        } @else {
            div .scroll {
                table {
                    thead {
                        tr { th { "No." } th { "Webhook" } th { "Result" } th { "Message" } th { "recordID" } }
                    }
                    tbody {
                        @for entry in last { (show(entry)) }
                    }
                }
            }
        }
    }
}

fn show(entry: &JournalEntry) -> Markup {
    html! {
        tr {
            td { (entry.sequence) }
            th scope="row" {
                (entry.webhook)
                @if entry.dry_run { " " span .about { "dry run" } }
            }
            td .{ (kind(&entry.status)) } { (entry.status) }
            td { (entry.msg) }
            td { code { (entry.record_id) } }
        }
    }
}

/// The class of a result. Colors only repeat what the text says.
fn kind(status: &str) -> &'static str {
    match status {
        "Succ" | "Accepted" => "good",
        "Running" => "running",
        _ => "bad",
    }
}
