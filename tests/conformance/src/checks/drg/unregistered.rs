//! Deregistering backends that are not registered.

use crate::check::{Check, Group, Need};
use crate::lab::{Lab, Status};
use crate::outcome::CheckOutcome;

pub(super) static DRG_02: Check = Check {
    id: "DRG-02",
    rule: "Deregistering a backend that was never registered succeeds",
    why: "A pod may be deleted before it is registered. After a Fail its record is never removed, \
          and the controller retries indefinitely.",
    source: "LBCF webhook specification, deregisterBackend; b124",
    typical: "The cloud's \"not found\" is returned as Fail. A backend that does not exist is \
              deregistered.",
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Drg, |lab| Box::pin(drg_02(lab)))
};

async fn drg_02(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_backend(&load_balancer).await?;
    lab.succeeds(&backend.deregister(), "since it was never registered")
        .await?;
    let unknown = lab.unknown_backend(&load_balancer);
    let since = "since this address was never registered";
    lab.succeeds(&unknown.deregister(), since).await.map(drop)
}

pub(super) static DRG_03: Check = Check {
    id: "DRG-03",
    rule: "Deregistering a backend of an unknown load balancer succeeds",
    why: "The load balancer may have been deleted outside of Kubernetes. After a Fail the records \
          of its backends are never removed.",
    source: "LBCF webhook specification, deregisterBackend; b124",
    typical: "The load balancer is looked up first, and its absence is returned as Fail.",
    needs: &[Need::UnknownLbInfo, Need::Backend],
    ..Check::must(Group::Drg, |lab| Box::pin(drg_03(lab)))
};

async fn drg_03(lab: &Lab) -> CheckOutcome {
    let backend = lab.unknown_backend(&lab.unknown_load_balancer());
    for _ in 0..2 {
        let since = "since the load balancer does not exist";
        lab.succeeds(&backend.deregister(), since).await?;
    }
    Ok(())
}

pub(super) static DRG_04: Check = Check {
    id: "DRG-04",
    rule: "Deregistering a deregistered backend succeeds, however often",
    why: "The response may get lost, or the controller may crash before it removes the finalizer. \
          After a Fail the record is never removed.",
    source: "LBCF controller: finalizers; b124",
    typical: "The cloud's \"not found\" is returned as Fail.",
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Drg, |lab| Box::pin(drg_04(lab)))
};

async fn drg_04(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    lab.given_deregistered(&backend).await?;
    for _ in 0..lab.repeats() {
        let since = "since it is deregistered already";
        lab.succeeds(&backend.deregister(), since).await?;
    }
    Ok(())
}

pub(super) static DRG_07: Check = Check {
    id: "DRG-07",
    rule: "Deregistering a backend succeeds after its load balancer was deleted",
    why: "When a namespace is deleted the order is undefined. After a Fail neither the records nor \
          the namespace are ever removed.",
    source: "LBCF webhook specification, deregisterBackend; b124",
    typical: "The load balancer is looked up first, and its absence is returned as Fail.",
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Drg, |lab| Box::pin(drg_07(lab)))
};

async fn drg_07(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_new_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    let never = lab.given_backend(&load_balancer).await?;
    let deleted = lab.until_done(&load_balancer.delete()).await?;
    if deleted.status() != Some(Status::Succ) {
        // Some drivers only delete empty load balancers.
        lab.note("a load balancer with backends is not deleted");
        lab.given_deregistered(&backend).await?;
        lab.given_deleted(&load_balancer).await?;
    }
    for backend in [&backend, &never] {
        let since = "since its load balancer was deleted";
        lab.succeeds(&backend.deregister(), since).await?;
    }
    Ok(())
}
