//! Registering one backend does not change others.

use super::registration::is_registered;
use crate::check::{Check, Group, Need, Observer};
use crate::lab::{Lab, Status};
use crate::outcome::{CheckOutcome, Failure};
use serde_json::json;

pub(super) static ENS_06: Check = Check {
    id: "ENS-06",
    rule: "Registering a second backend, or changing it, leaves the first unchanged",
    why: "Each backend has its own record and its own calls. A driver that replaces the list with \
          the backend of one call takes all others out of service.",
    source: "derived: LBCF controllers call for one backend at a time (b157)",
    typical: "A cloud API that replaces the whole list of targets, called with one target.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Ens, |lab| Box::pin(ens_06(lab)))
};

async fn ens_06(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let [first, second, third] = lab.given_three(&load_balancer).await?;
    let first = lab.given_bound(first).await?;
    let mut second = lab.given_bound(second).await?;
    is_registered(lab, &first).await?;
    second.parameters = lab.updated_parameters(&second);
    let second = lab.given_bound(second).await?;
    let third = lab.given_bound(third).await?;
    for backend in [&first, &second, &third] {
        is_registered(lab, backend).await?;
    }
    Ok(())
}

pub(super) static ENS_07: Check = Check {
    id: "ENS-07",
    rule: "Backends that others registered survive ensureBackend, deregisterBackend and \
           ensureLoadBalancer",
    why: "Pods may share a load balancer with other servers, and operators may add one by hand. A \
          driver that prunes unknown backends takes them out of service.",
    source: "LBCF: consistency goals; b157",
    typical: "The driver keeps a list of the backends it expects and removes the rest.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::Backend, Need::ForeignBackend],
    ..Check::must(Group::Ens, |lab| Box::pin(ens_07(lab)))
};

async fn ens_07(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let [foreign, first, second] = lab.given_three(&load_balancer).await?;
    let change = json!({"lbInfo": load_balancer.lb_info, "addr": foreign.addr});
    lab.modify("foreign", &change).await?;
    let survives = async |after: &str| -> CheckOutcome {
        let Some(seen) = lab.observed_backends(&load_balancer.lb_info).await? else {
            return Ok(());
        };
        if seen.backend(&foreign.addr).is_some() {
            return Ok(());
        }
        let expected = format!("the foreign backend {} still registered", foreign.addr);
        Err(Failure::new(expected, format!("it is missing after {after}")).into())
    };
    survives("its registration")
        .await
        .map_err(|error| error.hint("The observer's /foreign does not register anything."))?;
    let first = lab.given_bound(first).await?;
    survives("ensureBackend of another").await?;
    let second = lab.given_bound(second).await?;
    survives("ensureBackend of a second").await?;
    let ensured = lab.until_done(&load_balancer.ensure()).await?;
    if ensured.status() == Some(Status::Succ) {
        survives("ensureLoadBalancer").await?;
    }
    for backend in [&first, &second] {
        lab.given_deregistered(backend).await?;
        survives("deregisterBackend of another").await?;
    }
    Ok(())
}
