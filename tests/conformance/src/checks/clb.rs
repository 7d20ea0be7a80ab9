//! createLoadBalancer.

use super::prelude::*;

pub(super) const CHECKS: &[&Check] = &[
    &CLB_01, &CLB_02, &CLB_03, &CLB_04, &CLB_05, &CLB_06, &CLB_07, &CLB_08,
];

check! { CLB_01 = clb_01, Clb, observer Improves, needs [LoadBalancer],
    why "Everything else needs a load balancer.",
    source "LBCF webhook specification, createLoadBalancer",
    typical "A field is read under another name than users write, each call starts a new \
             operation that therefore never ends, or the fixture's samples are not valid.",
}

async fn clb_01(lab: &Lab) -> CheckOutcome {
    let samples = &lab.run.fixture.load_balancer.valid;
    if samples.is_empty() {
        let created = lab.created(lab.load_balancer()).await;
        return created.map(drop).map_err(|error| match error {
            // A driver that rejects it is right; one that does not respond, or never ends, is not.
            CheckError::Failed(failure) if rejects(&failure) => CheckError::Skipped(format!(
                "needs loadBalancer.valid in the fixture: the response to an empty lbSpec was {}",
                failure.got
            )),
            other => other,
        });
    }
    for sample in samples {
        let created = lab.created(lab.load_balancer_of(Some(sample))).await?;
        lab.observed(&created.lb_info, "since createLoadBalancer returned Succ")
            .await?;
    }
    Ok(())
}

fn rejects(failure: &Failure) -> bool {
    let exchange = failure.exchange.clone();
    exchange.is_none_or(|exchange| {
        exchange.outcome.is_ok() && DriverReply::new(exchange).status() != Some(Status::Running)
    })
}

check! { CLB_02 = clb_02, Clb, needs [LoadBalancer],
    why "The controller stores lbInfo and sends it with every later call: the driver finds the \
         load balancer by nothing else.",
    source "LBCF webhook specification; b19",
    typical "The id is not known yet when Succ is returned (return Running until it is), or the \
             driver returns no lbInfo and then does not accept lbSpec in its place.",
}

async fn clb_02(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let is_returned = lb.lb_info != lb.sample.lb_spec;
    for (key, value) in &lb.lb_info {
        let got = format!("lbInfo.{key} is empty");
        let is_right = !is_returned || !value.is_empty();
        Failure::unless(is_right, "a value in each field of lbInfo", got)?;
    }
    let since = "since createLoadBalancer returned this lbInfo";
    lab.succeeds(&lb.ensure(), since).await?;
    if lab.has_backends() {
        let backend = lab.given_backend(&lb).await?;
        lab.succeeds(&backend.ensure(), since).await?;
    }
    Ok(())
}

check! { CLB_03 = clb_03, Clb, observer Improves, needs [LoadBalancer], runs Counting,
    why "A response may get lost, and a controller may crash before it stores lbInfo. It then \
         calls again under the same recordID, and a driver that creates a second load balancer \
         leaks one, with its costs.",
    source "LBCF webhook specification: the same recordID in each attempt; b18",
    typical "The load balancer is created without checking whether it exists. Pass the recordID \
             to the cloud as client token, or search for it as a name or tag first.",
}

async fn clb_03(lab: &Lab) -> CheckOutcome {
    repeated(lab, 1).await
}

check! { CLB_04 = clb_04, Clb, observer Improves, needs [LoadBalancer], runs Counting,
    why "While its writes fail, a controller repeats the call every few seconds for hours.",
    source "LBCF webhook specification: the same recordID in each attempt; b18",
    typical "The driver remembers created load balancers for a short time only, or only the last \
             few.",
}

async fn clb_04(lab: &Lab) -> CheckOutcome {
    repeated(lab, lab.repeats()).await
}

async fn repeated(lab: &Lab, times: usize) -> CheckOutcome {
    let before = lab.observe().await?;
    let lb = lab.given_new_load_balancer().await?;
    for _ in 0..times {
        same_identity(lab, &lb).await?;
    }
    let expected = format!("one new load balancer in the cloud, {:?}", lb.lb_info);
    lab.created_since(before.as_ref(), 1, expected).await
}

check! { CLB_05 = clb_05, Clb, observer Improves, needs [InvalidLoadBalancer],
    runs Counting,
    why "The object may not have been validated: by an older controller, or because the driver's \
         rules changed. Nothing refers to a load balancer that is created anyway, and it costs \
         money.",
    source "LBCF webhook specification, createLoadBalancer",
    typical "The first resource is created before all fields are read, or an exception becomes \
             500.",
}

async fn clb_05(lab: &Lab) -> CheckOutcome {
    for sample in &lab.run.fixture.load_balancer.invalid {
        let before = lab.observe().await?;
        let create = lab.load_balancer_of(Some(sample)).create();
        let reply = lab.until_done(&create).await?;
        let reason = &sample.reason;
        reply.fail(&format!("since the fixture declares it invalid: {reason}"))?;
        reply.has_msg()?;
        let expected = "no load balancer created from an invalid lbSpec";
        let unchanged = lab.created_since(before.as_ref(), 0, expected).await;
        unchanged.map_err(|error| match error {
            CheckError::Failed(failure) => reply.failed(failure.expected, failure.got),
            other => other,
        })?;
    }
    Ok(())
}

check! { CLB_06 = clb_06, Clb, observer Improves, needs [LoadBalancer],
    runs Counting,
    why "Two objects in Kubernetes may request the same thing. The driver may return one load \
         balancer or two, but users must get one of these results.",
    source "derived: lbSpec may be the identity (b19)",
    typical "A conflict in the driver's own tables becomes 500.",
}

async fn clb_06(lab: &Lab) -> CheckOutcome {
    let first = lab.given_new_load_balancer().await?;
    let second = first.renewed(lab.uid());
    let reply = lab.until_done(&second.create()).await?;
    let result = match reply.operation_status()? {
        Status::Succ if reply.identity(&second.sample.lb_spec) == first.lb_info => {
            "returns the same load balancer"
        }
        Status::Succ => "creates another load balancer",
        _ => {
            reply.has_msg()?;
            "is rejected"
        }
    };
    lab.note(format!("the same lbSpec under another recordID {result}"));
    Ok(())
}

check! { CLB_07 = clb_07, Clb, needs [LoadBalancer],
    why "It is stored in the status of objects, sent with every call, and compared.",
    source "LBCF controller: lbInfo is a key of its maps",
    typical "lbInfo contains a time, a request id or the load balancer's whole description.",
}

async fn clb_07(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let fields = lb.lb_info.iter();
    let size: usize = fields.map(|(key, value)| key.len() + value.len()).sum();
    let expected = "an lbInfo of less than 4096 bytes";
    Failure::unless(size < 4096, expected, format!("{size} bytes"))?;
    for _ in 0..3 {
        same_identity(lab, &lb).await?;
    }
    Ok(())
}

check! { CLB_08 = clb_08, Clb, observer Required, needs [LoadBalancer, UpdateAttributes],
    why "The first response may get lost, and the user may change the attributes meanwhile. The \
         controller knows of one Succ only, and that the attributes of this call are set.",
    source "derived: attributes are synced after a creation (b19)",
    typical "What was created before is returned as it is. Apply the attributes, too.",
}

async fn clb_08(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_new_load_balancer().await?;
    let update = lab.updated_attributes(&lb);
    let call = lb.create().with("attributes", json!(update));
    lab.succeeds(&call, "since the fixture allows these attributes")
        .await?;
    lab.has_attributes(&lb.lb_info, &update).await
}

/// Repeats the creation, which has to return the same identity.
pub(super) async fn same_identity(lab: &Lab, lb: &LoadBalancer) -> CheckOutcome {
    let since = "since the load balancer was created under this recordID";
    let again = lab.succeeds(&lb.create(), since).await?;
    let lb_info = again.identity(&lb.sample.lb_spec);
    let expected = format!("the lbInfo of the first Succ, {:?}", lb.lb_info);
    again.check(lb_info == lb.lb_info, expected, format!("{lb_info:?}"))
}
