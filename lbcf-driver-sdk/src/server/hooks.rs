//! Runs hooks as tasks of their own, and waits for them.

mod admission;
mod batch;
mod call_state;
mod shared_calls;
mod waiting;

use super::contain::{poll_contained, run_hook};
use super::hashed::Prehashed;
use super::keyed_mutex::{KeyedMutex, Waiter};
use super::limits::{HookPermit, HookPermits};
use super::metrics::{Metrics, WebhookMetrics};
use super::pending::Pending;
use super::rate::HookRate;
use super::reject::{HookResponse, panicked};
use super::single_flight::{BackendId, CallId, ContentMatch, IdempotencyKey, Lookup};
use admission::Admission;
use axum::body::Bytes;
pub(super) use batch::{Boarding, LoadBalancers, Place};
use call_state::{CallState, StateReceiver, StateSender};
use shared_calls::SharedCalls;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};
pub(super) use waiting::WaitingCall;

/// Counts the hooks of a router that run or wait to run. Clones count the same hooks.
#[derive(Debug, Clone)]
pub struct RunningHooks(TaskTracker);

impl RunningHooks {
    /// The number of hooks that run or wait to run.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Waits until no hook is left. For a shutdown, call it after the server has stopped accepting
    /// calls, within a timeout of your own: hooks have no time limit.
    pub async fn idle(&self) {
        self.0.wait().await;
    }
}

impl Default for RunningHooks {
    fn default() -> Self {
        let tracker = TaskTracker::new();
        // `wait` only returns on a closed tracker, which tracks new tasks all the same.
        tracker.close();
        Self(tracker)
    }
}

/// A hook with its request, up to the response. Boxed early, because a request may contain a pod
/// and every future around it would reserve that space twice.
pub(super) type HookFuture = Pin<Box<dyn Future<Output = HookResponse> + Send>>;

/// An operation that a call requests.
pub(super) struct Operation<'a> {
    pub(super) webhook: &'static str,
    pub(super) metrics: &'a Arc<WebhookMetrics>,
    pub(super) span: Span,
    pub(super) key: IdempotencyKey,
    /// The body as received.
    pub(super) request: Bytes,
    /// Reduces a body to its content: canonical, and without what differs between retries.
    pub(super) content: fn(&Bytes) -> Bytes,
    pub(super) backend: Option<BackendId>,
    pub(super) serial_key: Option<String>,
    /// Where it waits to be taken along in a batch, if it may be in one.
    pub(super) place: Option<Arc<Place>>,
    /// True if it counts for the rate of hooks.
    pub(super) is_limited: bool,
}

/// The hooks of one router.
pub(super) struct Hooks {
    running: RunningHooks,
    calls: Arc<SharedCalls>,
    records: KeyedMutex<IdempotencyKey, Prehashed>,
    pub(super) load_balancers: LoadBalancers,
    permits: Arc<HookPermits>,
    rate: Arc<HookRate>,
}

/// An operation as its call finds it.
pub(super) enum StartedCall {
    Done(HookResponse),
    Waiting(WaitingCall),
    NotStarted(Pending),
}

/// The part of a call in an operation.
enum SingleFlight {
    Collected(HookResponse),
    Joined(CallId, StateReceiver),
    Started(CallId, Admission, StateSender),
}

impl Hooks {
    pub(super) fn new(
        running: RunningHooks,
        metrics: &Metrics,
        keep_results: Duration,
        permits: HookPermits,
        rate: HookRate,
    ) -> Self {
        let calls = SharedCalls::new(keep_results, metrics.kept_results().clone());
        Self {
            running,
            calls: Arc::new(calls),
            records: KeyedMutex::default(),
            load_balancers: KeyedMutex::default(),
            permits: Arc::new(permits),
            rate: Arc::new(rate),
        }
    }

    /// Runs `hook`, unless an equal operation runs or has left its result.
    pub(super) fn operate(&self, operation: Operation<'_>, hook: HookFuture) -> StartedCall {
        let (id, state) = match self.join_or_start(&operation) {
            Err(pending) => return StartedCall::NotStarted(pending),
            Ok(SingleFlight::Collected(response)) => {
                operation.metrics.collected.inc();
                tracing::debug!(parent: &operation.span, "collected the result of an earlier call");
                return StartedCall::Done(response);
            }
            Ok(SingleFlight::Joined(id, state)) => {
                operation.metrics.joined.inc();
                tracing::debug!(parent: &operation.span, "joined a running operation");
                (id, state)
            }
            Ok(SingleFlight::Started(id, admission, state)) => {
                match self.start(&operation, id, admission, state, hook) {
                    Ok(response) => return StartedCall::Done(response),
                    Err(state) => (id, state),
                }
            }
        };
        let calls = Arc::clone(&self.calls);
        StartedCall::Waiting(WaitingCall::new(calls, operation.key, id, state))
    }

    /// Polls an operation that need not wait once on the caller's task, and spawns it if it is not
    /// done then. A hook that is done at once saves the hand-over to another task and back (the
    /// README's section on speed).
    fn start(
        &self,
        operation: &Operation<'_>,
        id: CallId,
        admission: Admission,
        state: StateSender,
        hook: HookFuture,
    ) -> Result<HookResponse, StateReceiver> {
        let webhook = operation.webhook;
        let mut hook = MeasuredHook::new(operation.metrics, hook);
        if admission.permit.is_ok() {
            let token = self.running.0.token();
            let first = operation.span.in_scope(|| hook.first_poll());
            drop(token);
            if let Poll::Ready(result) = first {
                drop(hook);
                self.calls.lock().done(&operation.key, id);
                let response = result.unwrap_or_else(|| panicked(webhook));
                if state.has_receivers() {
                    state.send(CallState::Done(response.clone()));
                }
                return Ok(response);
            }
        }
        let receiver = state.subscribe();
        let calls = Arc::clone(&self.calls);
        let (permits, rate) = (Arc::clone(&self.permits), Arc::clone(&self.rate));
        let key = operation.key.clone();
        let task = async move {
            let (record, load_balancer, permit) = admission.acquire(&permits, &rate, &state).await;
            let result = hook.end().await;
            drop(permit);
            calls.finished(&key, id, result.clone());
            let response = result.unwrap_or_else(|| panicked(webhook));
            state.send(CallState::Done(response));
            drop((load_balancer, record));
        };
        let task = task.instrument(operation.span.clone());
        self.running.0.spawn(task);
        Err(receiver)
    }

    fn join_or_start(&self, operation: &Operation<'_>) -> Result<SingleFlight, Pending> {
        let Operation { key, request, .. } = operation;
        let mut content = ContentMatch::NotCompared;
        loop {
            let mut calls = self.calls.lock();
            let (id, other) = match calls.lookup(key, request, content) {
                Lookup::Collect(response) => return Ok(SingleFlight::Collected(response)),
                Lookup::Join(id, state) => return Ok(SingleFlight::Joined(id, state)),
                Lookup::Miss => {
                    // Both queues are joined under one lock, so that operations only wait for
                    // earlier ones and never for each other.
                    let admission = self.admit(operation)?;
                    let state = StateSender::new(match &admission.permit {
                        Ok(_) => CallState::Running,
                        Err(_) => CallState::Queued,
                    });
                    let id = calls.start(key, request, operation.backend, state.subscribe());
                    return Ok(SingleFlight::Started(id, admission, state));
                }
                Lookup::Compare(id, other) => (id, other),
            };
            // Decoding requests takes time, for which other calls need not wait.
            drop(calls);
            content = if (operation.content)(request) == (operation.content)(&other) {
                ContentMatch::Equal(id)
            } else {
                ContentMatch::Different(id)
            };
        }
    }

    fn admit(&self, operation: &Operation<'_>) -> Result<Admission, Pending> {
        let record = self.records.enqueue(operation.key.clone(), ());
        let key = operation.serial_key.as_ref();
        let load_balancer = key.map(|key| {
            let place = operation.place.clone();
            self.load_balancers.enqueue(key.clone(), place)
        });
        let waits = record.is_waiting() || load_balancer.as_ref().is_some_and(Waiter::is_waiting);
        let has_token = || !operation.is_limited || self.rate.take(key.map(String::as_str));
        let at_once = (!waits).then(|| self.permits.try_acquire()).flatten();
        let permit = match at_once.filter(|_| has_token()) {
            Some(permit) => Ok(permit),
            None => {
                let bytes = operation.request.len();
                let queued = self.permits.queue(bytes, operation.metrics);
                Err(queued.ok_or(Pending::Overloaded)?)
            }
        };
        Ok(Admission {
            record,
            load_balancer,
            permit,
            place: operation.place.clone(),
            token: operation.is_limited.then(|| key.cloned()),
        })
    }

    /// A permit for a decision, which is of no use after the deadline.
    pub(super) async fn permit_by(
        &self,
        deadline: Instant,
        bytes: usize,
        metrics: &Arc<WebhookMetrics>,
    ) -> Result<HookPermit, Pending> {
        if let Some(permit) = self.permits.try_acquire() {
            return Ok(permit);
        }
        let queued = self.permits.queue(bytes, metrics);
        let _queued = queued.ok_or(Pending::Overloaded)?;
        let permit = timeout_at(deadline, self.permits.acquire()).await;
        permit.ok().flatten().ok_or(Pending::NoPermit)
    }

    /// A permit for `healthz`, which never waits for one.
    pub(super) fn health_permit(&self) -> Result<HookPermit, Pending> {
        self.permits.try_acquire_health().ok_or(Pending::Overloaded)
    }

    /// Runs `hook`; its result is dropped after the deadline.
    pub(super) async fn decide(
        &self,
        webhook: &'static str,
        metrics: &Arc<WebhookMetrics>,
        span: Span,
        permit: HookPermit,
        deadline: Instant,
        hook: HookFuture,
    ) -> Result<HookResponse, Pending> {
        let mut hook = MeasuredHook::new(metrics, hook);
        let token = self.running.0.token();
        let first = span.in_scope(|| hook.first_poll());
        drop(token);
        if let Poll::Ready(response) = first {
            return Ok(response.unwrap_or_else(|| panicked(webhook)));
        }
        let (sender, decision) = oneshot::channel();
        let task = async move {
            let response = hook.end().await;
            drop(permit);
            // The receiver is dropped at the deadline.
            let _ = sender.send(response.unwrap_or_else(|| panicked(webhook)));
        };
        self.running.0.spawn(task.instrument(span));
        match timeout_at(deadline, decision).await {
            Ok(Ok(response)) => Ok(response),
            // The runtime is shutting down and has dropped the task.
            Ok(Err(_)) => Ok(panicked(webhook)),
            Err(_) => Err(Pending::Running),
        }
    }
}

/// A hook with its metrics, which count it from the first poll on.
struct MeasuredHook {
    future: HookFuture,
    metrics: Arc<WebhookMetrics>,
    running_since: Option<Instant>,
}

impl Drop for MeasuredHook {
    fn drop(&mut self) {
        if self.running_since.is_some() {
            self.metrics.hook_dropped();
        }
    }
}

impl MeasuredHook {
    fn new(metrics: &Arc<WebhookMetrics>, future: HookFuture) -> Self {
        Self {
            future,
            metrics: Arc::clone(metrics),
            running_since: None,
        }
    }

    fn started(&mut self) -> Instant {
        let metrics = &self.metrics;
        *self.running_since.get_or_insert_with(|| {
            metrics.hook_started();
            Instant::now()
        })
    }

    /// Polls it without a waker, so it has to be polled again. `None` if it panicked.
    fn first_poll(&mut self) -> Poll<Option<HookResponse>> {
        let started = self.started();
        let mut context = Context::from_waker(Waker::noop());
        let polled = poll_contained(&mut self.future, &mut context);
        if polled.is_ready() {
            self.metrics.hook_ended(started);
        }
        polled
    }

    /// Runs it to its end; `None` if it panicked.
    async fn end(mut self) -> Option<HookResponse> {
        let started = self.started();
        let response = run_hook(started, &mut self.future).await;
        self.metrics.hook_ended(started);
        response
    }
}
