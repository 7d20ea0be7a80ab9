use super::backend::fetch;
use super::conflict::{self, Sharing, sharing};
use super::decide::{
    RecordAction, RecordState, cannot_be_stored, decide, deregister_request, draining_since,
};
use super::endpoint;
use super::ownerless;
use super::waiting::{RecordWait, backend_unavailable, draining};
use crate::api::{
    BackendGroup, BackendRecord, BackendRecordStatus, Bind, Condition, ConditionStatus, Conditions,
    LoadBalancerDriver, StringMap, condition_types, reasons,
};
use crate::cluster::EventType::{self, Normal, Warning};
use crate::cluster::Regarding;
use crate::context::Context;
use crate::index::{AddressKey, Lookup, NodeView, Ownership, PodView};
use crate::key::{ObjectKey, Owner, RequestKey};
use crate::load_balancer_driver::protect;
use crate::names::{self, FINALIZER_BACKEND_RECORD, FINALIZER_DRIVER};
use crate::object::ObjectExt;
use crate::operation::{Incomplete, Operand, operate, retry_id};
use crate::periodic::period;
use crate::reconcile::{Action, Error, OperationFailure, Request};
use crate::waiting::{Wait, WaitEvent};
use kube::Resource;
use lbcf_driver_sdk::webhook::{
    DeregisterBackend, DeregisterBackendRequest, EnsureBackend, EnsureBackendRequest,
    GenerateBackendAddr, GenerateBackendAddrRequest,
};
use std::sync::Arc;
use std::time::Duration;

/// How soon a record is reconciled again whose address is locked. Usually the reconciliation that
/// unlocks it enqueues it sooner.
const LOCKED_DELAY: Duration = Duration::from_secs(1);

pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    context.confirm::<BackendRecord>(key).await?;
    let Some(state) = observe(context, key) else {
        return Ok(Action::AwaitChange);
    };
    let reconciler = Reconciler {
        context,
        record: &state.record,
        sharing: sharing(&state.record, &state.neighbours),
        regarding: Regarding::object(&*state.record),
        key: RequestKey::Record(key.clone()),
    };
    reconciler.perform(&state).await
}

fn observe(context: &Context, key: &ObjectKey) -> Option<RecordState> {
    let index = context.index();
    let mut record = index.find::<BackendRecord>(key)?;
    let mut driver = index.get(&names::resolve(&key.namespace, &record.spec.lb_driver));
    if context.options.dry_run && !record.is_deleting() {
        // A dry run continues as if the finalizers were stored.
        add_finalizer(&mut record, FINALIZER_BACKEND_RECORD);
        if let Lookup::Found(driver) = &mut driver {
            add_finalizer::<LoadBalancerDriver>(driver, FINALIZER_DRIVER);
        }
    }
    let backend_is_available = if record.spec.endpoint_backend.is_some() {
        endpoint::is_available(&index, &record)
    } else if let Some(pod) = &record.spec.pod_backend {
        let pod = ObjectKey::new(key.namespace.clone(), pod.name.clone());
        let pod = index.find::<PodView>(&pod);
        pod.is_some_and(|pod| pod.is_available())
    } else if let Some(service) = &record.spec.service_backend {
        let node = ObjectKey::new("", service.node_name.clone());
        index.find::<NodeView>(&node).is_some()
    } else {
        false
    };
    let request_key = RequestKey::Record(key.clone());
    let ownership = index.ownership(&record);
    let grace_period = context.options.orphan_grace_period;
    Some(RecordState {
        owner_wait: if ownership == Ownership::Ownerless {
            context.orphans.wait(key, grace_period)
        } else {
            context.orphans.remove(key);
            grace_period
        },
        ownership,
        driver,
        neighbours: index.neighbours(&record),
        backend_is_available,
        due: context
            .periods
            .due(&request_key, period_of(context, &record)),
        record,
    })
}

fn add_finalizer<K: Resource + Clone>(object: &mut Arc<K>, finalizer: &str) {
    let metadata = Arc::make_mut(object).meta_mut();
    let finalizers = metadata.finalizers.get_or_insert_default();
    finalizers.push(finalizer.to_owned());
}

fn period_of(context: &Context, record: &BackendRecord) -> Option<Duration> {
    let policy = record.spec.ensure_policy.as_ref();
    period(policy, context.options.min_ensure_period)
}

struct Reconciler<'a> {
    context: &'a Context,
    record: &'a BackendRecord,
    sharing: Sharing,
    regarding: Regarding,
    key: RequestKey,
}

impl Reconciler<'_> {
    async fn perform(&self, state: &RecordState) -> Result<Action, Error> {
        let (context, record) = (self.context, self.record);
        match (decide(state), &state.driver) {
            (RecordAction::AwaitChange, _) => {
                context.end_wait(&self.key, &self.regarding);
                Ok(state.due.action())
            }
            (RecordAction::Wait(wait), _) => self.wait(&wait).await,
            (RecordAction::AddFinalizer, _) => {
                context
                    .add_finalizer(record, FINALIZER_BACKEND_RECORD)
                    .await?;
                Ok(Action::RequeueNow)
            }
            (RecordAction::AwaitOwner(wait), _) => {
                ownerless::report(context, record);
                Ok(Action::RequeueAfter(wait))
            }
            (RecordAction::Delete, _) => ownerless::delete(context, record).await,
            (RecordAction::ReportConflict(_), _) => {
                self.write_status(self.status(), false).await?;
                Ok(state.due.action())
            }
            (RecordAction::ReportDriverMissing, _) => {
                self.report_driver(reasons::DRIVER_NOT_FOUND, "not found")
                    .await
            }
            (RecordAction::ProtectDriver, _) => {
                protect(context, &self.driver_key()).await?;
                Ok(Action::RequeueNow)
            }
            (RecordAction::ReportDriverDeleting, _) => {
                let problem = "is being deleted, and nothing new is registered with it";
                self.report_driver(reasons::DRIVER_DELETING, problem).await
            }
            (RecordAction::StoreAddress(backend_addr), _) => self.store_address(backend_addr).await,
            (RecordAction::RemoveFinalizer, _) => self.remove_finalizer().await,
            (RecordAction::RemoveFinalizerOfShared(other), _) => {
                let message =
                    format!("BackendRecord {other} has the same address and keeps it registered");
                self.event(Normal, "SkippedDeregister", &message);
                self.remove_finalizer().await
            }
            (RecordAction::Generate(request), Lookup::Found(driver)) => {
                self.generate(driver, *request).await
            }
            (RecordAction::Ensure(request), Lookup::Found(driver)) => {
                self.with_address_locked(state, self.ensure(driver, request))
                    .await
            }
            (RecordAction::Deregister(request), Lookup::Found(driver)) => {
                self.with_address_locked(state, self.deregister(driver, request))
                    .await
            }
            // No call is decided on without a driver.
            (_, Lookup::Missing | Lookup::Unreadable) => Ok(Action::AwaitChange),
        }
    }

    async fn with_address_locked(
        &self,
        state: &RecordState,
        call: impl Future<Output = Result<Action, Error>> + Send,
    ) -> Result<Action, Error> {
        let (context, key) = (self.context, &self.key);
        let Some(address) = AddressKey::of(self.record) else {
            return Ok(Action::AwaitChange);
        };
        let Some(lock) = context.addresses.try_lock(address, key.object()) else {
            return Ok(Action::RequeueAfter(LOCKED_DELAY));
        };
        // The other record may have been finished before the address was locked.
        let current = observe(context, key.object());
        if current.is_none_or(|current| decide(&current) != decide(state)) {
            return Ok(Action::RequeueNow);
        }
        let result = call.await;
        // Only those that wait for the lock: a request for each of two records that fail would end
        // the backoff of the other.
        let waiting = lock.release().into_iter().map(RequestKey::Record);
        context.queue.add(waiting.map(Request::normal));
        result
    }

    async fn generate(
        &self,
        driver: &LoadBalancerDriver,
        mut request: GenerateBackendAddrRequest,
    ) -> Result<Action, Error> {
        let context = self.context;
        if let Err(error) = fetch(context, self.record, &mut request).await {
            if matches!(error, Error::BackendChanged(_)) {
                self.report(&backend_unavailable(self.record)).await?;
            }
            return Err(error);
        }
        request.retry_id = retry_id();
        let operand = self.operand();
        let call =
            operate::<GenerateBackendAddr>(context, operand, driver, "GenerateAddr", request);
        match call.await {
            Ok(response) if response.backend_addr.is_empty() => {
                let message = "the driver responded Succ without a backendAddr";
                self.event(Warning, "InvalidGenerateAddr", message);
                tracing::warn!(driver = %ObjectKey::of(driver), "{message}; retrying");
                let failure = OperationFailure {
                    reason: reasons::INVALID_RESPONSE,
                    message: message.to_owned(),
                    retry_delay: None,
                };
                self.conclude(Incomplete::Failed(failure)).await
            }
            Ok(response) => {
                let message = format!("addr: {}", response.backend_addr);
                self.event(Normal, "SuccGenerateAddr", &message);
                self.store_address(response.backend_addr).await
            }
            Err(incomplete) => self.conclude(incomplete).await,
        }
    }

    async fn ensure(
        &self,
        driver: &LoadBalancerDriver,
        mut request: EnsureBackendRequest,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let (context, record) = (self.context, self.record);
        let operand = self.operand();
        let call = operate::<EnsureBackend>(context, operand, driver, "EnsureBackend", request);
        let response = match call.await {
            Ok(response) => response,
            Err(incomplete) => return self.conclude(incomplete).await,
        };
        let mut status = self.status();
        let is_new = !status.conditions.is_true(condition_types::REGISTERED);
        let injected_info = StringMap::from(response.injected_info);
        if let Some(message) = cannot_be_stored(&injected_info) {
            self.event(Warning, "InvalidEnsureBackend", &message);
            if is_new {
                self.undo(driver, injected_info).await;
            }
            let failure = OperationFailure {
                reason: reasons::INVALID_RESPONSE,
                message,
                retry_delay: None,
            };
            return self.conclude(Incomplete::Failed(failure)).await;
        }
        if is_new {
            self.event(Normal, "SuccEnsureBackend", "Successfully ensured backend");
        }
        let registered = Condition::met(condition_types::REGISTERED, record.metadata.generation);
        status.conditions = status.conditions.with(registered, context.now());
        // b121: an empty map leaves the present one.
        if !injected_info.is_empty() {
            status.injected_info = injected_info;
        }
        let due = context
            .periods
            .restart(&self.key, period_of(context, record));
        self.write_status(status, true).await?;
        if is_new {
            self.measure();
        }
        Ok(due.action())
    }

    /// Deregisters a backend at once whose `injectedInfo` cannot be stored, as no later call could
    /// send it (d47). If that fails, or the process ends before, the next ensureBackend returns it again.
    async fn undo(&self, driver: &LoadBalancerDriver, injected_info: StringMap) {
        let status = BackendRecordStatus {
            injected_info,
            ..self.status()
        };
        let request = DeregisterBackendRequest {
            retry_id: retry_id(),
            ..deregister_request(self.record, &status)
        };
        let operand = Operand::once(&self.regarding);
        let call =
            operate::<DeregisterBackend>(self.context, operand, driver, "Deregister", request);
        // An event reports what failed.
        let _ = call.await;
    }

    async fn deregister(
        &self,
        driver: &LoadBalancerDriver,
        mut request: DeregisterBackendRequest,
    ) -> Result<Action, Error> {
        request.retry_id = retry_id();
        let (context, operand) = (self.context, self.operand());
        let call = operate::<DeregisterBackend>(context, operand, driver, "Deregister", request);
        match call.await {
            Ok(_) => self.remove_finalizer().await,
            Err(incomplete) => self.conclude(incomplete).await,
        }
    }

    /// Measures how long the first registration took: one that failed after a change of the spec
    /// does not count from the record's creation.
    fn measure(&self) {
        let metadata = &self.record.metadata;
        let is_first = metadata.generation.is_none_or(|number| number <= 1);
        if let Some(created) = &metadata.creation_timestamp
            && is_first
        {
            let since = self.context.now().duration_since(created.0);
            // The API server's clock may be ahead.
            let since = Duration::try_from(since).unwrap_or_default();
            self.context.metrics.registered(since);
        }
    }

    fn driver_key(&self) -> ObjectKey {
        let namespace = self.record.metadata.namespace.as_deref();
        names::resolve(namespace.unwrap_or_default(), &self.record.spec.lb_driver)
    }

    /// Reports why the record waits. The driver's removal, and a new one, enqueue it.
    async fn report_driver(&self, reason: &'static str, problem: &str) -> Result<Action, Error> {
        let driver = self.driver_key();
        let message = format!("spec.lbDriver: LoadBalancerDriver {driver} {problem}");
        let wait = Wait::new(reason, message, WaitEvent::Problem);
        self.context.waits.begin(&self.key, reason, None);
        self.write_unregistered(wait.reason, &wait.message).await?;
        Ok(self.wait_event(&wait))
    }

    /// Waits for an event that enqueues the record.
    async fn wait(&self, wait: &RecordWait) -> Result<Action, Error> {
        let action = self
            .report(&wait.describe(self.record, &self.driver_key()))
            .await?;
        Ok(match wait {
            // No event follows when an owner that cannot be parsed is deleted.
            RecordWait::Adoption => action.at_most(ownerless::ADOPTION_INTERVAL),
            _ => action,
        })
    }

    /// Reports a wait that has lasted for a moment, as most do not.
    async fn report(&self, wait: &Wait) -> Result<Action, Error> {
        let context = self.context;
        let lasted = context.waits.begin(&self.key, wait.reason, None).lasted;
        let delay = context.options.status_interval;
        if lasted < delay {
            return Ok(Action::RequeueAfter(delay - lasted));
        }
        // Until its owner decides, its backend stays as it is.
        let stays = wait.reason == reasons::AWAITING_ADOPTION
            && self
                .status()
                .conditions
                .is_true(condition_types::REGISTERED);
        if !stays {
            self.write_unregistered(wait.reason, &wait.message).await?;
        }
        Ok(self.wait_event(wait))
    }

    fn wait_event(&self, wait: &Wait) -> Action {
        let repeat = self.context.recorder.record_wait(&self.regarding, wait);
        repeat.map_or(Action::AwaitChange, Action::RequeueAfter)
    }

    /// Stores why the record is not registered, or not deregistered, if a call failed or takes long.
    async fn conclude(&self, incomplete: Incomplete) -> Result<Action, Error> {
        match &incomplete {
            Incomplete::NotCalled(_) => {}
            Incomplete::Running(_) => self.report_draining().await?,
            Incomplete::StillRunning(_, wait) => {
                let status = self.status();
                let registered = status.conditions.find(condition_types::REGISTERED);
                match registered.filter(|it| it.status == ConditionStatus::True) {
                    // It stays registered while the call runs.
                    Some(registered) if !self.record.is_deleting() => {
                        let condition = Condition {
                            reason: wait.reason.to_owned(),
                            message: wait.message.clone(),
                            ..registered.clone()
                        };
                        self.write_condition(condition).await?;
                    }
                    _ => self.write_unregistered(wait.reason, &wait.message).await?,
                }
            }
            Incomplete::Failed(failure) => {
                self.write_unregistered(failure.reason, &failure.message)
                    .await?;
            }
        }
        incomplete.into_result()
    }

    /// Stores since when a backend drains, once: the text is the same for each response (d71).
    async fn report_draining(&self) -> Result<(), Error> {
        match draining_since(self.record).filter(|_| !self.context.options.dry_run) {
            Some(since) => {
                let message = draining(since);
                self.write_unregistered(reasons::DRAINING, &message).await
            }
            None => Ok(()),
        }
    }

    /// Of a record that is being deleted it is not known whether it is still registered.
    async fn write_unregistered(&self, reason: &str, message: &str) -> Result<(), Error> {
        let generation = self.record.metadata.generation;
        let mut unmet = Condition::unmet(condition_types::REGISTERED, reason, message, generation);
        if self.record.is_deleting() {
            unmet.status = ConditionStatus::Unknown;
        }
        self.write_condition(unmet).await
    }

    async fn write_condition(&self, condition: Condition) -> Result<(), Error> {
        let mut status = self.status();
        status.conditions = status.conditions.with(condition, self.context.now());
        self.write_status(status, false).await
    }

    /// Writes a status with what the neighbours mean for the record, and reports that if it is new.
    async fn write_status(
        &self,
        mut status: BackendRecordStatus,
        is_ensured: bool,
    ) -> Result<(), Error> {
        let (context, record, sharing) = (self.context, self.record, &self.sharing);
        let known = self.status().conditions;
        let news = conflict::condition(record, &known, sharing, is_ensured);
        if let Some(condition) = &news {
            status.conditions = status.conditions.with(condition.clone(), context.now());
        }
        context.write_status(record, &status).await?;
        if let Some(condition) = news.filter(|news| conflict::is_news(&known, news)) {
            self.report_conflict(&condition);
        }
        Ok(())
    }

    /// Reports a conflict, or its end, about the record, and a conflict about the owner as well,
    /// which may have hundreds of such records: their messages about it are equal.
    fn report_conflict(&self, condition: &Condition) {
        let Sharing::Conflict(conflict) = &self.sharing else {
            self.event(Normal, "ParametersConflictResolved", &condition.message);
            return;
        };
        let reason = condition_types::PARAMETERS_CONFLICT;
        self.event(Warning, reason, &condition.message);
        let index = self.context.index();
        let owner = match Owner::of(self.record) {
            Some(Owner::Group(key)) => index
                .find::<BackendGroup>(&key)
                .map(|group| Regarding::object(&*group)),
            Some(Owner::Bind(key)) => index
                .find::<Bind>(&key)
                .map(|bind| Regarding::object(&*bind)),
            None => None,
        };
        drop(index);
        let message = conflict.message_of_owner(&self.record.spec.lb_name);
        if let (Some(owner), Some(message)) = (owner, message) {
            let recorder = &self.context.recorder;
            recorder.record_change(&owner, Warning, reason, &message);
        }
    }

    async fn store_address(&self, backend_addr: String) -> Result<Action, Error> {
        let status = BackendRecordStatus {
            backend_addr,
            ..self.status()
        };
        self.write_status(status, false).await?;
        Ok(Action::RequeueNow)
    }

    async fn remove_finalizer(&self) -> Result<Action, Error> {
        self.context
            .remove_finalizer(self.record, FINALIZER_BACKEND_RECORD)
            .await?;
        Ok(Action::AwaitChange)
    }

    fn status(&self) -> BackendRecordStatus {
        self.record.status.clone().unwrap_or_default()
    }

    fn operand(&self) -> Operand<'_> {
        let status = self.record.status.as_ref();
        Operand {
            key: Some(&self.key),
            regarding: &self.regarding,
            conditions: status.map_or(&[], |status| &status.conditions),
        }
    }

    fn event(&self, event_type: EventType, reason: &str, message: &str) {
        let recorder = &self.context.recorder;
        recorder.record_change(&self.regarding, event_type, reason, message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::CallCounts;
    use crate::index::StoreEvent;
    use crate::metrics::Metrics;
    use crate::options::Options;
    use local_cluster::{LocalCluster, LocalClusterOptions};

    #[tokio::test]
    async fn u32_a_change_of_the_observed_state_leaves_the_object_in_the_index_unchanged() {
        let cluster = LocalCluster::start(LocalClusterOptions::default());
        let client = cluster.await.unwrap().client_as("test");
        let options = Options {
            dry_run: true,
            ..Options::default()
        };
        let (context, _events) =
            Context::new(client, options, CallCounts::default(), Metrics::new());
        let mut record = BackendRecord::default();
        record.metadata.namespace = Some("ns".into());
        record.metadata.name = Some("record".into());
        let key = ObjectKey::of(&record);
        context.apply(StoreEvent::Apply(record.clone()));
        for _ in 0..2 {
            // A dry run adds the finalizer to the state that it decides on.
            let state = observe(&context, &key).unwrap();
            let finalizers = state.record.metadata.finalizers.as_deref().unwrap();
            assert_eq!(finalizers, [FINALIZER_BACKEND_RECORD]);
            let indexed = context.index().find::<BackendRecord>(&key).unwrap();
            assert_eq!(*indexed, record);
        }
    }
}
