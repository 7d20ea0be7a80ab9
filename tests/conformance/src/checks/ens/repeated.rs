//! Repeated registrations.

use super::registration::{bound_once, is_registered};
use crate::check::{Check, Group, Need, Observer};
use crate::lab::Lab;
use crate::outcome::CheckOutcome;
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Value, json};

pub(super) static ENS_02: Check = Check {
    id: "ENS-02",
    rule: "Registering a registered backend succeeds, however often, and leaves one binding",
    why: "Controllers repeat ensureBackend after a lost response, after their own restart and \
          periodically. If the driver then fails, they retry indefinitely, and the pod never \
          becomes registered.",
    source: "LBCF webhook specification, ensureBackend; b124",
    typical: "The cloud's \"already exists\" is returned as Fail. Check first, or treat that error \
              as success.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Ens, |lab| Box::pin(ens_02(lab)))
};

async fn ens_02(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    for _ in 0..lab.repeats() {
        let since = "since the backend is registered already";
        lab.succeeds(&backend.ensure(), since).await?;
    }
    match lab.observed_backends(&load_balancer.lb_info).await? {
        Some(seen) => bound_once(&seen, &backend),
        None => Ok(()),
    }
}

pub(super) static ENS_04: Check = Check {
    id: "ENS-04",
    rule: "ensureBackend succeeds whether injectedInfo is null, empty, or the value of the last \
           Succ",
    why: "It is null in the first call, and in the next if the first response got lost. A driver \
          may use it, but must not depend on it.",
    source: "LBCF webhook specification, injectedInfo; b121, b126",
    typical: "The binding's id is read from injectedInfo only. Look the binding up by address when \
              it is missing.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Ens, |lab| Box::pin(ens_04(lab)))
};

async fn ens_04(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    let latest = json!(backend.injected_info);
    for injected_info in [Value::Null, latest.clone(), json!({}), latest, Value::Null] {
        let since = format!("with injectedInfo {injected_info}, since the backend is registered");
        let call = backend.ensure().with("injectedInfo", injected_info);
        lab.succeeds(&call.unusual(), &since).await?;
    }
    is_registered(lab, &backend).await
}

pub(super) static ENS_05: Check = Check {
    id: "ENS-05",
    rule: "ensureBackend adopts a backend that was registered under another recordID: Succ, one \
           binding",
    why: "A BackendRecord that is deleted and created again has another uid, and so another \
          recordID. The load balancer and the address identify a backend.",
    source: "LBCF controller: lbInfo and backendAddr identify a backend",
    typical: "Bindings are stored by recordID, and a binding of another record is a conflict.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Ens, |lab| Box::pin(ens_05(lab)))
};

async fn ens_05(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let mut backend = lab.given_registered(&load_balancer).await?;
    backend.uid = lab.uid();
    backend.injected_info = StringMap::new();
    let backend = lab.registered(backend).await?;
    is_registered(lab, &backend).await?;
    // The new record can also deregister it.
    lab.given_deregistered(&backend).await
}

pub(super) static ENS_09: Check = Check {
    id: "ENS-09",
    rule: "ensureBackend registers a backend again that was deregistered outside of Kubernetes",
    why: "The call exists for this: a backend may be removed by mistake in the cloud's console, \
          and with ensurePolicy Always the controller calls again.",
    source: "LBCF: ensurePolicy Always",
    typical: "The driver reads its own state, or injectedInfo, instead of the cloud.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::Backend, Need::Unbinding],
    ..Check::should(Group::Ens, |lab| Box::pin(ens_09(lab)))
};

async fn ens_09(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    let change = json!({"lbInfo": backend.lb_info, "addr": backend.addr});
    lab.modify("unbind", &change).await?;
    is_registered(lab, &lab.registered(backend).await?).await
}
