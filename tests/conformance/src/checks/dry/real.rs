//! Dry runs and real calls beside each other.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::{Answer, Call, Lab};
use crate::verdict::{Failure, Verdict};

/// The real call still does its work.
pub(super) static DRY_03: Check = Check {
    id: "DRY-03",
    level: Level::Must,
    group: Group::Dry,
    rule: "A real call after a dry run under the same recordID does the work",
    why: "A rehearsal comes before the real thing, for the same object. A driver that remembers the \
          rehearsal as done never does it.",
    source: "LBCF: dry-run mode; the recordID is the same (d28)",
    typical: "A table of finished recordIDs that dry runs are noted in, too.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(dry_03(lab)),
};

async fn dry_03(lab: &Lab) -> Verdict {
    lab.is_given("CLB-01")?;
    let load_balancer = lab.load_balancer();
    lab.call(&load_balancer.create().dry_run()).await;
    let load_balancer = lab.created(load_balancer).await?;
    lab.look_at(
        &load_balancer.lb_info,
        "since it was really created after a dry run",
    )
    .await?;
    let ensured = lab.until_done(&load_balancer.ensure()).await?;
    ensured.succ("since it was really created after a dry run")?;

    let backend = lab.given_backend(&load_balancer).await?;
    lab.call(&backend.ensure().dry_run()).await;
    let backend = lab.registered(backend).await?;
    is_bound(
        lab,
        &backend,
        true,
        "it was really registered after a dry run",
    )
    .await?;
    lab.call(&backend.deregister().dry_run()).await;
    lab.deregistered(&backend).await?;
    is_bound(
        lab,
        &backend,
        false,
        "it was really taken away after a dry run",
    )
    .await
}

/// Absent means no.
pub(super) static DRY_04: Check = Check {
    id: "DRY-04",
    level: Level::Must,
    group: Group::Dry,
    rule: "A call without dryRun is a real one",
    why: "Older controllers do not send it. A driver that needs it, or takes its absence for a dry \
          run, does nothing for them.",
    source: "LBCF: dryRun was added later (b153)",
    typical: "A field that has to be there, or a comparison with \"false\".",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(dry_04(lab)),
};

async fn dry_04(lab: &Lab) -> Verdict {
    let real = |call: Call| call.without("dryRun").unusual();
    let mut load_balancer = lab.load_balancer();
    lab.is_given("CLB-01")?;
    lab.call(&real(load_balancer.validate()))
        .await
        .accepted("without dryRun, as with dryRun false")?;
    let created = lab.until_done(&real(load_balancer.create())).await?;
    created.succ("without dryRun, as with dryRun false")?;
    load_balancer.lb_info = lab.identity_in(&created, &load_balancer);
    lab.look_at(
        &load_balancer.lb_info,
        "since it was created, without dryRun",
    )
    .await?;
    let ensured = lab.until_done(&real(load_balancer.ensure())).await?;
    ensured.succ("without dryRun, as with dryRun false")?;
    let backend = lab.given_backend(&load_balancer).await?;
    let bound = lab.until_done(&real(backend.ensure())).await?;
    bound.succ("without dryRun, as with dryRun false")?;
    is_bound(lab, &backend, true, "it was registered, without dryRun").await?;
    let gone = lab.until_done(&real(backend.deregister())).await?;
    gone.succ("without dryRun, as with dryRun false")?;
    is_bound(lab, &backend, false, "it was taken away, without dryRun").await?;
    let deleted = lab.until_done(&real(load_balancer.delete())).await?;
    deleted.succ("without dryRun, as with dryRun false")?;
    Ok(())
}

/// The same shape.
pub(super) static DRY_05: Check = Check {
    id: "DRY-05",
    level: Level::Should,
    group: Group::Dry,
    rule: "A dry run is answered in the same form as a real call",
    why: "Users read what would happen: a status and, where it would fail, a msg.",
    source: "LBCF: dry-run mode",
    typical: "An empty object, a plain text, or 204 for whatever is a dry run.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(dry_05(lab)),
};

async fn dry_05(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_backend(&load_balancer).await?;
    let other = lab.load_balancer();
    for call in [
        other.create(),
        load_balancer.ensure(),
        backend.ensure(),
        backend.deregister(),
        load_balancer.delete(),
    ] {
        let answer = lab.call(&call.dry_run().unusual()).await;
        has_status(&answer)?;
    }
    let answer = lab
        .call(&load_balancer.validate().dry_run().unusual())
        .await;
    answer.any_verdict("as a real call has")?;
    Ok(())
}

fn has_status(answer: &Answer) -> Verdict {
    let there = answer
        .field("status")
        .is_some_and(|status| status.is_string());
    if there && answer.http_status() == Some(200) {
        return Ok(());
    }
    Err(answer.failed("HTTP 200 with a status, as a real call has", answer.said()))
}

async fn is_bound(lab: &Lab, backend: &crate::lab::Backend, wanted: bool, since: &str) -> Verdict {
    let Some(seen) = lab.look().await? else {
        return Ok(());
    };
    let load_balancer = seen.load_balancer(&backend.lb_info);
    let is = load_balancer.is_some_and(|seen| seen.backend(&backend.addr).is_some());
    if is == wanted {
        return Ok(());
    }
    let words = |there| if there { "there" } else { "not there" };
    let expected = format!(
        "backend {} {} in the cloud, since {since}",
        backend.addr,
        words(wanted)
    );
    Err(Failure::new(expected, format!("it is {}", words(is))).into())
}
