//! deleteLoadBalancer: also of load balancers that were never created or are deleted already.

use super::prelude::*;

pub(super) const CHECKS: &[&Check] = &[
    &DLB_01, &DLB_02, &DLB_03, &DLB_04, &DLB_05, &DLB_06, &DLB_07,
];

check! { DLB_01 = dlb_01, Dlb, observer Improves, needs [LoadBalancer],
    why "The object in Kubernetes is deleted when the driver returns Succ. Nothing refers to what \
         is left in the cloud, and it costs money.",
    source "LBCF webhook specification, deleteLoadBalancer",
    typical "Succ is returned when the deletion has started and may still fail, or errors are \
             swallowed.",
}

async fn dlb_01(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_new_load_balancer().await?;
    lab.deleted(&lb).await?;
    lab.is_deleted(&lb).await
}

check! { DLB_02 = dlb_02, Dlb, needs [LoadBalancer],
    why "The response may get lost, or the controller may crash before it removes the finalizer. \
         It then calls again, and after a Fail the object in Kubernetes is never removed.",
    source "LBCF controller: finalizers (b22)",
    typical "The cloud's \"not found\" is returned as Fail. A load balancer that does not exist \
             is deleted.",
}

async fn dlb_02(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_new_load_balancer().await?;
    lab.given_deleted(&lb).await?;
    lab.keeps_succeeding(lab.repeats(), &lb.delete(), "since it is deleted already")
        .await
}

check! { DLB_03 = dlb_03, Dlb, needs [UnknownLbInfo],
    why "It may have been deleted outside of Kubernetes. After a Fail neither its object nor the \
         namespace is ever removed.",
    source "LBCF controller: finalizers (b22)",
    typical "The cloud's \"not found\" is returned as Fail, or an id of another form becomes 500.",
}

async fn dlb_03(lab: &Lab) -> CheckOutcome {
    let since = "since a load balancer that does not exist is deleted";
    lab.keeps_succeeding(2, &lab.unknown_load_balancer().delete(), since)
        .await
}

// One that takes an empty lbInfo for all there is takes others' away.
check! { DLB_04 = dlb_04, Dlb, observer Improves, needs [LoadBalancer], runs Counting,
    why "Controllers send it for an object whose load balancer was never created. After a Fail \
         the object is never removed.",
    source "LBCF controller: lb.Status.LBInfo is sent, created or not (b23)",
    typical "A lookup by an empty id fails, or matches everything.",
}

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

check! { DLB_05 = dlb_05, Dlb, observer Improves, needs [LoadBalancer, Backend],
    why "When a namespace is deleted the order is undefined. A driver that can only delete empty \
         load balancers has to report so, and to succeed once they are empty.",
    source "derived: finalizers of several objects race",
    typical "The cloud's \"in use\" becomes 500.",
}

async fn dlb_05(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_new_load_balancer().await?;
    let backend = lab.given_registered(&lb).await?;
    let reply = lab.until_done(&lb.delete()).await?;
    if reply.operation_status()? == Status::Fail {
        reply.has_msg()?;
        lab.note("a load balancer with backends is not deleted");
    }
    lab.deregistered(&backend).await.blocked_by("DRG-07")?;
    lab.deleted(&lb).await?;
    lab.is_deleted(&lb).await
}

check! { DLB_06 = dlb_06, Dlb, observer Improves, needs [LoadBalancer],
    why "Users delete an object and apply the same manifest again.",
    source "derived: kubectl replace --force",
    typical "Names or ports stay reserved for some time (return Running until they are free), or \
             the driver remembers the deletion.",
}

async fn dlb_06(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_new_load_balancer().await?;
    lab.given_deleted(&lb).await?;
    // A new object in Kubernetes has a new uid.
    let again = lab.created(lb.renewed(lab.uid())).await?;
    lab.observed(&again.lb_info, "since createLoadBalancer returned Succ")
        .await?;
    let since = "since it was created again";
    lab.succeeds(&again.ensure(), since).await.map(drop)
}

check! { DLB_07 = dlb_07, Dlb, observer Required, needs [LoadBalancer], runs Counting,
    why "The response to the creation was lost, and the user deletes the object. Nothing refers to the load balancer any \
         more, and it costs money.",
    source "LBCF webhook specification, deleteLoadBalancer; d28",
    typical "Without lbInfo nothing is deleted. Find what was created by the text in parentheses of the recordID, as a \
             token, name or tag.",
}

async fn dlb_07(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_new_load_balancer().await?;
    lab.given_observed(&lb.lb_info).await?;
    let call = lb.delete().with("lbInfo", json!({}));
    let reply = lab
        .succeeds(&call, "since deleting succeeds without lbInfo")
        .await;
    reply.blocked_by("DLB-04")?;
    if lab.is_deleted(&lb).await.is_err() {
        lab.is_own(&lb).await?;
    }
    lab.is_deleted(&lb).await
}
