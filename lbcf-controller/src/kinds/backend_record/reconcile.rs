//! Observes what a record is decided on, and acts on what is decided.

use super::conflict::{Sharing, sharing};
use super::decide::{RecordAction, RecordState, decide};
use super::successor::successor;
use crate::api::names::{self, FINALIZER_BACKEND_RECORD, FINALIZER_DRIVER};
use crate::api::{
    BackendRecord, BackendRecordStatus, LoadBalancerDriver, ObjectExt, ObjectKey, reasons,
};
use crate::backends::is_backend_available;
use crate::cluster::EventType::Normal;
use crate::cluster::Regarding;
use crate::index::{AddressKey, Lookup, Ownership, Request, RequestKey};
use crate::runtime::driver_protection::protect;
use crate::runtime::memory::period;
use crate::runtime::{Action, Context, Error, Reporter};
use kube::Resource;
use std::sync::Arc;
use std::time::Duration;

/// The delay after which a record is reconciled again whose address is locked. Usually the reconciliation that
/// unlocks it enqueues it sooner.
const LOCKED_DELAY: Duration = Duration::from_secs(1);

pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    context.confirm::<BackendRecord>(key).await?;
    let Some(state) = observe(context, key) else {
        return Ok(Action::AwaitChange);
    };
    let reconciler = Reconciler {
        reporter: Reporter {
            context,
            key: RequestKey::Record(key.clone()),
            regarding: Regarding::object(&*state.record),
        },
        record: &state.record,
        sharing: sharing(&state.record, &state.neighbours),
    };
    reconciler.perform(&state).await
}

pub(super) struct Reconciler<'a> {
    pub(super) reporter: Reporter<'a>,
    pub(super) record: &'a BackendRecord,
    pub(super) sharing: Sharing,
}

impl Reconciler<'_> {
    async fn perform(&self, state: &RecordState) -> Result<Action, Error> {
        let (context, record) = (self.reporter.context, self.record);
        match (decide(state), &state.driver) {
            (RecordAction::AwaitChange, _) => {
                self.reporter.end_wait();
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
                self.report_ownerless();
                Ok(Action::RequeueAfter(wait))
            }
            (RecordAction::Delete, _) => self.delete_ownerless().await,
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
                self.reporter
                    .event(Normal, reasons::SKIPPED_DEREGISTER, &message);
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
        let Reporter { context, key, .. } = &self.reporter;
        let Some(address) = AddressKey::of(self.record) else {
            return Ok(Action::AwaitChange);
        };
        let Some(lock) = context.addresses.try_lock(address, Some(key.object())) else {
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

    pub(super) fn driver_key(&self) -> ObjectKey {
        let namespace = self.record.metadata.namespace.as_deref();
        names::resolve(namespace.unwrap_or_default(), &self.record.spec.lb_driver)
    }

    pub(super) async fn store_address(&self, backend_addr: String) -> Result<Action, Error> {
        let status = BackendRecordStatus {
            backend_addr,
            ..self.status()
        };
        self.write_status(status, false).await?;
        Ok(Action::RequeueNow)
    }

    pub(super) async fn remove_finalizer(&self) -> Result<Action, Error> {
        self.reporter
            .context
            .remove_finalizer(self.record, FINALIZER_BACKEND_RECORD)
            .await?;
        Ok(Action::AwaitChange)
    }

    pub(super) fn status(&self) -> BackendRecordStatus {
        self.record.status.clone().unwrap_or_default()
    }
}

/// The state that a record is decided on.
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
    let request_key = RequestKey::Record(key.clone());
    let ownership = index.ownership(&record);
    let (memory, grace_period) = (&context.memory, context.options.orphan_grace_period);
    let is_ownerless = ownership == Ownership::Ownerless;
    let successor = successor(&index, &record);
    let timeout = context.options.replacement_timeout;
    let mut neighbours = index.neighbours(&record);
    neighbours.retain(|other| context.is_own(&other.record));
    Some(RecordState {
        is_deregistering: index.is_deregistering(&record),
        paused_by: index.paused_by(&record).map(|it| it.to_string()),
        successor_wait: memory.successor_wait(&request_key, successor.is_some(), timeout),
        successor,
        owner_wait: memory.owner_wait(&request_key, is_ownerless, grace_period),
        ownership,
        driver,
        is_own: context.is_own(&record),
        neighbours,
        backend_is_available: is_backend_available(&index, &record),
        due: memory.due(&request_key, period_of(context, &record)),
        record,
    })
}

fn add_finalizer<K: Resource + Clone>(object: &mut Arc<K>, finalizer: &str) {
    let metadata = Arc::make_mut(object).meta_mut();
    let finalizers = metadata.finalizers.get_or_insert_default();
    finalizers.push(finalizer.to_owned());
}

pub(super) fn period_of(context: &Context, record: &BackendRecord) -> Option<Duration> {
    let policy = record.spec.ensure_policy.as_ref();
    period(policy, context.options.min_ensure_period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::CallCounts;
    use crate::index::StoreEvent;
    use crate::process::metrics::Metrics;
    use crate::process::options::Options;
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
