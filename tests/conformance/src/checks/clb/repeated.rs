//! Creating again what was created already.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::{Lab, LoadBalancer};
use crate::observer::Observation;
use crate::verdict::{Failure, Verdict};

/// One repeat.
pub(super) static CLB_03: Check = Check {
    id: "CLB-03",
    level: Level::Must,
    group: Group::Clb,
    rule: "Creating again under the same recordID succeeds with the same lbInfo, and makes nothing new",
    why: "An answer may get lost, and a controller may die before it stores lbInfo. It then calls \
          again under the same recordID, and a driver that makes a second load balancer leaks one, \
          with its costs.",
    source: "LBCF webhook specification: the same recordID in each try; b18",
    typical: "The load balancer is created without asking whether it is there. Give the cloud the \
              recordID as client token, or as a name or tag to look for first.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| Box::pin(clb_03(lab)),
};

async fn clb_03(lab: &Lab) -> Verdict {
    repeated(lab, 1).await
}

/// Many repeats.
pub(super) static CLB_04: Check = Check {
    id: "CLB-04",
    level: Level::Must,
    group: Group::Clb,
    rule: "However often createLoadBalancer is repeated under its recordID, there is one load balancer",
    why: "While its writes fail, a controller repeats the call every few seconds for hours.",
    source: "LBCF webhook specification: the same recordID in each try; b18",
    typical: "What was made is remembered for a short time only, or for the last few calls.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| Box::pin(clb_04(lab)),
};

async fn clb_04(lab: &Lab) -> Verdict {
    repeated(lab, lab.repeats()).await
}

async fn repeated(lab: &Lab, times: usize) -> Verdict {
    let before = lab.look().await?;
    let load_balancer = lab.given_new_load_balancer().await?;
    for _ in 0..times {
        let again = lab.until_done(&load_balancer.create()).await?;
        again.succ("since the load balancer was created under this recordID")?;
        let lb_info = lab.identity_in(&again, &load_balancer);
        if lb_info != load_balancer.lb_info {
            let expected = format!("the lbInfo of the first Succ, {:?}", load_balancer.lb_info);
            return Err(again.failed(expected, format!("{lb_info:?}")));
        }
    }
    only_one(lab, before.as_ref(), &load_balancer).await
}

/// Fails unless this load balancer is the only one that came since `before`.
async fn only_one(
    lab: &Lab,
    before: Option<&Observation>,
    load_balancer: &LoadBalancer,
) -> Verdict {
    let (Some(before), Some(seen)) = (before, lab.look().await?) else {
        return Ok(());
    };
    let new = seen.since(before);
    if new.len() == 1 {
        return Ok(());
    }
    let names: Vec<String> = new.iter().map(|new| format!("{:?}", new.lb_info)).collect();
    let expected = format!(
        "one new load balancer in the cloud, {:?}",
        load_balancer.lb_info
    );
    let got = format!("{}: {}", new.len(), names.join(", "));
    Err(Failure::new(expected, got).into())
}

/// The same specification under another recordID.
pub(super) static CLB_06: Check = Check {
    id: "CLB-06",
    level: Level::Should,
    group: Group::Clb,
    rule: "Creating with the same lbSpec under another recordID is answered properly",
    why: "Two objects in Kubernetes may ask for the same thing. Whether they get one load balancer or \
          two is the driver's choice, but users have to be told one of both.",
    source: "derived: lbSpec may be the identity (b19)",
    typical: "A conflict in the driver's own tables that ends as 500.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| Box::pin(clb_06(lab)),
};

async fn clb_06(lab: &Lab) -> Verdict {
    let first = lab.given_new_load_balancer().await?;
    let second = LoadBalancer {
        uid: lab.uid(),
        ..first.clone()
    };
    let answer = lab.until_done(&second.create()).await?;
    match answer.any_status("as each answer of an operation has one")? {
        crate::lab::Status::Succ if lab.identity_in(&answer, &second) == first.lb_info => {
            lab.note("the same lbSpec under another recordID is taken for the same load balancer");
        }
        crate::lab::Status::Succ => {
            lab.note("the same lbSpec under another recordID makes another load balancer");
        }
        _ => {
            answer.has_msg()?;
            lab.note("the same lbSpec under another recordID is refused");
        }
    }
    Ok(())
}
