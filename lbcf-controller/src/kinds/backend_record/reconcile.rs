//! Acts on what is decided about a record.

use super::conflict::{Sharing, sharing};
use super::decide::{RecordAction, RecordState, decide};
use super::observe::observe;
use super::ownerless;
use crate::api::names::{self, FINALIZER_BACKEND_RECORD};
use crate::api::{BackendRecord, BackendRecordStatus, ObjectKey, reasons};
use crate::cluster::EventType::{self, Normal};
use crate::cluster::Regarding;
use crate::index::{AddressKey, Lookup, Request, RequestKey};
use crate::runtime::driver_protection::protect;
use crate::runtime::operation::Operand;
use crate::runtime::{Action, Context, Error};
use std::time::Duration;

/// The delay before a record whose address is locked is reconciled again. Usually the reconciliation that
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

pub(super) struct Reconciler<'a> {
    pub(super) context: &'a Context,
    pub(super) record: &'a BackendRecord,
    pub(super) sharing: Sharing,
    pub(super) regarding: Regarding,
    pub(super) key: RequestKey,
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
        self.context
            .remove_finalizer(self.record, FINALIZER_BACKEND_RECORD)
            .await?;
        Ok(Action::AwaitChange)
    }

    pub(super) fn status(&self) -> BackendRecordStatus {
        self.record.status.clone().unwrap_or_default()
    }

    pub(super) fn operand(&self) -> Operand<'_> {
        let status = self.record.status.as_ref();
        Operand {
            key: Some(&self.key),
            regarding: &self.regarding,
            conditions: status.map_or(&[], |status| &status.conditions),
        }
    }

    pub(super) fn event(&self, event_type: EventType, reason: &str, message: &str) {
        let recorder = &self.context.recorder;
        recorder.record_change(&self.regarding, event_type, reason, message);
    }
}
