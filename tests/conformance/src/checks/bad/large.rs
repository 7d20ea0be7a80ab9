//! Bodies that are far too long.

use super::judging::{Badness, is_alive, problem};
use super::stage::Stage;
use crate::check::{Check, Company, Group, Level, Observer};
use crate::exchange::{Kind, NoAnswer};
use crate::lab::Lab;
use crate::transport::Request;
use crate::verdict::Verdict;

/// 10 MiB.
pub(super) static BAD_04: Check = Check {
    id: "BAD-04",
    level: Level::Should,
    group: Group::Bad,
    rule: "A body of 10 MiB is refused, and the driver goes on",
    why: "No object in Kubernetes is longer than about 1.5 MiB. A driver that keeps whatever anybody \
          sends can be made to run out of memory.",
    source: "derived: RFC 9110, status 413",
    typical: "A body that is read without a limit. Set one of a few MiB: whole pods have to fit.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Alone,
    code: |lab| Box::pin(bad_04(lab)),
};

/// How long the body is made.
const LENGTH: usize = 10 << 20;

async fn bad_04(lab: &Lab) -> Verdict {
    let stage = Stage::new(lab).await;
    let new = lab.load_balancer();
    for call in [new.validate(), new.create(), stage.backend.ensure()] {
        let small = lab.request_of(&call).body;
        let more = small.strip_prefix(b"{").unwrap_or_default();
        let mut body = Vec::with_capacity(LENGTH + small.len() + 100);
        body.extend_from_slice(br#"{"fieldOfALaterEdition":""#);
        body.resize(LENGTH, b'x');
        body.extend_from_slice(b"\",");
        body.extend_from_slice(more);
        let request = Request::post(call.webhook(), body);
        let answer = lab.call_by(&call, &request, Kind::Improper).await;
        let what = format!("{} with a body of 10 MiB", call.webhook());
        // One that is hung up on may not see why.
        let is_hung_up = matches!(answer.no_answer(), Some(NoAnswer::Closed(_)));
        if !is_hung_up && let Some(problem) = problem(&answer.exchange, Badness::Senseless) {
            let expected = format!("{what} refused, with HTTP 413 or Fail");
            return Err(answer.failed(expected, problem));
        }
        is_alive(lab, &what).await?;
    }
    Ok(())
}
