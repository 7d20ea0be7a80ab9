//! Calls after a Fail.

use crate::check::{Check, Concurrency, Group, Need};
use crate::exchange::NoResponse;
use crate::lab::{Lab, LoadBalancer, Status};
use crate::outcome::{CheckError, CheckOutcome};

pub(super) static RTRY_03: Check = Check {
    id: "RTRY-03",
    rule: "After a Fail, a corrected call under the same recordID succeeds",
    why: "The recordID belongs to the object. After the user's correction the next call has the \
          same one, and a driver that remembers the Fail never recovers.",
    source: "LBCF controller: recordID is made from the object's uid (d28)",
    typical: "Results are stored by recordID, failures included.",
    needs: &[Need::LoadBalancer, Need::InvalidLoadBalancer],
    ..Check::must(Group::Rtry, |lab| Box::pin(rtry_03(lab)))
};

async fn rtry_03(lab: &Lab) -> CheckOutcome {
    lab.require("CLB-01")?;
    let invalid = lab.load_balancer_of(lab.fixture().load_balancer.invalid.first());
    let valid = LoadBalancer {
        uid: invalid.uid.clone(),
        ..lab.load_balancer()
    };
    let reply = lab.until_done(&invalid.create()).await?;
    let failed = reply.fail("since the fixture declares it invalid");
    failed.map_err(|e| e.blocked_by("CLB-05"))?;
    let valid = lab.created(valid).await?;
    let invalid = lab.fixture().backend.invalid.first();
    let Some(invalid) = invalid.filter(|_| lab.has_backends()) else {
        return Ok(());
    };
    let backend = lab.given_backend(&valid).await?;
    // A driver may accept invalid parameters here.
    lab.until_done(&backend.ensure_with(&lab.filled(invalid)))
        .await?;
    lab.registered(backend).await.map(drop)
}

pub(super) static RTRY_05: Check = Check {
    id: "RTRY-05",
    rule: "While the cloud fails, operations respond with HTTP 200, Fail or Running, and a msg; \
           afterwards they succeed",
    why: "The msg reaches the user, an exception does not. And nothing has to be restarted when \
          the cloud works again.",
    source: "LBCF webhook specification: status Fail",
    typical: "The cloud's error becomes 500 or 502.",
    needs: &[Need::LoadBalancer, Need::Backend, Need::Fault],
    concurrency: Concurrency::Exclusive,
    ..Check::should(Group::Rtry, |lab| Box::pin(rtry_05(lab)))
};

async fn rtry_05(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_backend(&load_balancer).await?;
    let other = lab.load_balancer();
    lab.fault(true).await?;
    let mut outcome = Ok(());
    for call in [other.create(), load_balancer.ensure(), backend.ensure()] {
        let reply = lab.call(&call.unusual()).await;
        let has_status = matches!(reply.status(), Some(Status::Fail | Status::Running));
        if !has_status || reply.http_status() != Some(200) || reply.msg().is_empty() {
            let expected =
                "HTTP 200 with status Fail or Running and a msg, since the cloud does not work";
            outcome = Err(reply.failed(expected, reply.summary()));
            break;
        }
    }
    lab.fault(false).await?;
    outcome?;
    lab.registered(backend).await?;
    lab.created(other).await.map(drop)
}

pub(super) static RTRY_06: Check = Check {
    id: "RTRY-06",
    rule: "A failing call gets a response within the webhook's timeout: the driver's own retries \
           do not exceed it",
    why: "The controller retries on its own. It closes the connection to a driver that retries for \
          longer, and the user never reads the reason.",
    source: "LBCF webhook specification: drivers need not retry",
    typical: "The cloud's client library retries many times with growing delays. Limit it to less \
              than the webhook's timeout.",
    ..Check::should(Group::Rtry, |lab| Box::pin(rtry_06(lab)))
};

async fn rtry_06(lab: &Lab) -> CheckOutcome {
    let mut calls = Vec::new();
    for sample in &lab.fixture().load_balancer.invalid {
        calls.push(lab.load_balancer_of(Some(sample)).create());
    }
    if lab.fixture().load_balancer.unknown_lb_info.is_some() {
        let unknown = lab.unknown_load_balancer();
        calls.extend([unknown.ensure(), lab.unknown_backend(&unknown).ensure()]);
    }
    if calls.is_empty() {
        let needed = "needs loadBalancer.invalid or loadBalancer.unknownLBInfo in the fixture";
        return Err(CheckError::Skipped(needed.to_owned()));
    }
    for call in calls {
        let reply = lab.call(&call).await;
        if let Some(NoResponse::TimedOut(after)) = reply.no_response() {
            let expected = format!(
                "a response of {} within the webhook's timeout",
                call.webhook()
            );
            return Err(reply.failed(expected, format!("none within {after:?}")));
        }
    }
    Ok(())
}
