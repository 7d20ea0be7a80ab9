//! Dry runs: with the response of a real call, and without changes.

use super::prelude::*;

pub(super) const CHECKS: &[&Check] = &[&DRY_01, &DRY_02, &DRY_03, &DRY_04, &DRY_05, &DRY_06];

check! { DRY_01 = dry_01, Dry, observer Required, needs [LoadBalancer], runs Counting,
    why "Users rely on a dry run to change nothing. A load balancer that a dry run deletes is an \
         outage.",
    source "LBCF: dry-run mode (b153)",
    typical "One of the webhooks ignores dryRun, or reads it under another name.",
}

async fn dry_01(lab: &Lab) -> CheckOutcome {
    let before = lab.observe().await?;
    for _ in 0..2 {
        let lb = lab.load_balancer();
        // Without polling, because the specification does not define the end of a dry run.
        for _ in 0..2 {
            lab.call(&lb.create().dry_run()).await;
        }
        let expected = "no load balancer created by a dry run";
        lab.created_since(before.as_ref(), 0, expected).await?;
    }
    let lb = lab.given_load_balancer().await?;
    for _ in 0..2 {
        lab.call(&lb.delete().dry_run()).await;
    }
    let since = "since a dry run of deleteLoadBalancer deletes nothing";
    lab.observed(&lb.lb_info, since).await.map(drop)
}

check! { DRY_02 = dry_02, Dry, observer Listed, needs [LoadBalancer, Backend],
    why "Users rely on a dry run to change nothing.",
    source "LBCF: dry-run mode (b153)",
    typical "One of the webhooks ignores dryRun, or reads it under another name.",
}

async fn dry_02(lab: &Lab) -> CheckOutcome {
    let (lb, bound) = lab.given_registered_backend().await?;
    let free = lab.given_backend(&lb).await?;
    let before = lab.observed(&lb.lb_info, CREATED).await?;
    for call in [
        free.ensure(),
        bound.ensure_with(&lab.updated_parameters(&bound)),
        bound.deregister(),
        lb.ensure_with(&lab.updated_attributes(&lb)),
    ] {
        let webhook = call.webhook();
        let reply = lab.call(&call.dry_run()).await;
        let after = lab.observed(&lb.lb_info, CREATED).await?;
        let expected = format!(
            "the cloud unchanged by a dry run of {webhook}: {}",
            json(&before)
        );
        reply.check(before == after, expected, json(&after))?;
    }
    Ok(())
}

check! { DRY_03 = dry_03, Dry, observer Improves, needs [LoadBalancer, Backend],
    why "A dry run precedes the real call for the same object. A driver that stores the dry run \
         as done never does the work.",
    source "LBCF: dry-run mode; the recordID is the same (d28)",
    typical "The table of finished recordIDs includes dry runs.",
}

async fn dry_03(lab: &Lab) -> CheckOutcome {
    lab.run.require("CLB-01")?;
    let lb = lab.load_balancer();
    lab.call(&lb.create().dry_run()).await;
    let lb = lab.created(lb).await?;
    let since = "since it was created after a dry run";
    lab.observed(&lb.lb_info, since).await?;
    lab.succeeds(&lb.ensure(), since).await?;

    let backend = lab.given_backend(&lb).await?;
    lab.call(&backend.ensure().dry_run()).await;
    let backend = lab.registered(backend).await?;
    let how = "in the cloud, since it was registered after a dry run";
    lab.has_backend(&backend, how).await?;
    lab.call(&backend.deregister().dry_run()).await;
    lab.deregistered(&backend).await?;
    lab.is_deregistered(&backend).await
}

check! { DRY_04 = dry_04, Dry, observer Improves, needs [LoadBalancer, Backend],
    why "Older controllers do not send the field. A driver that requires it, or takes its absence \
         for a dry run, does nothing for them.",
    source "LBCF: dryRun was added later (b153)",
    typical "The field is required, or is compared with \"false\".",
}

async fn dry_04(lab: &Lab) -> CheckOutcome {
    let real = |call: WebhookCall| call.without("dryRun").unusual();
    let since = "without dryRun, as with dryRun false";
    let mut lb = lab.load_balancer();
    lab.run.require("CLB-01")?;
    lab.call(&real(lb.validate())).await.accepted(since)?;
    let created = lab.succeeds(&real(lb.create()), since).await?;
    lb.lb_info = created.identity(&lb.sample.lb_spec);
    lab.observed(&lb.lb_info, "since it was created, without dryRun")
        .await?;
    lab.succeeds(&real(lb.ensure()), since).await?;
    let backend = lab.given_backend(&lb).await?;
    lab.succeeds(&real(backend.ensure()), since).await?;
    let how = "in the cloud, since it was registered, without dryRun";
    lab.has_backend(&backend, how).await?;
    lab.succeeds(&real(backend.deregister()), since).await?;
    lab.is_deregistered(&backend).await?;
    lab.succeeds(&real(lb.delete()), since).await.map(drop)
}

check! { DRY_05 = dry_05, Dry, needs [LoadBalancer, Backend],
    why "Users read what would happen: a status and, where it would fail, a msg.",
    source "LBCF: dry-run mode",
    typical "A dry run returns an empty object, plain text, or 204.",
}

async fn dry_05(lab: &Lab) -> CheckOutcome {
    let (lb, backend) = lab.given_unregistered_backend().await?;
    for call in [
        lab.load_balancer().create(),
        lb.ensure(),
        backend.ensure(),
        backend.deregister(),
        lb.delete(),
    ] {
        let reply = lab.call(&call.dry_run().unusual()).await;
        let has_status = reply.field("status").is_some_and(Value::is_string);
        let is_right = has_status && reply.http_status() == Some(200);
        let expected = "HTTP 200 with a status, as a real call has";
        reply.check(is_right, expected, reply.summary())?;
    }
    let reply = lab.call(&lb.validate().dry_run().unusual()).await;
    reply.any_decision("as a real call has").map(drop)
}

check! { DRY_06 = dry_06, Dry, needs [LoadBalancer, Backend],
    why "A dry run that always succeeds promises what the real call then refuses.",
    source "LBCF webhook specification, dry runs",
    typical "The dry run returns before the request is checked. Check first, and return before the first change.",
}

async fn dry_06(lab: &Lab) -> CheckOutcome {
    let fixture = &lab.run.fixture;
    let (lb, backend) = lab.given_unregistered_backend().await?;
    let load_balancers = fixture.load_balancer.invalid.iter().map(|sample| {
        let invalid = lab.load_balancer_of(Some(sample));
        (invalid.validate(), invalid.create())
    });
    let backends = fixture.backend.parameters.invalid.iter().map(|invalid| {
        let backend = Backend {
            parameters: lab.filled(invalid),
            ..backend.clone()
        };
        let backend_type = backend.source.backend_type();
        (
            validate_backend(&lb, backend_type, &backend.parameters),
            backend.ensure(),
        )
    });
    for (validation, call) in load_balancers.chain(backends).collect::<Vec<_>>() {
        if lab.call(&validation).await.decision() == Some(false) {
            let reply = lab.until_done(&call.dry_run()).await?;
            reply.fail("since the validation of the same values refuses them")?;
        }
    }
    Ok(())
}
