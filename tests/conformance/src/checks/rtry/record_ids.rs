//! What recordIDs and retryIDs may look like, and what may not follow from them.

use crate::check::{Check, Company, Group, Level, Need, Observer};
use crate::lab::Lab;
use crate::verdict::{Failure, Verdict};

/// Any text.
pub(super) static RTRY_01: Check = Check {
    id: "RTRY-01",
    level: Level::Must,
    group: Group::Rtry,
    rule: "A recordID may be any text: with parentheses, of 253 characters, with any letters",
    why: "The controllers of the field write ensureBackend(<uid>); others may write something else. \
          A driver that checks its form, or uses it as a name in the cloud as it is, fails for ever.",
    source: "LBCF webhook specification: recordID is opaque (d28)",
    typical: "A pattern for UUIDs, a database column of 64 characters, or a cloud's tag that takes \
              ASCII only. Hash it.",
    observer: Observer::Unused,
    needs: &[Need::LoadBalancer],
    company: Company::Any,
    code: |lab| Box::pin(rtry_01(lab)),
};

async fn rtry_01(lab: &Lab) -> Verdict {
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
            let answer = lab.until_done(&call.record_id(record_id).unusual()).await?;
            answer.succ(&since)?;
        }
    }
    for (form, record_id) in &forms[1..3] {
        let since = format!("with a recordID {form}");
        let mut own = lab.load_balancer();
        let created = lab
            .until_done(&own.create().record_id(record_id).unusual())
            .await?;
        created.succ(&since)?;
        own.lb_info = lab.identity_in(&created, &own);
        let deleted = lab
            .until_done(&own.delete().record_id(record_id).unusual())
            .await?;
        deleted.succ(&since)?;
    }
    Ok(())
}

/// The same retryID.
pub(super) static RTRY_04: Check = Check {
    id: "RTRY-04",
    level: Level::Should,
    group: Group::Rtry,
    rule: "A call that arrives twice with the same retryID does no harm",
    why: "Proxies and clients send a request again when its connection breaks.",
    source: "derived: RFC 9110 on retries",
    typical: "A table of retryIDs that refuses the second.",
    observer: Observer::Improves,
    needs: &[Need::LoadBalancer],
    company: Company::Counts,
    code: |lab| Box::pin(rtry_04(lab)),
};

async fn rtry_04(lab: &Lab) -> Verdict {
    lab.is_given("CLB-01")?;
    let before = lab.look().await?;
    let load_balancer = lab.load_balancer();
    let create = load_balancer.create().retry_id(lab.uid());
    for _ in 0..3 {
        let created = lab.until_done(&create).await?;
        created.succ("since the same call succeeds")?;
    }
    let load_balancer = lab.created(load_balancer).await?;
    if let (Some(before), Some(seen)) = (before, lab.look().await?) {
        let new = seen.since(&before).len();
        if new != 1 {
            let expected = "one new load balancer in the cloud";
            return Err(Failure::new(expected, format!("{new}")).into());
        }
    }
    if !lab.has_backends() {
        return Ok(());
    }
    let backend = lab.given_backend(&load_balancer).await?;
    for call in [backend.ensure(), backend.deregister()] {
        let call = call.retry_id(lab.uid());
        for _ in 0..3 {
            let answer = lab.until_done(&call).await?;
            answer.succ("since the same call succeeds")?;
        }
    }
    Ok(())
}
