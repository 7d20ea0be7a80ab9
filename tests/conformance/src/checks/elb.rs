//! ensureLoadBalancer: setting the attributes of a load balancer.

use super::prelude::*;
use crate::fixture::LoadBalancerSample;
use crate::lab::cloud::nothing_changed;

pub(super) const CHECKS: &[&Check] = &[
    &ELB_01, &ELB_02, &ELB_03, &ELB_04, &ELB_05, &ELB_06, &ELB_07, &ELB_08,
];

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
    let expected = format!("the load balancer unchanged, {}", json(&before));
    Failure::unless(before == after, expected, json(&after))
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
    let changed = lab.updated_attributes(&lb);
    let changed = lab.has_attributes(&lb.lb_info, &changed).await;
    changed.map_err(|_| nothing_changed("attributes"))?;
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
        lab.is_own(&lb).await?;
    }
    let reason = reply.fail(DELETED)?.field("reason");
    let got = match reason {
        Some(other) => format!("reason {other}"),
        None => format!("{}, without a reason", reply.summary()),
    };
    let expected = format!("reason \"NotFound\", {DELETED}");
    reply.check(reason == Some(&json!("NotFound")), expected, got)
}

check! { ELB_07 = elb_07, Elb, observer Required, needs [LoadBalancer, UpdateAttributes],
    why "A user who deletes a line from a manifest expects that its setting is gone. A limit or a certificate that stays \
         is found by nobody: the manifest does not show it.",
    source "LBCF webhook specification, ensureLoadBalancer",
    typical "The attributes are merged into those of the cloud. Set every attribute that the driver knows, to its \
             default if it is not sent.",
}

async fn elb_07(lab: &Lab) -> CheckOutcome {
    let samples = &lab.run.fixture.load_balancer;
    let update = samples.update.attributes.as_ref();
    let lacks = |sample: &&LoadBalancerSample| is_lacking(&sample.attributes, update);
    let Some(sample) = samples.valid.iter().find(lacks) else {
        let reason = "each of loadBalancer.valid has all attributes of loadBalancer.update";
        return Err(CheckError::not_applicable(reason));
    };
    lab.run.require("CLB-01")?;
    let lb = lab.created(lab.load_balancer_of(Some(sample))).await;
    let lb = lb.blocked_by("CLB-01")?;
    let Some(before) = lab.given_observed(&lb.lb_info).await? else {
        return Ok(());
    };
    let with = lab.updated_attributes(&lb);
    let since = "since the fixture allows these attributes";
    let changed = lab.succeeds(&lb.ensure_with(&with), since).await;
    changed.blocked_by("ELB-03")?;
    let changed = lab.has_attributes(&lb.lb_info, &with).await;
    changed.blocked_by("ELB-03")?;
    let reply = lab.succeeds(&lb.ensure(), since).await?;
    let seen = lab.given_observed(&lb.lb_info).await?.unwrap_or_default();
    let expected = format!("attributes {} again", json!(before.attributes));
    let got = format!(
        "{}, after {} was sent without what it had lacked",
        json!(seen.attributes),
        json!(with)
    );
    reply.check(seen.attributes == before.attributes, expected, got)
}

check! { ELB_08 = elb_08, Elb, observer Improves, needs [LoadBalancer, ForbiddenUpdate],
    why "The object may not have been validated: by an older controller, or because the driver's rules changed. After Succ \
         it is ready with attributes that its load balancer does not have.",
    source "LBCF webhook specification, ensureLoadBalancer",
    typical "Only the validation reads all attributes, or the error of one hides that of another.",
}

async fn elb_08(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let before = lab.observed(&lb.lb_info, CREATED).await?;
    for attributes in &lab.run.fixture.load_balancer.update.forbidden {
        let attributes = lab.changed(&lb.sample.attributes, Some(attributes));
        let reply = lab.until_done(&lb.ensure_with(&attributes)).await?;
        let since = "since the fixture forbids these attributes";
        reply.fail(since)?.has_msg()?;
        lab.is_unchanged(&lb.lb_info, before.as_ref(), since)
            .await?;
    }
    Ok(())
}

/// True if an entry of the update is not in the map.
pub(super) fn is_lacking(map: &StringMap, update: Option<&StringMap>) -> bool {
    let mut keys = update.into_iter().flat_map(StringMap::keys);
    keys.any(|key| !map.contains_key(key))
}

const DELETED: &str = "since the load balancer was deleted";
