//! Running hooks as tasks of their own, and waiting for them.

mod progress;
mod shared_runs;
mod waiting;

use super::contain::{poll_contained, run_hook};
use super::hashed::ByHash;
use super::limits::{Place, Places, Queued};
use super::metrics::{Metrics, WebhookMetrics};
use super::reject::{Answer, panicked};
use super::runs::{Backend, Known, RunId, Same, Subject};
use super::serial::{Turn, Turns};
use axum::body::Bytes;
use progress::{Listen, Progress, Tell};
use shared_runs::SharedRuns;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};
pub(super) use waiting::Waiting;

/// Watches the hooks that run, those included that wait for their turn. Clones watch the same.
#[derive(Debug, Clone)]
pub struct RunningHooks(TaskTracker);

impl RunningHooks {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Waits until there is none. When shutting down, wait for this after the server has stopped
    /// accepting calls, and set a limit of your own: hooks have none.
    pub async fn idle(&self) {
        self.0.wait().await;
    }
}

impl Default for RunningHooks {
    fn default() -> Self {
        let tracker = TaskTracker::new();
        // An open tracker is never done; a closed one still tracks new tasks.
        tracker.close();
        Self(tracker)
    }
}

/// A driver's function with the request that it takes, up to the answer. It is boxed before it is
/// passed around: a request may have a pod in it, and each future around another has room for it
/// twice.
pub(super) type Work = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// An operation that a call asks for.
pub(super) struct Operation<'a> {
    pub(super) webhook: &'static str,
    pub(super) metrics: &'a Arc<WebhookMetrics>,
    pub(super) span: Span,
    pub(super) subject: Subject,
    /// The request as it came.
    pub(super) request: Bytes,
    /// What of a request is its content, that is, all but what differs between tries.
    pub(super) content: fn(&Bytes) -> Bytes,
    pub(super) backend: Option<Backend>,
    pub(super) serial_key: Option<String>,
}

/// A hook was not done in time, or not even begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotYet {
    /// It runs.
    Running,
    /// It waits for earlier operations.
    Queued,
    /// It waits until fewer hooks run.
    NoPlace,
    /// It is not begun: too many wait.
    Full,
}

impl NotYet {
    /// All there are, each at its own number.
    pub(super) const ALL: [Self; 4] = [Self::Running, Self::Queued, Self::NoPlace, Self::Full];

    /// As a label of metrics.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Queued => "waits_for_turn",
            Self::NoPlace => "waits_for_place",
            Self::Full => "too_many_wait",
        }
    }
}

/// All hooks of one router.
pub(super) struct Hooks {
    running: RunningHooks,
    runs: Arc<SharedRuns>,
    records: Turns<Subject, ByHash>,
    load_balancers: Turns<String>,
    places: Arc<Places>,
}

type RecordTurn = Turn<Subject, ByHash>;

/// What an operation needs before it runs, in the order in which it waits for it.
struct Ticket {
    record: RecordTurn,
    load_balancer: Option<Turn<String>>,
    place: Result<Place, Queued>,
}

impl Ticket {
    /// Waits for all of it, and gives the turns, to be held until the end, and the place.
    async fn come(
        mut self,
        places: &Places,
        progress: &Tell,
    ) -> (RecordTurn, Option<Turn<String>>, Option<Place>) {
        let place = match self.place {
            Ok(place) => Some(place),
            Err(queued) => {
                self.record.come().await;
                if let Some(load_balancer) = &mut self.load_balancer {
                    load_balancer.come().await;
                }
                let place = match places.try_place() {
                    Some(place) => Some(place),
                    None => {
                        progress.tell(Progress::NoPlace);
                        places.place().await
                    }
                };
                drop(queued);
                progress.tell(Progress::Running);
                place
            }
        };
        (self.record, self.load_balancer, place)
    }
}

/// What became of an operation by now.
pub(super) enum Begun {
    /// It is over.
    Over(Answer),
    /// It is to be waited for.
    Waits(Waiting),
    /// It was not begun.
    NotYet(NotYet),
}

/// What a call comes to.
enum Entered {
    Collected(Answer),
    Joined(RunId, Listen),
    Started(RunId, Ticket, Tell),
}

impl Hooks {
    pub(super) fn new(
        running: RunningHooks,
        metrics: &Metrics,
        keep_results: Duration,
        places: Places,
    ) -> Self {
        Self {
            running,
            runs: Arc::new(SharedRuns::new(
                keep_results,
                metrics.kept_results().clone(),
            )),
            records: Turns::default(),
            load_balancers: Turns::default(),
            places: Arc::new(places),
        }
    }

    /// Runs `work`, unless an equal operation runs or has left its result.
    pub(super) fn operate(&self, operation: Operation<'_>, work: Work) -> Begun {
        let (id, listen) = match self.enter(&operation) {
            Err(not_yet) => return Begun::NotYet(not_yet),
            Ok(Entered::Collected(answer)) => {
                operation.metrics.collected();
                tracing::debug!(parent: &operation.span, "collects an earlier call's result");
                return Begun::Over(answer);
            }
            Ok(Entered::Joined(id, listen)) => {
                operation.metrics.joined();
                tracing::debug!(parent: &operation.span, "joins an earlier call's operation");
                (id, listen)
            }
            Ok(Entered::Started(id, ticket, progress)) => {
                match self.begin(&operation, id, ticket, progress, work) {
                    Ok(answer) => return Begun::Over(answer),
                    Err(listen) => (id, listen),
                }
            }
        };
        let runs = Arc::clone(&self.runs);
        Begun::Waits(Waiting::new(runs, operation.subject, id, listen))
    }

    /// Begins an operation here and now, if it need not wait for its turn, and leaves it to a task
    /// of its own where it has to wait for something. A hook that is done at once is not handed to
    /// another thread and back: for small requests that was a tenth of the server's time.
    fn begin(
        &self,
        operation: &Operation<'_>,
        id: RunId,
        ticket: Ticket,
        progress: Tell,
        work: Work,
    ) -> Result<Answer, Listen> {
        let webhook = operation.webhook;
        let mut hook = Hook::new(operation.metrics, work);
        if ticket.place.is_ok() {
            let token = self.running.0.token();
            let first = operation.span.in_scope(|| hook.first_poll());
            drop(token);
            if let Poll::Ready(result) = first {
                drop(hook);
                self.runs.lock().done(&operation.subject, id);
                let answer = result.unwrap_or_else(|| panicked(webhook));
                progress.tell(Progress::Over(answer.clone()));
                return Ok(answer);
            }
        }
        let listen = progress.listen();
        let runs = Arc::clone(&self.runs);
        let places = Arc::clone(&self.places);
        let subject = operation.subject.clone();
        let task = async move {
            let (record, load_balancer, place) = ticket.come(&places, &progress).await;
            let result = hook.end().await;
            drop(place);
            runs.finished(&subject, id, result.clone());
            let answer = result.unwrap_or_else(|| panicked(webhook));
            progress.tell(Progress::Over(answer));
            drop((load_balancer, record));
        };
        let task = task.instrument(operation.span.clone());
        self.running.0.spawn(task);
        Err(listen)
    }

    fn enter(&self, operation: &Operation<'_>) -> Result<Entered, NotYet> {
        let Operation {
            subject, request, ..
        } = operation;
        let mut same = Same::Unknown;
        loop {
            let mut runs = self.runs.lock();
            let (id, other) = match runs.known(subject, request, same) {
                Known::Collect(answer) => return Ok(Entered::Collected(answer)),
                Known::Join(id, listen) => return Ok(Entered::Joined(id, listen)),
                Known::Nothing => {
                    // The places in both lines are taken before the next call is looked at, so
                    // everybody waits for earlier calls only, and no two for each other.
                    let ticket = self.ticket(operation)?;
                    let at_first = match &ticket.place {
                        Ok(_) => Progress::Running,
                        Err(_) => Progress::Queued,
                    };
                    let progress = Tell::new(at_first);
                    let id = runs.start(subject, request, operation.backend, progress.listen());
                    return Ok(Entered::Started(id, ticket, progress));
                }
                Known::Maybe(id, other) => (id, other),
            };
            // Reading requests takes its time, which other calls need not wait for.
            drop(runs);
            same = if (operation.content)(request) == (operation.content)(&other) {
                Same::As(id)
            } else {
                Same::NotAs(id)
            };
        }
    }

    fn ticket(&self, operation: &Operation<'_>) -> Result<Ticket, NotYet> {
        let record = self.records.take_place(operation.subject.clone());
        let key = operation.serial_key.clone();
        let load_balancer = key.map(|key| self.load_balancers.take_place(key));
        let waits = record.waits() || load_balancer.as_ref().is_some_and(Turn::waits);
        let at_once = (!waits).then(|| self.places.try_place()).flatten();
        let place = match at_once {
            Some(place) => Ok(place),
            None => {
                let bytes = operation.request.len();
                let queued = self.places.queue(bytes, operation.metrics);
                Err(queued.ok_or(NotYet::Full)?)
            }
        };
        Ok(Ticket {
            record,
            load_balancer,
            place,
        })
    }

    /// A place for a decision, which nobody needs after the deadline.
    pub(super) async fn place_by(
        &self,
        deadline: Instant,
        bytes: usize,
        metrics: &Arc<WebhookMetrics>,
    ) -> Result<Place, NotYet> {
        if let Some(place) = self.places.try_place() {
            return Ok(place);
        }
        let _queued = self.places.queue(bytes, metrics).ok_or(NotYet::Full)?;
        let place = timeout_at(deadline, self.places.place()).await;
        place.ok().flatten().ok_or(NotYet::NoPlace)
    }

    /// A place for `healthz`, at once or not at all.
    pub(super) fn health_place(&self) -> Result<Place, NotYet> {
        self.places.try_health_place().ok_or(NotYet::Full)
    }

    /// Runs `work` in this place; nothing comes of it when it takes too long.
    pub(super) async fn decide(
        &self,
        webhook: &'static str,
        metrics: &Arc<WebhookMetrics>,
        span: Span,
        place: Place,
        deadline: Instant,
        work: Work,
    ) -> Result<Answer, NotYet> {
        let mut hook = Hook::new(metrics, work);
        let token = self.running.0.token();
        let first = span.in_scope(|| hook.first_poll());
        drop(token);
        if let Poll::Ready(answer) = first {
            return Ok(answer.unwrap_or_else(|| panicked(webhook)));
        }
        let (decided, decision) = oneshot::channel();
        let task = async move {
            let answer = hook.end().await;
            drop(place);
            // Nobody listens any more when it took too long.
            let _ = decided.send(answer.unwrap_or_else(|| panicked(webhook)));
        };
        self.running.0.spawn(task.instrument(span));
        match timeout_at(deadline, decision).await {
            Ok(Ok(answer)) => Ok(answer),
            // The runtime is shutting down and has dropped the task.
            Ok(Err(_)) => Ok(panicked(webhook)),
            Err(_) => Err(NotYet::Running),
        }
    }
}

/// A hook that is measured from its first poll on.
struct Hook {
    work: Work,
    metrics: Arc<WebhookMetrics>,
    /// Since when it runs. It is counted from then on, without holding the metrics twice.
    running: Option<Instant>,
}

impl Drop for Hook {
    fn drop(&mut self) {
        if self.running.is_some() {
            self.metrics.runs_no_more();
        }
    }
}

impl Hook {
    fn new(metrics: &Arc<WebhookMetrics>, work: Work) -> Self {
        Self {
            work,
            metrics: Arc::clone(metrics),
            running: None,
        }
    }

    fn running_since(&mut self) -> Instant {
        let metrics = &self.metrics;
        *self.running.get_or_insert_with(|| {
            metrics.runs();
            Instant::now()
        })
    }

    /// Runs it until it waits for something. It is not woken by what it waits for until it is
    /// polled again.
    fn first_poll(&mut self) -> Poll<Option<Answer>> {
        let begun = self.running_since();
        let mut context = Context::from_waker(Waker::noop());
        let polled = poll_contained(&mut self.work, &mut context);
        if polled.is_ready() {
            self.metrics.hook_ended(begun);
        }
        polled
    }

    /// Runs it to its end. Nothing comes of one that panics.
    async fn end(mut self) -> Option<Answer> {
        let begun = self.running_since();
        let answer = run_hook(begun, &mut self.work).await;
        self.metrics.hook_ended(begun);
        answer
    }
}
