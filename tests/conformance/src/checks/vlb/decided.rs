//! That what is right is accepted, and what is wrong refused.

use super::{accepted, valid};
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::Verdict;

/// What is right is accepted.
pub(super) static VLB_01: Check = Check {
    id: "VLB-01",
    level: Level::Must,
    group: Group::Vlb,
    rule: "A load balancer whose lbSpec and attributes are right is accepted: succ true",
    why: "The controller asks while the user's object is being stored. Whatever is not succ true \
          keeps users from having a load balancer at all.",
    source: "LBCF webhook specification, validateLoadBalancer; b72",
    typical: "The answer has status Succ, as operations have it, instead of succ true; or what \
              only exists after the creation is asked for.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(vlb_01(lab)),
};

async fn vlb_01(lab: &Lab) -> Verdict {
    for load_balancer in valid(lab) {
        let answer = lab.call(&load_balancer.validate()).await;
        accepted(lab, &answer, "since lbSpec and attributes are right")?;
    }
    Ok(())
}

/// What is wrong is refused with a reason.
pub(super) static VLB_02: Check = Check {
    id: "VLB-02",
    level: Level::Must,
    group: Group::Vlb,
    rule: "A load balancer that is wrong is refused with HTTP 200, succ false and a msg that says why",
    why: "The msg is what users read when their object is refused. By another HTTP status the \
          controller takes the driver for broken, and shows its raw answer.",
    source: "LBCF webhook specification, validateLoadBalancer; b78, b149",
    typical: "A refusal is sent as HTTP 400 or 422, often by the framework's own validation; or \
              everything is accepted, and the mistake comes out at the creation.",
    observer: Observer::Unused,
    needs: &[Need::InvalidLoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(vlb_02(lab)),
};

async fn vlb_02(lab: &Lab) -> Verdict {
    for wanted in &lab.fixture().load_balancer.invalid {
        let load_balancer = lab.load_balancer_of(Some(wanted));
        let answer = lab.call(&load_balancer.validate()).await;
        let since = match wanted.reason.as_str() {
            "" => "since the fixture says that this one is wrong".to_owned(),
            reason => format!("since the fixture says why this one is wrong: {reason}"),
        };
        answer.refused(&since)?.has_msg()?;
    }
    Ok(())
}

/// Changes are judged, too.
pub(super) static VLB_03: Check = Check {
    id: "VLB-03",
    level: Level::Must,
    group: Group::Vlb,
    rule: "An update is accepted when attributes stay or change as they may, and refused when they may not",
    why: "The controller asks at each change of the object, also when only a label is new. A \
          driver that refuses then freezes the object; one that accepts everything promises what \
          it cannot do.",
    source: "LBCF webhook specification, validateLoadBalancer; b74, b75",
    typical: "An Update is checked like a Create, so that the load balancer's own name or port \
              counts as taken; oldAttributes is not compared with attributes.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(vlb_03(lab)),
};

async fn vlb_03(lab: &Lab) -> Verdict {
    let load_balancer = lab.load_balancer();
    let answer = lab.call(&load_balancer.validate()).await;
    accepted(lab, &answer, "since lbSpec and attributes are right")
        .map_err(|e| e.blocked_by("VLB-01"))?;
    let own = &load_balancer.wanted.attributes;
    let answer = lab.call(&load_balancer.validate_update(own)).await;
    accepted(
        lab,
        &answer,
        "since the update leaves the attributes as they are",
    )?;

    let samples = &lab.fixture().load_balancer;
    match &samples.update {
        Some(_) => {
            let attributes = lab.updated_attributes(&load_balancer);
            let answer = lab.call(&load_balancer.validate_update(&attributes)).await;
            let since = "since the fixture says that attributes can be changed to these";
            accepted(lab, &answer, since)?;
        }
        None => {
            lab.note("no change was tried: loadBalancer.update.attributes is not in the fixture");
        }
    }
    for attributes in &samples.forbidden {
        let attributes = lab.changed(own, Some(attributes));
        let answer = lab.call(&load_balancer.validate_update(&attributes)).await;
        answer.refused("since the fixture says that attributes cannot be changed to these")?;
    }
    if samples.forbidden.is_empty() {
        lab.note("no refusal was tried: loadBalancer.update.forbidden is not in the fixture");
    }
    Ok(())
}

/// What a driver does not know it refuses.
pub(super) static VLB_05: Check = Check {
    id: "VLB-05",
    level: Level::Should,
    group: Group::Vlb,
    rule: "An operation that is neither Create nor Update is refused with succ false",
    why: "A driver that waves through what it does not know, or crashes, hides that a newer \
          controller wants something else of it.",
    source: "Derived: the specification has Create and Update (b155)",
    typical: "Everything that is not Update counts as Create; or the framework's list of values \
              answers with HTTP 422 or 500. Answer succ false, with the value in msg.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(vlb_05(lab)),
};

async fn vlb_05(lab: &Lab) -> Verdict {
    let call = lab.load_balancer().validate();
    let answer = lab
        .call(&call.with("operation", "Replace").improper())
        .await;
    answer.refused("since there is no operation \"Replace\"")?;
    Ok(())
}
