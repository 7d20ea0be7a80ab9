//! deregisterBackend: also of backends that were never registered or are deregistered already.

use super::lst::listed;
use super::prelude::*;
use lbcf_driver_sdk::webhook::HealthzResponse;

pub(super) const CHECKS: &[&Check] = &[
    &DRG_01, &DRG_02, &DRG_03, &DRG_04, &DRG_05, &DRG_06, &DRG_07, &DRG_08, &DRG_09,
];

check! { DRG_01 = drg_01, Drg, observer Improves, needs [LoadBalancer, Backend],
    why "After Succ the pod may stop. If it is still registered, users' requests fail, or reach \
         the next pod with its address.",
    source "LBCF webhook specification, deregisterBackend",
    typical "Succ is returned before the cloud has applied the change, or errors are swallowed.",
}

async fn drg_01(lab: &Lab) -> CheckOutcome {
    let (lb, backend) = lab.given_registered_backend().await?;
    lab.deregistered(&backend).await?;
    lab.is_deregistered(&backend).await?;
    // As controllers send it, by which drivers drain.
    let other = lab.given_registered(&lb).await?;
    lab.succeeds(&begun_now(&other), "since it is registered")
        .await?;
    lab.is_deregistered(&other).await
}

check! { DRG_02 = drg_02, Drg, needs [LoadBalancer, Backend],
    why "A pod may be deleted before it is registered. After a Fail its record is never removed, \
         and the controller retries indefinitely.",
    source "LBCF webhook specification, deregisterBackend; b124",
    typical "The cloud's \"not found\" is returned as Fail. A backend that does not exist is \
             deregistered.",
}

async fn drg_02(lab: &Lab) -> CheckOutcome {
    let (lb, backend) = lab.given_unregistered_backend().await?;
    lab.succeeds(&backend.deregister(), "since it was never registered")
        .await?;
    let unknown = lab.unknown_backend(&lb);
    let since = "since this address was never registered";
    lab.succeeds(&unknown.deregister(), since).await.map(drop)
}

check! { DRG_03 = drg_03, Drg, needs [UnknownLbInfo, Backend],
    why "The load balancer may have been deleted outside of Kubernetes. After a Fail the records \
         of its backends are never removed.",
    source "LBCF webhook specification, deregisterBackend; b124",
    typical "The load balancer is looked up first, and its absence is returned as Fail.",
}

async fn drg_03(lab: &Lab) -> CheckOutcome {
    let backend = lab.unknown_backend(&lab.unknown_load_balancer());
    let since = "since the load balancer does not exist";
    lab.keeps_succeeding(2, &backend.deregister(), since).await
}

check! { DRG_04 = drg_04, Drg, needs [LoadBalancer, Backend],
    why "The response may get lost, or the controller may crash before it removes the finalizer. \
         After a Fail the record is never removed.",
    source "LBCF controller: finalizers; b124",
    typical "The cloud's \"not found\" is returned as Fail.",
}

async fn drg_04(lab: &Lab) -> CheckOutcome {
    let (_, backend) = lab.given_registered_backend().await?;
    lab.given_deregistered(&backend).await?;
    let since = "since it is deregistered already";
    lab.keeps_succeeding(lab.repeats(), &backend.deregister(), since)
        .await
}

check! { DRG_05 = drg_05, Drg, observer Listed, needs [LoadBalancer, Backend],
    why "In a rolling update pods are deregistered one after the other. A driver that deregisters \
         more than the given backend causes an outage.",
    source "derived: LBCF controllers call for one backend at a time (b157)",
    typical "A cloud API that replaces the whole list of targets, or a match by IP without the \
             port.",
}

async fn drg_05(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    let [first, second, third] = lab.given_three(&lb).await?;
    let first = lab.given_bound(first).await?;
    let second = lab.given_bound(second).await?;
    let third = lab.given_bound(third).await?;
    let Some(before) = lab.observed(&lb.lb_info, BOUND).await? else {
        return Ok(());
    };
    lab.given_deregistered(&second).await?;
    let after = lab.observed(&lb.lb_info, BOUND).await?.unwrap_or_default();
    for Backend { addr, .. } in [&first, &third] {
        let (before, after) = (before.backend(addr), after.backend(addr));
        let other = &second.addr;
        let expected = format!("backend {addr} unchanged after the deregistration of {other}");
        let got = json(&after);
        Failure::unless(before.is_none() || before == after, expected, got)?;
    }
    Ok(())
}

check! { DRG_06 = drg_06, Drg, observer Improves, needs [LoadBalancer, Backend],
    why "The response of ensureBackend may never have been stored, and parameters may have \
         changed since. After a Fail neither the record nor its finalizer is ever removed.",
    source "LBCF controller: finalizers; b124",
    typical "The binding's id is read from injectedInfo only, or parameters are validated.",
}

async fn drg_06(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    for (how, nulls) in [
        ("with injectedInfo null", &["injectedInfo"][..]),
        ("with parameters null", &["parameters"]),
        ("with both null", &["injectedInfo", "parameters"]),
        ("with changed parameters", &[]),
    ] {
        let backend = lab.given_registered(&lb).await?;
        let mut call = backend.deregister();
        if nulls.is_empty() {
            call = call.with("parameters", json!(lab.updated_parameters(&backend)));
        }
        let call = call.with_nulls(nulls).unusual();
        let since = format!("{how}, since lbInfo and backendAddr identify the backend");
        lab.succeeds(&call, &since).await?;
        lab.is_deregistered(&backend).await?;
    }
    Ok(())
}

check! { DRG_07 = drg_07, Drg, needs [LoadBalancer, Backend],
    why "When a namespace is deleted the order is undefined. After a Fail neither the records nor \
         the namespace are ever removed.",
    source "LBCF webhook specification, deregisterBackend; b124",
    typical "The load balancer is looked up first, and its absence is returned as Fail.",
}

async fn drg_07(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_new_load_balancer().await?;
    let backend = lab.given_registered(&lb).await?;
    let never = lab.given_backend(&lb).await?;
    let deleted = lab.until_done(&lb.delete()).await?;
    if deleted.status() != Some(Status::Succ) {
        // Some drivers only delete empty load balancers.
        lab.note("a load balancer with backends is not deleted");
        lab.given_deregistered(&backend).await?;
        lab.given_deleted(&lb).await?;
    }
    for backend in [&backend, &never] {
        let since = "since its load balancer was deleted";
        lab.succeeds(&backend.deregister(), since).await?;
    }
    Ok(())
}

check! { DRG_08 = drg_08, Drg, observer Improves, needs [LoadBalancer, Backend],
    why "Pods become unready and ready again, with the same address.",
    source "derived: pods flap",
    typical "The driver remembers the deregistration, or the earlier ensureBackend.",
}

async fn drg_08(lab: &Lab) -> CheckOutcome {
    let (_, mut backend) = lab.given_registered_backend().await?;
    for _ in 0..2 {
        lab.given_deregistered(&backend).await?;
        backend = lab.registered(backend).await?;
        lab.has_backend(&backend, "in the cloud again").await?;
    }
    Ok(())
}

check! { DRG_09 = drg_09, Drg, observer Improves, needs [LoadBalancer, Backend],
    why "A pod may become ready again while its backend drains. If the deregistration continues, \
         the pod loses its traffic, although its record says that it is registered.",
    source "LBCF webhook specification, healthz and ensureBackend",
    typical "The job that deregisters is not stopped, or removes the backend without a look at \
             whether it was registered again. Without the feature controllers wait for its end.",
}

async fn drg_09(lab: &Lab) -> CheckOutcome {
    if !cancels(&lab.call(&healthz()).await) {
        return Err(CheckError::not_applicable(
            "healthz does not name the feature cancel",
        ));
    }
    // What goes on in spite of the cancellation may take as long as a usual deregistration.
    let (lb, usual) = lab.given_registered_backend().await?;
    let began = Instant::now();
    let deregister = begun_now(&usual);
    if !starts_running(lab, &deregister).await? {
        lab.note("no deregistration was Running");
        return Ok(());
    }
    let done = lab
        .succeeds(&deregister, "since deregistering succeeds")
        .await;
    done.blocked_by("DRG-01")?;
    let usually = began.elapsed();
    let mut backend = lab.given_registered(&lb).await?;
    starts_running(lab, &begun_now(&backend)).await?;
    backend.parameters = lab.updated_parameters(&backend);
    let backend = lab.registered(backend).await?;
    let until = Instant::now() + usually + usually / 2 + Duration::from_millis(200);
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(50)).await;
        lab.is_registered(&backend).await?;
        if lab.has(Feature::ListBackends) {
            let list = listed(lab, &lb.lb_info).await.blocked_by("LST-01")?;
            list.has(&backend.addr)?;
        }
    }
    lab.deregistered(&backend).await?;
    lab.is_deregistered(&backend).await
}

fn cancels(healthz: &DriverReply) -> bool {
    let features = healthz.field("features").and_then(Value::as_array);
    features.is_some_and(|features| features.contains(&json!(HealthzResponse::CANCEL)))
}

/// A deregistration that was requested now: drivers count from then how long they drain.
fn begun_now(backend: &Backend) -> WebhookCall {
    let now = k8s_openapi::jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
    backend
        .deregister()
        .with("firstRequestedAt", now.to_string())
}

async fn starts_running(lab: &Lab, deregister: &WebhookCall) -> CheckOutcome<bool> {
    let reply = lab.call(deregister).await;
    Ok(reply.operation_status()? == Status::Running)
}
