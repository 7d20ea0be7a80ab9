//! Dry runs change nothing.

use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::lab::Lab;
use crate::outcome::CheckOutcome;

pub(super) static DRY_01: Check = Check {
    id: "DRY-01",
    rule: "A dry run of createLoadBalancer creates no load balancer, and a dry run of \
           deleteLoadBalancer deletes none",
    why: "Users rely on a dry run to change nothing. A load balancer that a dry run deletes is an \
          outage.",
    source: "LBCF: dry-run mode (b153)",
    typical: "One of the webhooks ignores dryRun, or reads it under another name.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::must(Group::Dry, |lab| Box::pin(dry_01(lab)))
};

async fn dry_01(lab: &Lab) -> CheckOutcome {
    let before = lab.observe().await?;
    for _ in 0..2 {
        let load_balancer = lab.load_balancer();
        // Without polling, because the specification does not define the end of a dry run.
        for _ in 0..2 {
            lab.call(&load_balancer.create().dry_run()).await;
        }
        let expected = "no load balancer created by a dry run";
        lab.created_since(before.as_ref(), 0, expected).await?;
    }
    let load_balancer = lab.given_load_balancer().await?;
    for _ in 0..2 {
        lab.call(&load_balancer.delete().dry_run()).await;
    }
    let since = "since a dry run of deleteLoadBalancer deletes nothing";
    lab.observed(&load_balancer.lb_info, since).await.map(drop)
}

pub(super) static DRY_02: Check = Check {
    id: "DRY-02",
    rule: "Dry runs of ensureBackend, deregisterBackend and ensureLoadBalancer change nothing",
    why: "Users rely on a dry run to change nothing.",
    source: "LBCF: dry-run mode (b153)",
    typical: "One of the webhooks ignores dryRun, or reads it under another name.",
    observer: Observer::Required,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Dry, |lab| Box::pin(dry_02(lab)))
};

async fn dry_02(lab: &Lab) -> CheckOutcome {
    let load_balancer = lab.given_load_balancer().await?;
    let bound = lab.given_registered(&load_balancer).await?;
    let free = lab.given_backend(&load_balancer).await?;
    let since = "since it was created";
    let before = lab.observed(&load_balancer.lb_info, since).await?;
    let attributes = lab.updated_attributes(&load_balancer);
    let parameters = lab.updated_parameters(&bound);
    for call in [
        free.ensure(),
        bound.ensure_with(&parameters),
        bound.deregister(),
        load_balancer.ensure_with(&attributes),
    ] {
        let reply = lab.call(&call.clone().dry_run()).await;
        let after = lab.observed(&load_balancer.lb_info, since).await?;
        if before != after {
            let expected = format!(
                "the cloud unchanged by a dry run of {}: {before:?}",
                call.webhook()
            );
            return Err(reply.failed(expected, format!("{after:?}")));
        }
    }
    Ok(())
}
