//! Switches for what can go wrong. Each sends a request to an endpoint under `/_mock`, so they need the
//! script, which shows them; the rules in force are shown without it.

use super::table::table;
use crate::cloud::Cloud;
use crate::faults::FaultStatus;
use crate::traffic::DataPlane;
use maud::{Markup, html};

/// Rules of which each is a switch, by title.
const RULES: [(&str, &str); 5] = [
    (
        "Fail registrations",
        r#"{"match":{"webhook":"ensureBackend"},"action":{"fail":{}}}"#,
    ),
    (
        "Fail 3 of 10 calls",
        r#"{"match":{"webhook":"*Backend","share":0.3},"action":{"fail":{}}}"#,
    ),
    (
        "Delay all calls",
        r#"{"action":{"delay":{"time":"500ms","jitter":"500ms"}}}"#,
    ),
    (
        "Hang",
        r#"{"match":{"webhook":"*Backend"},"action":"hang"}"#,
    ),
    (
        "Lose answers",
        r#"{"match":{"webhook":"*Backend","share":0.5},"action":"loseAnswer"}"#,
    ),
];

/// Choices of how many requests a second the mock sends.
const RATES: [u32; 3] = [5, 25, 100];

const CAPTION: &str = "Rules in force; the first that matches a call wins";
const HEADS: &[&str] = &["Rule", "Matched", "Applied", ""];

pub(super) fn show(cloud: &Cloud) -> Markup {
    let has_outage = cloud.has_outage();
    let rules = cloud.faults().list();
    let rows = html! { @for rule in &rules { (show_rule(rule)) } };
    html! {
        div .switches {
            button #outage type="button" role="switch" aria-checked=(has_outage)
                data-post="/_mock/fault" data-body={ "{\"on\":" (!has_outage) "}" } {
                "Outage of the cloud's API"
            }
            @for (index, (title, rule)) in RULES.into_iter().enumerate() {
                (switch(index, title, rule, &rules))
            }
        }
        @if !rules.is_empty() { (table(Some(&CAPTION), HEADS, &rows)) }
        div .switches {
            button #restart type="button" data-post="/_mock/restart" { "Kill and restart the driver" }
            button #release type="button" data-post="/_mock/creations/release" { "Complete held creations" }
            button #reset type="button" data-post="/_mock/reset"
                data-confirm="Remove everything that was created in this cloud?" { "Reset the cloud" }
        }
    }
}

/// Switches for requests to the load balancers.
pub(super) fn load(plane: &DataPlane) -> Markup {
    let (current, sent) = plane.load();
    html! {
        p .about { "Sent by the mock to its own TCP and HTTP listeners that have backends, and nowhere else." }
        div .switches .load {
            @for rate in RATES {
                @let is_on = current == rate;
                button #{ "load-" (rate) } type="button" role="switch" aria-checked=(is_on) data-post="/_mock/load"
                    data-body={ "{\"rate\":" (if is_on { 0 } else { rate }) "}" } { (rate) " requests a second" }
            }
        }
        p { (sent.requests) " sent, " (sent.failed) " without a complete response" }
        @for error in &sent.errors { p .bad { (error) } }
    }
}

/// On while there is such a rule.
fn switch(index: usize, title: &str, rule: &str, rules: &[FaultStatus]) -> Markup {
    let wanted: Option<serde_json::Value> = serde_json::from_str(rule).ok();
    let is_it = |status: &&FaultStatus| serde_json::to_value(&status.rule).ok() == wanted;
    let id = format!("fault-{index}");
    html! {
        @match rules.iter().find(is_it) {
            Some(status) => {
                button id=(id) type="button" role="switch" aria-checked="true" data-method="DELETE"
                    data-post={ "/_mock/faults/" (status.id) } { (title) }
            }
            None => {
                button id=(id) type="button" role="switch" aria-checked="false"
                    data-post="/_mock/faults" data-body=(rule) { (title) }
            }
        }
    }
}

fn show_rule(status: &FaultStatus) -> Markup {
    let rule = serde_json::to_string(&status.rule).unwrap_or_default();
    html! {
        tr {
            td { code { (rule) } }
            td { (status.matched) }
            td { (status.applied) }
            td {
                button #{ "rule-" (status.id) } .scripted-only type="button" data-method="DELETE"
                    data-post={ "/_mock/faults/" (status.id) } { "Remove rule " (status.id) }
            }
        }
    }
}

/// The cloud's time, which decides about creations, faults and quotas, and a button that moves it.
pub(super) fn clock(cloud: &Cloud) -> Markup {
    let seconds = cloud.now().as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    html! {
        p {
            "Time of the cloud since its start: "
            span .time { (hours) ":" (format!("{minutes:02}")) ":" (format!("{:02}", seconds % 60)) }
        }
        div .switches {
            button #minute type="button" data-post="/_mock/clock/advance"
                data-body="{\"seconds\":60}" { "Let a minute pass" }
        }
    }
}

#[cfg(test)]
mod tests;
