//! healthz of a busy driver.

use super::summary;
use crate::check::{Check, Concurrency, Group};
use crate::lab::{DriverReply, Lab, LoadBalancer, WebhookCall, healthz, validate_backend};
use crate::outcome::{CheckError, CheckOutcome};
use futures::future::{join, join_all};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The number of concurrent calls.
const CONCURRENCY: usize = 20;
/// The time limit of a response.
const LIMIT: Duration = Duration::from_secs(1);
/// One slow response may be due to the machine; two are due to the driver.
const TOO_MANY: usize = 2;
const PAUSE: Duration = Duration::from_millis(20);
/// The most calls of healthz.
const MAX_CALLS: usize = 200;

pub(super) static HLTH_02: Check = Check {
    id: "HLTH-02",
    rule: "healthz responds within a second, also during 20 concurrent calls and while an \
           operation is Running",
    why: "Probes wait about a second. A driver that responds later is restarted in the middle of \
          its work, just when there is much of it.",
    source: "derived: Kubernetes' probes have a timeout of 1 s by default",
    typical: "One thread does everything, blocking calls run on the event loop, or healthz calls \
              the cloud each time. Move blocking work elsewhere, and respond to healthz from known \
              state.",
    concurrency: Concurrency::Exclusive,
    ..Check::should(Group::Hlth, |lab| Box::pin(hlth_02(lab)))
};

async fn hlth_02(lab: &Lab) -> CheckOutcome {
    let idle = lab.call(&healthz()).await;
    if idle.healthy().is_none() {
        let failed = idle.failed("a response with healthy", summary(&idle));
        return Err(failed.blocked_by("HLTH-01"));
    }
    let mut slow: Vec<DriverReply> = [idle].into_iter().filter(is_slow).collect();
    // During the creation asynchronous drivers have a Running operation.
    let (created, replies) = during(lab, lab.given_load_balancer()).await;
    slow.extend(replies?);
    let load_balancer = created.ok();
    if load_balancer.is_none() {
        lab.note("no load balancer could be created: healthz was called during validations only");
    }
    let calls = calls(lab, load_balancer.as_ref()).await;
    for _ in 0..2 {
        let work = join_all(calls.iter().map(|call| lab.call(call)));
        let (_, replies) = during(lab, work).await;
        slow.extend(replies?);
        match slow.iter().max_by_key(|reply| reply.exchange.took) {
            None => break,
            Some(slowest) if slow.len() >= TOO_MANY => {
                let expected = format!("a response within {LIMIT:?}, also during other calls");
                let got = format!("{}, {}", took(slowest), summary(slowest));
                return Err(slowest.failed(expected, got));
            }
            Some(_) => {}
        }
    }
    if let [once] = &slow[..] {
        lab.note(format!(
            "one response came {}, later ones in time",
            took(once)
        ));
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
) -> (T, Result<Vec<DriverReply>, CheckError>) {
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
            if reply.healthy().is_none() && !is_slow {
                let expected = "a response with healthy, also during other calls";
                return Err(reply.failed(expected, summary(&reply)));
            }
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
async fn calls(lab: &Lab, load_balancer: Option<&LoadBalancer>) -> Vec<WebhookCall> {
    let mut calls = Vec::new();
    if let Some(load_balancer) = load_balancer {
        for _ in 0..CONCURRENCY / 2 {
            match lab.given_backend(load_balancer).await {
                Ok(backend) => calls.push(backend.ensure()),
                Err(_) => break,
            }
        }
        if lab.generates_addresses() {
            for _ in 0..CONCURRENCY / 4 {
                calls.push(lab.backend(load_balancer).generate());
            }
        }
    }
    let not_created = lab.load_balancer();
    let of = load_balancer.unwrap_or(&not_created);
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
