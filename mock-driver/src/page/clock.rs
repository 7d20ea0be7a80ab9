//! The cloud's time, which decides about creations, faults and quotas, and a button that moves it.

use crate::cloud::Cloud;
use maud::{Markup, html};

pub(super) fn show(cloud: &Cloud) -> Markup {
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
