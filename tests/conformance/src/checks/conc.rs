//! Concurrent calls: controllers have no limit for the calls of one load balancer.

use super::prelude::*;
use futures::future::join_all;

pub(super) const CHECKS: &[&Check] = &[&CONC_01, &CONC_02, &CONC_03, &CONC_04, &CONC_05];

/// The attempts of a call that returns Fail, because a cloud may be busy.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

check! { CONC_01 = conc_01, Conc, observer Improves, needs [LoadBalancer, Backend],
    why "When a Deployment is scaled up, all its pods are registered at the same time. A driver \
         that reads the list, adds one entry and writes it back silently loses the others.",
    source "LBCF controller: no limit on concurrent calls",
    typical "Read, modify and write without a lock or a version. Serialize the changes of a load \
             balancer, or use the cloud's call for a single target.",
}

async fn conc_01(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let backends = lab.given_backends(&lb, lab.concurrency()).await?;
    lab.run.require("ENS-01")?;
    concurrently(lab, backends.iter().map(Backend::ensure).collect()).await?;
    lab.are_registered(&lb, &backends).await
}

check! { CONC_02 = conc_02, Conc, observer Improves, needs [LoadBalancer, Backend],
    why "A controller whose call timed out calls again while the first call is still running.",
    source "LBCF controller: timeouts and retries (b10)",
    typical "Checking for existence and creating are two steps, and two calls pass the check \
             together.",
}

async fn conc_02(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    lab.run.require("ENS-01")?;
    for _ in 0..3 {
        let backend = lab.given_backend(&lb).await?;
        concurrently(lab, vec![backend.ensure(); lab.repeats()]).await?;
        lab.are_registered(&lb, &[backend]).await?;
    }
    Ok(())
}

check! { CONC_03 = conc_03, Conc, observer Improves, needs [LoadBalancer],
    runs Counting,
    why "A controller whose call timed out calls again while the first call is still running. \
         Nothing refers to a second load balancer.",
    source "LBCF controller: timeouts and retries (b10, b18)",
    typical "Checking for existence and creating are two steps, and two calls pass the check \
             together. Use the cloud's client token, or a lock per recordID.",
}

async fn conc_03(lab: &Lab) -> CheckOutcome {
    lab.run.require("CLB-01")?;
    let before = lab.observe().await?;
    let lb = lab.load_balancer();
    let replies = concurrently(lab, vec![lb.create(); lab.repeats()]).await?;
    let identity = |reply: &DriverReply| reply.identity(&lb.sample.lb_spec);
    let mut identities = replies.iter().map(identity);
    let first = identities.next().unwrap_or_default();
    if let Some(other) = identities.find(|other| *other != first) {
        let expected = format!("one lbInfo for one recordID, {first:?}");
        return Err(Failure::new(expected, format!("also {other:?}")).into());
    }
    lab.created_since(before.as_ref(), 1, "one new load balancer in the cloud")
        .await
}

check! { CONC_04 = conc_04, Conc, observer Improves, needs [LoadBalancer, Backend],
    why "In a rolling update pods start and stop at the same time.",
    source "LBCF controller: no limit on concurrent calls",
    typical "Read, modify and write without a lock or a version.",
}

async fn conc_04(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    lab.run.require("ENS-01")?;
    lab.run.require("DRG-01")?;
    let count = lab.concurrency().div_ceil(2).max(2);
    let old = lab.given_backends(&lb, count).await?;
    let new = lab.given_backends(&lb, count).await?;
    // One by one: CONC-01 verifies concurrent registrations.
    let old = lab.given_all_bound(old).await?;
    let pairs = new.iter().zip(&old);
    let calls = pairs.flat_map(|(new, old)| [new.ensure(), old.deregister()]);
    concurrently(lab, calls.collect()).await?;
    lab.are_registered(&lb, &new).await?;
    lab.are_deregistered(&lb, &old).await
}

check! { CONC_05 = conc_05, Conc, observer Improves, needs [LoadBalancer, Backend, UnusableAddr],
    why "One user's wrong address must not keep the pods of others from their traffic.",
    source "LBCF webhook specification, ensureBackend",
    typical "Several backends are registered with one call of the cloud, and its error, or the first \
             failure, is the answer to all. Answer for each what is true of it.",
}

async fn conc_05(lab: &Lab) -> CheckOutcome {
    let (lb, mut wrong) = lab.given_unregistered_backend().await?;
    let unusable = lab.run.fixture.backend.unusable_addrs.first();
    wrong.addr = unusable.cloned().unwrap_or_default();
    let backends = lab.given_backends(&lb, lab.concurrency()).await?;
    lab.run.require("ENS-01")?;
    let calls: Vec<_> = backends.iter().map(Backend::ensure).collect();
    // In the midst of the others, which are all repeated if one fails: the cloud may be busy.
    let (first, rest) = calls.split_at(calls.len() / 2);
    let wrong = [wrong.ensure().unusual()];
    let all = || [first, &wrong, rest].into_iter().flatten();
    let mut tries = TRIES;
    loop {
        let replies = join_all(all().map(|call| lab.until_done(call))).await;
        let mut replies = replies.into_iter().collect::<CheckOutcome<Vec<_>>>()?;
        replies.remove(first.len());
        tries -= 1;
        if let Some(failed) = replies
            .iter()
            .find(|reply| reply.status() != Some(Status::Succ))
        {
            if tries == 0 {
                failed
                    .succ("since the call is valid, and another one has the address that is not")?;
            }
            tokio::time::sleep(PAUSE).await;
        } else {
            return lab.are_registered(&lb, &backends).await;
        }
    }
}

/// Makes all calls at the same time, each until it succeeds.
pub(super) async fn concurrently(
    lab: &Lab,
    calls: Vec<WebhookCall>,
) -> CheckOutcome<Vec<DriverReply>> {
    let replies = join_all(calls.iter().map(|call| until_succ(lab, call))).await;
    replies.into_iter().collect()
}

/// Repeats a call after Fail, as controllers do: a cloud may be busy for a moment.
async fn until_succ(lab: &Lab, call: &WebhookCall) -> CheckOutcome<DriverReply> {
    for _ in 1..TRIES {
        let reply = lab.until_done(call).await?;
        if reply.status() == Some(Status::Succ) {
            return Ok(reply);
        }
        tokio::time::sleep(PAUSE).await;
    }
    let since = "since the call is valid and only concurrent with others";
    lab.succeeds(call, since).await
}
