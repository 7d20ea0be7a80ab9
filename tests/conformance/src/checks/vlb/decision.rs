//! Valid load balancers are accepted, invalid ones rejected.

use super::{accepted, valid};
use crate::check::{Check, Group, Need};
use crate::lab::Lab;
use crate::outcome::CheckOutcome;

pub(super) static VLB_01: Check = Check {
    id: "VLB-01",
    rule: "validateLoadBalancer accepts a load balancer with valid lbSpec and attributes: succ \
           true",
    why: "The controller calls it while the user's object is being stored. Without succ true users \
          cannot create a load balancer at all.",
    source: "LBCF webhook specification, validateLoadBalancer; b72",
    typical: "The response has status Succ, as of operations, instead of succ true; or the driver \
              requires something that only exists after the creation.",
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Vlb, |lab| Box::pin(vlb_01(lab)))
};

const VALID: &str = "since lbSpec and attributes are valid";

async fn vlb_01(lab: &Lab) -> CheckOutcome {
    for load_balancer in valid(lab) {
        let reply = lab.call(&load_balancer.validate()).await;
        accepted(lab, &reply, VALID)?;
    }
    Ok(())
}

pub(super) static VLB_02: Check = Check {
    id: "VLB-02",
    rule: "validateLoadBalancer rejects an invalid load balancer with HTTP 200, succ false and a \
           msg with the reason",
    why: "Users read the msg when their object is rejected. With another HTTP status the \
          controller treats the driver as broken, and shows the raw response.",
    source: "LBCF webhook specification, validateLoadBalancer; b78, b149",
    typical: "The rejection is sent as HTTP 400 or 422, often by the framework's own validation; \
              or everything is accepted, and the mistake appears only in createLoadBalancer.",
    needs: &[Need::InvalidLoadBalancer],
    ..Check::must(Group::Vlb, |lab| Box::pin(vlb_02(lab)))
};

async fn vlb_02(lab: &Lab) -> CheckOutcome {
    for sample in &lab.fixture().load_balancer.invalid {
        let load_balancer = lab.load_balancer_of(Some(sample));
        let reply = lab.call(&load_balancer.validate()).await;
        let since = match sample.reason.as_str() {
            "" => "since the fixture declares this one invalid".to_owned(),
            reason => format!("since the fixture declares this one invalid: {reason}"),
        };
        reply.rejected(&since)?.has_msg()?;
    }
    Ok(())
}

pub(super) static VLB_03: Check = Check {
    id: "VLB-03",
    rule: "validateLoadBalancer accepts an update with unchanged or allowed attributes, and \
           rejects one with forbidden attributes",
    why: "The controller calls it at each change of the object, even of a label. A driver that \
          then rejects freezes the object; one that accepts everything promises what it cannot do.",
    source: "LBCF webhook specification, validateLoadBalancer; b74, b75",
    typical: "An Update is validated like a Create, so that the load balancer's own name or port \
              counts as taken; oldAttributes is not compared with attributes.",
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Vlb, |lab| Box::pin(vlb_03(lab)))
};

async fn vlb_03(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.load_balancer();
    let reply = lab.call(&load_balancer.validate()).await;
    accepted(lab, &reply, VALID).map_err(|e| e.blocked_by("VLB-01"))?;
    let own = &load_balancer.sample.attributes;
    let reply = lab.call(&load_balancer.validate_update(own)).await;
    accepted(
        lab,
        &reply,
        "since the update leaves the attributes unchanged",
    )?;

    let samples = &lab.fixture().load_balancer;
    match &samples.update {
        Some(_) => {
            let attributes = lab.updated_attributes(&load_balancer);
            let reply = lab.call(&load_balancer.validate_update(&attributes)).await;
            accepted(lab, &reply, "since the fixture allows these attributes")?;
        }
        None => {
            lab.note("no change was tested: loadBalancer.update.attributes is not in the fixture");
        }
    }
    for attributes in &samples.forbidden {
        let attributes = lab.changed(own, Some(attributes));
        let reply = lab.call(&load_balancer.validate_update(&attributes)).await;
        reply.rejected("since the fixture forbids these attributes")?;
    }
    if samples.forbidden.is_empty() {
        lab.note("no rejection was tested: loadBalancer.update.forbidden is not in the fixture");
    }
    Ok(())
}

pub(super) static VLB_05: Check = Check {
    id: "VLB-05",
    rule: "validateLoadBalancer rejects an operation other than Create and Update with succ false",
    why: "A driver that accepts unknown operations, or crashes, hides that a newer controller \
          requests something else.",
    source: "derived: the specification has Create and Update (b155)",
    typical: "Everything but Update is treated as Create; or the framework's list of values leads \
              to HTTP 422 or 500. Return succ false, with the value in msg.",
    needs: &[Need::LoadBalancer],
    ..Check::should(Group::Vlb, |lab| Box::pin(vlb_05(lab)))
};

async fn vlb_05(lab: &Lab) -> CheckOutcome {
    let call = lab.load_balancer().validate().with("operation", "Replace");
    let reply = lab.call(&call.invalid()).await;
    reply
        .rejected("since the operation \"Replace\" does not exist")
        .map(drop)
}
