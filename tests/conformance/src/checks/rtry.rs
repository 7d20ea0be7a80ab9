//! Repeated calls: the meaning of recordIDs, and calls whose connection was closed.

use super::lst::List;
use super::prelude::*;
use crate::lab::listed::list;

pub(super) const CHECKS: &[&Check] = &[
    &RTRY_01, &RTRY_02, &RTRY_03, &RTRY_04, &RTRY_05, &RTRY_06, &RTRY_07,
];

check! { RTRY_01 = rtry_01, Rtry, needs [LoadBalancer],
    why "Controllers in the field write ensureBackend(<uid>); others may write something else. A \
         driver that checks its form, or uses it unchanged as a name in the cloud, fails each \
         time.",
    source "LBCF webhook specification: recordID is opaque (d28)",
    typical "A pattern for UUIDs, a database column of 64 characters, or a cloud's tag that \
             accepts ASCII only. Hash it.",
}

async fn rtry_01(lab: &Lab) -> CheckOutcome {
    let uid = lab.uid();
    let long: String = format!("{uid}-").chars().cycle().take(253).collect();
    let chinese = format!("负载均衡 \"é\" '{uid}'");
    let signs = format!("a/b\\c?{uid}&x=<y>%00;--");
    let forms = [
        ("with parentheses", format!("createLoadBalancer({uid})")),
        ("of 253 characters", long),
        ("in Chinese, with a space and quotes", chinese),
        ("with slashes and signs", signs),
    ];
    let (lb, backend) = lab.given_unregistered_backend().await?;
    for (form, record_id) in &forms {
        let since = format!("with a recordID {form}");
        for call in [
            lb.ensure(),
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

check! { RTRY_02 = rtry_02, Rtry, observer Improves, needs [LoadBalancer],
    runs Counting,
    why "A controller closes the connection at the webhook's timeout and calls again. A driver \
         that cancels its work with the connection leaves half of a load balancer, and one that \
         continues unnoticed creates a second.",
    source "LBCF controller: timeouts and retries (b10, b18)",
    typical "The framework cancels the handler when the connection closes, between two calls of \
             the cloud; or the second call does not find the first. Run the work in its own task, \
             and let repeated calls join it.",
}

/// The milliseconds before the check closes the connection.
const LINGER: [u64; 3] = [0, 5, 50];

async fn rtry_02(lab: &Lab) -> CheckOutcome {
    lab.run.require("CLB-01")?;
    let before = lab.observe().await?;
    let mut created = Vec::new();
    for linger in LINGER.map(Duration::from_millis) {
        let lb = lab.load_balancer();
        lab.call_and_hang_up(&lb.create(), linger).await;
        created.push(lab.created(lb).await?);
    }
    let count = created.len();
    let expected = format!("{count} new load balancers in the cloud, one for each recordID");
    lab.created_since(before.as_ref(), count, expected).await?;
    let Some(lb) = created.first().filter(|_| lab.has_backends()) else {
        return Ok(());
    };
    for linger in LINGER.map(Duration::from_millis) {
        let backend = lab.given_backend(lb).await?;
        lab.call_and_hang_up(&backend.ensure(), linger).await;
        let backend = lab.registered(backend).await?;
        lab.is_bound_once(&backend).await?;
        lab.call_and_hang_up(&backend.deregister(), linger).await;
        lab.deregistered(&backend).await?;
    }
    Ok(())
}

check! { RTRY_03 = rtry_03, Rtry, needs [LoadBalancer, InvalidLoadBalancer],
    why "The recordID belongs to the object. After the user's correction the next call has the \
         same one, and a driver that remembers the Fail never recovers.",
    source "LBCF controller: recordID is made from the object's uid (d28)",
    typical "Results are stored by recordID, failures included.",
}

async fn rtry_03(lab: &Lab) -> CheckOutcome {
    lab.run.require("CLB-01")?;
    let invalid = lab.load_balancer_of(lab.run.fixture.load_balancer.invalid.first());
    let valid = lab.load_balancer().renewed(invalid.uid.clone());
    let reply = lab.until_done(&invalid.create()).await?;
    let since = "since the fixture declares it invalid";
    reply.fail(since).blocked_by("CLB-05")?;
    let valid = lab.created(valid).await?;
    let invalid = lab.run.fixture.backend.parameters.invalid.first();
    let Some(invalid) = invalid.filter(|_| lab.has_backends()) else {
        return Ok(());
    };
    let backend = lab.given_backend(&valid).await?;
    // A driver may accept invalid parameters here.
    lab.until_done(&backend.ensure_with(&lab.filled(invalid)))
        .await?;
    lab.registered(backend).await.map(drop)
}

check! { RTRY_04 = rtry_04, Rtry, observer Improves, needs [LoadBalancer],
    runs Counting,
    why "Proxies and clients send a request again when its connection breaks.",
    source "derived: RFC 9110 on retries",
    typical "A table of retryIDs that rejects the second call.",
}

async fn rtry_04(lab: &Lab) -> CheckOutcome {
    const SINCE: &str = "since the same call succeeded before";
    lab.run.require("CLB-01")?;
    let before = lab.observe().await?;
    let lb = lab.load_balancer();
    lab.keeps_succeeding(3, &lb.create().retry_id(lab.uid()), SINCE)
        .await?;
    let lb = lab.created(lb).await?;
    lab.created_since(before.as_ref(), 1, "one new load balancer in the cloud")
        .await?;
    if !lab.has_backends() {
        return Ok(());
    }
    let backend = lab.given_backend(&lb).await?;
    for call in [backend.ensure(), backend.deregister()] {
        lab.keeps_succeeding(3, &call.retry_id(lab.uid()), SINCE)
            .await?;
    }
    Ok(())
}

check! { RTRY_05 = rtry_05, Rtry, needs [LoadBalancer, Backend, Fault],
    runs Exclusive,
    why "The msg reaches the user, an exception does not. And nothing has to be restarted when \
         the cloud works again.",
    source "LBCF webhook specification: status Fail",
    typical "The cloud's error becomes 500 or 502.",
}

async fn rtry_05(lab: &Lab) -> CheckOutcome {
    let (lb, backend) = lab.given_unregistered_backend().await?;
    let other = lab.load_balancer();
    lab.fault(true).await?;
    let mut outcome = Ok(());
    let mut running = Vec::new();
    for call in [other.create(), lb.ensure(), backend.ensure()] {
        let call = call.unusual();
        let reply = lab.call(&call).await;
        let has_status = matches!(reply.status(), Some(Status::Fail | Status::Running));
        let is_proper = has_status && reply.http_status() == Some(200) && !reply.msg().is_empty();
        let expected =
            "HTTP 200 with status Fail or Running and a msg, since the cloud does not work";
        outcome = reply.check(is_proper, expected, reply.summary());
        running.extend(is_running(&reply).then_some(call));
        if outcome.is_err() {
            break;
        }
    }
    lab.fault(false).await?;
    outcome?;
    end_of_outage(lab, running).await?;
    lab.registered(backend).await?;
    lab.created(other).await.map(drop)
}

/// Waits for the results of operations that were Running in the outage: they may have failed then.
async fn end_of_outage(lab: &Lab, running: Vec<WebhookCall>) -> CheckOutcome {
    for call in running {
        lab.until_done(&call).await?;
    }
    Ok(())
}

fn is_running(reply: &DriverReply) -> bool {
    reply.status() == Some(Status::Running)
}

check! { RTRY_06 = rtry_06, Rtry,
    why "The controller retries on its own. It closes the connection to a driver that retries for \
         longer, and the user never reads the reason.",
    source "LBCF webhook specification: drivers need not retry",
    typical "The cloud's client library retries many times with growing delays. Limit it to less \
             than the webhook's timeout.",
}

async fn rtry_06(lab: &Lab) -> CheckOutcome {
    let mut calls = Vec::new();
    for sample in &lab.run.fixture.load_balancer.invalid {
        calls.push(lab.load_balancer_of(Some(sample)).create());
    }
    if lab.run.fixture.load_balancer.unknown_lb_info.is_some() {
        let unknown = lab.unknown_load_balancer();
        calls.extend([unknown.ensure(), lab.unknown_backend(&unknown).ensure()]);
    }
    if calls.is_empty() {
        let needed = "needs loadBalancer.invalid or loadBalancer.unknownLBInfo in the fixture";
        return Err(CheckError::Skipped(needed.to_owned()));
    }
    for call in calls {
        let reply = lab.call(&call).await;
        if let Some(NoResponse::TimedOut(after)) = reply.no_response() {
            let webhook = call.webhook();
            let expected = format!("a response of {webhook} within the webhook's timeout");
            return Err(reply.failed(expected, format!("none within {after:?}")));
        }
    }
    Ok(())
}

check! { RTRY_07 = rtry_07, Rtry, needs [LoadBalancer, Backend, Fault],
    runs Exclusive,
    why "After Succ the controller does not call again. The pod counts as registered and gets no \
         traffic, also when the cloud works again.",
    source "LBCF webhook specification: status Succ",
    typical "The cloud's error is logged, and the handler continues; or the work is put into a queue, \
             and Succ is returned at once.",
}

async fn rtry_07(lab: &Lab) -> CheckOutcome {
    let (lb, backend) = lab.given_unregistered_backend().await?;
    let bound = lab.given_registered(&lb).await.ok();
    let other = lab.load_balancer();
    // One that the driver has only adopted is not deleted.
    let is_own = !lab.run.fixture.load_balancer.reuse;
    let doomed = lab.given_new_load_balancer().await?;
    let lost = lab.given_new_load_balancer().await?;
    let lists = lab.has(Feature::ListBackends);
    lab.fault(true).await?;
    let mut replies = Vec::new();
    let mut calls = vec![other.create(), backend.ensure()];
    let list = match lists && bound.is_some() {
        true => Some(lab.call(&list(lab, &lb.lb_info).unusual()).await),
        false => None,
    };
    calls.extend(bound.iter().map(Backend::deregister));
    calls.extend(is_own.then(|| doomed.delete()));
    let mut running = Vec::new();
    for call in calls {
        let call = call.unusual();
        let reply = lab.call(&call).await;
        running.extend(is_running(&reply).then_some(call));
        replies.push(reply);
    }
    let lost_reply = lab.call(&without_lb_info(&lost)).await;
    lab.fault(false).await?;
    end_of_outage(lab, running).await?;
    // A creation that is Running goes on, and would be left behind.
    let created = lab.created(other).await;
    let expected = "no Succ, since the cloud does not work";
    for reply in replies {
        let is_done = reply.status() == Some(Status::Succ);
        reply.check(!is_done, expected, reply.summary())?;
    }
    if let (Some(list), Some(bound)) = (list, bound)
        && list.status() == Some(Status::Succ)
    {
        List::of(list)?.has(&bound.addr)?;
    }
    created.blocked_by("RTRY-05")?;
    // A driver that deletes nothing without lbInfo is judged by DLB-07.
    if lost_reply.status() == Some(Status::Succ) && lab.is_deleted(&lost).await.is_err() {
        lab.until_done(&without_lb_info(&lost)).await?;
        let is_known = lab.is_deleted(&lost).await.is_ok();
        lost_reply.check(!is_known, expected, lost_reply.summary())?;
    }
    Ok(())
}

/// As for an object whose creation got no response.
fn without_lb_info(lb: &LoadBalancer) -> WebhookCall {
    lb.delete().with("lbInfo", json!({})).unusual()
}
