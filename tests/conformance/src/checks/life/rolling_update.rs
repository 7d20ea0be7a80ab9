//! A rolling update.

use crate::check::{Check, Group, Need, Observer};
use crate::checks::conc::{are_deregistered, are_registered, concurrently};
use crate::lab::{Backend, Lab};
use crate::outcome::{CheckError, CheckOutcome, Failure};
use std::time::Duration;

/// The number of backends, and how many are replaced at a time, as in a Deployment with
/// `maxSurge: 25%` and `maxUnavailable: 0`.
const BACKENDS: usize = 20;
const SURGE: usize = 5;
const PAUSE: Duration = Duration::from_millis(20);

pub(super) static LIFE_04: Check = Check {
    id: "LIFE-04",
    rule: "When 20 backends are replaced, each new one registered before an old one is \
           deregistered, at least 20 are registered at any time",
    why: "Every rolling update does this. A driver that replaces the whole list, or deregisters \
          more than the given backend, loses requests each time.",
    source: "derived: Deployments with maxUnavailable 0",
    typical: "Read, modify and write the list of targets without a lock, or remove all targets and \
              add the desired ones.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::should(Group::Life, |lab| Box::pin(life_04(lab)))
};

async fn life_04(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    lab.require("ENS-01")?;
    lab.require("DRG-01")?;
    let mut old = lab.given_backends(&load_balancer, 2 * BACKENDS).await?;
    let new = old.split_off(BACKENDS);
    for backend in &mut old {
        *backend = lab.given_bound(backend.clone()).await?;
    }
    let all: Vec<&Backend> = old.iter().chain(&new).collect();
    for (new, old) in new.chunks(SURGE).zip(old.chunks(SURGE)) {
        let register = new.iter().map(Backend::ensure).collect();
        during(lab, &all, concurrently(lab, register)).await?;
        let deregister = old.iter().map(Backend::deregister).collect();
        during(lab, &all, concurrently(lab, deregister)).await?;
    }
    are_registered(lab, &new).await?;
    are_deregistered(lab, &old).await
}

/// Verifies during and after the work that enough backends are registered.
async fn during<T>(
    lab: &Lab,
    all: &[&Backend],
    work: impl Future<Output = Result<T, CheckError>>,
) -> CheckOutcome {
    let watch = async {
        while enough(lab, all).await? {
            tokio::time::sleep(PAUSE).await;
        }
        std::future::pending().await
    };
    tokio::select! {
        done = work => {
            done?;
            enough(lab, all).await.map(drop)
        }
        failed = watch => failed,
    }
}

/// Fails when fewer than [`BACKENDS`] are registered; `false` without an observer.
async fn enough(lab: &Lab, all: &[&Backend]) -> Result<bool, CheckError> {
    let lb_info = all.first().map(|one| one.lb_info.clone());
    let Some(seen) = lab.observed_backends(&lb_info.unwrap_or_default()).await? else {
        return Ok(false);
    };
    let registered = |one: &&&Backend| seen.backend(&one.addr).is_some();
    let count = all.iter().filter(registered).count();
    if count >= BACKENDS {
        return Ok(true);
    }
    let expected = format!("{BACKENDS} backends in the cloud at any time");
    Err(Failure::new(expected, format!("{count} in between")).into())
}
