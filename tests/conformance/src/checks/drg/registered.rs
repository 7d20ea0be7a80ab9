//! Deregistering registered backends.

use crate::check::{Check, Group, Need, Observer};
use crate::lab::{Backend, Lab};
use crate::outcome::{CheckOutcome, Failure};
use serde_json::{Value, json};

pub(super) static DRG_01: Check = Check {
    id: "DRG-01",
    rule: "deregisterBackend deregisters a registered backend: Succ, at once or after Running, and \
           it is no longer registered",
    why: "After Succ the pod may stop. If it is still registered, users' requests fail, or reach \
          the next pod with its address.",
    source: "LBCF webhook specification, deregisterBackend",
    typical: "Succ is returned before the cloud has applied the change, or errors are swallowed.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Drg, |lab| Box::pin(drg_01(lab)))
};

async fn drg_01(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    lab.deregistered(&backend).await?;
    is_gone(lab, &backend).await
}

pub(super) static DRG_05: Check = Check {
    id: "DRG-05",
    rule: "Deregistering one backend leaves the others unchanged",
    why: "In a rolling update pods are deregistered one after the other. A driver that deregisters \
          more than the given backend causes an outage.",
    source: "derived: LBCF controllers call for one backend at a time (b157)",
    typical: "A cloud API that replaces the whole list of targets, or a match by IP without the \
              port.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Drg, |lab| Box::pin(drg_05(lab)))
};

async fn drg_05(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let [first, second, third] = lab.given_three(&load_balancer).await?;
    let first = lab.given_bound(first).await?;
    let second = lab.given_bound(second).await?;
    let third = lab.given_bound(third).await?;
    let Some(before) = lab.observed_backends(&load_balancer.lb_info).await? else {
        return Ok(());
    };
    lab.given_deregistered(&second).await?;
    let after = lab.observed_backends(&load_balancer.lb_info).await?;
    let after = after.unwrap_or_default();
    for other in [&first, &third] {
        if before.backend(&other.addr).is_some()
            && before.backend(&other.addr) != after.backend(&other.addr)
        {
            let expected = format!(
                "backend {} unchanged after the deregistration of {}",
                other.addr, second.addr
            );
            let got = format!("{:?}", after.backend(&other.addr));
            return Err(Failure::new(expected, got).into());
        }
    }
    Ok(())
}

pub(super) static DRG_06: Check = Check {
    id: "DRG-06",
    rule: "deregisterBackend succeeds with injectedInfo null, with parameters null, and with \
           changed parameters",
    why: "The response of ensureBackend may never have been stored, and parameters may have \
          changed since. After a Fail neither the record nor its finalizer is ever removed.",
    source: "LBCF controller: finalizers; b124",
    typical: "The binding's id is read from injectedInfo only, or parameters are validated.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Drg, |lab| Box::pin(drg_06(lab)))
};

async fn drg_06(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    for (how, nulls) in [
        ("with injectedInfo null", &["injectedInfo"][..]),
        ("with parameters null", &["parameters"]),
        ("with both null", &["injectedInfo", "parameters"]),
        ("with changed parameters", &[]),
    ] {
        let backend = lab.given_registered(&load_balancer).await?;
        let mut call = backend.deregister();
        if nulls.is_empty() {
            call = call.with("parameters", json!(lab.updated_parameters(&backend)));
        }
        for field in nulls {
            call = call.with(field, Value::Null);
        }
        let since = format!("{how}, since lbInfo and backendAddr identify the backend");
        lab.succeeds(&call.unusual(), &since).await?;
        is_gone(lab, &backend).await?;
    }
    Ok(())
}

pub(super) static DRG_08: Check = Check {
    id: "DRG-08",
    rule: "A deregistered backend can be registered again",
    why: "Pods become unready and ready again, with the same address.",
    source: "derived: pods flap",
    typical: "The driver remembers the deregistration, or the earlier ensureBackend.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::should(Group::Drg, |lab| Box::pin(drg_08(lab)))
};

async fn drg_08(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let mut backend = lab.given_registered(&load_balancer).await?;
    for _ in 0..2 {
        lab.given_deregistered(&backend).await?;
        backend = lab.registered(backend).await?;
        if let Some(seen) = lab.observed_backends(&load_balancer.lb_info).await?
            && seen.backend(&backend.addr).is_none()
        {
            let expected = format!("backend {} in the cloud again", backend.addr);
            return Err(Failure::new(expected, "it is not registered").into());
        }
    }
    Ok(())
}

/// Fails if the backend is still registered in the cloud.
pub(in crate::checks) async fn is_gone(lab: &Lab, backend: &Backend) -> CheckOutcome {
    let Some(seen) = lab.observe().await? else {
        return Ok(());
    };
    let load_balancer = seen.load_balancer(&backend.lb_info);
    match load_balancer.and_then(|seen| seen.backend(&backend.addr)) {
        None => Ok(()),
        Some(remaining) => {
            let expected = format!(
                "backend {} deregistered, since deregisterBackend returned Succ",
                backend.addr
            );
            let got = format!("it is still registered: {remaining:?}");
            Err(Failure::new(expected, got).into())
        }
    }
}
