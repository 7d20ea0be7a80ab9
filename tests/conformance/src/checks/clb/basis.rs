//! Making a load balancer, and its identity.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::{Failure, NotPassed, Verdict};

/// A right load balancer is made.
pub(super) static CLB_01: Check = Check {
    id: "CLB-01",
    level: Level::Must,
    group: Group::Clb,
    rule: "A load balancer with a right lbSpec and right attributes is created: Succ, at once or after Running",
    why: "Everything else needs a load balancer.",
    source: "LBCF webhook specification, createLoadBalancer",
    typical: "Reading a field under another name than users write it, an operation that is begun anew \
              by each call and so never ends, or samples in the fixture that are not right.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(clb_01(lab)),
};

async fn clb_01(lab: &Lab) -> Verdict {
    let samples = &lab.fixture().load_balancer.valid;
    if samples.is_empty() {
        let load_balancer = lab.load_balancer();
        let created = lab.created(load_balancer).await;
        return created.map(drop).map_err(|not_passed| match not_passed {
            NotPassed::Failed(failure) => NotPassed::Skipped(format!(
                "needs loadBalancer.valid in the fixture: an empty lbSpec was answered with {}",
                failure.got
            )),
            other => other,
        });
    }
    for sample in samples {
        let created = lab.created(lab.load_balancer_of(Some(sample))).await?;
        let since = "since createLoadBalancer answered Succ";
        lab.look_at(&created.lb_info, since).await?;
    }
    Ok(())
}

/// The identity can be used.
pub(super) static CLB_02: Check = Check {
    id: "CLB-02",
    level: Level::Must,
    group: Group::Clb,
    rule: "lbInfo of a Succ has no empty values; without one lbSpec is the identity; either works in ensureLoadBalancer and ensureBackend",
    why: "The controller stores lbInfo and sends it back in every later call: it is all by which the \
          driver finds the load balancer again.",
    source: "LBCF webhook specification; b19",
    typical: "An id that is not known yet when Succ is answered (answer Running until it is), or a \
              driver that answers no lbInfo and then does not understand lbSpec in its place.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(clb_02(lab)),
};

async fn clb_02(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    for (key, value) in &load_balancer.lb_info {
        let from_answer = load_balancer.lb_info != load_balancer.wanted.lb_spec;
        if value.is_empty() && from_answer {
            let got = format!("lbInfo.{key} is empty");
            return Err(Failure::new("a value in each field of lbInfo", got).into());
        }
    }
    let ensured = lab.until_done(&load_balancer.ensure()).await?;
    ensured.succ("since lbInfo is what createLoadBalancer answered")?;
    if lab.has_backends() {
        let backend = lab.given_backend(&load_balancer).await?;
        let ensured = lab.until_done(&backend.ensure()).await?;
        ensured.succ("since lbInfo is what createLoadBalancer answered")?;
    }
    Ok(())
}

/// The identity is small and does not change.
pub(super) static CLB_07: Check = Check {
    id: "CLB-07",
    level: Level::Should,
    group: Group::Clb,
    rule: "lbInfo is smaller than 4 KiB and the same in each answer",
    why: "It is stored in the status of objects, sent with every call, and compared.",
    source: "LBCF controller: lbInfo is a key of its maps",
    typical: "A time, a request id or the load balancer's whole description in lbInfo.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(clb_07(lab)),
};

async fn clb_07(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let size: usize = load_balancer
        .lb_info
        .iter()
        .map(|(key, value)| key.len() + value.len())
        .sum();
    if size >= 4096 {
        let got = format!("{size} bytes");
        return Err(Failure::new("an lbInfo of less than 4096 bytes", got).into());
    }
    for _ in 0..3 {
        let again = lab.until_done(&load_balancer.create()).await?;
        again.succ("since the load balancer was created under this recordID")?;
        let lb_info = lab.identity_in(&again, &load_balancer);
        if lb_info != load_balancer.lb_info {
            let expected = format!("the lbInfo of the first Succ, {:?}", load_balancer.lb_info);
            return Err(again.failed(expected, format!("{lb_info:?}")));
        }
    }
    Ok(())
}
