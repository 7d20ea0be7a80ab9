//! Polling an operation until it is done.

use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::exchange::RequestKind;
use crate::lab::{DriverReply, Lab, Status};
use crate::outcome::{CheckError, CheckOutcome};
use std::time::Duration;

pub(super) static ASYN_01: Check = Check {
    id: "ASYN-01",
    rule: "Repeated calls under the same recordID end in Succ or Fail within the budget",
    why: "A controller retries indefinitely. If every response is Running, the load balancer never \
          becomes ready.",
    source: "LBCF webhook specification: Running; b140",
    typical: "Each call starts a new operation, or the result is stored under the retryID, which \
              is new in each call. Store it under the recordID, or read the state from the cloud.",
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Asyn, |lab| Box::pin(asyn_01(lab)))
};

async fn asyn_01(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.load_balancer();
    let first = lab.call(&load_balancer.create()).await;
    if first.operation_status()? != Status::Running {
        lab.note("no operation was Running");
    }
    let created = lab.until_done(&load_balancer.create()).await;
    // Whether it ends is the rule.
    let created = created.map_err(CheckError::of_this_check)?;
    created.operation_status().map(drop)
}

pub(super) static ASYN_02: Check = Check {
    id: "ASYN-02",
    rule: "A call that is repeated while the operation is Running does not start a second one",
    why: "Controllers retry every few seconds. A driver that starts over each time creates one \
          load balancer per retry.",
    source: "LBCF webhook specification: the same recordID in each attempt; b18",
    typical: "The job is looked up by the retryID, or not at all.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Asyn, |lab| Box::pin(asyn_02(lab)))
};

async fn asyn_02(lab: &Lab) -> CheckOutcome {
    lab.require("CLB-01")?;
    let before = lab.observe().await?;
    let load_balancer = lab.load_balancer();
    for _ in 0..lab.repeats() {
        let reply = lab.call(&load_balancer.create()).await;
        reply.operation_status()?;
    }
    lab.created(load_balancer).await?;
    let expected = "one new load balancer in the cloud after repeated calls";
    lab.created_since(before.as_ref(), 1, expected).await
}

pub(super) static ASYN_03: Check = Check {
    id: "ASYN-03",
    rule: "After Succ, createLoadBalancer keeps returning Succ under the same recordID, not \
           Running and not Fail",
    why: "The response may get lost, and the controller calls again. If the operation then starts \
          over, the controller may never see its end.",
    source: "LBCF webhook specification: the same recordID in each attempt; b18",
    typical: "The job's result is dropped once it has been returned, and the next call starts a \
              new job.",
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Asyn, |lab| Box::pin(asyn_03(lab)))
};

async fn asyn_03(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_new_load_balancer().await?;
    for _ in 0..lab.repeats() {
        let again = lab.call(&load_balancer.create()).await;
        again.succ("since it has succeeded under this recordID")?;
    }
    Ok(())
}

pub(super) static ASYN_04: Check = Check {
    id: "ASYN-04",
    rule: "Running is returned within 2 seconds",
    why: "Running exists so that the controller need not wait for the operation.",
    source: "LBCF webhook specification: Running",
    typical: "The driver waits for the operation as long as the timeout allows, and returns \
              Running only then.",
    concurrency: Concurrency::Last,
    ..Check::should(Group::Asyn, |lab| Box::pin(asyn_04(lab)))
};

async fn asyn_04(lab: &Lab) -> CheckOutcome {
    const LIMIT: Duration = Duration::from_secs(2);
    let load_balancer = lab.load_balancer();
    lab.call(&load_balancer.create()).await;
    let mut seen = 0;
    for exchange in lab.record() {
        if exchange.kind != RequestKind::Valid {
            continue;
        }
        let took = exchange.took;
        let reply = DriverReply::new(exchange);
        if reply.status() != Some(Status::Running) {
            continue;
        }
        seen += 1;
        if took > LIMIT {
            return Err(reply.failed(
                format!("Running within {LIMIT:?}"),
                format!("Running after {took:?}"),
            ));
        }
    }
    if seen == 0 {
        lab.note("no operation was Running");
    }
    Ok(())
}

pub(super) static ASYN_05: Check = Check {
    id: "ASYN-05",
    rule: "A call that comes earlier than minRetryDelayInSeconds is not an error",
    why: "The delay is a hint. Controllers call earlier after a restart, or when an object \
          changes.",
    source: "LBCF webhook specification: LBCF chooses when to call",
    typical: "A rate limit that responds with Fail or 429.",
    needs: &[Need::LoadBalancer],
    ..Check::should(Group::Asyn, |lab| Box::pin(asyn_05(lab)))
};

async fn asyn_05(lab: &Lab) -> CheckOutcome {
    lab.require("CLB-01")?;
    let load_balancer = lab.load_balancer();
    for _ in 0..5 {
        let reply = lab.call(&load_balancer.create()).await;
        if reply.operation_status()? == Status::Fail {
            let expected = "Running or Succ, however early the call comes";
            return Err(reply.failed(expected, reply.summary()));
        }
    }
    lab.created(load_balancer).await.map(drop)
}
