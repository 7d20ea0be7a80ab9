//! The list has what is registered, and nothing else.

use super::listed::{listed, listed_if_any};
use crate::check::{Check, Feature, Group, Need, Observer};
use crate::checks::drg::registered::is_gone;
use crate::checks::ens::registration::is_registered;
use crate::lab::Lab;
use crate::outcome::CheckOutcome;

pub(super) static LST_01: Check = Check {
    id: "LST-01",
    rule: "listBackends returns every registered backend with its backendAddr and its parameters",
    why: "The controller compares the list with its records. A backend that is missing is never \
          found when it is left over, and keeps its traffic.",
    source: "LBCF webhook specification, listBackends; d52",
    typical: "Only the first page of the cloud's list is returned, or addresses have another form \
              than those of generateBackendAddr.",
    observer: Observer::Improves,
    needs: &[
        Need::Feature(Feature::ListBackends),
        Need::LoadBalancer,
        Need::Backend,
    ],
    ..Check::must(Group::Lst, |lab| Box::pin(lst_01(lab)))
};

async fn lst_01(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let [first, second, _] = lab.given_three(&load_balancer).await?;
    let backends = [
        lab.given_bound(first).await?,
        lab.given_bound(second).await?,
    ];
    for backend in &backends {
        let registered = is_registered(lab, backend).await;
        registered.map_err(|e| e.blocked_by("ENS-01"))?;
    }
    let list = listed(lab, &load_balancer.lb_info).await?;
    for backend in &backends {
        let Some(parameters) = &list.has(&backend.addr)?.parameters else {
            lab.note("the list has no parameters");
            continue;
        };
        for (key, value) in &backend.parameters {
            let got = parameters.get(key).and_then(|got| got.as_str());
            if got != Some(value) {
                let expected = format!("parameters.{key} {value:?} of {}", backend.addr);
                return Err(list.reply.failed(expected, format!("{got:?}")));
            }
        }
    }
    Ok(())
}

pub(super) static LST_02: Check = Check {
    id: "LST-02",
    rule: "listBackends does not return a backend that was deregistered",
    why: "The controller reports it as left over, and calls deregisterBackend for it again and \
          again.",
    source: "LBCF webhook specification, listBackends; d52",
    typical: "The list comes from a cache, or from the driver's own table, instead of the cloud.",
    observer: Observer::Improves,
    needs: &[
        Need::Feature(Feature::ListBackends),
        Need::LoadBalancer,
        Need::Backend,
    ],
    ..Check::must(Group::Lst, |lab| Box::pin(lst_02(lab)))
};

async fn lst_02(lab: &Lab) -> CheckOutcome {
    lab.require("LST-01")?;
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    let list = listed(lab, &load_balancer.lb_info).await;
    let list = list.map_err(|e| e.blocked_by("LST-01"))?;
    let listed_before = list.has(&backend.addr).map(drop);
    listed_before.map_err(|e| e.blocked_by("LST-01"))?;
    lab.given_deregistered(&backend).await?;
    let gone = is_gone(lab, &backend).await;
    gone.map_err(|e| e.blocked_by("DRG-01"))?;
    let list = listed(lab, &load_balancer.lb_info).await?;
    if list.find(&backend.addr).is_some() {
        let expected = format!("no backend {}, since it was deregistered", backend.addr);
        return Err(list.reply.failed(expected, "it is listed"));
    }
    Ok(())
}

pub(super) static LST_03: Check = Check {
    id: "LST-03",
    rule: "listBackends changes nothing",
    why: "Controllers call it at an interval, for load balancers that are in use.",
    source: "LBCF webhook specification, listBackends; d52",
    typical: "The list is used to clean up. The controller decides what is removed, and calls \
              deregisterBackend for it.",
    observer: Observer::Required,
    needs: &[
        Need::Feature(Feature::ListBackends),
        Need::LoadBalancer,
        Need::Backend,
        Need::ForeignBackend,
    ],
    ..Check::must(Group::Lst, |lab| Box::pin(lst_03(lab)))
};

async fn lst_03(lab: &Lab) -> CheckOutcome {
    lab.require("LST-01")?;
    let load_balancer = lab.given_load_balancer().await?;
    let [foreign, backend, _] = lab.given_three(&load_balancer).await?;
    lab.given_bound(backend).await?;
    super::origin::register_by_hand(lab, &foreign).await?;
    let lb_info = &load_balancer.lb_info;
    let before = lab.observed_backends(lb_info).await?;
    for _ in 0..2 {
        let list = listed(lab, lb_info).await;
        list.map_err(|e| e.blocked_by("LST-01"))?;
    }
    let since = "since listBackends only reads";
    lab.is_unchanged(lb_info, before.as_ref(), since).await
}

pub(super) static LST_06: Check = Check {
    id: "LST-06",
    rule: "listBackends returns Fail or an empty list for a load balancer that does not exist",
    why: "It may have been deleted outside of Kubernetes. Backends of another load balancer would \
          be reported, and removed, as its own.",
    source: "LBCF webhook specification, listBackends; d52",
    typical: "Without a match, the cloud's API returns the targets of all load balancers.",
    needs: &[
        Need::Feature(Feature::ListBackends),
        Need::LoadBalancer,
        Need::Backend,
        Need::UnknownLbInfo,
    ],
    ..Check::must(Group::Lst, |lab| Box::pin(lst_06(lab)))
};

async fn lst_06(lab: &Lab) -> CheckOutcome {
    lab.require("LST-01")?;
    // So that there is a backend elsewhere.
    let load_balancer = lab.given_load_balancer().await?;
    lab.given_registered(&load_balancer).await?;
    let unknown = lab.unknown_load_balancer().lb_info;
    let Some(list) = listed_if_any(lab, &unknown).await? else {
        return Ok(());
    };
    match list.backends.first() {
        Some(listed) => {
            let expected = "Fail, or an empty list";
            Err(list
                .reply
                .failed(expected, format!("backend {}", listed.addr)))
        }
        None => Ok(()),
    }
}
