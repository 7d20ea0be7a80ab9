//! ensureLoadBalancer: bringing a load balancer's attributes to what is wanted, again and again.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::{Failure, Verdict};
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::json;

/// The checks about ensureLoadBalancer.
pub(super) const CHECKS: &[&Check] = &[&ELB_01, &ELB_02, &ELB_03, &ELB_04, &ELB_05];

static ELB_01: Check = Check {
    id: "ELB-01",
    level: Level::Must,
    group: Group::Elb,
    rule: "ensureLoadBalancer succeeds right after the creation, with the attributes of the creation",
    why: "Controllers call it next. One that fails keeps the load balancer from ever being ready.",
    source: "LBCF webhook specification, ensureLoadBalancer",
    typical: "\"Nothing to change\" is taken for an error, or the cloud refuses to change what it has \
              just made (answer Running then).",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(elb_01(lab)),
};

async fn elb_01(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let answer = lab.until_done(&load_balancer.ensure()).await?;
    answer.succ("since the load balancer was created with these attributes")?;
    Ok(())
}

static ELB_02: Check = Check {
    id: "ELB-02",
    level: Level::Must,
    group: Group::Elb,
    rule: "Repeated without a change, ensureLoadBalancer succeeds each time and changes nothing",
    why: "With ensurePolicy Always it is called every few minutes for as long as the load balancer is \
          there.",
    source: "LBCF: periodic ensure; b26",
    typical: "Attributes are appended instead of set, or each call makes a new version of something.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(elb_02(lab)),
};

async fn elb_02(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let first = lab.until_done(&load_balancer.ensure()).await?;
    first.succ("since the load balancer was created with these attributes")?;
    let since = "since it was created";
    let before = lab.look_at(&load_balancer.lb_info, since).await?;
    for _ in 0..lab.repeats() {
        let again = lab.until_done(&load_balancer.ensure()).await?;
        again.succ("since nothing changed since the last Succ")?;
    }
    let after = lab.look_at(&load_balancer.lb_info, since).await?;
    if before != after {
        let expected = format!("the load balancer as it was, {before:?}");
        return Err(Failure::new(expected, format!("{after:?}")).into());
    }
    Ok(())
}

static ELB_03: Check = Check {
    id: "ELB-03",
    level: Level::Must,
    group: Group::Elb,
    rule: "Changed attributes are applied, although the recordID is the same as before",
    why: "The recordID names the operation on the object, not the try: it is the same for ever. A \
          driver that answers from what it remembers by recordID loses every later change.",
    source: "LBCF controller: ensureLoadBalancer(<uid>) (d28)",
    typical: "A table of finished recordIDs. Compare what is wanted with what is there instead.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::UpdateAttributes],
    company: Company::Any,
    code: |lab| Box::pin(elb_03(lab)),
};

async fn elb_03(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let first = lab.until_done(&load_balancer.ensure()).await?;
    first.succ("since the load balancer was created with these attributes")?;
    let update = lab.updated_attributes(&load_balancer);
    // To the new ones, back to the old, and again: one that remembers is found out at the latest
    // when it has seen both.
    let old = load_balancer.wanted.attributes.clone();
    for wanted in [&update, &old, &update] {
        let answer = lab.until_done(&load_balancer.ensure_with(wanted)).await?;
        answer.succ("since the fixture says that attributes can be changed to these")?;
        has_attributes(lab, &load_balancer.lb_info, wanted).await?;
    }
    Ok(())
}

static ELB_04: Check = Check {
    id: "ELB-04",
    level: Level::Should,
    group: Group::Elb,
    rule: "Ensuring a load balancer that does not exist is answered with Fail and a msg",
    why: "Somebody deleted it outside of Kubernetes. Users should learn that; with Succ nobody does, \
          and an exception tells nothing.",
    source: "LBCF webhook specification, ensureLoadBalancer",
    typical: "The cloud's \"not found\" is ignored, or ends as 500.",
    observer: Observer::Unused,
    needs: &[Need::UnknownLbInfo],
    company: Company::Any,
    code: |lab| Box::pin(elb_04(lab)),
};

async fn elb_04(lab: &Lab) -> Verdict {
    let mut load_balancer = lab.load_balancer();
    load_balancer.lb_info = lab.unknown_lb_info();
    let answer = lab.until_done(&load_balancer.ensure()).await?;
    answer.fail("since the fixture says that no load balancer has this lbInfo")?;
    answer.has_msg()?;
    Ok(())
}

static ELB_05: Check = Check {
    id: "ELB-05",
    level: Level::Should,
    group: Group::Elb,
    rule: "Attributes that were changed outside are brought back by the next ensureLoadBalancer",
    why: "That is what ensuring is for: somebody changed something in the cloud's console by mistake.",
    source: "LBCF: ensurePolicy Always; b26",
    typical: "The wanted attributes are compared with the last wanted ones instead of with the cloud.",
    observer: Observer::Required,
    needs: &[
        Need::LoadBalancer,
        Need::UpdateAttributes,
        Need::AttributeDrift,
    ],
    company: Company::Any,
    code: |lab| Box::pin(elb_05(lab)),
};

async fn elb_05(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let first = lab.until_done(&load_balancer.ensure()).await?;
    first.succ("since the load balancer was created with these attributes")?;
    let drift = lab.updated_attributes(&load_balancer);
    let change = json!({"lbInfo": load_balancer.lb_info, "attributes": drift});
    lab.meddle("attributes", &change).await?;
    let again = lab.until_done(&load_balancer.ensure()).await?;
    again.succ("since attributes can be changed")?;
    has_attributes(
        lab,
        &load_balancer.lb_info,
        &load_balancer.wanted.attributes,
    )
    .await
}

/// Fails unless the load balancer has these attributes in the cloud.
pub(super) async fn has_attributes(lab: &Lab, lb_info: &StringMap, wanted: &StringMap) -> Verdict {
    let Some(seen) = lab.look_at(lb_info, "since it was created").await? else {
        return Ok(());
    };
    for (key, value) in wanted {
        let there = seen.attributes.get(key);
        if there != Some(value) {
            let expected = format!("attributes.{key} {value:?} in the cloud");
            return Err(Failure::new(expected, format!("{there:?}")).into());
        }
    }
    Ok(())
}
