//! The shared state of reconciling: the index, the clients of the API server and of drivers, and the little
//! state that is kept in memory.

use crate::api::{BackendRecord, LoadBalancerDriver, NamespacedKind, ObjectKey, StringMap};
use crate::cluster::{EventWriter, FromWatched, Recorder, Regarding, WriteError, Writer};
use crate::drivers::{AddressLocks, CallCounts, Drivers, HealthResults, one_call};
use crate::index::{Index, Indexed, Owner, RequestKey, StoreEvent};
use crate::process::leader::LeaseGuard;
use crate::process::lock::{Mutex, WriteLocks};
use crate::process::metrics::Metrics;
use crate::process::options::Options;
use crate::process::record_key::RecordKey;
use crate::runtime::first_answers::FirstAnswers;
use crate::runtime::memory::Memory;
use crate::runtime::outcome::Error;
use crate::runtime::pod_pages::PodPages;
use crate::runtime::queue::{CallPermit, ConcurrencyKey, Queue};
use crate::runtime::verdicts::Verdicts;
use jiff::Timestamp;
use kube::ResourceExt;
use kube::core::object::HasStatus;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};
use tokio::sync::OnceCell;

/// By kind and key: the version of which a write failed.
type UncertainWrites = HashMap<(&'static str, ObjectKey), u64>;

pub(crate) struct Context {
    pub(crate) options: Options,
    pub(crate) client: kube::Client,
    pub(crate) guard: LeaseGuard,
    pub(crate) cluster: Writer,
    pub(crate) drivers: Drivers,
    pub(crate) memory: Memory,
    pub(crate) driver_health: HealthResults,
    pub(crate) recorder: Recorder,
    pub(crate) metrics: Metrics,
    pub(crate) queue: Arc<Queue>,
    pub(crate) addresses: AddressLocks,
    pub(crate) status_locks: WriteLocks,
    pub(crate) driver_locks: WriteLocks,
    pub(crate) verdicts: Verdicts,
    pub(crate) pod_pages: PodPages,
    pub(crate) first_answers: FirstAnswers,
    /// Read before anything is reconciled.
    record_key: OnceCell<RecordKey>,
    index: Mutex<Index>,
    /// Objects whose state is uncertain: a write failed that may have been done all the same, or
    /// that was decided on an outdated state.
    uncertain: Mutex<UncertainWrites>,
}

impl Context {
    /// A context, and the task that writes the events that it records.
    pub(crate) fn new(
        client: kube::Client,
        options: Options,
        counts: CallCounts,
        metrics: Metrics,
    ) -> (Self, EventWriter) {
        let (timeout, dry_run) = (options.write_timeout, options.dry_run);
        let election = options.leader_election.as_ref();
        let guard = election.map_or_else(LeaseGuard::none, |election| {
            LeaseGuard::new(election.renew_deadline)
        });
        let (recorder, events) =
            Recorder::new(client.clone(), &options, guard.clone(), metrics.clone());
        let context = Self {
            cluster: Writer::new(
                client.clone(),
                timeout,
                dry_run,
                metrics.clone(),
                guard.clone(),
            ),
            drivers: Drivers::new(&options, counts, metrics.clone(), guard.clone()),
            memory: Memory::new(&options),
            driver_health: HealthResults::default(),
            queue: Arc::new(Queue::new(options.backoff)),
            metrics,
            client,
            guard,
            recorder,
            addresses: AddressLocks::default(),
            status_locks: WriteLocks::default(),
            driver_locks: WriteLocks::default(),
            verdicts: Verdicts::default(),
            pod_pages: PodPages::default(),
            first_answers: FirstAnswers::default(),
            record_key: OnceCell::new(),
            index: Mutex::default(),
            uncertain: Mutex::default(),
            options,
        };
        (context, events)
    }

    pub(crate) async fn load_record_key(&self) {
        let Options {
            record_key,
            dry_run,
            ..
        } = &self.options;
        let load = || RecordKey::load(&self.client, record_key, *dry_run);
        self.record_key.get_or_init(load).await;
    }

    pub(crate) fn sign(&self, record: &mut BackendRecord, address: Option<&str>) {
        if let Some(key) = self.record_key.get() {
            key.sign(record, address);
        }
    }

    /// True for a record that a controller created.
    pub(crate) fn is_own(&self, record: &BackendRecord) -> bool {
        let key = self.record_key.get();
        key.is_some_and(|key| key.is_own(record))
    }

    /// Wall-clock time, for conditions.
    pub(crate) fn now(&self) -> Timestamp {
        self.options.wall_clock.now()
    }

    /// Locks the index. Nothing may be awaited meanwhile.
    pub(crate) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock()
    }

    /// Applies an event to the index and enqueues the requests that follow from it.
    pub(crate) fn apply<K: Indexed>(&self, event: StoreEvent<K>) {
        let requests = K::apply(&mut self.index(), event);
        self.queue.add(requests);
    }

    /// Writes an object's status unless it is so already.
    pub(crate) async fn write_status<K>(&self, object: &K, new: &K::Status) -> Result<(), Error>
    where
        K: Indexed + NamespacedKind + FromWatched + HasStatus<Status: Serialize + PartialEq + Sync>,
    {
        if object.status() == Some(new) {
            return Ok(());
        }
        let written = self.cluster.status(object, new).await;
        self.apply_written(object, written)?;
        Ok(())
    }

    pub(crate) async fn add_finalizer<K: Indexed + NamespacedKind + FromWatched>(
        &self,
        object: &K,
        finalizer: &str,
    ) -> Result<(), Error> {
        let mut finalizers = object.finalizers().to_vec();
        finalizers.push(finalizer.to_owned());
        let written = self.cluster.finalizers(object, &finalizers).await;
        Ok(self.apply_written(object, written)?)
    }

    pub(crate) async fn remove_finalizer<K: Indexed + NamespacedKind + FromWatched>(
        &self,
        object: &K,
        finalizer: &str,
    ) -> Result<(), Error> {
        let mut finalizers = object.finalizers().to_vec();
        finalizers.retain(|other| other != finalizer);
        let written = self.cluster.finalizers(object, &finalizers).await;
        Ok(self.apply_written(object, written)?)
    }

    /// Applies the result of a write: the new state, or that the state is uncertain.
    pub(crate) fn apply_written<K: Indexed>(
        &self,
        object: &K,
        written: Result<K, WriteError>,
    ) -> Result<(), WriteError> {
        match written {
            Ok(written) => self.apply(StoreEvent::Written(written)),
            Err(error @ (WriteError::DryRun | WriteError::NotLeading(_))) => return Err(error),
            Err(error) => {
                let key = (K::KIND, object.key());
                self.uncertain.lock().insert(key, object.version());
                return Err(error);
            }
        }
        Ok(())
    }

    /// An object that is read live first if its state is uncertain, as its watch may report it much later.
    pub(crate) async fn confirm<K: Indexed + NamespacedKind>(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<Arc<K>>, Error> {
        let uncertain = (K::KIND, key.clone());
        let version = self.uncertain.lock().get(&uncertain).copied();
        if let Some(version) = version {
            self.read::<K>(key, version).await?;
            self.uncertain.lock().remove(&uncertain);
        }
        Ok(self.index().find(key))
    }

    /// Reads an object live and applies its state to the index, for what must not be decided while
    /// the watch is behind.
    pub(crate) async fn refresh<K: Indexed + NamespacedKind>(
        &self,
        key: &ObjectKey,
    ) -> Result<(), Error> {
        let known = self.index().find::<K>(key);
        self.read::<K>(key, known.map_or(0, |known| known.version()))
            .await
    }

    async fn read<K>(&self, key: &ObjectKey, known_version: u64) -> Result<(), Error>
    where
        K: Indexed + NamespacedKind,
    {
        self.apply(match self.cluster.get::<K>(key).await? {
            Some(object) => StoreEvent::Read(object),
            None => StoreEvent::NotFound(key.clone(), known_version),
        });
        Ok(())
    }

    /// Waits for a slot of a driver, for a call that is not a request's with a slot (see [`ConcurrencyKey`]).
    pub(crate) async fn call_permit(&self, driver: &LoadBalancerDriver) -> CallPermit<'_> {
        let key = ConcurrencyKey::Driver(ObjectKey::of(driver));
        self.queue.permit(key, self.options.calls_per_driver).await
    }

    /// The slots of a call about a load balancer. A driver that does not exist may be
    /// created before the call.
    pub(crate) fn call_limits(
        &self,
        key: ObjectKey,
        driver: Option<&LoadBalancerDriver>,
        load_balancer: &StringMap,
    ) -> Vec<(ConcurrencyKey, usize)> {
        let mut limits = Vec::new();
        let shared =
            driver.and_then(|driver| one_call::shared_fields(driver.annotations(), load_balancer));
        if let Some(shared) = shared {
            limits.push((ConcurrencyKey::LoadBalancers(key.clone(), shared), 1));
        }
        limits.push((ConcurrencyKey::Driver(key), self.options.calls_per_driver));
        limits
    }

    /// Waits for the slots of a call about a load balancer that is not a request's.
    pub(crate) async fn call_permits(
        &self,
        driver: &LoadBalancerDriver,
        load_balancer: &StringMap,
    ) -> Vec<CallPermit<'_>> {
        let key = ObjectKey::of(driver);
        let mut permits = Vec::new();
        for (key, limit) in self.call_limits(key, Some(driver), load_balancer) {
            permits.push(self.queue.permit(key, limit).await);
        }
        permits
    }

    /// Removes what is kept in memory of an object that no longer exists.
    pub(crate) fn remove(&self, key: &RequestKey) {
        if !matches!(key, RequestKey::BindLoadBalancer(_)) {
            self.uncertain
                .lock()
                .remove(&(key.kind(), key.object().clone()));
            self.recorder.remove(key);
        }
        self.memory.remove(key);
        match key {
            RequestKey::Driver(driver) => {
                self.drivers.retain(|other| other != driver);
                self.driver_locks.remove(driver);
            }
            RequestKey::DriverHealth(driver) => self.driver_health.remove(driver),
            RequestKey::Record(record) => drop(self.first_answers.take(record)),
            RequestKey::Group(group) => self.remove_owner(&Owner::Group(group.clone())),
            RequestKey::Bind(bind) => {
                self.remove_owner(&Owner::Bind(bind.clone()));
                self.status_locks.remove(bind);
            }
            _ => {}
        }
    }

    fn remove_owner(&self, owner: &Owner) {
        self.verdicts.remove(owner);
        self.pod_pages.remove(owner);
    }

    /// Ends an object's wait: the next one is reported by an event, also if it is for the same.
    pub(crate) fn end_wait(&self, key: &RequestKey, regarding: &Regarding) {
        if self.memory.end_wait(key) {
            self.recorder.end_wait(regarding);
        }
    }
}
