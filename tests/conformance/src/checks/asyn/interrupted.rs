//! Operations that are interrupted by a deletion or a restart.

use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::lab::{Lab, Status};
use crate::outcome::CheckOutcome;
use std::time::Duration;
use tokio::time::Instant;

pub(super) static ASYN_06: Check = Check {
    id: "ASYN-06",
    rule: "Deleting a load balancer while it is being created leaves nothing behind",
    why: "Users delete an object as soon as they notice a mistake. lbInfo is not known at that \
          time, so nothing refers to a load balancer that is finished later.",
    source: "derived: finalizers; LBCF controllers send lbInfo null for these (d28)",
    typical: "The job continues although no controller calls any more. The recordIDs \
              createLoadBalancer(<uid>) and deleteLoadBalancer(<uid>) contain the same uid.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::should(Group::Asyn, |lab| Box::pin(asyn_06(lab)))
};

async fn asyn_06(lab: &Lab) -> CheckOutcome {
    // A hidden creation may run as long as a visible one.
    let began = Instant::now();
    let usual = lab.given_new_load_balancer().await?;
    let usually = began.elapsed();
    lab.given_deleted(&usual).await?;
    let before = lab.observe().await?;
    let load_balancer = lab.load_balancer();
    let reply = lab.call(&load_balancer.create()).await;
    if reply.operation_status()? != Status::Running {
        lab.note("no operation was Running");
        return Ok(());
    }
    lab.deleted(&load_balancer).await?;
    tokio::time::sleep(usually + usually / 2 + Duration::from_millis(200)).await;
    let expected = "no load balancer left after it was deleted during its creation";
    lab.created_since(before.as_ref(), 0, expected).await
}

pub(super) static ASYN_07: Check = Check {
    id: "ASYN-07",
    rule: "A Running operation survives a restart of the driver: it ends, and is not started twice",
    why: "Drivers are updated and rescheduled. A driver that forgets a started operation starts it \
          again.",
    source: "LBCF: consistency goals; b158",
    typical: "Jobs are kept in memory only. Find them in the cloud by a name, a tag or a client \
              token that is derived from the recordID.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Restart],
    concurrency: Concurrency::Exclusive,
    ..Check::should(Group::Asyn, |lab| Box::pin(asyn_07(lab)))
};

async fn asyn_07(lab: &Lab) -> CheckOutcome {
    lab.require("CLB-01")?;
    let before = lab.observe().await?;
    let load_balancer = lab.load_balancer();
    let reply = lab.call(&load_balancer.create()).await;
    if reply.operation_status()? != Status::Running {
        lab.note("no operation was Running");
    }
    lab.restart().await?;
    lab.created(load_balancer).await?;
    let expected = "one new load balancer in the cloud, in spite of the restart";
    lab.created_since(before.as_ref(), 1, expected).await
}
