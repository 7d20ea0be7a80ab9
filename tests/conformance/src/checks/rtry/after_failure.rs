//! What comes after a Fail.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::exchange::NoAnswer;
use crate::lab::{Lab, LoadBalancer, Status};
use crate::verdict::{Failure, NotPassed, Verdict};

/// A corrected call succeeds.
pub(super) static RTRY_03: Check = Check {
    id: "RTRY-03",
    level: Level::Must,
    group: Group::Rtry,
    rule: "After a Fail, a corrected call under the same recordID succeeds",
    why: "The recordID belongs to the object. When the user corrects it, the next call has the same, \
          and a driver that remembers the Fail never recovers.",
    source: "LBCF controller: recordID is made from the object's uid (d28)",
    typical: "Results are remembered by recordID, failures too.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::InvalidLoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(rtry_03(lab)),
};

async fn rtry_03(lab: &Lab) -> Verdict {
    lab.is_given("CLB-01")?;
    let wrong = lab.load_balancer_of(lab.fixture().load_balancer.invalid.first());
    let right = LoadBalancer {
        uid: wrong.uid.clone(),
        ..lab.load_balancer()
    };
    let failed = lab.until_done(&wrong.create()).await?;
    if failed.status() != Some(Status::Fail) {
        let not_passed = failed.failed(
            "status Fail, since the fixture says that it is wrong",
            failed.said(),
        );
        return Err(not_passed.blocked_by("CLB-05"));
    }
    let right = lab.created(right).await?;
    let Some(invalid) = lab
        .fixture()
        .backend
        .invalid
        .first()
        .filter(|_| lab.has_backends())
    else {
        return Ok(());
    };
    let backend = lab.given_backend(&right).await?;
    // Whether wrong parameters are refused here, too, is up to the driver.
    lab.until_done(&backend.ensure_with(&lab.filled(invalid)))
        .await?;
    lab.registered(backend).await?;
    Ok(())
}

/// A cloud that fails for a while.
pub(super) static RTRY_05: Check = Check {
    id: "RTRY-05",
    level: Level::Should,
    group: Group::Rtry,
    rule: "While the cloud does not work, operations are answered with HTTP 200, Fail or Running, and a msg; afterwards they succeed",
    why: "The msg reaches the user, an exception does not. And nobody has to restart anything when \
          the cloud works again.",
    source: "LBCF webhook specification: status Fail",
    typical: "The cloud's error ends as 500 or 502.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::Backend, Need::Fault],
    company: Company::Alone,
    code: |lab| Box::pin(rtry_05(lab)),
};

async fn rtry_05(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_backend(&load_balancer).await?;
    let other = lab.load_balancer();
    lab.fault(true).await?;
    let mut verdict = Ok(());
    for call in [other.create(), load_balancer.ensure(), backend.ensure()] {
        let answer = lab.call(&call.unusual()).await;
        let is_right = match answer.status() {
            Some(Status::Fail | Status::Running) => {
                answer.http_status() == Some(200) && !answer.msg().is_empty()
            }
            _ => false,
        };
        if !is_right {
            let expected =
                "HTTP 200 with status Fail or Running and a msg, since the cloud does not work";
            verdict = Err(answer.failed(expected, answer.said()));
            break;
        }
    }
    lab.fault(false).await?;
    verdict?;
    lab.registered(backend).await?;
    lab.created(other).await?;
    Ok(())
}

/// No retries of its own.
pub(super) static RTRY_06: Check = Check {
    id: "RTRY-06",
    level: Level::Should,
    group: Group::Rtry,
    rule: "A call that fails is answered within the webhook's timeout: the driver does not try on its own for longer",
    why: "The controller tries again by itself. A driver that does so, too, is hung up on, and the \
          user never reads why.",
    source: "LBCF webhook specification: drivers need not try again",
    typical: "A client library of the cloud with many retries and growing pauses. Limit it to less \
              than the webhook's timeout.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Any,
    code: |lab| Box::pin(rtry_06(lab)),
};

async fn rtry_06(lab: &Lab) -> Verdict {
    let mut calls = Vec::new();
    for sample in &lab.fixture().load_balancer.invalid {
        calls.push(lab.load_balancer_of(Some(sample)).create());
    }
    if lab.fixture().load_balancer.unknown_lb_info.is_some() {
        let mut unknown = lab.load_balancer();
        unknown.lb_info = lab.unknown_lb_info();
        let mut backend = lab.backend(&unknown);
        backend.addr.clone_from(&lab.fixture().backend.unknown_addr);
        calls.extend([unknown.ensure(), backend.ensure()]);
    }
    if calls.is_empty() {
        let needed = "needs loadBalancer.invalid or loadBalancer.unknownLBInfo in the fixture";
        return Err(NotPassed::Skipped(needed.to_owned()));
    }
    for call in calls {
        let answer = lab.call(&call).await;
        if let Some(NoAnswer::TimedOut(after)) = answer.no_answer() {
            let expected = format!(
                "an answer of {} within the webhook's timeout",
                call.webhook()
            );
            let mut failure = Failure::new(expected, format!("none within {after:?}"));
            failure.exchange = Some(answer.exchange.clone());
            return Err(failure.into());
        }
    }
    Ok(())
}
