//! Running: long operations that controllers poll.

use super::prelude::*;
use super::tour::valid_calls;

const NOTHING_RUNNING: &str = "no operation was Running";

pub(super) const CHECKS: &[&Check] = &[
    &ASYN_01, &ASYN_02, &ASYN_03, &ASYN_04, &ASYN_05, &ASYN_06, &ASYN_07, &ASYN_08,
];

check! { ASYN_01 = asyn_01, Asyn, needs [LoadBalancer],
    why "A controller retries indefinitely. If every response is Running, the load balancer never \
         becomes ready.",
    source "LBCF webhook specification: Running; b140",
    typical "Each call starts a new operation, or the result is stored under the retryID, which \
             is new in each call. Store it under the recordID, or read the state from the cloud.",
}

async fn asyn_01(lab: &Lab) -> CheckOutcome {
    let lb = lab.load_balancer();
    starts_running(lab, &lb).await?;
    // Whether it ends is the rule.
    let done = lab.until_done(&lb.create()).await;
    let done = done.map_err(CheckError::of_this_check)?;
    done.operation_status().map(drop)
}

check! { ASYN_02 = asyn_02, Asyn, observer Improves, needs [LoadBalancer],
    runs Counting,
    why "Controllers retry every few seconds. A driver that starts over each time creates one \
         load balancer per retry.",
    source "LBCF webhook specification: the same recordID in each attempt; b18",
    typical "The job is looked up by the retryID, or not at all.",
}

async fn asyn_02(lab: &Lab) -> CheckOutcome {
    lab.run.require("CLB-01")?;
    let before = lab.observe().await?;
    let lb = lab.load_balancer();
    for _ in 0..lab.repeats() {
        lab.call(&lb.create()).await.operation_status()?;
    }
    lab.created(lb).await?;
    let expected = "one new load balancer in the cloud after repeated calls";
    lab.created_since(before.as_ref(), 1, expected).await
}

check! { ASYN_03 = asyn_03, Asyn, needs [LoadBalancer],
    why "The response may get lost, and the controller calls again. If the operation then starts \
         over, the controller may never see its end.",
    source "LBCF webhook specification: the same recordID in each attempt; b18",
    typical "The job's result is dropped once it has been returned, and the next call starts a \
             new job.",
}

async fn asyn_03(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_new_load_balancer().await?;
    for _ in 0..lab.repeats() {
        let again = lab.call(&lb.create()).await;
        again.succ("since it has succeeded under this recordID")?;
    }
    Ok(())
}

check! { ASYN_04 = asyn_04, Asyn, runs Last,
    why "Running exists so that the controller need not wait for the operation.",
    source "LBCF webhook specification: Running",
    typical "The driver waits for the operation as long as the timeout allows, and returns \
             Running only then.",
}

async fn asyn_04(lab: &Lab) -> CheckOutcome {
    const LIMIT: Duration = Duration::from_secs(2);
    lab.call(&lab.load_balancer().create()).await;
    let mut is_any = false;
    for (_, exchange) in valid_calls(lab) {
        let took = exchange.took;
        let reply = DriverReply::new(exchange);
        if reply.status() == Some(Status::Running) {
            is_any = true;
            let expected = format!("Running within {LIMIT:?}");
            reply.check(took <= LIMIT, expected, format!("Running after {took:?}"))?;
        }
    }
    if !is_any {
        lab.note(NOTHING_RUNNING);
    }
    Ok(())
}

check! { ASYN_05 = asyn_05, Asyn, needs [LoadBalancer],
    why "The delay is a hint. Controllers call earlier after a restart, or when an object \
         changes.",
    source "LBCF webhook specification: LBCF chooses when to call",
    typical "A rate limit that responds with Fail or 429.",
}

async fn asyn_05(lab: &Lab) -> CheckOutcome {
    lab.run.require("CLB-01")?;
    let lb = lab.load_balancer();
    for _ in 0..5 {
        let reply = lab.call(&lb.create()).await;
        let expected = "Running or Succ, however early the call comes";
        let has_failed = reply.operation_status()? == Status::Fail;
        reply.check(!has_failed, expected, reply.summary())?;
    }
    lab.created(lb).await.map(drop)
}

check! { ASYN_06 = asyn_06, Asyn, observer Required, needs [LoadBalancer],
    runs Counting,
    why "Users delete an object as soon as they notice a mistake. lbInfo is not known at that \
         time, so nothing refers to a load balancer that is finished later.",
    source "derived: finalizers; LBCF controllers send lbInfo null for these (d28)",
    typical "The job continues although no controller calls any more. The recordIDs \
             createLoadBalancer(<uid>) and deleteLoadBalancer(<uid>) contain the same uid.",
}

async fn asyn_06(lab: &Lab) -> CheckOutcome {
    // A hidden creation may run as long as a visible one.
    let began = Instant::now();
    let usual = lab.given_new_load_balancer().await?;
    let usually = began.elapsed();
    lab.given_deleted(&usual).await?;
    let before = lab.observe().await?;
    let lb = lab.load_balancer();
    if !starts_running(lab, &lb).await? {
        return Ok(());
    }
    lab.deleted(&lb).await?;
    tokio::time::sleep(usually + usually / 2 + Duration::from_millis(200)).await;
    let expected = "no load balancer left after it was deleted during its creation";
    lab.created_since(before.as_ref(), 0, expected).await
}

check! { ASYN_07 = asyn_07, Asyn, observer Improves, needs [LoadBalancer, Restart],
    runs Exclusive,
    why "Drivers are updated and rescheduled. A driver that forgets a started operation starts it \
         again.",
    source "LBCF: consistency goals; b158",
    typical "Jobs are kept in memory only. Find them in the cloud by a name, a tag or a client \
             token that is derived from the recordID.",
}

async fn asyn_07(lab: &Lab) -> CheckOutcome {
    lab.run.require("CLB-01")?;
    let before = lab.observe().await?;
    let lb = lab.load_balancer();
    starts_running(lab, &lb).await?;
    lab.restart().await?;
    lab.created(lb).await?;
    let expected = "one new load balancer in the cloud, in spite of the restart";
    lab.created_since(before.as_ref(), 1, expected).await
}

check! { ASYN_08 = asyn_08, Asyn, observer Listed, needs [LoadBalancer, Backend],
    why "A pod is deleted while it is being registered. Nothing refers to its backend any more, which gets requests that \
         nobody answers.",
    source "derived: a pod may go at any time",
    typical "The job continues when deregisterBackend has found nothing to remove. Let calls about the same load balancer \
             and address run one after the other.",
}

async fn asyn_08(lab: &Lab) -> CheckOutcome {
    let (lb, backend) = lab.given_unregistered_backend().await?;
    // A hidden operation may run as long as a visible one.
    let began = Instant::now();
    lab.given_registered(&lb).await?;
    let usually = began.elapsed();
    let reply = lab.call(&backend.ensure()).await;
    if reply.operation_status()? != Status::Running {
        lab.note(NOTHING_RUNNING);
        return Ok(());
    }
    lab.deregistered(&backend).await?;
    tokio::time::sleep(usually + usually / 2 + Duration::from_millis(200)).await;
    lab.is_deregistered(&backend).await
}

/// Starts the creation of a load balancer; notes when it is done at once.
async fn starts_running(lab: &Lab, lb: &LoadBalancer) -> CheckOutcome<bool> {
    let is_running = lab.call(&lb.create()).await.operation_status()? == Status::Running;
    if !is_running {
        lab.note(NOTHING_RUNNING);
    }
    Ok(is_running)
}
