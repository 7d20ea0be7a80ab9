//! Registering a backend, and changing its parameters.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::{Backend, Lab};
use crate::verdict::{Failure, Verdict};
use lbcf_driver_sdk::webhook::StringMap;

/// A backend is registered.
pub(super) static ENS_01: Check = Check {
    id: "ENS-01",
    level: Level::Must,
    group: Group::Ens,
    rule: "A backend is registered with its parameters: Succ, at once or after Running, and it is there",
    why: "It is what all of this is for: the pod gets traffic.",
    source: "LBCF webhook specification, ensureBackend",
    typical: "Succ is answered before the cloud has done it, parameters are read under another name, \
              or backendAddr is not understood although generateBackendAddr made it.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(ens_01(lab)),
};

async fn ens_01(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let mut samples = lab.fixture().backend.valid.clone();
    if samples.is_empty() {
        samples.push(StringMap::new());
    }
    for parameters in samples {
        let mut backend = lab.given_backend(&load_balancer).await?;
        backend.parameters = lab.filled(&parameters);
        let backend = lab.registered(backend).await?;
        is_there(lab, &backend, &backend.parameters).await?;
    }
    Ok(())
}

/// Changed parameters are applied.
pub(super) static ENS_03: Check = Check {
    id: "ENS-03",
    level: Level::Must,
    group: Group::Ens,
    rule: "Changed parameters are applied, although the recordID is the same as before",
    why: "The recordID names the operation on the object, not the try: it is the same for ever. A \
          driver that answers from what it remembers by recordID loses every later change of a weight.",
    source: "LBCF controller: ensureBackend(<uid>) (d28)",
    typical: "A table of finished recordIDs, or \"is registered already, so nothing to do\". Compare \
              the parameters, too.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend, Need::UpdateParameters],
    company: Company::Any,
    code: |lab| Box::pin(ens_03(lab)),
};

async fn ens_03(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let mut backend = lab.given_registered(&load_balancer).await?;
    let old = backend.parameters.clone();
    let new = lab.updated_parameters(&backend);
    // To the new ones, back to the old, and again: one that remembers is found out at the latest
    // when it has seen both.
    for wanted in [&new, &old, &new] {
        backend.parameters.clone_from(wanted);
        backend = lab.registered(backend).await?;
        is_there(lab, &backend, wanted).await?;
    }
    Ok(())
}

/// Registering on a load balancer that does not exist fails.
pub(super) static ENS_08: Check = Check {
    id: "ENS-08",
    level: Level::Should,
    group: Group::Ens,
    rule: "Registering on a load balancer that does not exist is answered with Fail and a msg",
    why: "Somebody deleted it outside of Kubernetes. With Succ the pod counts as registered and gets \
          no traffic.",
    source: "LBCF webhook specification, ensureBackend",
    typical: "The cloud's \"not found\" is ignored, or ends as 500.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::Backend, Need::UnknownLbInfo],
    company: Company::Any,
    code: |lab| Box::pin(ens_08(lab)),
};

async fn ens_08(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let mut backend = lab.given_backend(&load_balancer).await?;
    backend.lb_info = lab.unknown_lb_info();
    let answer = lab.until_done(&backend.ensure()).await?;
    answer.fail("since the fixture says that no load balancer has this lbInfo")?;
    answer.has_msg()?;
    Ok(())
}

/// Fails unless the backend is registered, once, with these parameters.
pub(in crate::checks) async fn is_there(
    lab: &Lab,
    backend: &Backend,
    parameters: &StringMap,
) -> Verdict {
    let since = "since backends were registered to it";
    let Some(seen) = lab.look_at(&backend.lb_info, since).await? else {
        return Ok(());
    };
    let Some(there) = seen.backend(&backend.addr) else {
        let expected = format!(
            "backend {} in the cloud, since ensureBackend answered Succ",
            backend.addr
        );
        let addresses: Vec<_> = seen.backends.iter().map(|other| &other.addr).collect();
        return Err(Failure::new(expected, format!("there are {addresses:?}")).into());
    };
    for (key, value) in parameters {
        let got = there.parameters.get(key);
        if got != Some(value) {
            let expected = format!(
                "parameters.{key} {value:?} of {} in the cloud",
                backend.addr
            );
            return Err(Failure::new(expected, format!("{got:?}")).into());
        }
    }
    bound_once(&seen, backend)
}

/// Fails unless the backend is registered exactly once.
pub(super) fn bound_once(
    seen: &crate::observer::ObservedLoadBalancer,
    backend: &Backend,
) -> Verdict {
    let bindings = seen.bindings(&backend.addr);
    if bindings == 1 {
        return Ok(());
    }
    let expected = format!("one binding of {} in the cloud", backend.addr);
    Err(Failure::new(expected, format!("{bindings}")).into())
}
