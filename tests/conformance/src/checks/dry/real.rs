//! Dry runs and real calls.

use crate::check::{Check, Group, Need, Observer};
use crate::checks::drg::registered::is_gone;
use crate::lab::{Backend, DriverReply, Lab, WebhookCall};
use crate::outcome::{CheckOutcome, Failure};
use serde_json::Value;

pub(super) static DRY_03: Check = Check {
    id: "DRY-03",
    rule: "A real call after a dry run under the same recordID does the work",
    why: "A dry run precedes the real call for the same object. A driver that stores the dry run \
          as done never does the work.",
    source: "LBCF: dry-run mode; the recordID is the same (d28)",
    typical: "The table of finished recordIDs includes dry runs.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Dry, |lab| Box::pin(dry_03(lab)))
};

async fn dry_03(lab: &Lab) -> CheckOutcome {
    lab.require("CLB-01")?;
    let load_balancer = lab.load_balancer();
    lab.call(&load_balancer.create().dry_run()).await;
    let load_balancer = lab.created(load_balancer).await?;
    let since = "since it was created after a dry run";
    lab.observed(&load_balancer.lb_info, since).await?;
    lab.succeeds(&load_balancer.ensure(), since).await?;

    let backend = lab.given_backend(&load_balancer).await?;
    lab.call(&backend.ensure().dry_run()).await;
    let backend = lab.registered(backend).await?;
    is_registered(lab, &backend, "since it was registered after a dry run").await?;
    lab.call(&backend.deregister().dry_run()).await;
    lab.deregistered(&backend).await?;
    is_gone(lab, &backend).await
}

pub(super) static DRY_04: Check = Check {
    id: "DRY-04",
    rule: "A call without dryRun is a real call",
    why: "Older controllers do not send the field. A driver that requires it, or takes its absence \
          for a dry run, does nothing for them.",
    source: "LBCF: dryRun was added later (b153)",
    typical: "The field is required, or is compared with \"false\".",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::must(Group::Dry, |lab| Box::pin(dry_04(lab)))
};

async fn dry_04(lab: &Lab) -> CheckOutcome {
    let real = |call: WebhookCall| call.without("dryRun").unusual();
    let since = "without dryRun, as with dryRun false";
    let mut load_balancer = lab.load_balancer();
    lab.require("CLB-01")?;
    let validated = lab.call(&real(load_balancer.validate())).await;
    validated.accepted(since)?;
    let created = lab.succeeds(&real(load_balancer.create()), since).await?;
    load_balancer.lb_info = created.identity(&load_balancer.sample.lb_spec);
    lab.observed(
        &load_balancer.lb_info,
        "since it was created, without dryRun",
    )
    .await?;
    lab.succeeds(&real(load_balancer.ensure()), since).await?;
    let backend = lab.given_backend(&load_balancer).await?;
    lab.succeeds(&real(backend.ensure()), since).await?;
    is_registered(lab, &backend, "since it was registered, without dryRun").await?;
    lab.succeeds(&real(backend.deregister()), since).await?;
    is_gone(lab, &backend).await?;
    let delete = real(load_balancer.delete());
    lab.succeeds(&delete, since).await.map(drop)
}

pub(super) static DRY_05: Check = Check {
    id: "DRY-05",
    rule: "The response to a dry run has the same form as the response to a real call",
    why: "Users read what would happen: a status and, where it would fail, a msg.",
    source: "LBCF: dry-run mode",
    typical: "A dry run returns an empty object, plain text, or 204.",
    needs: &[Need::LoadBalancer, Need::Backend],
    ..Check::should(Group::Dry, |lab| Box::pin(dry_05(lab)))
};

async fn dry_05(lab: &Lab) -> CheckOutcome {
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
        let reply = lab.call(&call.dry_run().unusual()).await;
        has_status(&reply)?;
    }
    let validate = load_balancer.validate().dry_run().unusual();
    let reply = lab.call(&validate).await;
    reply.any_decision("as a real call has").map(drop)
}

fn has_status(reply: &DriverReply) -> CheckOutcome {
    let is_string = reply.field("status").is_some_and(Value::is_string);
    if is_string && reply.http_status() == Some(200) {
        return Ok(());
    }
    Err(reply.failed(
        "HTTP 200 with a status, as a real call has",
        reply.summary(),
    ))
}

async fn is_registered(lab: &Lab, backend: &Backend, since: &str) -> CheckOutcome {
    let Some(seen) = lab.observe().await? else {
        return Ok(());
    };
    let load_balancer = seen.load_balancer(&backend.lb_info);
    if load_balancer.is_some_and(|seen| seen.backend(&backend.addr).is_some()) {
        return Ok(());
    }
    let expected = format!("backend {} in the cloud, {since}", backend.addr);
    Err(Failure::new(expected, "it is not registered").into())
}
