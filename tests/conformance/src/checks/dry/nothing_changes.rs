//! A dry run changes nothing.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::{Failure, Verdict};

/// Load balancers.
pub(super) static DRY_01: Check = Check {
    id: "DRY-01",
    level: Level::Must,
    group: Group::Dry,
    rule: "A dry run of createLoadBalancer makes no load balancer, and one of deleteLoadBalancer removes none",
    why: "Who rehearses a change trusts that nothing happens. A load balancer that is deleted by a \
          rehearsal is an outage.",
    source: "LBCF: dry-run mode (b153)",
    typical: "dryRun is not looked at in one of the webhooks, or read under another name.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| Box::pin(dry_01(lab)),
};

async fn dry_01(lab: &Lab) -> Verdict {
    let before = lab.look().await?.unwrap_or_default();
    for _ in 0..2 {
        let load_balancer = lab.load_balancer();
        // Not until it is done: what a rehearsal of something that takes its time ends in, nobody
        // knows.
        for _ in 0..2 {
            lab.call(&load_balancer.create().dry_run()).await;
        }
        let seen = lab.look().await?.unwrap_or_default();
        if let Some(new) = seen.since(&before).first() {
            let expected = "no load balancer made by a dry run";
            return Err(
                Failure::new(expected, format!("one with lbInfo {:?}", new.lb_info)).into(),
            );
        }
    }
    let load_balancer = lab.given_load_balancer().await?;
    for _ in 0..2 {
        lab.call(&load_balancer.delete().dry_run()).await;
    }
    lab.look_at(
        &load_balancer.lb_info,
        "since a dry run of deleteLoadBalancer removes nothing",
    )
    .await?;
    Ok(())
}

/// Backends and attributes.
pub(super) static DRY_02: Check = Check {
    id: "DRY-02",
    level: Level::Must,
    group: Group::Dry,
    rule: "Dry runs of ensureBackend, deregisterBackend and ensureLoadBalancer change nothing",
    why: "Who rehearses a change trusts that nothing happens.",
    source: "LBCF: dry-run mode (b153)",
    typical: "dryRun is not looked at in one of the webhooks, or read under another name.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::Backend],
    company: Company::Any,
    code: |lab| Box::pin(dry_02(lab)),
};

async fn dry_02(lab: &Lab) -> Verdict {
    let load_balancer = lab.given_load_balancer().await?;
    let bound = lab.given_registered(&load_balancer).await?;
    let free = lab.given_backend(&load_balancer).await?;
    let since = "since it was created";
    let before = lab.look_at(&load_balancer.lb_info, since).await?;
    let attributes = lab.updated_attributes(&load_balancer);
    let parameters = lab.updated_parameters(&bound);
    for call in [
        free.ensure(),
        bound.ensure_with(&parameters),
        bound.deregister(),
        load_balancer.ensure_with(&attributes),
    ] {
        let answer = lab.call(&call.clone().dry_run()).await;
        let after = lab.look_at(&load_balancer.lb_info, since).await?;
        if before != after {
            let expected = format!(
                "the cloud as it was before a dry run of {}: {before:?}",
                call.webhook()
            );
            return Err(answer.failed(expected, format!("{after:?}")));
        }
    }
    Ok(())
}
