//! deleteLoadBalancer: what is gone stays gone, and what was never there can be deleted.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::{Lab, LoadBalancer, Status};
use crate::verdict::{Failure, Verdict};
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Value, json};

/// The checks about deleteLoadBalancer.
pub(super) const CHECKS: &[&Check] = &[&DLB_01, &DLB_02, &DLB_03, &DLB_04, &DLB_05, &DLB_06];

static DLB_01: Check = Check {
    id: "DLB-01",
    level: Level::Must,
    group: Group::Dlb,
    rule: "A load balancer that is there is deleted: Succ, at once or after Running, and it is gone",
    why: "The object in Kubernetes goes when the driver says Succ. What is left in the cloud then \
          belongs to nobody and costs money.",
    source: "LBCF webhook specification, deleteLoadBalancer",
    typical: "Succ is answered when the deletion has begun and may still fail, or errors are swallowed.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(dlb_01(lab)),
};

async fn dlb_01(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_new_load_balancer().await?;
    lab.deleted(&load_balancer).await?;
    is_gone(lab, &load_balancer).await
}

static DLB_02: Check = Check {
    id: "DLB-02",
    level: Level::Must,
    group: Group::Dlb,
    rule: "Deleting it again succeeds, however often",
    why: "The answer may get lost, or the controller may die before it removes the finalizer. It then \
          asks again, and with a Fail the object in Kubernetes never goes.",
    source: "LBCF controller: finalizers (b22)",
    typical: "The cloud's \"not found\" is passed on as Fail. What is not there is deleted.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(dlb_02(lab)),
};

async fn dlb_02(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_new_load_balancer().await?;
    let first = lab.deleted(&load_balancer).await;
    first.map_err(|not_passed| not_passed.blocked_by("DLB-01"))?;
    for _ in 0..lab.repeats() {
        let again = lab.until_done(&load_balancer.delete()).await?;
        again.succ("since it is deleted already")?;
    }
    Ok(())
}

static DLB_03: Check = Check {
    id: "DLB-03",
    level: Level::Must,
    group: Group::Dlb,
    rule: "Deleting a load balancer that nobody knows succeeds",
    why: "Somebody deleted it outside of Kubernetes. With a Fail its object never goes, and neither \
          does the namespace.",
    source: "LBCF controller: finalizers (b22)",
    typical: "The cloud's \"not found\" is passed on as Fail, or an id of another form ends as 500.",
    observer: Observer::Unused,
    needs: &[Need::UnknownLbInfo],
    company: Company::Any,
    code: |lab| Box::pin(dlb_03(lab)),
};

async fn dlb_03(lab: &Lab) -> Verdict {
    let mut load_balancer = lab.load_balancer();
    load_balancer.lb_info = lab.unknown_lb_info();
    for _ in 0..2 {
        let answer = lab.until_done(&load_balancer.delete()).await?;
        answer.succ("since what is not there is deleted already")?;
    }
    Ok(())
}

static DLB_04: Check = Check {
    id: "DLB-04",
    level: Level::Must,
    group: Group::Dlb,
    rule: "Deleting with lbInfo null or empty succeeds, and deletes nothing else",
    why: "Controllers send it when a load balancer's object is deleted that was never created. With a \
          Fail it never goes.",
    source: "LBCF controller: lb.Status.LBInfo is sent, created or not (b23)",
    typical: "A lookup by an empty id that fails, or one that finds everything.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    // One that takes an empty lbInfo for all there is takes others' away.
    company: Company::Counts,
    code: |lab| Box::pin(dlb_04(lab)),
};

async fn dlb_04(lab: &Lab) -> Verdict {
    let other = lab.given_load_balancer().await?;
    let never_created = lab.load_balancer();
    for empty in [Value::Null, json!({})] {
        let shown = format!("lbInfo {empty}");
        let call = never_created.delete().with("lbInfo", empty).unusual();
        let answer = lab.until_done(&call).await?;
        answer.succ(&format!("for {shown}, since there is nothing to delete"))?;
        lab.look_at(&other.lb_info, "since another one was deleted")
            .await?;
    }
    // Also without an observer it shows whether another one is still there.
    let ensured = lab.until_done(&other.ensure()).await?;
    ensured.succ("since another load balancer was deleted, not this one")?;
    Ok(())
}

static DLB_05: Check = Check {
    id: "DLB-05",
    level: Level::Should,
    group: Group::Dlb,
    rule: "One that has backends is deleted, or refused with a msg until they are gone",
    why: "When a namespace is deleted the order is not given. A driver that can delete only empty load \
          balancers has to say so, and to go on when they are empty.",
    source: "derived: finalizers of several objects race",
    typical: "The cloud's \"in use\" ends as 500.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(dlb_05(lab)),
};

async fn dlb_05(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_new_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    let answer = lab.until_done(&load_balancer.delete()).await?;
    if answer.any_status("as each answer of an operation has one")? == Status::Fail {
        answer.has_msg()?;
        lab.note("a load balancer with backends is not deleted");
    }
    let deregistered = lab.deregistered(&backend).await;
    deregistered.map_err(|not_passed| not_passed.blocked_by("DRG-07"))?;
    lab.deleted(&load_balancer).await?;
    is_gone(lab, &load_balancer).await
}

static DLB_06: Check = Check {
    id: "DLB-06",
    level: Level::Should,
    group: Group::Dlb,
    rule: "After a deletion the same lbSpec can be created again",
    why: "Users delete an object and apply the same manifest again.",
    source: "derived: kubectl replace --force",
    typical: "Names or ports that are still taken for some time (answer Running until they are free), \
              or a memory of what was deleted.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(dlb_06(lab)),
};

async fn dlb_06(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_new_load_balancer().await?;
    let first = lab.deleted(&load_balancer).await;
    first.map_err(|not_passed| not_passed.blocked_by("DLB-01"))?;
    // A new object in Kubernetes has a new uid.
    let again = LoadBalancer {
        uid: lab.uid(),
        lb_info: StringMap::new(),
        ..load_balancer
    };
    let again = lab.created(again).await?;
    let since = "since createLoadBalancer answered Succ";
    lab.look_at(&again.lb_info, since).await?;
    let ensured = lab.until_done(&again.ensure()).await?;
    ensured.succ("since it was created again")?;
    Ok(())
}

/// Fails if the load balancer is still in the cloud.
pub(super) async fn is_gone(lab: &Lab, load_balancer: &LoadBalancer) -> Verdict {
    let Some(seen) = lab.look().await? else {
        return Ok(());
    };
    if let Some(there) = seen.load_balancer(&load_balancer.lb_info) {
        let got = format!("it is still there: {there:?}");
        let expected = "the load balancer gone, since deleteLoadBalancer answered Succ";
        return Err(Failure::new(expected, got).into());
    }
    Ok(())
}
