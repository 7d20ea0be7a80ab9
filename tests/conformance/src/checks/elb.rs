//! ensureLoadBalancer: setting the attributes of a load balancer.

use super::prelude::*;

pub(super) const CHECKS: &[&Check] = &[&ELB_01, &ELB_02, &ELB_03, &ELB_04, &ELB_05, &ELB_06];

check! { ELB_01 = elb_01, Elb, needs [LoadBalancer],
    why "Controllers call it next. After a Fail the load balancer never becomes ready.",
    source "LBCF webhook specification, ensureLoadBalancer",
    typical "\"Nothing to change\" is treated as an error, or the cloud does not allow changes \
             right after the creation (return Running then).",
}

const CREATED_WITH: &str = "since the load balancer was created with these attributes";

async fn elb_01(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    lab.succeeds(&lb.ensure(), CREATED_WITH).await.map(drop)
}

check! { ELB_02 = elb_02, Elb, observer Improves, needs [LoadBalancer],
    why "With ensurePolicy Always it is called every few minutes for as long as the load balancer \
         exists.",
    source "LBCF: periodic ensure; b26",
    typical "Attributes are appended instead of set, or each call creates a new version of \
             something.",
}

async fn elb_02(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    lab.succeeds(&lb.ensure(), CREATED_WITH).await?;
    let before = lab.observed(&lb.lb_info, CREATED).await?;
    let since = "since nothing changed since the last Succ";
    lab.keeps_succeeding(lab.repeats(), &lb.ensure(), since)
        .await?;
    let after = lab.observed(&lb.lb_info, CREATED).await?;
    let expected = format!("the load balancer unchanged, {before:?}");
    Failure::unless(before == after, expected, format!("{after:?}"))
}

check! { ELB_03 = elb_03, Elb, observer Improves,
    needs [LoadBalancer, UpdateAttributes],
    why "The recordID identifies the operation on the object, not the attempt: it never changes. \
         A driver that returns stored results by recordID ignores every later change.",
    source "LBCF controller: ensureLoadBalancer(<uid>) (d28)",
    typical "A table of finished recordIDs. Compare the desired attributes with the cloud \
             instead.",
}

async fn elb_03(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    lab.succeeds(&lb.ensure(), CREATED_WITH).await?;
    let update = lab.updated_attributes(&lb);
    // Back and forth, because a driver that stores results has seen both in the end.
    for attributes in [&update, &lb.sample.attributes, &update] {
        let since = "since the fixture allows these attributes";
        lab.succeeds(&lb.ensure_with(attributes), since).await?;
        lab.has_attributes(&lb.lb_info, attributes).await?;
    }
    Ok(())
}

check! { ELB_04 = elb_04, Elb, needs [UnknownLbInfo],
    why "It may have been deleted outside of Kubernetes. Users must learn of it; Succ hides it, \
         and an exception explains nothing.",
    source "LBCF webhook specification, ensureLoadBalancer",
    typical "The cloud's \"not found\" is ignored, or becomes 500.",
}

async fn elb_04(lab: &Lab) -> CheckOutcome {
    let unknown = lab.unknown_load_balancer();
    let reply = lab.until_done(&unknown.ensure()).await?;
    reply.fail(UNKNOWN)?.has_msg().map(drop)
}

check! { ELB_05 = elb_05, Elb, observer Required,
    needs [LoadBalancer, UpdateAttributes, AttributeDrift],
    why "The call exists for this: attributes may be changed by mistake in the cloud's console.",
    source "LBCF: ensurePolicy Always; b26",
    typical "The desired attributes are compared with the previous desired ones instead of with \
             the cloud.",
}

async fn elb_05(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    lab.succeeds(&lb.ensure(), CREATED_WITH).await?;
    let change = json!({"lbInfo": lb.lb_info, "attributes": lab.updated_attributes(&lb)});
    lab.modify("attributes", &change).await?;
    lab.succeeds(&lb.ensure(), "since attributes can be changed")
        .await?;
    lab.has_attributes(&lb.lb_info, &lb.sample.attributes).await
}

check! { ELB_06 = elb_06, Elb, observer Improves, needs [LoadBalancer],
    why "With this reason the controller calls createLoadBalancer again, and registers the \
         backends with the new load balancer. After any other Fail it repeats ensureLoadBalancer, \
         and after Succ it stays unnoticed that clients reach nothing.",
    source "LBCF webhook specification, ensureLoadBalancer; d98",
    typical "The cloud's \"not found\" is a Fail as any other. Add \"reason\": \"NotFound\" to the \
             response; drivers of the SDK in Rust return HookError::not_found.",
}

async fn elb_06(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_new_load_balancer().await?;
    // A driver that stores results has one now.
    let ensured = lab.succeeds(&lb.ensure(), CREATED_WITH).await;
    ensured.blocked_by("ELB-01")?;
    lab.given_deleted(&lb).await?;
    lab.is_deleted(&lb).await.blocked_by("DLB-01")?;
    let reply = lab.until_done(&lb.ensure()).await?;
    if reply.status() == Some(Status::Succ) {
        // One that the driver has only adopted is left, and has the same identity again.
        let again = lab.created(lb.renewed(lab.uid())).await;
        if again.blocked_by("DLB-06")?.lb_info == lb.lb_info {
            return Err(CheckError::Skipped(MAY_BE_LEFT.to_owned()));
        }
    }
    let reason = reply.fail(DELETED)?.field("reason");
    let got = match reason {
        Some(other) => format!("reason {other}"),
        None => format!("{}, without a reason", reply.summary()),
    };
    let expected = format!("reason \"NotFound\", {DELETED}");
    reply.check(reason == Some(&json!("NotFound")), expected, got)
}

const DELETED: &str = "since the load balancer was deleted";
const MAY_BE_LEFT: &str = "ensureLoadBalancer succeeds after the deletion, and another creation has the same lbInfo: it may \
     be an existing load balancer, which the driver does not delete";
