//! healthz, as probes and controllers call it.

use super::prelude::*;
use bytes::Bytes;
use futures::future::{join, join_all};
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) const CHECKS: &[&Check] = &[&HLTH_01, &HLTH_02, &HLTH_03, &HLTH_04];

/// A summary of the driver's health, for people.
fn summary(reply: &DriverReply) -> String {
    if reply.is_object() && reply.healthy().is_none() {
        return "a response without healthy".to_owned();
    }
    reply.summary()
}

check! { HLTH_01 = hlth_01, Hlth,
    why "The original controller configures healthz for every driver. A driver without it counts \
         as broken, although it works.",
    source "Original controller, CallHealthz (b12, b151, b156)",
    typical "The webhook is missing, because the older specification does not mention it, or it \
             returns status Succ as operations do, or plain text. Return {\"healthy\": true}.",
}

async fn hlth_01(lab: &Lab) -> CheckOutcome {
    for _ in 0..lab.repeats().max(1) {
        is_healthy(&lab.call(&healthz()).await, "since the driver works")?;
    }
    Ok(())
}

check! { HLTH_02 = hlth_02, Hlth, runs Exclusive,
    why "Probes wait about a second. A driver that responds later is restarted in the middle of \
         its work, just when there is much of it.",
    source "derived: Kubernetes' probes have a timeout of 1 s by default",
    typical "One thread does everything, blocking calls run on the event loop, or healthz calls \
             the cloud each time. Move blocking work elsewhere, and respond to healthz from known \
             state.",
}

async fn hlth_02(lab: &Lab) -> CheckOutcome {
    let idle = lab.call(&healthz()).await;
    let is_valid = idle.healthy().is_some();
    idle.check(is_valid, "a response with healthy", summary(&idle))
        .blocked_by("HLTH-01")?;
    let mut slow: Vec<DriverReply> = [idle].into_iter().filter(is_slow).collect();
    // During the creation asynchronous drivers have a Running operation.
    let (created, replies) = during(lab, lab.given_load_balancer()).await;
    slow.extend(replies?);
    let lb = created.ok();
    if lb.is_none() {
        lab.note("no load balancer could be created: healthz was called during validations only");
    }
    let calls = calls(lab, lb.as_ref()).await;
    for _ in 0..2 {
        let work = join_all(calls.iter().map(|call| lab.call(call)));
        let (_, replies) = during(lab, work).await;
        slow.extend(replies?);
        let Some(slowest) = slow.iter().max_by_key(|reply| reply.exchange.took) else {
            break;
        };
        let expected = format!("a response within {LIMIT:?}, also during other calls");
        let got = format!("{}, {}", took(slowest), summary(slowest));
        slowest.check(slow.len() < TOO_MANY, expected, got)?;
    }
    if let [once] = &slow[..] {
        let took = took(once);
        lab.note(format!("one response came {took}, later ones in time"));
    }
    Ok(())
}

fn is_slow(reply: &DriverReply) -> bool {
    reply.exchange.took > LIMIT
}

fn took(reply: &DriverReply) -> String {
    format!("after {} ms", reply.exchange.took.as_millis())
}

/// Calls healthz repeatedly during other work, and returns the slow responses.
///
/// # Errors
/// In the second part: [`CheckError::Failed`], when a response has no health.
async fn during<T>(
    lab: &Lab,
    work: impl Future<Output = T>,
) -> (T, CheckOutcome<Vec<DriverReply>>) {
    let done = AtomicBool::new(false);
    let work = async {
        let output = work.await;
        done.store(true, Ordering::Relaxed);
        output
    };
    let calls = async {
        let mut slow = Vec::new();
        for _ in 0..MAX_CALLS {
            let reply = lab.call(&healthz()).await;
            let is_slow = is_slow(&reply);
            let expected = "a response with healthy, also during other calls";
            let is_right = reply.healthy().is_some() || is_slow;
            reply.check(is_right, expected, summary(&reply))?;
            slow.extend(is_slow.then_some(reply));
            if slow.len() >= TOO_MANY || done.load(Ordering::Relaxed) {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(slow)
    };
    join(work, calls).await
}

/// Calls that change nothing but the check's own load balancer.
async fn calls(lab: &Lab, lb: Option<&LoadBalancer>) -> Vec<WebhookCall> {
    let mut calls = Vec::new();
    if let Some(lb) = lb {
        for _ in 0..CONCURRENCY / 2 {
            match lab.given_backend(lb).await {
                Ok(backend) => calls.push(backend.ensure()),
                Err(_) => break,
            }
        }
        if lab.generates_addresses() {
            for _ in 0..CONCURRENCY / 4 {
                calls.push(lab.backend(lb).generate());
            }
        }
    }
    let not_created = lab.load_balancer();
    let of = lb.unwrap_or(&not_created);
    let types = lab.backend_types();
    while calls.len() < CONCURRENCY {
        calls.push(match types.first() {
            Some(backend_type) if calls.len() % 2 == 0 => {
                validate_backend(of, backend_type, &lab.backend(of).parameters)
            }
            _ => not_created.validate(),
        });
    }
    calls
}

check! { HLTH_03 = hlth_03, Hlth,
    why "Probes of other tools send no body. To them a driver that requires JSON is down.",
    source "derived: the request has no fields (b151)",
    typical "The framework parses JSON before it calls the handler, and rejects an empty body or \
             a missing Content-Type. Ignore the body of this webhook.",
}

async fn hlth_03(lab: &Lab) -> CheckOutcome {
    let reply = lab.call(&healthz()).await;
    is_healthy(&reply, "since the driver works").blocked_by("HLTH-01")?;
    let request = Request::post("healthz", Bytes::new());
    let reply = lab.send(&request, "healthz", RequestKind::Unusual).await;
    is_healthy(&reply, "as for {}: the request has no fields")
}

fn is_healthy(reply: &DriverReply, since: &str) -> CheckOutcome {
    let expected = format!("healthy true, {since}");
    reply.check(reply.healthy() == Some(true), expected, summary(reply))
}

/// The number of concurrent calls.
const CONCURRENCY: usize = 20;
/// The time limit of a response.
const LIMIT: Duration = Duration::from_secs(1);
/// One slow response may be due to the machine; two are due to the driver.
const TOO_MANY: usize = 2;
const PAUSE: Duration = Duration::from_millis(20);
/// The most calls of healthz.
const MAX_CALLS: usize = 200;

check! { HLTH_04 = hlth_04, Hlth,
    why "The controller calls a driver by its features. One that cannot be read is a driver that \
         does not respond, and one that comes and goes changes how backends are replaced.",
    source "LBCF webhook specification, versions and features; d96, d115",
    typical "The version as a number, features as one text with commas, or as an object.",
}

async fn hlth_04(lab: &Lab) -> CheckOutcome {
    let mut first = None;
    for _ in 0..lab.repeats().max(2) {
        let reply = lab.call(&healthz()).await;
        is_healthy(&reply, "since the driver works").blocked_by("HLTH-01")?;
        let known = |name| reply.field(name).filter(|value| !value.is_null()).cloned();
        let (version, features) = (known("specification"), known("features"));
        let is_text = version.as_ref().is_none_or(Value::is_string);
        let texts = |list: &Value| {
            list.as_array()
                .is_some_and(|it| it.iter().all(Value::is_string))
        };
        let is_valid = is_text && features.as_ref().is_none_or(texts);
        let got = format!("specification {version:?}, features {features:?}");
        let expected = "specification as a text, and features as an array of texts, or neither";
        reply.check(is_valid, expected, &got)?;
        let before = first.get_or_insert_with(|| got.clone());
        reply.check(
            *before == got,
            format!("the same as before: {before}"),
            &got,
        )?;
    }
    Ok(())
}
