//! Asking a driver that is at work.

use super::{health, said};
use crate::check::{Check, Company, Feature, Group, Level, Observer};
use crate::lab::{Answer, Call, Lab, LoadBalancer, validate_backend};
use crate::verdict::{NotPassed, Verdict};
use futures::future::{join, join_all};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How many operations go on meanwhile.
const SIDE_BY_SIDE: usize = 20;
/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(1);
/// One slow answer may be the machine's hiccup; two are the driver's habit.
const HABIT: usize = 2;
/// How long to wait between two questions, and how many there are at most.
const PAUSE: Duration = Duration::from_millis(20);
const QUESTIONS: usize = 200;

/// Work keeps nobody from saying how one is.
pub(super) static HLTH_02: Check = Check {
    id: "HLTH-02",
    level: Level::Should,
    group: Group::Hlth,
    rule: "healthz is answered within a second, also while 20 calls are at work and while an operation is Running",
    why: "Probes wait a second or so. A driver that keeps them waiting is restarted in the middle \
          of its work, just when there is much of it.",
    source: "Derived: Kubernetes' probes have a timeout of 1 s by default",
    typical: "One thread does everything, or the work is done by calls that block the event loop, \
              or healthz asks the cloud each time. Let work wait where it does not hold up others, \
              and answer healthz from what is known.",
    observer: Observer::Unused,
    needs: &[],
    company: Company::Alone,
    code: |lab| Box::pin(hlth_02(lab)),
};

async fn hlth_02(lab: &Lab) -> Verdict {
    let idle = lab.call(&health()).await;
    if idle.healthy().is_none() {
        let failed = idle.failed("an answer with healthy", said(&idle));
        return Err(failed.blocked_by("HLTH-01"));
    }
    let mut slow: Vec<Answer> = idle_is_slow(idle);
    // For a driver with operations that go on after the answer, that is the time to ask.
    let (given, asked) = meanwhile(lab, lab.given_load_balancer()).await;
    slow.extend(asked?);
    let load_balancer = given.ok();
    if load_balancer.is_none() {
        lab.note("no load balancer could be had: healthz was asked during validations only");
    }
    let calls = calls(lab, load_balancer.as_ref()).await;
    for _ in 0..2 {
        let work = join_all(calls.iter().map(|call| lab.call(call)));
        let (_, asked) = meanwhile(lab, work).await;
        slow.extend(asked?);
        match slow.iter().max_by_key(|answer| answer.exchange.took) {
            None => break,
            Some(slowest) if slow.len() >= HABIT => {
                let expected = format!("an answer within {LIMIT:?}, whatever else goes on");
                let got = format!("{}, {}", took(slowest), said(slowest));
                return Err(slowest.failed(expected, got));
            }
            Some(_) => {}
        }
    }
    if let [once] = &slow[..] {
        lab.note(format!(
            "one answer came {}, later ones in time",
            took(once)
        ));
    }
    Ok(())
}

fn idle_is_slow(idle: Answer) -> Vec<Answer> {
    [idle].into_iter().filter(is_slow).collect()
}

fn is_slow(answer: &Answer) -> bool {
    answer.exchange.took > LIMIT
}

fn took(answer: &Answer) -> String {
    format!("after {} ms", answer.exchange.took.as_millis())
}

/// Asks for the health again and again while work is done; the answers that came too late.
///
/// # Errors
/// The second part: [`NotPassed::Failed`], when one was no answer.
async fn meanwhile<T>(
    lab: &Lab,
    work: impl Future<Output = T>,
) -> (T, Result<Vec<Answer>, NotPassed>) {
    let done = AtomicBool::new(false);
    let work = async {
        let outcome = work.await;
        done.store(true, Ordering::Relaxed);
        outcome
    };
    let asking = async {
        let mut slow = Vec::new();
        for _ in 0..QUESTIONS {
            let answer = lab.call(&health()).await;
            let timed_out = is_slow(&answer);
            if answer.healthy().is_none() && !timed_out {
                let expected = "an answer with healthy, also while others are at work";
                return Err(answer.failed(expected, said(&answer)));
            }
            slow.extend(timed_out.then_some(answer));
            if slow.len() >= HABIT || done.load(Ordering::Relaxed) {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(slow)
    };
    join(work, asking).await
}

/// Calls that change nothing but the check's own load balancer, to be made at the same time.
async fn calls(lab: &Lab, load_balancer: Option<&LoadBalancer>) -> Vec<Call> {
    let mut calls = Vec::new();
    if let Some(load_balancer) = load_balancer {
        for _ in 0..SIDE_BY_SIDE / 2 {
            match lab.given_backend(load_balancer).await {
                Ok(backend) => calls.push(backend.ensure()),
                Err(_) => break,
            }
        }
        let generates = lab.has(Feature::PodBackends) || lab.has(Feature::ServiceBackends);
        for _ in 0..if generates { SIDE_BY_SIDE / 4 } else { 0 } {
            calls.push(lab.backend(load_balancer).generate());
        }
    }
    let not_created = lab.load_balancer();
    let of = load_balancer.unwrap_or(&not_created);
    let types = lab.backend_types();
    while calls.len() < SIDE_BY_SIDE {
        calls.push(match types.first() {
            Some(backend_type) if calls.len() % 2 == 0 => {
                let sample = lab.fixture().backend.valid.first();
                let parameters = sample.map(|map| lab.filled(map)).unwrap_or_default();
                validate_backend(of, backend_type, &parameters)
            }
            _ => not_created.validate(),
        });
    }
    calls
}
