//! The recordID in the list, by which controllers recognise what is theirs to remove.

use super::listed::listed;
use crate::check::{Check, Feature, Group, Need, Observer};
use crate::lab::{Backend, Lab};
use crate::outcome::CheckOutcome;
use serde_json::json;

pub(super) static LST_04: Check = Check {
    id: "LST-04",
    rule: "If listBackends returns a recordID, it is that of the ensureBackend that registered the \
           backend",
    why: "The controller removes a backend that is left over only if its recordID proves that it \
          registered it. By a wrong one it removes a backend of another cluster, or none.",
    source: "LBCF webhook specification, listBackends; d52",
    typical: "The recordID of the list's own call is returned, or the tag in the cloud contains \
              the retryID, which differs in each call.",
    needs: &[
        Need::Feature(Feature::ListBackends),
        Need::LoadBalancer,
        Need::Backend,
    ],
    ..Check::must(Group::Lst, |lab| Box::pin(lst_04(lab)))
};

async fn lst_04(lab: &Lab) -> CheckOutcome {
    lab.require("LST-01")?;
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    // The parameters may change, the recordID stays.
    let backend = lab.given_bound(backend).await?;
    let list = listed(lab, &load_balancer.lb_info).await;
    let list = list.map_err(|e| e.blocked_by("LST-01"))?;
    let listed = list.has(&backend.addr);
    let listed = listed.map_err(|e| e.blocked_by("LST-01"))?;
    if listed.record_id.is_empty() {
        lab.note("the list has no recordID, so controllers report what is left over, and keep it");
        return Ok(());
    }
    let expected = format!("ensureBackend({})", backend.uid);
    if listed.record_id != expected {
        let expected = format!("recordID {expected:?} of {}, or none", backend.addr);
        return Err(list
            .reply
            .failed(expected, format!("{:?}", listed.record_id)));
    }
    Ok(())
}

pub(super) static LST_05: Check = Check {
    id: "LST-05",
    rule: "listBackends returns a backend that was registered by hand without a recordID",
    why: "Controllers never remove what has no recordID. One that the driver makes up costs an \
          operator's server its traffic.",
    source: "LBCF webhook specification, listBackends; d52",
    typical: "A default is filled in where the cloud has no tag.",
    observer: Observer::Required,
    needs: &[
        Need::Feature(Feature::ListBackends),
        Need::LoadBalancer,
        Need::Backend,
        Need::ForeignBackend,
    ],
    ..Check::must(Group::Lst, |lab| Box::pin(lst_05(lab)))
};

async fn lst_05(lab: &Lab) -> CheckOutcome {
    lab.require("LST-01")?;
    let load_balancer = lab.given_load_balancer().await?;
    let foreign = lab.given_backend(&load_balancer).await?;
    register_by_hand(lab, &foreign).await?;
    let list = listed(lab, &load_balancer.lb_info).await;
    let list = list.map_err(|e| e.blocked_by("LST-01"))?;
    match list.find(&foreign.addr) {
        Some(listed) if !listed.record_id.is_empty() => {
            let expected = format!(
                "no recordID of {}, since no call registered it",
                foreign.addr
            );
            Err(list
                .reply
                .failed(expected, format!("{:?}", listed.record_id)))
        }
        Some(_) => Ok(()),
        None => {
            lab.note("the list has no backends that were registered by hand");
            Ok(())
        }
    }
}

/// Registers a backend without the driver.
pub(super) async fn register_by_hand(lab: &Lab, backend: &Backend) -> CheckOutcome {
    let change = json!({"lbInfo": backend.lb_info, "addr": backend.addr});
    lab.modify("foreign", &change).await
}
