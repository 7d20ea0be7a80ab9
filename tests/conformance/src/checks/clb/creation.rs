//! Creating a load balancer, and its identity.

use crate::check::{Check, Group, Need, Observer};
use crate::lab::{DriverReply, Lab, LoadBalancer, Status};
use crate::outcome::{CheckError, CheckOutcome, Failure};

pub(super) static CLB_01: Check = Check {
    id: "CLB-01",
    rule: "createLoadBalancer creates a load balancer from a valid lbSpec and valid attributes: \
           Succ, at once or after Running",
    why: "Everything else needs a load balancer.",
    source: "LBCF webhook specification, createLoadBalancer",
    typical: "A field is read under another name than users write, each call starts a new \
              operation that therefore never ends, or the fixture's samples are not valid.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Clb, |lab| Box::pin(clb_01(lab)))
};

async fn clb_01(lab: &Lab) -> CheckOutcome {
    let samples = &lab.fixture().load_balancer.valid;
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
        let since = "since createLoadBalancer returned Succ";
        lab.observed(&created.lb_info, since).await?;
    }
    Ok(())
}

fn rejects(failure: &Failure) -> bool {
    let exchange = failure.exchange.clone();
    exchange.is_none_or(|exchange| {
        exchange.outcome.is_ok() && DriverReply::new(exchange).status() != Some(Status::Running)
    })
}

pub(super) static CLB_02: Check = Check {
    id: "CLB-02",
    rule: "lbInfo in a Succ has no empty values; without lbInfo, lbSpec is the identity; either \
           works in ensureLoadBalancer and ensureBackend",
    why: "The controller stores lbInfo and sends it with every later call: the driver finds the \
          load balancer by nothing else.",
    source: "LBCF webhook specification; b19",
    typical: "The id is not known yet when Succ is returned (return Running until it is), or the \
              driver returns no lbInfo and then does not accept lbSpec in its place.",
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Clb, |lab| Box::pin(clb_02(lab)))
};

async fn clb_02(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    for (key, value) in &load_balancer.lb_info {
        let is_returned = load_balancer.lb_info != load_balancer.sample.lb_spec;
        if value.is_empty() && is_returned {
            let got = format!("lbInfo.{key} is empty");
            return Err(Failure::new("a value in each field of lbInfo", got).into());
        }
    }
    let since = "since createLoadBalancer returned this lbInfo";
    lab.succeeds(&load_balancer.ensure(), since).await?;
    if lab.has_backends() {
        let backend = lab.given_backend(&load_balancer).await?;
        lab.succeeds(&backend.ensure(), since).await?;
    }
    Ok(())
}

pub(super) static CLB_07: Check = Check {
    id: "CLB-07",
    rule: "lbInfo is smaller than 4 KiB and the same in each response",
    why: "It is stored in the status of objects, sent with every call, and compared.",
    source: "LBCF controller: lbInfo is a key of its maps",
    typical: "lbInfo contains a time, a request id or the load balancer's whole description.",
    needs: &[Need::LoadBalancer],
    ..Check::should(Group::Clb, |lab| Box::pin(clb_07(lab)))
};

async fn clb_07(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let lengths = load_balancer.lb_info.iter();
    let size: usize = lengths.map(|(key, value)| key.len() + value.len()).sum();
    if size >= 4096 {
        let got = format!("{size} bytes");
        return Err(Failure::new("an lbInfo of less than 4096 bytes", got).into());
    }
    for _ in 0..3 {
        same_identity(lab, &load_balancer).await?;
    }
    Ok(())
}

/// Repeats the creation, which has to return the same identity.
pub(super) async fn same_identity(lab: &Lab, load_balancer: &LoadBalancer) -> CheckOutcome {
    let since = "since the load balancer was created under this recordID";
    let again = lab.succeeds(&load_balancer.create(), since).await?;
    let lb_info = again.identity(&load_balancer.sample.lb_spec);
    if lb_info == load_balancer.lb_info {
        return Ok(());
    }
    let expected = format!("the lbInfo of the first Succ, {:?}", load_balancer.lb_info);
    Err(again.failed(expected, format!("{lb_info:?}")))
}
