//! The form of recordIDs and retryIDs.

use crate::check::{Check, Concurrency, Group, Need, Observer};
use crate::lab::Lab;
use crate::outcome::CheckOutcome;

pub(super) static RTRY_01: Check = Check {
    id: "RTRY-01",
    rule: "A recordID may be any text: with parentheses, of 253 characters, with any letters",
    why: "Controllers in the field write ensureBackend(<uid>); others may write something else. A \
          driver that checks its form, or uses it unchanged as a name in the cloud, fails each \
          time.",
    source: "LBCF webhook specification: recordID is opaque (d28)",
    typical: "A pattern for UUIDs, a database column of 64 characters, or a cloud's tag that \
              accepts ASCII only. Hash it.",
    needs: &[Need::LoadBalancer],
    ..Check::must(Group::Rtry, |lab| Box::pin(rtry_01(lab)))
};

async fn rtry_01(lab: &Lab) -> CheckOutcome {
    let uid = lab.uid();
    let long: String = format!("{uid}-").chars().cycle().take(253).collect();
    let forms = [
        ("with parentheses", format!("createLoadBalancer({uid})")),
        ("of 253 characters", long),
        (
            "in Chinese, with a space and quotes",
            format!("负载均衡 \"é\" '{uid}'"),
        ),
        (
            "with slashes and signs",
            format!("a/b\\c?{uid}&x=<y>%00;--"),
        ),
    ];
    let load_balancer = lab.given_load_balancer().await?;
    let backend = lab.given_backend(&load_balancer).await?;
    for (form, record_id) in &forms {
        let since = format!("with a recordID {form}");
        for call in [
            load_balancer.ensure(),
            backend.generate(),
            backend.ensure(),
            backend.deregister(),
        ] {
            lab.succeeds(&call.record_id(record_id).unusual(), &since)
                .await?;
        }
    }
    for (form, record_id) in &forms[1..3] {
        let since = format!("with a recordID {form}");
        let mut own = lab.load_balancer();
        let create = own.create().record_id(record_id).unusual();
        let created = lab.succeeds(&create, &since).await?;
        own.lb_info = created.identity(&own.sample.lb_spec);
        let delete = own.delete().record_id(record_id).unusual();
        lab.succeeds(&delete, &since).await?;
    }
    Ok(())
}

pub(super) static RTRY_04: Check = Check {
    id: "RTRY-04",
    rule: "A call that arrives twice with the same retryID does no harm",
    why: "Proxies and clients send a request again when its connection breaks.",
    source: "derived: RFC 9110 on retries",
    typical: "A table of retryIDs that rejects the second call.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    concurrency: Concurrency::Counting,
    ..Check::should(Group::Rtry, |lab| Box::pin(rtry_04(lab)))
};

async fn rtry_04(lab: &Lab) -> CheckOutcome {
    const SINCE: &str = "since the same call succeeded before";
    lab.require("CLB-01")?;
    let before = lab.observe().await?;
    let load_balancer = lab.load_balancer();
    let create = load_balancer.create().retry_id(lab.uid());
    for _ in 0..3 {
        lab.succeeds(&create, SINCE).await?;
    }
    let load_balancer = lab.created(load_balancer).await?;
    let expected = "one new load balancer in the cloud";
    lab.created_since(before.as_ref(), 1, expected).await?;
    if !lab.has_backends() {
        return Ok(());
    }
    let backend = lab.given_backend(&load_balancer).await?;
    for call in [backend.ensure(), backend.deregister()] {
        let call = call.retry_id(lab.uid());
        for _ in 0..3 {
            lab.succeeds(&call, SINCE).await?;
        }
    }
    Ok(())
}
