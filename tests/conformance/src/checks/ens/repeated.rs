//! Registering again what is registered already.

use super::basis::{bound_once, is_there};
use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::Verdict;
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Value, json};

/// Registering what is registered succeeds.
pub(super) static ENS_02: Check = Check {
    id: "ENS-02",
    level: Level::Must,
    group: Group::Ens,
    rule: "Registering a backend that is registered already succeeds, however often, and leaves one binding",
    why: "Controllers call ensureBackend again after a lost answer, after their own restart and \
          periodically. A driver that fails then is called for ever, and its pod never counts as \
          registered.",
    source: "LBCF webhook specification, ensureBackend; b124",
    typical: "The cloud's \"already exists\" is passed on as Fail. Look first, or take that error \
              for a success.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(ens_02(lab)),
};

async fn ens_02(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    for _ in 0..lab.repeats() {
        let again = lab.until_done(&backend.ensure()).await?;
        again.succ("since the backend is registered already")?;
    }
    let since = "since backends were registered to it";
    match lab.look_at(&load_balancer.lb_info, since).await? {
        Some(seen) => bound_once(&seen, &backend),
        None => Ok(()),
    }
}

/// Whatever the controller remembers.
pub(super) static ENS_04: Check = Check {
    id: "ENS-04",
    level: Level::Must,
    group: Group::Ens,
    rule: "ensureBackend succeeds whether injectedInfo is null, empty, or what the last Succ gave",
    why: "It is null in the first call, and again when the answer to the first got lost. A driver may \
          use it, but may not need it.",
    source: "LBCF webhook specification, injectedInfo; b121, b126",
    typical: "The binding's id is looked up in injectedInfo only. Look it up by address where it is \
              not there.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(ens_04(lab)),
};

async fn ens_04(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    let latest = json!(backend.injected_info);
    for injected_info in [Value::Null, latest.clone(), json!({}), latest, Value::Null] {
        let shown = format!("with injectedInfo {injected_info}, since the backend is registered");
        let call = backend
            .ensure()
            .with("injectedInfo", injected_info)
            .unusual();
        let answer = lab.until_done(&call).await?;
        answer.succ(&shown)?;
    }
    is_there(lab, &backend, &backend.parameters).await
}

/// The record may be another one.
pub(super) static ENS_05: Check = Check {
    id: "ENS-05",
    level: Level::Must,
    group: Group::Ens,
    rule: "A backend that was registered under another recordID is taken over: Succ, one binding",
    why: "When a BackendRecord is deleted and made anew, it has another uid, and so another recordID. \
          A backend is the same by its load balancer and its address.",
    source: "LBCF controller: a backend is known by lbInfo and backendAddr",
    typical: "Bindings are kept by recordID, and one of another record is a conflict.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(ens_05(lab)),
};

async fn ens_05(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let mut backend = lab.given_registered(&load_balancer).await?;
    backend.uid = lab.uid();
    backend.injected_info = StringMap::new();
    let backend = lab.registered(backend).await?;
    is_there(lab, &backend, &backend.parameters).await?;
    // And the record that took it over can take it away.
    let deregistered = lab.deregistered(&backend).await;
    deregistered.map_err(|not_passed| not_passed.blocked_by("DRG-01"))?;
    Ok(())
}

/// What somebody took away comes back.
pub(super) static ENS_09: Check = Check {
    id: "ENS-09",
    level: Level::Should,
    group: Group::Ens,
    rule: "A backend that was taken away outside is registered again by the next ensureBackend",
    why: "That is what ensuring is for: somebody removed it in the cloud's console by mistake, and \
          with ensurePolicy Always the controller asks again.",
    source: "LBCF: ensurePolicy Always",
    typical: "A memory of what is registered, in the driver or in injectedInfo, that is asked instead \
              of the cloud.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::Backend, Need::Unbinding],
    company: Company::Any,
    code: |lab| Box::pin(ens_09(lab)),
};

async fn ens_09(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    let change = json!({"lbInfo": backend.lb_info, "addr": backend.addr});
    lab.meddle("unbind", &change).await?;
    let backend = lab.registered(backend).await?;
    is_there(lab, &backend, &backend.parameters).await
}
