//! What can go wrong, as switches. Each sends a request to an endpoint under `/_mock`, so they need the
//! script, which shows them.

use crate::cloud::Cloud;
use maud::{Markup, html};

pub(super) fn show(cloud: &Cloud) -> Markup {
    let has_outage = cloud.has_outage();
    html! {
        div .switches {
            button #outage type="button" role="switch" aria-checked=(has_outage)
                data-post="/_mock/fault" data-body={ "{\"on\":" (!has_outage) "}" } {
                "Outage of the cloud's API"
            }
            button #restart type="button" data-post="/_mock/restart" { "Kill and restart the driver" }
            button #reset type="button" data-post="/_mock/reset"
                data-confirm="Remove everything that was created in this cloud?" { "Reset the cloud" }
        }
    }
}
