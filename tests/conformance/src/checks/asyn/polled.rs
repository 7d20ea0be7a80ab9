//! Asking until it is done.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::exchange::Kind;
use crate::lab::{Answer, Lab, Status};
use crate::verdict::{Failure, Verdict};
use std::time::Duration;

/// It ends.
pub(super) static ASYN_01: Check = Check {
    id: "ASYN-01",
    level: Level::Must,
    group: Group::Asyn,
    rule: "Asking again under the same recordID ends in Succ or Fail within the budget",
    why: "A controller asks for ever. One that always hears Running never gets a load balancer.",
    source: "LBCF webhook specification: Running; b140",
    typical: "Each call begins a new operation, or the result is kept under the retryID, which is new \
              in each call. Keep it under the recordID, or look into the cloud.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(asyn_01(lab)),
};

async fn asyn_01(lab: &Lab) -> Verdict {
    let load_balancer = lab.load_balancer();
    let first = lab.call(&load_balancer.create()).await;
    if first.any_status("as each answer of an operation has one")? != Status::Running {
        lab.note("no operation was Running");
    }
    let created = lab.until_done(&load_balancer.create()).await?;
    created.any_status("as each answer of an operation has one")?;
    Ok(())
}

/// It is begun once.
pub(super) static ASYN_02: Check = Check {
    id: "ASYN-02",
    level: Level::Must,
    group: Group::Asyn,
    rule: "Asking while an operation is Running begins no second one",
    why: "Controllers ask every few seconds. A driver that begins anew each time makes as many load \
          balancers as it was asked.",
    source: "LBCF webhook specification: the same recordID in each try; b18",
    typical: "The job is looked up by the retryID, or not at all.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| Box::pin(asyn_02(lab)),
};

async fn asyn_02(lab: &Lab) -> Verdict {
    lab.is_given("CLB-01")?;
    let before = lab.look().await?;
    let load_balancer = lab.load_balancer();
    let create = load_balancer.create();
    for _ in 0..lab.repeats() {
        lab.call(&create)
            .await
            .any_status("as each answer of an operation has one")?;
    }
    let done = lab.until_done(&create).await?;
    done.succ("since lbSpec and attributes are right")?;
    let (Some(before), Some(seen)) = (before, lab.look().await?) else {
        return Ok(());
    };
    let new = seen.since(&before).len();
    if new != 1 {
        let expected = "one new load balancer in the cloud, however often was asked";
        return Err(Failure::new(expected, format!("{new}")).into());
    }
    Ok(())
}

/// It stays done.
pub(super) static ASYN_03: Check = Check {
    id: "ASYN-03",
    level: Level::Must,
    group: Group::Asyn,
    rule: "What has succeeded stays so: asked again, createLoadBalancer answers Succ, not Running and not Fail",
    why: "The answer may get lost, and the controller asks again. If the operation then begins anew, \
          it may never hear of the end.",
    source: "LBCF webhook specification: the same recordID in each try; b18",
    typical: "The job's result is forgotten when it was told, and the next call begins a new job.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(asyn_03(lab)),
};

async fn asyn_03(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_new_load_balancer().await?;
    for _ in 0..lab.repeats() {
        let again = lab.call(&load_balancer.create()).await;
        again.succ("since it has succeeded under this recordID")?;
    }
    Ok(())
}

/// Running is told at once.
pub(super) static ASYN_04: Check = Check {
    id: "ASYN-04",
    level: Level::Should,
    group: Group::Asyn,
    rule: "Running is answered within 2 seconds",
    why: "That is what it is for: nobody waits for the operation meanwhile.",
    source: "LBCF webhook specification: Running",
    typical: "The driver waits for the operation as long as it may, and answers Running only then.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Last,
    code: |lab| Box::pin(asyn_04(lab)),
};

async fn asyn_04(lab: &Lab) -> Verdict {
    const LIMIT: Duration = Duration::from_secs(2);
    let load_balancer = lab.load_balancer();
    lab.call(&load_balancer.create()).await;
    let mut seen = 0;
    for exchange in lab.record() {
        if exchange.kind != Kind::Proper {
            continue;
        }
        let took = exchange.took;
        let answer = Answer::new(exchange);
        if answer.status() != Some(Status::Running) {
            continue;
        }
        seen += 1;
        if took > LIMIT {
            return Err(answer.failed(
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

/// Asking early does no harm.
pub(super) static ASYN_05: Check = Check {
    id: "ASYN-05",
    level: Level::Should,
    group: Group::Asyn,
    rule: "Asking earlier than minRetryDelayInSeconds says is no error",
    why: "The delay is a wish. Controllers that are restarted, and those that see a change, ask at once.",
    source: "LBCF webhook specification: when LBCF asks is its own choice",
    typical: "A limit on the rate of calls that answers Fail or 429.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(asyn_05(lab)),
};

async fn asyn_05(lab: &Lab) -> Verdict {
    lab.is_given("CLB-01")?;
    let load_balancer = lab.load_balancer();
    let create = load_balancer.create();
    for _ in 0..5 {
        let answer = lab.call(&create).await;
        if answer.any_status("as each answer of an operation has one")? == Status::Fail {
            let expected = "Running or Succ, however early it is asked";
            return Err(answer.failed(expected, answer.said()));
        }
    }
    let done = lab.until_done(&create).await?;
    done.succ("since lbSpec and attributes are right")?;
    Ok(())
}
