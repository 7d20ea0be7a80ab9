//! Deletes the resources that the kit created, the last first, whatever the outcome of the check.

use crate::call::{DriverReply, Status, WebhookCall};
use crate::lab::cloud::STRANGERS_STAY;
use crate::ledger::CreatedResource;
use crate::observer::{Observation, Observer, ObserverError};
use crate::run::{Run, StopReason};
use futures::StreamExt as _;
use lbcf_driver_sdk::webhook::{DeleteLoadBalancer, DeregisterBackend, StringMap};
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// The time limit of a whole cleanup.
const TOTAL_LIMIT: Duration = Duration::from_secs(60);
/// That of a run in which nothing could be created.
const HOPELESS_LIMIT: Duration = Duration::from_secs(5);
/// The default wait between two calls.
const PAUSE: Duration = Duration::from_millis(100);
/// The number of calls in a row without a response that end a cleanup.
const MAX_SILENT: usize = 3;
/// The number of resources in a row that stay Running and end a cleanup.
const MAX_STUCK: usize = 3;
/// The number of backends that are deregistered at the same time.
const CONCURRENCY: usize = 8;

#[derive(Debug)]
struct Cleanup<'a> {
    run: &'a Run,
    until: Instant,
    /// The number of calls in a row without a response that is too many.
    max_silent: usize,
    /// The number of resources in a row that stayed Running.
    stuck: AtomicUsize,
}

/// Deletes the resources of a check. The rest stays in the ledger for [`everything`] at the end of
/// the run.
pub(super) async fn after(run: &Run, check: &'static str) {
    if run.stop_reason().is_some() {
        return;
    }
    let shared = run.shared_load_balancer().map(|shared| shared.lb_info);
    let mut made = run.ledger.of(check);
    made.retain(|made| made.lb_info.is_none() || made.lb_info != shared);
    let cleanup = Cleanup {
        run,
        until: (Instant::now() + TOTAL_LIMIT).min(run.deadline),
        max_silent: MAX_SILENT,
        stuck: AtomicUsize::new(0),
    };
    cleanup.delete_all(&made).await;
}

/// Deletes all remaining resources. A driver that did not respond before is called once.
pub(super) async fn everything(run: &Run) {
    let mut made = run.ledger.all();
    made.reverse();
    let limit = match run.stopped() {
        Some(StopReason::Hopeless) => HOPELESS_LIMIT,
        _ => TOTAL_LIMIT,
    };
    let cleanup = Cleanup {
        run,
        until: Instant::now() + limit,
        max_silent: MAX_SILENT.max(run.patience().silent_calls() + 1),
        stuck: AtomicUsize::new(0),
    };
    cleanup.delete_all(&made).await;
}

/// The resources that could not be deleted, for people.
pub(super) async fn left_behind(run: &Run, before: Option<&Observation>) -> Vec<String> {
    let described = |made: &CreatedResource| {
        let (what, call) = (made.described(), made.created_by());
        format!("{what} (created by {}: {call})", made.check)
    };
    let mut left: Vec<String> = run.ledger.all().iter().map(described).collect();
    let (Some(observer), Some(before)) = (&run.observer, before) else {
        return left;
    };
    match without_strangers(run, observer, before).await {
        Ok(seen) => {
            for load_balancer in seen.since(before) {
                let lb_info = serde_json::to_string(&load_balancer.lb_info).unwrap_or_default();
                let strangers = run.strangers();
                if strangers.were_seen() && strangers.is_unnamed(&load_balancer.lb_info) {
                    continue;
                }
                drop(strangers);
                if !left.iter().any(|line| line.contains(&lb_info)) {
                    let creator = creator(run, &load_balancer.lb_info);
                    left.push(format!(
                        "a load balancer with lbInfo {lb_info}, which did not exist before the run{creator}"
                    ));
                }
            }
        }
        Err(error) => {
            run.observer_failed("the end of the run", &error);
            left.push(format!("unknown resources: {error}"));
        }
    }
    left
}

/// The load balancers in the cloud, once the load balancers of others had the time to go.
async fn without_strangers(
    run: &Run,
    observer: &Observer,
    before: &Observation,
) -> Result<Observation, ObserverError> {
    let until = Instant::now() + STRANGERS_STAY;
    loop {
        let seen = observer.observe().await?;
        let may_go = {
            let mut strangers = run.strangers();
            strangers.note(&seen);
            let mut new = seen.since(before).into_iter();
            !strangers.were_seen() && new.any(|it| strangers.is_unnamed(&it.lb_info))
        };
        if !may_go || Instant::now() >= until {
            return Ok(seen);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The check and the call whose response names this load balancer first, in parentheses.
fn creator(run: &Run, lb_info: &StringMap) -> String {
    let created = run.record.all().into_iter().find(|exchange| {
        exchange.webhook == Some("createLoadBalancer")
            && DriverReply::new(exchange.clone()).string_map("lbInfo") == *lb_info
    });
    let Some(exchange) = created else {
        return " (no response to createLoadBalancer names it)".to_owned();
    };
    let by = exchange.check.unwrap_or("the cleanup of the run");
    let body = serde_json::from_slice::<Value>(&exchange.sent.body).unwrap_or_default();
    match body["recordID"].as_str() {
        Some(id) => format!(" (created by {by}: createLoadBalancer under recordID {id})"),
        None => format!(" (created by {by}: createLoadBalancer without a recordID)"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CleanupError {
    StillRunning,
    /// Fail, or no response.
    Failed,
}

impl Cleanup<'_> {
    /// Deletes in this order; consecutive backends concurrently.
    async fn delete_all(&self, made: &[CreatedResource]) {
        for these in made.chunk_by(|one, next| one.is_backend() && next.is_backend()) {
            futures::stream::iter(these)
                .for_each_concurrent(CONCURRENCY, |made| self.delete(made))
                .await;
        }
    }

    async fn delete(&self, made: &CreatedResource) {
        let until = self.until.min(Instant::now() + self.run.operation_budget());
        let deleted = if made.is_backend() {
            self.until_done(&deregister(&made.call), until).await
        } else {
            // The identity is needed for the deletion, so the creation has to end first.
            let lb_info = match (&made.lb_info, made.unfinished) {
                (None, true) => match self.until_done(&made.call, until).await {
                    Ok(reply) => reply.string_map("lbInfo"),
                    // It stays in the ledger, and so in the report.
                    Err(CleanupError::StillRunning) => return,
                    Err(CleanupError::Failed) => StringMap::new(),
                },
                (known, _) => known.clone().unwrap_or_default(),
            };
            self.until_done(&delete(&made.call, lb_info), until).await
        };
        if deleted.is_ok_and(|reply| reply.status() == Some(Status::Succ)) {
            self.run.ledger.remove(made);
        }
    }

    /// Repeats a call until it succeeds.
    async fn until_done(
        &self,
        call: &WebhookCall,
        until: Instant,
    ) -> Result<DriverReply, CleanupError> {
        let run = self.run;
        let began = Instant::now();
        let mut failures = 0;
        while !self.is_hopeless(until) && !run.patience().is_silent(call.webhook()) {
            let left = until.saturating_duration_since(Instant::now());
            let timeout = run.timeout(call.webhook()).min(left);
            let request = call.request(&run.retry_id());
            let reply = run.call(None, call, &request, timeout).await;
            let status = reply.status();
            if matches!(status, Some(Status::Succ | Status::Fail)) {
                run.patience().ended(call.webhook());
            }
            let wait = match status {
                Some(Status::Succ) => {
                    self.stuck.store(0, Ordering::Relaxed);
                    return Ok(reply);
                }
                // It had its time.
                Some(Status::Running) if run.patience().never_ends(call.webhook()) => {
                    return Err(CleanupError::StillRunning);
                }
                Some(Status::Running) => reply
                    .retry_delay()
                    .map_or(PAUSE, |delay| run.settings.scaled(delay)),
                // It may depend on another resource that is being deleted.
                Some(Status::Fail) if failures < 2 => {
                    failures += 1;
                    PAUSE
                }
                _ => return Err(CleanupError::Failed),
            };
            if wait >= until.saturating_duration_since(Instant::now()) {
                if status == Some(Status::Running) {
                    if began.elapsed().saturating_add(wait) >= run.operation_budget() {
                        run.patience().gave_up(call.webhook());
                    }
                    self.stuck.fetch_add(1, Ordering::Relaxed);
                    return Err(CleanupError::StillRunning);
                }
                return Err(CleanupError::Failed);
            }
            tokio::time::sleep(wait).await;
        }
        Err(CleanupError::Failed)
    }

    fn is_hopeless(&self, until: Instant) -> bool {
        Instant::now() >= until
            || self.stuck.load(Ordering::Relaxed) >= MAX_STUCK
            || self.run.patience().silent_calls() >= self.max_silent
    }
}

fn delete(create: &WebhookCall, lb_info: StringMap) -> WebhookCall {
    let uid = in_parentheses(create);
    WebhookCall::of::<DeleteLoadBalancer>(&DeleteLoadBalancer {
        record_id: format!("deleteLoadBalancer({uid})"),
        lb_info,
        attributes: create.string_map("attributes"),
        ..Default::default()
    })
}

fn deregister(ensure: &WebhookCall) -> WebhookCall {
    let uid = in_parentheses(ensure);
    let addr = ensure.field("backendAddr").and_then(Value::as_str);
    WebhookCall::of::<DeregisterBackend>(&DeregisterBackend {
        record_id: format!("deregisterBackend({uid})"),
        lb_info: ensure.string_map("lbInfo"),
        backend_addr: addr.unwrap_or_default().to_owned(),
        parameters: ensure.string_map("parameters"),
        injected_info: ensure.string_map("injectedInfo"),
        ..Default::default()
    })
}

/// The uid of the object in a recordID.
fn in_parentheses(call: &WebhookCall) -> &str {
    let record_id = call.field("recordID").and_then(Value::as_str);
    let record_id = record_id.unwrap_or_default();
    let inner = record_id.split_once('(').map_or(record_id, |(_, uid)| uid);
    inner.strip_suffix(')').unwrap_or(inner)
}
