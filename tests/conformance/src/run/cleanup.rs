//! Taking away what the kit made: the last first, whatever became of the check.

use super::{Run, lock};
use crate::lab::{Answer, Call, Status};
use crate::ledger::Made;
use crate::observer::Observation;
use futures::StreamExt as _;
use lbcf_driver_sdk::webhook::{
    DeleteLoadBalancer, DeleteLoadBalancerRequest, DeregisterBackend, DeregisterBackendRequest,
    StringMap,
};
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// How long all that is there is tried to be taken away.
const WHOLE: Duration = Duration::from_secs(60);
/// How long one thing is tried to be taken away.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long is waited where the driver does not say.
const PAUSE: Duration = Duration::from_millis(100);
/// After so many calls in a row without an answer the driver is taken for gone.
const SILENT: usize = 3;

/// After so many things in a row that are Running until nobody waits any more the rest is left.
const STUCK: usize = 3;
/// How many backends are taken away side by side.
const SIDE_BY_SIDE: usize = 8;

/// What is taken away in one go, and when it is given up.
#[derive(Debug)]
struct Going<'a> {
    run: &'a Run,
    until: Instant,
    /// The number of calls in a row without an answer that is too many.
    silent: usize,
    /// How many things in a row were Running to the end.
    stuck: AtomicUsize,
}

/// Takes away what a check made. What cannot be taken away stays in the ledger, and when the run is
/// over, [`everything`] does.
pub(super) async fn after(run: &Run, check: &'static str) {
    if run.is_over().is_some() {
        return;
    }
    let shared = run.shared_load_balancer().map(|shared| shared.lb_info);
    let is_shared = |made: &Made| matches!(made, Made::LoadBalancer { lb_info, .. } if lb_info.is_some() && *lb_info == shared);
    let mut made = run.ledger.of(check);
    made.retain(|made| !is_shared(made));
    let going = Going {
        run,
        until: (Instant::now() + WHOLE).min(run.deadline),
        silent: SILENT,
        stuck: AtomicUsize::new(0),
    };
    going.take_all(&made).await;
}

/// Takes away everything that is still there. A driver that was silent until now is tried once.
pub(super) async fn everything(run: &Run) {
    let all = run.ledger.all().into_iter().rev();
    let made: Vec<Made> = all.map(|(_, made)| made).collect();
    let going = Going {
        run,
        until: Instant::now() + WHOLE,
        silent: SILENT.max(lock(&run.silence).calls() + 1),
        stuck: AtomicUsize::new(0),
    };
    going.take_all(&made).await;
}

/// What could not be taken away, for people.
pub(super) async fn what_is_left(run: &Run, before: Option<&Observation>) -> Vec<String> {
    let mut left: Vec<String> = run
        .ledger
        .all()
        .iter()
        .map(|(check, made)| format!("{} (made by {check})", made.described()))
        .collect();
    let (Some(observer), Some(before)) = (&run.observer, before) else {
        return left;
    };
    match observer.look().await {
        Ok(seen) => {
            for load_balancer in seen.since(before) {
                let lb_info = serde_json::to_string(&load_balancer.lb_info).unwrap_or_default();
                if !left.iter().any(|line| line.contains(&lb_info)) {
                    left.push(format!(
                        "a load balancer with lbInfo {lb_info}, which was not there before the run"
                    ));
                }
            }
        }
        Err(error) => left.push(format!("nobody knows what: {error}")),
    }
    left
}

/// Why something was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Undone {
    /// It is still being done.
    StillRunning,
    /// It failed, or there was no answer.
    Refused,
}

impl Going<'_> {
    /// Takes things away in this order, backends that follow each other side by side.
    async fn take_all(&self, made: &[Made]) {
        let is_backend = |made: &Made| matches!(made, Made::Backend { .. });
        for these in made.chunk_by(|one, next| is_backend(one) && is_backend(next)) {
            futures::stream::iter(these)
                .for_each_concurrent(SIDE_BY_SIDE, |made| self.take(made))
                .await;
        }
    }

    async fn take(&self, made: &Made) {
        // No longer than an operation may take.
        let patience = PATIENCE.min(self.run.fixture.budgets.asynchronous);
        let until = self.until.min(Instant::now() + patience);
        let gone = match made {
            Made::Backend { ensure } => self.until_done(&deregister(ensure), until).await,
            Made::LoadBalancer {
                create,
                lb_info,
                unfinished,
            } => {
                // One that is still being made is waited for: its identity is needed to delete it.
                let lb_info = match (lb_info, unfinished) {
                    (None, true) => match self.until_done(create, until).await {
                        Ok(answer) => answer.map("lbInfo"),
                        // Nobody can delete it yet; it stays in the ledger, and is told.
                        Err(Undone::StillRunning) => return,
                        Err(Undone::Refused) => StringMap::new(),
                    },
                    (known, _) => known.clone().unwrap_or_default(),
                };
                self.until_done(&delete(create, lb_info), until).await
            }
        };
        if gone.is_ok_and(|answer| answer.status() == Some(Status::Succ)) {
            self.run.ledger.forget(made);
        }
    }

    /// Calls until it is done.
    async fn until_done(&self, call: &Call, until: Instant) -> Result<Answer, Undone> {
        let run = self.run;
        let mut failures = 0;
        while !self.is_given_up(until) {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = run.timeout(call.webhook()).min(left);
            let answer = run.call(None, call, timeout).await;
            let status = answer.status();
            let wait = match status {
                Some(Status::Succ) => {
                    self.stuck.store(0, Ordering::Relaxed);
                    return Ok(answer);
                }
                Some(Status::Running) => answer
                    .delay()
                    .map_or(PAUSE, |delay| run.settings.scaled(delay)),
                // It may depend on something that is just going.
                Some(Status::Fail) if failures < 2 => {
                    failures += 1;
                    PAUSE
                }
                _ => return Err(Undone::Refused),
            };
            if wait > until.saturating_duration_since(Instant::now()) {
                if status == Some(Status::Running) {
                    self.stuck.fetch_add(1, Ordering::Relaxed);
                    return Err(Undone::StillRunning);
                }
                return Err(Undone::Refused);
            }
            tokio::time::sleep(wait).await;
        }
        Err(Undone::Refused)
    }

    fn is_given_up(&self, until: Instant) -> bool {
        Instant::now() >= until
            || self.stuck.load(Ordering::Relaxed) >= STUCK
            || lock(&self.run.silence).calls() >= self.silent
    }
}

fn delete(create: &Call, lb_info: StringMap) -> Call {
    let uid = in_parentheses(create);
    Call::of::<DeleteLoadBalancer>(&DeleteLoadBalancerRequest {
        record_id: format!("deleteLoadBalancer({uid})"),
        lb_info,
        attributes: map(create, "attributes"),
        ..Default::default()
    })
}

fn deregister(ensure: &Call) -> Call {
    let uid = in_parentheses(ensure);
    let addr = ensure.field("backendAddr").and_then(Value::as_str);
    Call::of::<DeregisterBackend>(&DeregisterBackendRequest {
        record_id: format!("deregisterBackend({uid})"),
        lb_info: map(ensure, "lbInfo"),
        backend_addr: addr.unwrap_or_default().to_owned(),
        parameters: map(ensure, "parameters"),
        injected_info: map(ensure, "injectedInfo"),
        ..Default::default()
    })
}

/// The uid of an object from the recordID of a call about it.
fn in_parentheses(call: &Call) -> &str {
    let record_id = call
        .field("recordID")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let inner = record_id.split_once('(').map_or(record_id, |(_, uid)| uid);
    inner.strip_suffix(')').unwrap_or(inner)
}

fn map(call: &Call, name: &str) -> StringMap {
    let value = call.field(name).cloned().unwrap_or_default();
    serde_json::from_value(value).unwrap_or_default()
}
