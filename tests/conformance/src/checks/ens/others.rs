//! What registering one backend does to others: nothing.

use super::basis::is_there;
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::{Failure, Verdict};
use serde_json::json;

/// Others of ours.
pub(super) static ENS_06: Check = Check {
    id: "ENS-06",
    level: Level::Must,
    group: Group::Ens,
    rule: "Registering a second backend, or changing it, leaves the first as it is",
    why: "Each backend has a record of its own, and is called for by itself. A driver that replaces \
          the list by what it was just asked for takes all others out of service.",
    source: "derived: LBCF controllers call for one backend at a time (b157)",
    typical: "A cloud API that sets the whole list of targets, called with one target.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(ens_06(lab)),
};

async fn ens_06(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let [first, second, third] = lab.given_three(&load_balancer).await?;
    let first = lab.given_bound(first).await?;
    let second = lab.given_bound(second).await?;
    is_there(lab, &first, &first.parameters).await?;
    let mut changed = second;
    changed.parameters = lab.updated_parameters(&changed);
    let changed = lab.given_bound(changed).await?;
    let third = lab.given_bound(third).await?;
    for backend in [&first, &changed, &third] {
        is_there(lab, backend, &backend.parameters).await?;
    }
    Ok(())
}

/// Those of somebody else.
pub(super) static ENS_07: Check = Check {
    id: "ENS-07",
    level: Level::Must,
    group: Group::Ens,
    rule: "Backends that somebody else registered survive ensureBackend, deregisterBackend and ensureLoadBalancer",
    why: "Pods may share a load balancer with other servers, and people may add one by hand. A driver \
          that prunes what it does not know takes them out of service.",
    source: "LBCF: goals of its consistency design; b157",
    typical: "The driver keeps a list of what should be there and removes the rest.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::Backend, Need::ForeignBackend],
    company: Company::Any,
    code: |lab| Box::pin(ens_07(lab)),
};

async fn ens_07(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let [mut foreign, first, second] = lab.given_three(&load_balancer).await?;
    if foreign.addr.is_empty() {
        foreign.addr.clone_from(&lab.fixture().backend.unknown_addr);
    }
    let change = json!({"lbInfo": load_balancer.lb_info, "addr": foreign.addr});
    lab.meddle("foreign", &change).await?;
    let survives = async |after: &str| -> Verdict {
        let since = "since backends were registered to it";
        let Some(seen) = lab.look_at(&load_balancer.lb_info, since).await? else {
            return Ok(());
        };
        if seen.backend(&foreign.addr).is_some() {
            return Ok(());
        }
        let expected = format!("the backend {} of somebody else still there", foreign.addr);
        Err(Failure::new(expected, format!("it is gone after {after}")).into())
    };
    survives("it was planted").await.map_err(|not_passed| {
        not_passed.hint("The observer's /foreign does not register anything.")
    })?;
    let first = lab.given_bound(first).await?;
    survives("ensureBackend of another").await?;
    let second = lab.given_bound(second).await?;
    survives("ensureBackend of a second").await?;
    let ensured = lab.until_done(&load_balancer.ensure()).await?;
    if ensured.status() == Some(crate::lab::Status::Succ) {
        survives("ensureLoadBalancer").await?;
    }
    for backend in [&first, &second] {
        let deregistered = lab.deregistered(backend).await;
        deregistered.map_err(|not_passed| not_passed.blocked_by("DRG-01"))?;
        survives("deregisterBackend of another").await?;
    }
    Ok(())
}
