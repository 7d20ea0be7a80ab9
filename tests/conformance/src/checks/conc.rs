//! Calls side by side: controllers have no limit on how many they make for one load balancer.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::{Answer, Backend, Call, Lab, Status};
use crate::verdict::{Failure, NotPassed, Verdict};
use futures::future::join_all;
use std::time::Duration;

/// The checks about calls side by side.
pub(super) const CHECKS: &[&Check] = &[&CONC_01, &CONC_02, &CONC_03, &CONC_04];

/// How often a call that is answered with Fail is made again: a cloud may be busy.
const TRIES: u32 = 5;
/// How long to wait before that.
const PAUSE: Duration = Duration::from_millis(200);

static CONC_01: Check = Check {
    id: "CONC-01",
    level: Level::Must,
    group: Group::Conc,
    rule: "Many backends registered side by side on one load balancer all succeed, and all are there",
    why: "When a Deployment is scaled up, each of its pods is registered at the same time. A driver \
          that reads the list, adds one and writes it back loses the others, and nobody notices.",
    source: "LBCF controller: no limit on calls side by side",
    typical: "Read, change and write without a lock or a version. Take one change of a load balancer \
              after the other, or use the cloud's call for one target.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(conc_01(lab)),
};

async fn conc_01(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let backends = lab
        .given_backends(&load_balancer, lab.concurrency())
        .await?;
    lab.is_given("ENS-01")?;
    side_by_side(lab, backends.iter().map(Backend::ensure).collect()).await?;
    all_there(lab, &backends, "each ensureBackend answered Succ").await
}

static CONC_02: Check = Check {
    id: "CONC-02",
    level: Level::Must,
    group: Group::Conc,
    rule: "The same ensureBackend, made several times at once, succeeds each time and leaves one binding",
    why: "A controller that gave up waiting asks again while the first call is still at work.",
    source: "LBCF controller: timeouts and retries (b10)",
    typical: "\"Is it there?\" and \"make it\" are two steps, and two calls take the first together.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(conc_02(lab)),
};

async fn conc_02(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    lab.is_given("ENS-01")?;
    for _ in 0..3 {
        let backend = lab.given_backend(&load_balancer).await?;
        side_by_side(lab, vec![backend.ensure(); lab.repeats()]).await?;
        all_there(lab, &[backend], "ensureBackend answered Succ").await?;
    }
    Ok(())
}

static CONC_03: Check = Check {
    id: "CONC-03",
    level: Level::Must,
    group: Group::Conc,
    rule: "The same createLoadBalancer, made several times at once, makes one load balancer with one lbInfo",
    why: "A controller that gave up waiting asks again while the first call is still at work. What \
          the second makes belongs to nobody.",
    source: "LBCF controller: timeouts and retries (b10, b18)",
    typical: "\"Is it there?\" and \"make it\" are two steps, and two calls take the first together. Use \
              the cloud's client token, or a lock by recordID.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| Box::pin(conc_03(lab)),
};

async fn conc_03(lab: &Lab) -> Verdict {
    lab.is_given("CLB-01")?;
    let before = lab.look().await?;
    let load_balancer = lab.load_balancer();
    let answers = side_by_side(lab, vec![load_balancer.create(); lab.repeats()]).await?;
    let mut identities = answers
        .iter()
        .map(|answer| lab.identity_in(answer, &load_balancer));
    let first = identities.next().unwrap_or_default();
    if let Some(other) = identities.find(|other| *other != first) {
        let expected = format!("one lbInfo for one recordID, {first:?}");
        return Err(Failure::new(expected, format!("also {other:?}")).into());
    }
    let (Some(before), Some(seen)) = (before, lab.look().await?) else {
        return Ok(());
    };
    let new = seen.since(&before).len();
    if new != 1 {
        let expected = "one new load balancer in the cloud";
        return Err(Failure::new(expected, format!("{new}")).into());
    }
    Ok(())
}

static CONC_04: Check = Check {
    id: "CONC-04",
    level: Level::Must,
    group: Group::Conc,
    rule: "Registering some backends while others are taken away loses nothing and leaves nothing",
    why: "In a rolling update pods come and go at the same time.",
    source: "LBCF controller: no limit on calls side by side",
    typical: "Read, change and write without a lock or a version.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(conc_04(lab)),
};

async fn conc_04(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    lab.is_given("ENS-01")?;
    lab.is_given("DRG-01")?;
    let count = lab.concurrency().div_ceil(2).max(2);
    let mut going = lab.given_backends(&load_balancer, count).await?;
    let coming = lab.given_backends(&load_balancer, count).await?;
    // One by one: that many at once is CONC-01's.
    for backend in &mut going {
        *backend = lab.given_bound(backend.clone()).await?;
    }
    let mut calls = Vec::new();
    for (comes, goes) in coming.iter().zip(&going) {
        calls.extend([comes.ensure(), goes.deregister()]);
    }
    side_by_side(lab, calls).await?;
    all_there(lab, &coming, "each ensureBackend answered Succ").await?;
    let Some(seen) = lab
        .look_at(
            &load_balancer.lb_info,
            "since backends were registered to it",
        )
        .await?
    else {
        return Ok(());
    };
    let left: Vec<_> = going
        .iter()
        .filter(|goes| seen.backend(&goes.addr).is_some())
        .collect();
    if let Some(first) = left.first() {
        let expected = "every backend gone whose deregisterBackend answered Succ";
        let got = format!(
            "{} of {count} are still there, such as {}",
            left.len(),
            first.addr
        );
        return Err(Failure::new(expected, got).into());
    }
    Ok(())
}

/// Makes all calls at once, each until it is done; all have to succeed in the end.
pub(super) async fn side_by_side(lab: &Lab, calls: Vec<Call>) -> Result<Vec<Answer>, NotPassed> {
    let outcomes = join_all(calls.iter().map(|call| until_succ(lab, call))).await;
    outcomes.into_iter().collect()
}

/// Fail is no success, but controllers ask again: what is busy for a moment may say so.
async fn until_succ(lab: &Lab, call: &Call) -> Result<Answer, NotPassed> {
    for _ in 1..TRIES {
        let answer = lab.until_done(call).await?;
        if answer.status() == Some(Status::Succ) {
            return Ok(answer);
        }
        tokio::time::sleep(PAUSE).await;
    }
    let last = lab.until_done(call).await?;
    last.succ("since nothing is wrong with it but that others are made at the same time")?;
    Ok(last)
}

pub(super) async fn all_there(lab: &Lab, backends: &[Backend], since: &str) -> Verdict {
    let Some(first) = backends.first() else {
        return Ok(());
    };
    let found = "since backends were registered to it";
    let Some(seen) = lab.look_at(&first.lb_info, found).await? else {
        return Ok(());
    };
    let missing: Vec<_> = backends
        .iter()
        .filter(|one| seen.backend(&one.addr).is_none())
        .collect();
    if let Some(first) = missing.first() {
        let expected = format!("{} backends in the cloud, since {since}", backends.len());
        let got = format!("{} are missing, such as {}", missing.len(), first.addr);
        return Err(Failure::new(expected, got).into());
    }
    let twice = backends.iter().find(|one| seen.bindings(&one.addr) > 1);
    if let Some(twice) = twice {
        let expected = format!("one binding of {}", twice.addr);
        return Err(Failure::new(expected, format!("{}", seen.bindings(&twice.addr))).into());
    }
    Ok(())
}
