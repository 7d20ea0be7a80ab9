//! Taking away what is not there.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::Verdict;

/// Never registered.
pub(super) static DRG_02: Check = Check {
    id: "DRG-02",
    level: Level::Must,
    group: Group::Drg,
    rule: "Taking away a backend that was never registered succeeds",
    why: "A pod may go before it was registered. With a Fail its record never goes, and the driver is \
          called for ever.",
    source: "LBCF webhook specification, deregisterBackend; b124",
    typical: "The cloud's \"not found\" is passed on as Fail. What is not there is taken away.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(drg_02(lab)),
};

async fn drg_02(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_backend(&load_balancer).await?;
    let answer = lab.until_done(&backend.deregister()).await?;
    answer.succ("since it was never registered")?;
    let mut unknown = backend;
    unknown.uid = lab.uid();
    unknown.addr.clone_from(&lab.fixture().backend.unknown_addr);
    let answer = lab.until_done(&unknown.deregister()).await?;
    answer.succ("since nobody registered this address")?;
    Ok(())
}

/// No such load balancer.
pub(super) static DRG_03: Check = Check {
    id: "DRG-03",
    level: Level::Must,
    group: Group::Drg,
    rule: "Taking away a backend of a load balancer that nobody knows succeeds",
    why: "The load balancer was deleted outside of Kubernetes. With a Fail the records of its backends \
          never go.",
    source: "LBCF webhook specification, deregisterBackend; b124",
    typical: "The load balancer is looked up first, and that it is not there is passed on as Fail.",
    observer: Observer::Unused,
    needs: &[Need::UnknownLbInfo, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(drg_03(lab)),
};

async fn drg_03(lab: &Lab) -> Verdict {
    let mut load_balancer = lab.load_balancer();
    load_balancer.lb_info = lab.unknown_lb_info();
    let mut backend = lab.backend(&load_balancer);
    backend.addr.clone_from(&lab.fixture().backend.unknown_addr);
    for _ in 0..2 {
        let answer = lab.until_done(&backend.deregister()).await?;
        answer.succ("since there is no such load balancer")?;
    }
    Ok(())
}

/// Again and again.
pub(super) static DRG_04: Check = Check {
    id: "DRG-04",
    level: Level::Must,
    group: Group::Drg,
    rule: "Taking a backend away again succeeds, however often",
    why: "The answer may get lost, or the controller may die before it removes the finalizer. With a \
          Fail the record never goes.",
    source: "LBCF controller: finalizers; b124",
    typical: "The cloud's \"not found\" is passed on as Fail.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(drg_04(lab)),
};

async fn drg_04(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    let first = lab.deregistered(&backend).await;
    first.map_err(|not_passed| not_passed.blocked_by("DRG-01"))?;
    for _ in 0..lab.repeats() {
        let again = lab.until_done(&backend.deregister()).await?;
        again.succ("since it is taken away already")?;
    }
    Ok(())
}

/// The load balancer went first.
pub(super) static DRG_07: Check = Check {
    id: "DRG-07",
    level: Level::Must,
    group: Group::Drg,
    rule: "Taking a backend away succeeds after its load balancer was deleted",
    why: "When a namespace is deleted the order is not given. With a Fail the records, and the \
          namespace, never go.",
    source: "LBCF webhook specification, deregisterBackend; b124",
    typical: "The load balancer is looked up first, and that it is not there is passed on as Fail.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(drg_07(lab)),
};

async fn drg_07(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_new_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    let never = lab.given_backend(&load_balancer).await?;
    let deleted = lab.until_done(&load_balancer.delete()).await?;
    if deleted.status() != Some(crate::lab::Status::Succ) {
        // One that deletes only what is empty.
        lab.note("a load balancer with backends is not deleted");
        let deregistered = lab.deregistered(&backend).await;
        deregistered.map_err(|not_passed| not_passed.blocked_by("DRG-01"))?;
        let deleted = lab.deleted(&load_balancer).await;
        deleted.map_err(|not_passed| not_passed.blocked_by("DLB-01"))?;
    }
    for backend in [&backend, &never] {
        let answer = lab.until_done(&backend.deregister()).await?;
        answer.succ("since its load balancer was deleted")?;
    }
    Ok(())
}
