//! Operations that something comes between.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::{Lab, Status};
use crate::verdict::{Failure, Verdict};
use std::time::Duration;
use tokio::time::Instant;

/// A deletion.
pub(super) static ASYN_06: Check = Check {
    id: "ASYN-06",
    level: Level::Should,
    group: Group::Asyn,
    rule: "A load balancer that is deleted while it is being created leaves nothing",
    why: "Users delete an object when they see that it is wrong, which may be at once. lbInfo is not \
          known then, and what is finished later belongs to nobody.",
    source: "derived: finalizers; LBCF controllers send lbInfo null then (d28)",
    typical: "The job goes on when nobody asks any more. The recordIDs createLoadBalancer(<uid>) and \
              deleteLoadBalancer(<uid>) tell that they belong together.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| Box::pin(asyn_06(lab)),
};

async fn asyn_06(lab: &Lab) -> Verdict {
    // How long a creation takes, to know how long one may still go on in secret.
    let began = Instant::now();
    let usual = lab.given_new_load_balancer().await?;
    let usually = began.elapsed();
    let deleted = lab.deleted(&usual).await;
    deleted.map_err(|not_passed| not_passed.blocked_by("DLB-01"))?;
    let before = lab.look().await?.unwrap_or_default();
    let load_balancer = lab.load_balancer();
    let answer = lab.call(&load_balancer.create()).await;
    if answer.any_status("as each answer of an operation has one")? != Status::Running {
        lab.note("no operation was Running");
        return Ok(());
    }
    lab.deleted(&load_balancer).await?;
    tokio::time::sleep(usually + usually / 2 + Duration::from_millis(200)).await;
    let seen = lab.look().await?.unwrap_or_default();
    if let Some(left) = seen.since(&before).first() {
        let expected =
            "nothing left of a load balancer that was deleted while it was being created";
        return Err(Failure::new(expected, format!("{left:?}")).into());
    }
    Ok(())
}

/// A restart.
pub(super) static ASYN_07: Check = Check {
    id: "ASYN-07",
    level: Level::Should,
    group: Group::Asyn,
    rule: "An operation that is Running survives a restart of the driver: it ends, and was begun once",
    why: "Drivers are updated and rescheduled. A driver that forgets what it began makes it again.",
    source: "LBCF: goals of its consistency design; b158",
    typical: "Jobs are kept in memory only. Find them again in the cloud by a name, a tag or a client \
              token that is made from the recordID.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Restart],
    company: Company::Alone,
    code: |lab| Box::pin(asyn_07(lab)),
};

async fn asyn_07(lab: &Lab) -> Verdict {
    lab.is_given("CLB-01")?;
    let before = lab.look().await?;
    let load_balancer = lab.load_balancer();
    let answer = lab.call(&load_balancer.create()).await;
    if answer.any_status("as each answer of an operation has one")? != Status::Running {
        lab.note("no operation was Running");
    }
    lab.restart().await?;
    let done = lab.until_done(&load_balancer.create()).await?;
    done.succ("since lbSpec and attributes are right")?;
    let (Some(before), Some(seen)) = (before, lab.look().await?) else {
        return Ok(());
    };
    let new = seen.since(&before).len();
    if new != 1 {
        let expected = "one new load balancer in the cloud, restart or not";
        return Err(Failure::new(expected, format!("{new}")).into());
    }
    Ok(())
}
