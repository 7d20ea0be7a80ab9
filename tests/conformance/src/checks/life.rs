//! Life cycles, which show more than single calls.

mod cycle;

use super::conc::concurrently;
use super::prelude::*;

pub(super) use cycle::{LifeCycle, Strategy};

pub(super) const CHECKS: &[&Check] = &[&LIFE_01, &LIFE_02, &LIFE_03, &LIFE_04, &LIFE_05, &LIFE_06];

// Nothing may be left behind, so no other check may create load balancers.
check! { LIFE_01 = life_01, Life, observer Improves, needs [LoadBalancer],
    runs Counting,
    why "A controller does this for each object that a user applies and deletes.",
    source "LBCF webhook specification",
    typical "Each call works alone, but not with the results and leftovers of the calls before \
             it.",
}

async fn life_01(lab: &Lab) -> CheckOutcome {
    run(lab, Strategy::Once).await
}

check! { LIFE_02 = life_02, Life, observer Improves, needs [LoadBalancer],
    runs Counting,
    why "Any response may get lost, and a controller may crash before it stores one. It then \
         repeats the call.",
    source "LBCF webhook specification: every call may be repeated; b18, b22, b124",
    typical "\"Already exists\" or \"not found\" is returned as Fail, or a second resource is \
             created.",
}

async fn life_02(lab: &Lab) -> CheckOutcome {
    run(lab, Strategy::Twice).await
}

check! { LIFE_03 = life_03, Life, observer Improves, needs [LoadBalancer],
    runs Counting,
    why "Controllers close the connection at the webhook's timeout, when they stop, and when the \
         network fails. They call again.",
    source "LBCF controller: timeouts and retries (b10, b18)",
    typical "Work that is cancelled with the connection leaves a partial result, a lock or an \
             unfinished job; or the second call does not find the first and creates another \
             resource.",
}

async fn life_03(lab: &Lab) -> CheckOutcome {
    run(lab, Strategy::AfterHangUps).await
}

check! { LIFE_04 = life_04, Life, observer Improves, needs [LoadBalancer, Backend],
    why "Every rolling update does this. A driver that replaces the whole list, or deregisters \
         more than the given backend, loses requests each time.",
    source "derived: Deployments with maxUnavailable 0",
    typical "Read, modify and write the list of targets without a lock, or remove all targets and \
             add the desired ones.",
}

async fn life_04(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_load_balancer().await?;
    lab.run.require("ENS-01")?;
    lab.run.require("DRG-01")?;
    let mut old = lab.given_backends(&lb, 2 * BACKENDS).await?;
    let new = old.split_off(BACKENDS);
    let old = lab.given_all_bound(old).await?;
    let all: Vec<&Backend> = old.iter().chain(&new).collect();
    let until_too_few = async || -> CheckOutcome {
        while has_enough(lab, &lb, &all).await? {
            tokio::time::sleep(PAUSE).await;
        }
        std::future::pending().await
    };
    for (new, old) in new.chunks(SURGE).zip(old.chunks(SURGE)) {
        let register: Vec<_> = new.iter().map(Backend::ensure).collect();
        let deregister = old.iter().map(Backend::deregister).collect();
        for calls in [register, deregister] {
            tokio::select! {
                done = concurrently(lab, calls) => done.map(drop)?,
                failed = until_too_few() => return failed,
            }
            has_enough(lab, &lb, &all).await?;
        }
    }
    lab.are_registered(&lb, &new).await?;
    lab.are_deregistered(&lb, &old).await
}

/// Fails when fewer than [`BACKENDS`] are registered; `false` without an observer.
async fn has_enough(lab: &Lab, lb: &LoadBalancer, all: &[&Backend]) -> CheckOutcome<bool> {
    let Some(seen) = lab.observed(&lb.lb_info, BOUND).await? else {
        return Ok(false);
    };
    let is_registered = |one: &&&Backend| seen.backend(&one.addr).is_some();
    let count = all.iter().filter(is_registered).count();
    let expected = format!("{BACKENDS} backends in the cloud at any time");
    Failure::unless(count >= BACKENDS, expected, format!("{count} in between"))?;
    Ok(true)
}

/// The attempts of calls that return Fail.
const ROUNDS: usize = 5;
const RETRY_PAUSE: Duration = Duration::from_millis(200);

check! { LIFE_05 = life_05, Life, observer Improves, needs [LoadBalancer, Restart],
    runs Exclusive,
    why "Drivers are updated, moved to other nodes and killed when memory runs out, at any time.",
    source "LBCF: consistency goals; b158",
    typical "State is kept in memory only and lost by a restart. Find it in the cloud, by lbInfo \
             and backendAddr, which the controller sends.",
}

async fn life_05(lab: &Lab) -> CheckOutcome {
    run(lab, Strategy::AfterRestart).await
}

async fn run(lab: &Lab, strategy: Strategy) -> CheckOutcome {
    LifeCycle { lab, strategy }.run().await
}

/// The number of backends, and how many are replaced at a time, as in a Deployment with
/// `maxSurge: 25%` and `maxUnavailable: 0`.
const BACKENDS: usize = 20;
const SURGE: usize = 5;
const PAUSE: Duration = Duration::from_millis(20);

check! { LIFE_06 = life_06, Life, observer Improves, needs [LoadBalancer, Backend],
    why "When a namespace is deleted its objects are deleted in any order. A call that never \
         succeeds keeps the namespace indefinitely.",
    source "derived: finalizers of several objects race; b22, b124",
    typical "A permanent Fail: the backend's load balancer is not found, or an earlier Fail is \
             remembered.",
}

async fn life_06(lab: &Lab) -> CheckOutcome {
    let lb = lab.given_new_load_balancer().await?;
    let backends = [
        lab.given_registered(&lb).await?,
        lab.given_registered(&lb).await?,
        // One whose pod was deleted before its registration.
        lab.given_backend(&lb).await?,
    ];
    let mut open = vec![lb.delete()];
    open.extend(backends.iter().map(Backend::deregister));
    let mut failures = Vec::new();
    for round in 0..ROUNDS {
        if round > 0 {
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        failures = failed(lab, &open).await?;
        open = failures.iter().map(|(call, _)| call.clone()).collect();
        if open.is_empty() {
            break;
        }
    }
    if let Some((call, reply)) = failures.first() {
        let webhook = call.webhook();
        let expected = format!("Succ of {webhook} in the end, in any order of deletions");
        let got = format!("{} in attempt {ROUNDS}, too", reply.summary());
        return Err(reply.failed(expected, got));
    }
    for backend in &backends {
        lab.is_deregistered(backend).await?;
    }
    lab.is_deleted(&lb).await
}

/// Makes calls, and returns those that fail and have to be repeated.
async fn failed(lab: &Lab, calls: &[WebhookCall]) -> CheckOutcome<Vec<(WebhookCall, DriverReply)>> {
    let mut failed = Vec::new();
    for call in calls {
        let reply = lab.until_done(call).await?;
        if reply.operation_status()? != Status::Succ {
            failed.push((call.clone(), reply));
        }
    }
    Ok(failed)
}
