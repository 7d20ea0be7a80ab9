//! The last webhook calls, newest first. Each opens to its bodies.

use super::table::table;
use crate::cloud::Cloud;
use crate::journal::JournalEntry;
use maud::{Markup, html};

/// The number of calls that the page shows; `/_mock/requests` has all that are kept.
const SHOWN: usize = 50;

const HEADS: &[&str] = &[
    "Time",
    "Webhook",
    "Load balancer",
    "Backend",
    "Result",
    "Took",
];

pub(super) fn list(cloud: &Cloud) -> Markup {
    let entries = cloud.call_log().last(SHOWN);
    if entries.is_empty() {
        return html! { p { "No webhook was called yet." } };
    }
    let rows = html! { @for entry in &entries { (show(entry)) } };
    table(None, HEADS, &rows)
}

fn show(entry: &JournalEntry) -> Markup {
    html! {
        tr {
            td { (time_of_day(&entry.time)) }
            th scope="row" {
                // The script puts the bodies here.
                details #{ "call-" (entry.sequence) } data-bodies={ "/_mock/requests/" (entry.sequence) } {
                    summary { (entry.webhook) }
                    @if !entry.record_id.is_empty() { p { code { (entry.record_id) } } }
                    p { a href={ "/_mock/requests/" (entry.sequence) } { "call " (entry.sequence) } }
                }
                @if entry.dry_run { span .about { "dry run" } }
            }
            td { (entry.load_balancer) }
            td { (entry.address) }
            td {
                span .{ (kind(&entry.status)) } { (entry.status) }
                @if !entry.msg.is_empty() { " " (entry.msg) }
                @if let Some(fault) = &entry.fault { p .fault { "fault: " (fault) } }
            }
            td { (milliseconds(entry.micros)) }
        }
    }
}

/// Hours, minutes and seconds of an RFC 3339 time.
pub(super) fn time_of_day(time: &str) -> &str {
    time.get(11..19).unwrap_or(time)
}

fn milliseconds(micros: u64) -> String {
    format!("{}.{} ms", micros / 1000, micros % 1000 / 100)
}

/// The class of a result. Colors only repeat what the text says.
fn kind(status: &str) -> &'static str {
    match status {
        "Succ" | "Accepted" => "good",
        "Running" => "running",
        _ => "bad",
    }
}
