//! Drivers that do not judge pods.

use super::judge;
use super::pods::{kept, not_ready};
use crate::check::{Check, Company, Feature, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::Verdict;
use std::time::Duration;

/// How long saying no may take.
const LIMIT: Duration = Duration::from_secs(2);

/// Who does not judge says so at once.
pub(super) static JPD_04: Check = Check {
    id: "JPD-04",
    level: Level::Should,
    group: Group::Jpd,
    rule: "A driver that does not judge pods answers judgePodDeregister at once with another status than 200",
    why: "Then the group's failurePolicy decides. While a driver keeps the controller waiting, \
          pods that are dead keep their traffic; and an empty success takes all of them away.",
    source: "Deregister policy proposal; b111",
    typical: "A catch-all route answers every path with 200, or with a page. Answer 404 to what is \
              not there.",
    observer: Observer::Unused,
    needs: &[Need::Without(Feature::JudgePodDeregister)],
    company: Company::Any,
    code: |lab| Box::pin(jpd_04(lab)),
};

async fn jpd_04(lab: &Lab) -> Verdict {
    let call = judge(&not_ready(lab)).unusual();
    let answer = lab.call_within(&call, LIMIT).await;
    let expected =
        format!("another status than 200 within {LIMIT:?}, such as 404, or a proper judgement");
    if answer.no_answer().is_some() {
        return Err(answer.failed(expected, answer.said()));
    }
    if answer.http_status() != Some(200) {
        return Ok(());
    }
    if answer.verdict().is_none() {
        return Err(answer.failed(expected, format!("HTTP 200, {}", answer.said())));
    }
    kept(&answer)?;
    lab.note(
        "the driver judges pods, although the fixture's features do not name judgePodDeregister",
    );
    Ok(())
}
