//! Repeated creations.

use super::creation::same_identity;
use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::lab::{Lab, LoadBalancer, Status};
use crate::outcome::CheckOutcome;

pub(super) static CLB_03: Check = Check {
    id: "CLB-03",
    rule: "Repeating createLoadBalancer under the same recordID returns Succ with the same lbInfo \
           and creates nothing",
    why: "A response may get lost, and a controller may crash before it stores lbInfo. It then \
          calls again under the same recordID, and a driver that creates a second load balancer \
          leaks one, with its costs.",
    source: "LBCF webhook specification: the same recordID in each attempt; b18",
    typical: "The load balancer is created without checking whether it exists. Pass the recordID \
              to the cloud as client token, or search for it as a name or tag first.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Clb, |lab| Box::pin(clb_03(lab)))
};

async fn clb_03(lab: &Lab) -> CheckOutcome {
    repeated(lab, 1).await
}

pub(super) static CLB_04: Check = Check {
    id: "CLB-04",
    rule: "However often createLoadBalancer is repeated under its recordID, one load balancer \
           exists",
    why: "While its writes fail, a controller repeats the call every few seconds for hours.",
    source: "LBCF webhook specification: the same recordID in each attempt; b18",
    typical: "The driver remembers created load balancers for a short time only, or only the last \
              few.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Clb, |lab| Box::pin(clb_04(lab)))
};

async fn clb_04(lab: &Lab) -> CheckOutcome {
    repeated(lab, lab.repeats()).await
}

async fn repeated(lab: &Lab, times: usize) -> CheckOutcome {
    let before = lab.observe().await?;
    let load_balancer = lab.given_new_load_balancer().await?;
    for _ in 0..times {
        same_identity(lab, &load_balancer).await?;
    }
    let expected = format!(
        "one new load balancer in the cloud, {:?}",
        load_balancer.lb_info
    );
    lab.created_since(before.as_ref(), 1, expected).await
}

pub(super) static CLB_06: Check = Check {
    id: "CLB-06",
    rule: "createLoadBalancer with the same lbSpec under another recordID gets a proper response",
    why: "Two objects in Kubernetes may request the same thing. The driver may return one load \
          balancer or two, but users must get one of these results.",
    source: "derived: lbSpec may be the identity (b19)",
    typical: "A conflict in the driver's own tables becomes 500.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::should(Group::Clb, |lab| Box::pin(clb_06(lab)))
};

async fn clb_06(lab: &Lab) -> CheckOutcome {
    let first = lab.given_new_load_balancer().await?;
    let second = LoadBalancer {
        uid: lab.uid(),
        ..first.clone()
    };
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
