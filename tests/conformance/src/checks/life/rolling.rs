//! A rolling update.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::checks::conc::{all_there, side_by_side};
use crate::lab::{Backend, Lab};
use crate::observer::ObservedLoadBalancer;
use crate::verdict::{Failure, NotPassed, Verdict};
use std::time::Duration;

/// How many backends there are, and how many are replaced at a time, as a Deployment does it with
/// `maxSurge: 25%` and `maxUnavailable: 0`.
const BACKENDS: usize = 20;
const SURGE: usize = 5;
/// How long to wait between two looks into the cloud.
const PAUSE: Duration = Duration::from_millis(20);

/// All backends are replaced.
pub(super) static LIFE_04: Check = Check {
    id: "LIFE-04",
    level: Level::Should,
    group: Group::Life,
    rule: "When 20 backends are replaced, each new one registered before an old one is taken away, there are never fewer than 20",
    why: "It is what happens at every rolling update. A driver that sets the whole list anew, or takes \
          away more than it was asked for, loses requests each time.",
    source: "derived: Deployments with maxUnavailable 0",
    typical: "Read, change and write the list of targets without a lock, or remove all and add those \
              that are wanted.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(life_04(lab)),
};

async fn life_04(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    lab.is_given("ENS-01")?;
    lab.is_given("DRG-01")?;
    let mut old = lab.given_backends(&load_balancer, 2 * BACKENDS).await?;
    let new = old.split_off(BACKENDS);
    for backend in &mut old {
        *backend = lab.given_bound(backend.clone()).await?;
    }
    let all: Vec<&str> = old
        .iter()
        .chain(&new)
        .map(|one| one.addr.as_str())
        .collect();
    for (comes, goes) in new.chunks(SURGE).zip(old.chunks(SURGE)) {
        let watch = Watch {
            lab,
            backend: &old[0],
            all: &all,
        };
        let register = comes.iter().map(Backend::ensure).collect();
        watch.during(side_by_side(lab, register)).await?;
        let take_away = goes.iter().map(Backend::deregister).collect();
        watch.during(side_by_side(lab, take_away)).await?;
    }
    all_there(lab, &new, "each ensureBackend answered Succ").await?;
    let since = "since backends were registered to it";
    let seen = lab.look_at(&load_balancer.lb_info, since).await?;
    let left = seen.and_then(|seen| {
        let still_there = |one: &&Backend| seen.backend(&one.addr).is_some();
        old.iter().find(still_there).cloned()
    });
    if let Some(left) = left {
        let expected = "the old backends gone, since each deregisterBackend answered Succ";
        return Err(Failure::new(expected, format!("{} is still there", left.addr)).into());
    }
    Ok(())
}

/// A look at a load balancer, again and again.
struct Watch<'a> {
    lab: &'a Lab,
    backend: &'a Backend,
    /// The addresses of old and new backends.
    all: &'a [&'a str],
}

impl Watch<'_> {
    /// Looks while something is done, and once more when it is done.
    async fn during<T>(&self, work: impl Future<Output = Result<T, NotPassed>>) -> Verdict {
        let watching = async {
            while self.look().await? {
                tokio::time::sleep(PAUSE).await;
            }
            std::future::pending().await
        };
        tokio::select! {
            done = work => {
                done?;
                self.look().await.map(drop)
            }
            seen = watching => seen,
        }
    }

    /// Whether there is anything to look with. Fails when there are not enough.
    async fn look(&self) -> Result<bool, NotPassed> {
        let since = "since backends were registered to it";
        let Some(seen) = self.lab.look_at(&self.backend.lb_info, since).await? else {
            return Ok(false);
        };
        let there = registered(&seen, self.all);
        if there >= BACKENDS {
            return Ok(true);
        }
        let expected = format!("{BACKENDS} backends in the cloud at any time");
        Err(Failure::new(expected, format!("{there} in between")).into())
    }
}

/// How many of these are registered.
fn registered(seen: &ObservedLoadBalancer, addresses: &[&str]) -> usize {
    let there = |addr: &&&str| seen.backend(addr).is_some();
    addresses.iter().filter(there).count()
}
