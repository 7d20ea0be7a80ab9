//! validateLoadBalancer, called while a user waits.

use super::prelude::*;

pub(super) const CHECKS: &[&Check] = &[&VLB_01, &VLB_02, &VLB_03, &VLB_04, &VLB_05];

/// Load balancers from the fixture's valid samples, or else an empty one.
fn valid(lab: &Lab) -> Vec<LoadBalancer> {
    let samples = lab.run.fixture.load_balancer.valid.iter();
    let mut valid: Vec<_> = samples
        .map(|sample| lab.load_balancer_of(Some(sample)))
        .collect();
    if valid.is_empty() {
        valid.push(lab.load_balancer());
    }
    valid
}

/// Requires `succ: true`, unless the fixture has no valid sample.
fn accepted(lab: &Lab, reply: &DriverReply, since: &str) -> CheckOutcome {
    if lab.run.fixture.load_balancer.valid.is_empty() && reply.decision() == Some(false) {
        return Err(CheckError::Skipped(
            "the driver rejects an empty lbSpec: needs loadBalancer.valid in the fixture".into(),
        ));
    }
    reply.accepted(since).map(drop)
}

check! { VLB_01 = vlb_01, Vlb, needs [LoadBalancer],
    why "The controller calls it while the user's object is being stored. Without succ true users \
         cannot create a load balancer at all.",
    source "LBCF webhook specification, validateLoadBalancer; b72",
    typical "The response has status Succ, as of operations, instead of succ true; or the driver \
             requires something that only exists after the creation.",
}

const VALID: &str = "since lbSpec and attributes are valid";

async fn vlb_01(lab: &Lab) -> CheckOutcome {
    for lb in valid(lab) {
        accepted(lab, &lab.call(&lb.validate()).await, VALID)?;
    }
    Ok(())
}

check! { VLB_02 = vlb_02, Vlb, needs [InvalidLoadBalancer],
    why "Users read the msg when their object is rejected. With another HTTP status the \
         controller treats the driver as broken, and shows the raw response.",
    source "LBCF webhook specification, validateLoadBalancer; b78, b149",
    typical "The rejection is sent as HTTP 400 or 422, often by the framework's own validation; \
             or everything is accepted, and the mistake appears only in createLoadBalancer.",
}

async fn vlb_02(lab: &Lab) -> CheckOutcome {
    for sample in &lab.run.fixture.load_balancer.invalid {
        let invalid = lab.load_balancer_of(Some(sample));
        let reply = lab.call(&invalid.validate()).await;
        let since = match sample.reason.as_str() {
            "" => "since the fixture declares this one invalid".to_owned(),
            reason => format!("since the fixture declares this one invalid: {reason}"),
        };
        reply.rejected(&since)?.has_msg()?;
    }
    Ok(())
}

check! { VLB_03 = vlb_03, Vlb, needs [LoadBalancer],
    why "The controller calls it at each change of the object, even of a label. A driver that \
         then rejects freezes the object; one that accepts everything promises what it cannot do.",
    source "LBCF webhook specification, validateLoadBalancer; b74, b75",
    typical "An Update is validated like a Create, so that the load balancer's own name or port \
             counts as taken; oldAttributes is not compared with attributes.",
}

async fn vlb_03(lab: &Lab) -> CheckOutcome {
    let lb = lab.load_balancer();
    accepted(lab, &lab.call(&lb.validate()).await, VALID).blocked_by("VLB-01")?;
    let own = &lb.sample.attributes;
    let reply = lab.call(&lb.validate_update(own)).await;
    let since = "since the update leaves the attributes unchanged";
    accepted(lab, &reply, since)?;

    let samples = &lab.run.fixture.load_balancer;
    if samples.update.attributes.is_some() {
        let update = lb.validate_update(&lab.updated_attributes(&lb));
        let since = "since the fixture allows these attributes";
        accepted(lab, &lab.call(&update).await, since)?;
    } else {
        lab.note("no change was tested: loadBalancer.update.attributes is not in the fixture");
    }
    for attributes in &samples.update.forbidden {
        let update = lb.validate_update(&lab.changed(own, Some(attributes)));
        let since = "since the fixture forbids these attributes";
        lab.call(&update).await.rejected(since)?;
    }
    if samples.update.forbidden.is_empty() {
        lab.note("no rejection was tested: loadBalancer.update.forbidden is not in the fixture");
    }
    Ok(())
}

check! { VLB_04 = vlb_04, Vlb, observer Required, needs [LoadBalancer], runs Counting,
    why "The object may still be rejected by others after the driver accepted it. Nothing refers \
         to what was created by then: it costs money and is never deleted.",
    source "LBCF webhook specification, validateLoadBalancer; b72, b140",
    typical "Names or ports are reserved during validation, so that the second request is \
             rejected; or the load balancer is created or updated at once. Validate only.",
}

async fn vlb_04(lab: &Lab) -> CheckOutcome {
    let given = lab.given_load_balancer().await?;
    let before = lab.observe().await?;
    let own_before = lab.given_observed(&given.lb_info).await?;

    // Two of each kind, because validations may be slow, and each is repeated many times.
    let samples = &lab.run.fixture.load_balancer;
    let valid = valid(lab);
    let mut calls: Vec<_> = valid.iter().take(2).map(LoadBalancer::validate).collect();
    for sample in samples.invalid.iter().take(2) {
        calls.push(lab.load_balancer_of(Some(sample)).validate());
    }
    let update = &samples.update;
    for attributes in update.attributes.iter().chain(update.forbidden.first()) {
        let attributes = lab.changed(&given.sample.attributes, Some(attributes));
        calls.push(given.validate_update(&attributes));
    }
    for call in calls {
        lab.same_decision(&call, "VLB-01").await?;
    }

    let since = "since load balancers were only validated";
    lab.is_unchanged(&given.lb_info, own_before.as_ref(), since)
        .await?;
    lab.created_since(before.as_ref(), 0, "no new load balancer in the cloud")
        .await
}

check! { VLB_05 = vlb_05, Vlb, needs [LoadBalancer],
    why "A driver that accepts unknown operations, or crashes, hides that a newer controller \
         requests something else.",
    source "derived: the specification has Create and Update (b155)",
    typical "Everything but Update is treated as Create; or the framework's list of values leads \
             to HTTP 422 or 500. Return succ false, with the value in msg.",
}

async fn vlb_05(lab: &Lab) -> CheckOutcome {
    let call = lab.load_balancer().validate().with("operation", "Replace");
    let reply = lab.call(&call.invalid()).await;
    let since = "since the operation \"Replace\" does not exist";
    reply.rejected(since).map(drop)
}
