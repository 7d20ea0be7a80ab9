//! Taking a backend away, and nothing else.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::{Backend, Lab};
use crate::verdict::{Failure, Verdict};
use lbcf_driver_sdk::webhook::StringMap;
use serde_json::{Value, json};

/// A registered backend is taken away.
pub(super) static DRG_01: Check = Check {
    id: "DRG-01",
    level: Level::Must,
    group: Group::Drg,
    rule: "A registered backend is taken away: Succ, at once or after Running, and it is gone",
    why: "When the driver says Succ the pod may go. If it is still registered, users' requests go \
          nowhere, or to whoever gets its address next.",
    source: "LBCF webhook specification, deregisterBackend",
    typical: "Succ is answered before the cloud has done it, or errors are swallowed.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(drg_01(lab)),
};

async fn drg_01(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_registered(&load_balancer).await?;
    lab.deregistered(&backend).await?;
    is_gone(lab, &backend).await
}

/// Others stay.
pub(super) static DRG_05: Check = Check {
    id: "DRG-05",
    level: Level::Must,
    group: Group::Drg,
    rule: "Taking one backend away leaves the others as they are",
    why: "In a rolling update one pod goes after the other. A driver that takes away more than it was \
          asked for is an outage.",
    source: "derived: LBCF controllers call for one backend at a time (b157)",
    typical: "A cloud API that sets the whole list of targets, or a match by IP without the port.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(drg_05(lab)),
};

async fn drg_05(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let [first, second, third] = lab.given_three(&load_balancer).await?;
    let first = lab.given_bound(first).await?;
    let second = lab.given_bound(second).await?;
    let third = lab.given_bound(third).await?;
    let since = "since backends were registered to it";
    let Some(before) = lab.look_at(&load_balancer.lb_info, since).await? else {
        return Ok(());
    };
    let deregistered = lab.deregistered(&second).await;
    deregistered.map_err(|not_passed| not_passed.blocked_by("DRG-01"))?;
    let after = lab
        .look_at(&load_balancer.lb_info, since)
        .await?
        .unwrap_or_default();
    for other in [&first, &third] {
        if before.backend(&other.addr).is_some()
            && before.backend(&other.addr) != after.backend(&other.addr)
        {
            let expected = format!(
                "backend {} as it was when {} was taken away",
                other.addr, second.addr
            );
            let got = format!("{:?}", after.backend(&other.addr));
            return Err(Failure::new(expected, got).into());
        }
    }
    Ok(())
}

/// Only the address matters.
pub(super) static DRG_06: Check = Check {
    id: "DRG-06",
    level: Level::Must,
    group: Group::Drg,
    rule: "deregisterBackend succeeds with injectedInfo null, with parameters null, and with changed ones",
    why: "ensureBackend may have done its work without its answer ever being stored, and parameters \
          may have been changed since. With a Fail the record never goes, nor does its finalizer.",
    source: "LBCF controller: finalizers; b124",
    typical: "The binding's id is looked up in injectedInfo only, or parameters are validated.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(drg_06(lab)),
};

async fn drg_06(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let variants: [(&str, &[(&str, Value)]); 4] = [
        ("with injectedInfo null", &[("injectedInfo", Value::Null)]),
        ("with parameters null", &[("parameters", Value::Null)]),
        (
            "with both null",
            &[("injectedInfo", Value::Null), ("parameters", Value::Null)],
        ),
        ("with changed parameters", &[]),
    ];
    for (how, fields) in variants {
        let mut backend = lab.given_registered(&load_balancer).await?;
        let call = if fields.is_empty() {
            let changed = lab.updated_parameters(&backend);
            backend.deregister().with("parameters", json!(changed))
        } else {
            let call = backend.deregister();
            fields
                .iter()
                .fold(call, |call, (name, value)| call.with(name, value.clone()))
        };
        let answer = lab.until_done(&call.unusual()).await?;
        answer.succ(&format!(
            "{how}, since lbInfo and backendAddr say which backend it is"
        ))?;
        is_gone(lab, &backend).await?;
        backend.injected_info = StringMap::new();
    }
    Ok(())
}

/// It can come back.
pub(super) static DRG_08: Check = Check {
    id: "DRG-08",
    level: Level::Should,
    group: Group::Drg,
    rule: "A backend that was taken away can be registered again",
    why: "Pods become unready and ready again, with the same address.",
    source: "derived: pods flap",
    typical: "A memory of what was taken away, or of the ensureBackend that was done before.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(drg_08(lab)),
};

async fn drg_08(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let mut backend = lab.given_registered(&load_balancer).await?;
    for _ in 0..2 {
        let deregistered = lab.deregistered(&backend).await;
        deregistered.map_err(|not_passed| not_passed.blocked_by("DRG-01"))?;
        backend = lab.registered(backend).await?;
        let since = "since backends were registered to it";
        if let Some(seen) = lab.look_at(&load_balancer.lb_info, since).await?
            && seen.backend(&backend.addr).is_none()
        {
            let expected = format!("backend {} in the cloud again", backend.addr);
            return Err(Failure::new(expected, "it is not there").into());
        }
    }
    Ok(())
}

/// Fails if the backend is still in the cloud.
pub(in crate::checks) async fn is_gone(lab: &Lab, backend: &Backend) -> Verdict {
    let Some(seen) = lab.look().await? else {
        return Ok(());
    };
    let load_balancer = seen.load_balancer(&backend.lb_info);
    match load_balancer.and_then(|seen| seen.backend(&backend.addr)) {
        None => Ok(()),
        Some(there) => {
            let expected = format!(
                "backend {} gone, since deregisterBackend answered Succ",
                backend.addr
            );
            Err(Failure::new(expected, format!("it is still there: {there:?}")).into())
        }
    }
}
