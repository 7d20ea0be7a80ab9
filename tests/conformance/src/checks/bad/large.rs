//! Bodies that are too large.

use super::valid_calls::ValidCalls;
use super::verify::{Expected, is_alive, problem};
use crate::check::{Check, Concurrency, Group};
use crate::exchange::{NoResponse, RequestKind};
use crate::lab::Lab;
use crate::outcome::CheckOutcome;
use crate::transport::Request;

pub(super) static BAD_04: Check = Check {
    id: "BAD-04",
    rule: "A body of 10 MiB is rejected, and the driver keeps working",
    why: "No object in Kubernetes is larger than about 1.5 MiB. A driver that buffers bodies of \
          any size can run out of memory.",
    source: "derived: RFC 9110, status 413",
    typical: "The body is read without a limit. Set one of a few MiB: a whole pod has to fit.",
    concurrency: Concurrency::Exclusive,
    ..Check::should(Group::Bad, |lab| Box::pin(bad_04(lab)))
};

const LENGTH: usize = 10 << 20;

async fn bad_04(lab: &Lab) -> CheckOutcome {
    let valid = ValidCalls::new(lab).await;
    let new = lab.load_balancer();
    for call in [new.validate(), new.create(), valid.backend.ensure()] {
        let small = lab.request_of(&call).body;
        let more = small.strip_prefix(b"{").unwrap_or_default();
        let mut body = Vec::with_capacity(LENGTH + small.len() + 100);
        body.extend_from_slice(br#"{"fieldOfALaterEdition":""#);
        body.resize(LENGTH, b'x');
        body.extend_from_slice(b"\",");
        body.extend_from_slice(more);
        let request = Request::post(call.webhook(), body);
        let reply = lab.call_by(&call, &request, RequestKind::Invalid).await;
        let what = format!("{} with a body of 10 MiB", call.webhook());
        // A driver may close the connection, and its response may then be lost.
        let is_closed = matches!(reply.no_response(), Some(NoResponse::Closed(_)));
        if !is_closed && let Some(problem) = problem(&reply.exchange, Expected::Rejection) {
            let expected = format!("{what} rejected, with HTTP 413 or Fail");
            return Err(reply.failed(expected, problem));
        }
        is_alive(lab, &what).await?;
    }
    Ok(())
}
