//! What acting needs: the index, the two rooms of I/O, and the few things that are remembered.

use crate::api::{LoadBalancerDriver, NamespacedKind as Kind};
use crate::backends::Answer;
use crate::bind::StatusLocks;
use crate::cluster::{EventSink, EventType, WriteError, Writer};
use crate::drivers::{AddressLocks, Drivers};
use crate::error_text::in_full;
use crate::index::{Change, Index, PodView, Versioned};
use crate::key::{ObjectKey, Owner, WorkKey};
use crate::metrics::Metrics;
use crate::names::ANNOTATION_ONE_CALL;
use crate::options::Options;
use crate::periodic::Periods;
use crate::queue::{Lane, Queue};
use crate::work::{Progress, Work};
use kube::Resource;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How soon something is looked at again that changed under our hands. The watch usually wakes it
/// sooner.
const STALE_PAUSE: Duration = Duration::from_millis(200);

type ObjectKind = String;

/// What was reported of something last.
#[derive(Debug, PartialEq, Eq)]
struct Reported {
    uid: String,
    reason: &'static str,
    message: String,
}

/// How the index takes in what became of an object.
type TakeIn<K> = fn(&mut Index, Change<K>) -> Vec<Work>;

pub(crate) struct Context {
    pub(crate) options: Options,
    pub(crate) client: kube::Client,
    pub(crate) cluster: Writer,
    pub(crate) drivers: Drivers,
    pub(crate) events: EventSink,
    pub(crate) metrics: Metrics,
    pub(crate) queue: Arc<Queue>,
    pub(crate) addresses: AddressLocks,
    pub(crate) periods: Periods,
    pub(crate) status_locks: StatusLocks,
    index: Mutex<Index>,
    /// When a group's status was written last.
    status_written: Mutex<HashMap<ObjectKey, Instant>>,
    /// What was reported of an object last, so that nothing is told twice in a row (u37).
    reported: Mutex<HashMap<(ObjectKind, ObjectKey), HashMap<String, Reported>>>,
    /// Objects of which it is not known what they are like, with the version that is known: a write
    /// failed, and may have been done all the same, or what it was decided on was old news.
    unsure: Mutex<HashMap<(ObjectKind, ObjectKey), u64>>,
    /// What was last said of an owner's pods that are not ready.
    answers: Mutex<HashMap<Owner, Answer>>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Context {
    pub(crate) fn new(
        options: Options,
        client: kube::Client,
        events: EventSink,
        queue: Arc<Queue>,
        drivers: Drivers,
        metrics: Metrics,
    ) -> Self {
        Self {
            cluster: Writer::new(
                client.clone(),
                options.write_timeout,
                options.dry_run,
                metrics.clone(),
            ),
            metrics,
            client,
            drivers,
            events,
            queue,
            addresses: AddressLocks::default(),
            periods: Periods::default(),
            status_locks: StatusLocks::default(),
            index: Mutex::default(),
            status_written: Mutex::default(),
            reported: Mutex::default(),
            unsure: Mutex::default(),
            answers: Mutex::default(),
            options,
        }
    }

    /// The index, for a short look: nothing is awaited while it is held.
    pub(crate) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lane that a key needs, and how many may be in it at a time.
    pub(crate) fn lane_of(&self, key: &WorkKey) -> Option<(Lane, usize)> {
        let index = self.index();
        let (driver, load_balancer) = index.target_of(key)?;
        let is_serial = index
            .get_driver(&driver)
            .found()
            .is_some_and(|driver| is_serial(&driver));
        Some(if is_serial {
            (Lane::LoadBalancer(driver, load_balancer), 1)
        } else {
            (Lane::Driver(driver), self.options.calls_per_driver)
        })
    }

    /// Takes in the answer to a write of ours, and queues what it means for others.
    pub(crate) fn written<K>(&self, object: K, take_in: TakeIn<K>) {
        self.take_in(Change::Written(object), take_in);
    }

    fn take_in<K>(&self, news: Change<K>, take_in: TakeIn<K>) {
        let work = take_in(&mut self.index(), news);
        self.queue.add(work);
    }

    /// Changes an object's status, unless it is so already, and goes on as `then` says.
    pub(crate) async fn write_status<K: Kind, S: Serialize + PartialEq + Sync>(
        &self,
        object: &K,
        old: Option<&S>,
        new: &S,
        take_in: TakeIn<K>,
        then: Progress,
    ) -> Progress {
        if old == Some(new) {
            return then;
        }
        let written = self.cluster.status(object, old, new).await;
        self.after_write(object, written, take_in, then)
    }

    /// Changes an object's finalizers and goes on as `then` says.
    pub(crate) async fn write_finalizers<K: Kind>(
        &self,
        object: &K,
        finalizers: &[String],
        take_in: TakeIn<K>,
        then: Progress,
    ) -> Progress {
        let written = self.cluster.finalizers(object, finalizers).await;
        self.after_write(object, written, take_in, then)
    }

    /// Takes in what became of a write to an object, and goes on as `then` says if it was done.
    pub(crate) fn after_write<K: Kind>(
        &self,
        object: &K,
        written: Result<K, WriteError>,
        take_in: TakeIn<K>,
        then: Progress,
    ) -> Progress {
        match written {
            Ok(written) => {
                self.written(written, take_in);
                then
            }
            Err(error @ WriteError::DryRun) => after_failed_write(&error),
            Err(error) => {
                let unsure = (K::kind(&()).into_owned(), ObjectKey::of(object));
                self.unsure().insert(unsure, object.version());
                after_failed_write(&error)
            }
        }
    }

    /// Asks the API server what an object is like, if that is not known for sure: the watch may
    /// take long to tell. Gives how to go on where it gives no answer.
    pub(crate) async fn make_sure<K: Kind>(
        &self,
        key: &ObjectKey,
        take_in: TakeIn<K>,
    ) -> Result<(), Progress> {
        let unsure = (K::kind(&()).into_owned(), key.clone());
        let Some(version) = self.unsure().get(&unsure).copied() else {
            return Ok(());
        };
        match self.cluster.get::<K>(key).await {
            Ok(newest) => {
                let news = newest.map_or_else(
                    || Change::Absent(key.clone(), version),
                    |newest| Change::Written(newest),
                );
                self.take_in(news, take_in);
                self.unsure().remove(&unsure);
                Ok(())
            }
            Err(error) => Err(after_failed_write(&error)),
        }
    }

    fn unsure(&self) -> MutexGuard<'_, HashMap<(ObjectKind, ObjectKey), u64>> {
        self.unsure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports to the object's events, unless it is what was reported of it last.
    pub(crate) fn report<K: Resource<DynamicType = ()>>(
        &self,
        object: &K,
        event_type: EventType,
        reason: &'static str,
        message: impl Into<String>,
    ) {
        self.report_part(object, "", event_type, reason, message);
    }

    /// Reports of one part of an object, unless it is what was reported of that part last.
    pub(crate) fn report_part<K: Resource<DynamicType = ()>>(
        &self,
        object: &K,
        part: &str,
        event_type: EventType,
        reason: &'static str,
        message: impl Into<String>,
    ) {
        let mut message = message.into();
        if !part.is_empty() {
            message = format!("{part}: {message}");
        }
        if self.options.dry_run {
            tracing::info!(reason, message, "dry run: would report an event");
            return;
        }
        let of = (K::kind(&()).into_owned(), ObjectKey::of(object));
        let news = Reported {
            uid: object.meta().uid.clone().unwrap_or_default(),
            reason,
            message: message.clone(),
        };
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = reported.entry(of).or_default();
        if parts.get(part) != Some(&news) {
            parts.insert(part.to_owned(), news);
            drop(reported);
            self.events.report(object, event_type, reason, message);
        }
    }

    /// Forgets what was remembered of an object that is gone.
    pub(crate) fn forget(&self, key: &WorkKey) {
        if !matches!(key, WorkKey::BindLoadBalancer(_)) {
            let of = (key.kind().to_owned(), key.object().clone());
            self.unsure().remove(&of);
            let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
            reported.remove(&of);
        }
        self.periods.forget(key);
        match key {
            WorkKey::Driver(driver) => self.drivers.forget_unless(|known| known != driver),
            WorkKey::Group(group) => self.set_answer(&Owner::Group(group.clone()), None),
            WorkKey::Bind(bind) => {
                self.set_answer(&Owner::Bind(bind.clone()), None);
                self.status_locks.forget(bind);
            }
            _ => {}
        }
    }

    /// What was last said of an owner's pods that are not ready.
    pub(crate) fn answer(&self, owner: &Owner) -> Option<Answer> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(owner).cloned()
    }

    /// What was last said of an owner's pods that are not ready, but not of those that are ready
    /// now.
    pub(crate) fn answer_on<'a>(
        &self,
        owner: &Owner,
        pods: impl IntoIterator<Item = &'a PodView>,
    ) -> Option<Answer> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = answers.get_mut(owner)?;
        answer.forget_available(pods);
        Some(answer.clone())
    }

    /// Remembers what was said, or forgets it.
    pub(crate) fn set_answer(&self, owner: &Owner, answer: Option<Answer>) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Some(answer) => drop(answers.insert(owner.clone(), answer)),
            None => drop(answers.remove(owner)),
        }
    }

    /// How long a group's status has to wait until it may be written again.
    pub(crate) fn status_wait(&self, group: &ObjectKey) -> Option<Duration> {
        let written = self
            .status_written
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let next = *written.get(group)? + self.options.status_interval;
        next.checked_duration_since(Instant::now())
            .filter(|wait| !wait.is_zero())
    }

    /// Notes that a group's status is written now.
    pub(crate) fn status_is_written(&self, group: ObjectKey) {
        let now = Instant::now();
        let mut written = self
            .status_written
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        written.retain(|_, at| now.duration_since(*at) < self.options.status_interval);
        written.insert(group, now);
    }
}

/// Whether a driver asks for one call at a time for each load balancer.
fn is_serial(driver: &LoadBalancerDriver) -> bool {
    let annotations = driver.metadata.annotations.as_ref();
    let said = annotations.and_then(|annotations| annotations.get(ANNOTATION_ONE_CALL));
    said.is_some_and(|said| said.eq_ignore_ascii_case("true"))
}

/// What a write that did not happen means for its key.
pub(crate) fn after_failed_write(error: &WriteError) -> Progress {
    match error {
        WriteError::Stale => Progress::After(STALE_PAUSE),
        WriteError::DryRun => Progress::Settled,
        WriteError::Timeout(_) | WriteError::Refused(_) => {
            tracing::warn!(error = in_full(error), "a write failed; trying again");
            Progress::Retry(None)
        }
    }
}
