//! deleteLoadBalancer: also of load balancers that were never created or are deleted already.

use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::lab::{Lab, LoadBalancer, Status};
use crate::outcome::{CheckOutcome, Failure};
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Value, json};

pub(super) const CHECKS: &[&Check] = &[&DLB_01, &DLB_02, &DLB_03, &DLB_04, &DLB_05, &DLB_06];

static DLB_01: Check = Check {
    id: "DLB-01",
    rule: "deleteLoadBalancer deletes an existing load balancer: Succ, at once or after Running, \
           and it no longer exists",
    why: "The object in Kubernetes is deleted when the driver returns Succ. Nothing refers to what \
          is left in the cloud, and it costs money.",
    source: "LBCF webhook specification, deleteLoadBalancer",
    typical: "Succ is returned when the deletion has started and may still fail, or errors are \
              swallowed.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Dlb, |lab| Box::pin(dlb_01(lab)))
};

async fn dlb_01(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_new_load_balancer().await?;
    lab.deleted(&load_balancer).await?;
    is_gone(lab, &load_balancer).await
}

static DLB_02: Check = Check {
    id: "DLB-02",
    rule: "Deleting a deleted load balancer succeeds, however often",
    why: "The response may get lost, or the controller may crash before it removes the finalizer. \
          It then calls again, and after a Fail the object in Kubernetes is never removed.",
    source: "LBCF controller: finalizers (b22)",
    typical: "The cloud's \"not found\" is returned as Fail. A load balancer that does not exist \
              is deleted.",
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Dlb, |lab| Box::pin(dlb_02(lab)))
};

async fn dlb_02(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_new_load_balancer().await?;
    lab.given_deleted(&load_balancer).await?;
    for _ in 0..lab.repeats() {
        let since = "since it is deleted already";
        lab.succeeds(&load_balancer.delete(), since).await?;
    }
    Ok(())
}

static DLB_03: Check = Check {
    id: "DLB-03",
    rule: "Deleting an unknown load balancer succeeds",
    why: "It may have been deleted outside of Kubernetes. After a Fail neither its object nor the \
          namespace is ever removed.",
    source: "LBCF controller: finalizers (b22)",
    typical: "The cloud's \"not found\" is returned as Fail, or an id of another form becomes 500.",
    needs: &[Need::UnknownLbInfo],
    ..Check::must(Group::Dlb, |lab| Box::pin(dlb_03(lab)))
};

async fn dlb_03(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.unknown_load_balancer();
    for _ in 0..2 {
        let since = "since a load balancer that does not exist is deleted";
        lab.succeeds(&load_balancer.delete(), since).await?;
    }
    Ok(())
}

static DLB_04: Check = Check {
    id: "DLB-04",
    rule: "Deleting with lbInfo null or empty succeeds, and deletes nothing else",
    why: "Controllers send it for an object whose load balancer was never created. After a Fail \
          the object is never removed.",
    source: "LBCF controller: lb.Status.LBInfo is sent, created or not (b23)",
    typical: "A lookup by an empty id fails, or matches everything.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    // One that takes an empty lbInfo for all there is takes others' away.
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Dlb, |lab| Box::pin(dlb_04(lab)))
};

async fn dlb_04(lab: &Lab) -> CheckOutcome {
    let other = lab.given_load_balancer().await?;
    let never_created = lab.load_balancer();
    for empty in [Value::Null, json!({})] {
        let since = format!("for lbInfo {empty}, since there is nothing to delete");
        let call = never_created.delete().with("lbInfo", empty).unusual();
        lab.succeeds(&call, &since).await?;
        lab.observed(&other.lb_info, "since another one was deleted")
            .await?;
    }
    // Without an observer this shows whether the other one still exists.
    let since = "since another load balancer was deleted, not this one";
    lab.succeeds(&other.ensure(), since).await.map(drop)
}

static DLB_05: Check = Check {
    id: "DLB-05",
    rule: "A load balancer with backends is deleted, or the driver returns Fail with a msg until \
           they are deregistered",
    why: "When a namespace is deleted the order is undefined. A driver that can only delete empty \
          load balancers has to report so, and to succeed once they are empty.",
    source: "derived: finalizers of several objects race",
    typical: "The cloud's \"in use\" becomes 500.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::should(Group::Dlb, |lab| Box::pin(dlb_05(lab)))
};

async fn dlb_05(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_new_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    let reply = lab.until_done(&load_balancer.delete()).await?;
    if reply.operation_status()? == Status::Fail {
        reply.has_msg()?;
        lab.note("a load balancer with backends is not deleted");
    }
    let deregistered = lab.deregistered(&backend).await;
    deregistered.map_err(|e| e.blocked_by("DRG-07"))?;
    lab.deleted(&load_balancer).await?;
    is_gone(lab, &load_balancer).await
}

static DLB_06: Check = Check {
    id: "DLB-06",
    rule: "After a deletion the same lbSpec can be created again",
    why: "Users delete an object and apply the same manifest again.",
    source: "derived: kubectl replace --force",
    typical: "Names or ports stay reserved for some time (return Running until they are free), or \
              the driver remembers the deletion.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    ..Check::should(Group::Dlb, |lab| Box::pin(dlb_06(lab)))
};

async fn dlb_06(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_new_load_balancer().await?;
    lab.given_deleted(&load_balancer).await?;
    // A new object in Kubernetes has a new uid.
    let again = LoadBalancer {
        uid: lab.uid(),
        lb_info: StringMap::new(),
        ..load_balancer
    };
    let again = lab.created(again).await?;
    let since = "since createLoadBalancer returned Succ";
    lab.observed(&again.lb_info, since).await?;
    lab.succeeds(&again.ensure(), "since it was created again")
        .await
        .map(drop)
}

/// Fails if the load balancer still exists in the cloud.
pub(super) async fn is_gone(lab: &Lab, load_balancer: &LoadBalancer) -> CheckOutcome {
    let Some(seen) = lab.observe().await? else {
        return Ok(());
    };
    if let Some(remaining) = seen.load_balancer(&load_balancer.lb_info) {
        let got = format!("it still exists: {remaining:?}");
        let expected = "no such load balancer, since deleteLoadBalancer returned Succ";
        return Err(Failure::new(expected, got).into());
    }
    Ok(())
}
