//! Registering a backend, and changing its parameters.

use crate::check::{Check, Group, Need, Observer};
use crate::lab::{Backend, Lab};
use crate::observer::ObservedLoadBalancer;
use crate::outcome::{CheckOutcome, Failure};
use lbcf_driver_sdk::webhook::StringMap;

pub(super) static ENS_01: Check = Check {
    id: "ENS-01",
    rule: "ensureBackend registers a backend with its parameters: Succ, at once or after Running, \
           and it is registered",
    why: "Without it the pod gets no traffic.",
    source: "LBCF webhook specification, ensureBackend",
    typical: "Succ is returned before the cloud has applied the change, parameters are read under \
              another name, or ensureBackend does not accept the backendAddr that \
              generateBackendAddr returned.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Ens, |lab| Box::pin(ens_01(lab)))
};

async fn ens_01(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let mut samples = lab.fixture().backend.valid.clone();
    if samples.is_empty() {
        samples.push(StringMap::new());
    }
    for parameters in samples {
        let mut backend = lab.given_backend(&load_balancer).await?;
        backend.parameters = lab.filled(&parameters);
        is_registered(lab, &lab.registered(backend).await?).await?;
    }
    Ok(())
}

pub(super) static ENS_03: Check = Check {
    id: "ENS-03",
    rule: "ensureBackend applies changed parameters, although the recordID is the same as before",
    why: "The recordID identifies the operation on the object, not the attempt: it never changes. \
          A driver that returns stored results by recordID ignores every later change of a weight.",
    source: "LBCF controller: ensureBackend(<uid>) (d28)",
    typical: "A table of finished recordIDs, or \"already registered, nothing to do\". Compare the \
              parameters, too.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend, Need::UpdateParameters],
    ..Check::must(Group::Ens, |lab| Box::pin(ens_03(lab)))
};

async fn ens_03(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let mut backend = lab.given_registered(&load_balancer).await?;
    let old = backend.parameters.clone();
    let new = lab.updated_parameters(&backend);
    // Back and forth, because a driver that stores results has seen both in the end.
    for parameters in [&new, &old, &new] {
        backend.parameters.clone_from(parameters);
        backend = lab.registered(backend).await?;
        is_registered(lab, &backend).await?;
    }
    Ok(())
}

pub(super) static ENS_08: Check = Check {
    id: "ENS-08",
    rule: "ensureBackend returns Fail with a msg for a load balancer that does not exist",
    why: "It may have been deleted outside of Kubernetes. After Succ the pod counts as registered \
          and gets no traffic.",
    source: "LBCF webhook specification, ensureBackend",
    typical: "The cloud's \"not found\" is ignored, or becomes 500.",
    needs: &[Need::LoadBalancer, Need::Backend, Need::UnknownLbInfo],
    ..Check::should(Group::Ens, |lab| Box::pin(ens_08(lab)))
};

async fn ens_08(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let mut backend = lab.given_backend(&load_balancer).await?;
    backend.lb_info = lab.unknown_load_balancer().lb_info;
    let reply = lab.until_done(&backend.ensure()).await?;
    reply.fail("since the fixture declares that no load balancer has this lbInfo")?;
    reply.has_msg().map(drop)
}

/// Fails unless the backend is registered, once, with its parameters.
pub(in crate::checks) async fn is_registered(lab: &Lab, backend: &Backend) -> CheckOutcome {
    let Some(seen) = lab.observed_backends(&backend.lb_info).await? else {
        return Ok(());
    };
    let Some(registered) = seen.backend(&backend.addr) else {
        let expected = format!(
            "backend {} in the cloud, since ensureBackend returned Succ",
            backend.addr
        );
        let addresses: Vec<_> = seen.backends.iter().map(|other| &other.addr).collect();
        let got = format!("the registered addresses are {addresses:?}");
        return Err(Failure::new(expected, got).into());
    };
    for (key, value) in &backend.parameters {
        let got = registered.parameters.get(key);
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
pub(in crate::checks) fn bound_once(
    seen: &ObservedLoadBalancer,
    backend: &Backend,
) -> CheckOutcome {
    let bindings = seen.bindings(&backend.addr);
    if bindings == 1 {
        return Ok(());
    }
    let expected = format!("one binding of {} in the cloud", backend.addr);
    Err(Failure::new(expected, bindings.to_string()).into())
}
