//! Drivers without judgePodDeregister.

use super::judge;
use super::pods::{kept, not_ready};
use crate::check::{Check, Feature, Group, Need};
use crate::lab::Lab;
use crate::outcome::CheckOutcome;
use std::time::Duration;

/// The time limit of a response.
const LIMIT: Duration = Duration::from_secs(2);

pub(super) static JPD_04: Check = Check {
    id: "JPD-04",
    rule: "A driver without judgePodDeregister responds to it at once, with succ false or a status \
           other than 200",
    why: "Then the group's failurePolicy decides. While the driver keeps the controller waiting, \
          dead pods keep their traffic; and an empty success deregisters all of them.",
    source: "Deregister policy proposal; b111, d89",
    typical: "A catch-all route responds to every path with 200, or with a page. Respond with 404 \
              to unknown paths, or with succ false and a msg, which the user of the group reads.",
    needs: &[Need::Without(Feature::JudgePodDeregister)],
    ..Check::should(Group::Jpd, |lab| Box::pin(jpd_04(lab)))
};

async fn jpd_04(lab: &Lab) -> CheckOutcome {
    let call = judge(&not_ready(lab)).unusual();
    let reply = lab.call_within(&call, LIMIT).await;
    let expected = format!("a status other than 200 within {LIMIT:?}, such as 404, or succ false");
    if reply.no_response().is_some() {
        return Err(reply.failed(expected, reply.summary()));
    }
    if reply.http_status() != Some(200) {
        return Ok(());
    }
    match reply.decision() {
        None => return Err(reply.failed(expected, format!("HTTP 200, {}", reply.summary()))),
        Some(false) => return Ok(()),
        Some(true) => kept(&reply)?,
    };
    lab.note(
        "the driver supports judgePodDeregister, although the fixture's features do not name it",
    );
    Ok(())
}
