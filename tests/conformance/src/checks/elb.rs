//! ensureLoadBalancer: setting the attributes of a load balancer.

use crate::check::{Check, Group, Need, Observer};
use crate::lab::Lab;
use crate::outcome::{CheckOutcome, Failure};
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::json;

pub(super) const CHECKS: &[&Check] = &[&ELB_01, &ELB_02, &ELB_03, &ELB_04, &ELB_05];

static ELB_01: Check = Check {
    id: "ELB-01",
    rule: "ensureLoadBalancer succeeds right after the creation, with the attributes of the \
           creation",
    why: "Controllers call it next. After a Fail the load balancer never becomes ready.",
    source: "LBCF webhook specification, ensureLoadBalancer",
    typical: "\"Nothing to change\" is treated as an error, or the cloud does not allow changes \
              right after the creation (return Running then).",
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Elb, |lab| Box::pin(elb_01(lab)))
};

const CREATED: &str = "since the load balancer was created with these attributes";

async fn elb_01(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let ensure = load_balancer.ensure();
    lab.succeeds(&ensure, CREATED).await.map(drop)
}

static ELB_02: Check = Check {
    id: "ELB-02",
    rule: "ensureLoadBalancer with unchanged attributes succeeds each time and changes nothing",
    why: "With ensurePolicy Always it is called every few minutes for as long as the load balancer \
          exists.",
    source: "LBCF: periodic ensure; b26",
    typical: "Attributes are appended instead of set, or each call creates a new version of \
              something.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Elb, |lab| Box::pin(elb_02(lab)))
};

async fn elb_02(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    lab.succeeds(&load_balancer.ensure(), CREATED).await?;
    let since = "since it was created";
    let before = lab.observed(&load_balancer.lb_info, since).await?;
    for _ in 0..lab.repeats() {
        let since = "since nothing changed since the last Succ";
        lab.succeeds(&load_balancer.ensure(), since).await?;
    }
    let after = lab.observed(&load_balancer.lb_info, since).await?;
    if before != after {
        let expected = format!("the load balancer unchanged, {before:?}");
        return Err(Failure::new(expected, format!("{after:?}")).into());
    }
    Ok(())
}

static ELB_03: Check = Check {
    id: "ELB-03",
    rule: "ensureLoadBalancer applies changed attributes, although the recordID is the same as \
           before",
    why: "The recordID identifies the operation on the object, not the attempt: it never changes. \
          A driver that returns stored results by recordID ignores every later change.",
    source: "LBCF controller: ensureLoadBalancer(<uid>) (d28)",
    typical: "A table of finished recordIDs. Compare the desired attributes with the cloud \
              instead.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::UpdateAttributes],
    ..Check::must(Group::Elb, |lab| Box::pin(elb_03(lab)))
};

async fn elb_03(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    lab.succeeds(&load_balancer.ensure(), CREATED).await?;
    let update = lab.updated_attributes(&load_balancer);
    // Back and forth, because a driver that stores results has seen both in the end.
    let old = load_balancer.sample.attributes.clone();
    for attributes in [&update, &old, &update] {
        let since = "since the fixture allows these attributes";
        let ensure = load_balancer.ensure_with(attributes);
        lab.succeeds(&ensure, since).await?;
        has_attributes(lab, &load_balancer.lb_info, attributes).await?;
    }
    Ok(())
}

static ELB_04: Check = Check {
    id: "ELB-04",
    rule: "ensureLoadBalancer returns Fail with a msg for a load balancer that does not exist",
    why: "It may have been deleted outside of Kubernetes. Users must learn of it; Succ hides it, \
          and an exception explains nothing.",
    source: "LBCF webhook specification, ensureLoadBalancer",
    typical: "The cloud's \"not found\" is ignored, or becomes 500.",
    needs: &[Need::UnknownLbInfo],
    ..Check::should(Group::Elb, |lab| Box::pin(elb_04(lab)))
};

async fn elb_04(lab: &Lab) -> CheckOutcome {
    let reply = lab
        .until_done(&lab.unknown_load_balancer().ensure())
        .await?;
    reply.fail("since the fixture declares that no load balancer has this lbInfo")?;
    reply.has_msg().map(drop)
}

static ELB_05: Check = Check {
    id: "ELB-05",
    rule: "ensureLoadBalancer restores attributes that were changed outside of Kubernetes",
    why: "The call exists for this: attributes may be changed by mistake in the cloud's console.",
    source: "LBCF: ensurePolicy Always; b26",
    typical: "The desired attributes are compared with the previous desired ones instead of with \
              the cloud.",
    observer: Observer::Required,
    needs: &[
        Need::LoadBalancer,
        Need::UpdateAttributes,
        Need::AttributeDrift,
    ],
    ..Check::should(Group::Elb, |lab| Box::pin(elb_05(lab)))
};

async fn elb_05(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    lab.succeeds(&load_balancer.ensure(), CREATED).await?;
    let drift = lab.updated_attributes(&load_balancer);
    let change = json!({"lbInfo": load_balancer.lb_info, "attributes": drift});
    lab.modify("attributes", &change).await?;
    let since = "since attributes can be changed";
    lab.succeeds(&load_balancer.ensure(), since).await?;
    let attributes = &load_balancer.sample.attributes;
    has_attributes(lab, &load_balancer.lb_info, attributes).await
}

/// Fails unless the load balancer has these attributes in the cloud.
pub(super) async fn has_attributes(
    lab: &Lab,
    lb_info: &StringMap,
    attributes: &StringMap,
) -> CheckOutcome {
    let Some(seen) = lab.observed(lb_info, "since it was created").await? else {
        return Ok(());
    };
    for (key, value) in attributes {
        let got = seen.attributes.get(key);
        if got != Some(value) {
            let expected = format!("attributes.{key} {value:?} in the cloud");
            return Err(Failure::new(expected, format!("{got:?}")).into());
        }
    }
    Ok(())
}
