//! Concurrent calls: controllers have no limit for the calls of one load balancer.

use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::checks::ens::registration::bound_once;
use crate::lab::{Backend, DriverReply, Lab, Status, WebhookCall};
use crate::outcome::{CheckError, CheckOutcome, Failure};
use futures::future::join_all;
use std::time::Duration;

pub(super) const CHECKS: &[&Check] = &[&CONC_01, &CONC_02, &CONC_03, &CONC_04];

/// The attempts of a call that returns Fail, because a cloud may be busy.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

static CONC_01: Check = Check {
    id: "CONC-01",
    rule: "Many concurrent ensureBackend calls on one load balancer all succeed, and all backends \
           are registered",
    why: "When a Deployment is scaled up, all its pods are registered at the same time. A driver \
          that reads the list, adds one entry and writes it back silently loses the others.",
    source: "LBCF controller: no limit on concurrent calls",
    typical: "Read, modify and write without a lock or a version. Serialize the changes of a load \
              balancer, or use the cloud's call for a single target.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Conc, |lab| Box::pin(conc_01(lab)))
};

async fn conc_01(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let backends = lab
        .given_backends(&load_balancer, lab.concurrency())
        .await?;
    lab.require("ENS-01")?;
    concurrently(lab, backends.iter().map(Backend::ensure).collect()).await?;
    are_registered(lab, &backends).await
}

static CONC_02: Check = Check {
    id: "CONC-02",
    rule: "Concurrent calls of the same ensureBackend all succeed and leave one binding",
    why: "A controller whose call timed out calls again while the first call is still running.",
    source: "LBCF controller: timeouts and retries (b10)",
    typical: "Checking for existence and creating are two steps, and two calls pass the check \
              together.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Conc, |lab| Box::pin(conc_02(lab)))
};

async fn conc_02(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    lab.require("ENS-01")?;
    for _ in 0..3 {
        let backend = lab.given_backend(&load_balancer).await?;
        concurrently(lab, vec![backend.ensure(); lab.repeats()]).await?;
        are_registered(lab, &[backend]).await?;
    }
    Ok(())
}

static CONC_03: Check = Check {
    id: "CONC-03",
    rule: "Concurrent calls of the same createLoadBalancer create one load balancer with one \
           lbInfo",
    why: "A controller whose call timed out calls again while the first call is still running. \
          Nothing refers to a second load balancer.",
    source: "LBCF controller: timeouts and retries (b10, b18)",
    typical: "Checking for existence and creating are two steps, and two calls pass the check \
              together. Use the cloud's client token, or a lock per recordID.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Conc, |lab| Box::pin(conc_03(lab)))
};

async fn conc_03(lab: &Lab) -> CheckOutcome {
    lab.require("CLB-01")?;
    let before = lab.observe().await?;
    let load_balancer = lab.load_balancer();
    let replies = concurrently(lab, vec![load_balancer.create(); lab.repeats()]).await?;
    let mut identities = replies
        .iter()
        .map(|reply| reply.identity(&load_balancer.sample.lb_spec));
    let first = identities.next().unwrap_or_default();
    if let Some(other) = identities.find(|other| *other != first) {
        let expected = format!("one lbInfo for one recordID, {first:?}");
        return Err(Failure::new(expected, format!("also {other:?}")).into());
    }
    let expected = "one new load balancer in the cloud";
    lab.created_since(before.as_ref(), 1, expected).await
}

static CONC_04: Check = Check {
    id: "CONC-04",
    rule: "Registering backends while others are deregistered loses none and leaves none behind",
    why: "In a rolling update pods start and stop at the same time.",
    source: "LBCF controller: no limit on concurrent calls",
    typical: "Read, modify and write without a lock or a version.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Conc, |lab| Box::pin(conc_04(lab)))
};

async fn conc_04(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    lab.require("ENS-01")?;
    lab.require("DRG-01")?;
    let count = lab.concurrency().div_ceil(2).max(2);
    let mut old = lab.given_backends(&load_balancer, count).await?;
    let new = lab.given_backends(&load_balancer, count).await?;
    // One by one: CONC-01 verifies concurrent registrations.
    for backend in &mut old {
        *backend = lab.given_bound(backend.clone()).await?;
    }
    let mut calls = Vec::new();
    for (new, old) in new.iter().zip(&old) {
        calls.extend([new.ensure(), old.deregister()]);
    }
    concurrently(lab, calls).await?;
    are_registered(lab, &new).await?;
    are_deregistered(lab, &old).await
}

/// Makes all calls at the same time, each until it succeeds.
pub(super) async fn concurrently(
    lab: &Lab,
    calls: Vec<WebhookCall>,
) -> Result<Vec<DriverReply>, CheckError> {
    let replies = join_all(calls.iter().map(|call| until_succ(lab, call))).await;
    replies.into_iter().collect()
}

/// Repeats a call after Fail, as controllers do: a cloud may be busy for a moment.
async fn until_succ(lab: &Lab, call: &WebhookCall) -> Result<DriverReply, CheckError> {
    for _ in 1..TRIES {
        let reply = lab.until_done(call).await?;
        if reply.status() == Some(Status::Succ) {
            return Ok(reply);
        }
        tokio::time::sleep(PAUSE).await;
    }
    let since = "since the call is valid and only concurrent with others";
    lab.succeeds(call, since).await
}

/// Fails unless each backend is registered once.
pub(super) async fn are_registered(lab: &Lab, backends: &[Backend]) -> CheckOutcome {
    let Some(first) = backends.first() else {
        return Ok(());
    };
    let Some(seen) = lab.observed_backends(&first.lb_info).await? else {
        return Ok(());
    };
    let missing = |one: &&Backend| seen.backend(&one.addr).is_none();
    if let Some(first) = backends.iter().find(missing) {
        let expected = format!(
            "{} backends in the cloud, since each ensureBackend returned Succ",
            backends.len()
        );
        let count = backends.iter().filter(missing).count();
        let got = format!("{count} are missing, such as {}", first.addr);
        return Err(Failure::new(expected, got).into());
    }
    backends.iter().try_for_each(|one| bound_once(&seen, one))
}

/// Fails if one of the backends is still registered.
pub(super) async fn are_deregistered(lab: &Lab, backends: &[Backend]) -> CheckOutcome {
    let Some(first) = backends.first() else {
        return Ok(());
    };
    let Some(seen) = lab.observed_backends(&first.lb_info).await? else {
        return Ok(());
    };
    let remaining = |one: &&Backend| seen.backend(&one.addr).is_some();
    if let Some(first) = backends.iter().find(remaining) {
        let expected = "no backend left whose deregisterBackend returned Succ";
        let got = format!(
            "{} of {} are still registered, such as {}",
            backends.iter().filter(remaining).count(),
            backends.len(),
            first.addr
        );
        return Err(Failure::new(expected, got).into());
    }
    Ok(())
}
