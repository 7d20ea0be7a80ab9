//! Carrying out a record's next step.

use super::backend::fetch;
use super::decide::{Step, View, decide};
use crate::api::{
    BackendRecord, BackendRecordStatus, Condition, Conditions, LoadBalancerDriver, condition_types,
    reasons,
};
use crate::cluster::EventType::{Normal, Warning};
use crate::context::Context;
use crate::index::{AddressKey, Index, Lookup};
use crate::key::{ObjectKey, WorkKey};
use crate::names::{self, FINALIZER_BACKEND_RECORD};
use crate::operation::{EventReasons, NotDone, operate, retry_id};
use crate::periodic::{Due, period};
use crate::work::{Progress, Work};
use jiff::Timestamp;
use lbcf_driver_sdk::webhook::{
    DeregisterBackend, DeregisterBackendRequest, EnsureBackend, EnsureBackendRequest,
    GenerateBackendAddr, GenerateBackendAddrRequest,
};
use std::sync::Arc;
use std::time::Duration;

const GENERATING: EventReasons = EventReasons {
    running: "RunningGenerateAddr",
    failed: "FailedGenerateAddr",
    invalid: "InvalidGenerateAddr",
};
const ENSURING: EventReasons = EventReasons {
    running: "RunningEnsureBackend",
    failed: "FailedEnsureBackend",
    invalid: "InvalidEnsureBackend",
};
const DEREGISTERING: EventReasons = EventReasons {
    running: "RunningDeregister",
    failed: "FailedDeregister",
    invalid: "InvalidDeregister",
};

/// How soon a record looks again whose address is in use. Whoever uses it wakes it sooner.
const ADDRESS_PAUSE: Duration = Duration::from_secs(1);

/// Looks at a record and does what comes next.
pub(crate) async fn act(context: &Context, key: &ObjectKey) -> Progress {
    if let Err(progress) = context.make_sure(key, Index::record).await {
        return progress;
    }
    let Some(view) = look(context, key) else {
        return Progress::Settled;
    };
    let record = &*view.record;
    match (decide(&view), &view.driver) {
        (Step::Nothing, _) => view.due.then(),
        (Step::AddFinalizer, _) => {
            let mut finalizers = record.metadata.finalizers.clone().unwrap_or_default();
            finalizers.push(FINALIZER_BACKEND_RECORD.to_owned());
            context
                .write_finalizers(record, &finalizers, Index::record, Progress::Again)
                .await
        }
        (Step::ReportDriverMissing, _) => report_driver_missing(context, record).await,
        (Step::AwaitNeighbour(other), _) => {
            let message = format!("BackendRecord {other} is taking the same address away; waiting");
            context.report(record, Normal, "DelayedEnsureBackend", message);
            Progress::Settled // Its going wakes this record.
        }
        (Step::TakeAddress(backend_addr), _) => {
            let status = BackendRecordStatus {
                backend_addr,
                ..status_of(record)
            };
            write(context, record, status, Progress::Again).await
        }
        (Step::LetGo, _) => let_go(context, record).await,
        (Step::LetGoShared(other), _) => {
            let message =
                format!("BackendRecord {other} has the same address and keeps it registered");
            context.report(record, Normal, "SkippedDeregister", message);
            let_go(context, record).await
        }
        (Step::Generate(request), Lookup::Found(driver)) => {
            generate(context, record, driver, *request).await
        }
        (Step::Ensure(request), Lookup::Found(driver)) => {
            alone(context, &view, ensure(context, record, driver, request)).await
        }
        (Step::Deregister(request), Lookup::Found(driver)) => {
            alone(context, &view, deregister(context, record, driver, request)).await
        }
        // No webhook is decided on without a driver to call.
        (_, Lookup::Missing | Lookup::Unreadable) => Progress::Settled,
    }
}

fn look(context: &Context, key: &ObjectKey) -> Option<View> {
    let index = context.index();
    let mut record = index.get_record(key).found()?;
    if context.options.dry_run && record.metadata.deletion_timestamp.is_none() {
        // A dry run goes on as if what is stored before the first call were stored.
        let metadata = &mut Arc::make_mut(&mut record).metadata;
        let finalizers = metadata.finalizers.get_or_insert_default();
        finalizers.push(FINALIZER_BACKEND_RECORD.to_owned());
    }
    let backend_is_available = if let Some(pod) = &record.spec.pod_backend {
        let pod = index.get_pod(&ObjectKey::new(key.namespace.clone(), pod.name.clone()));
        pod.is_some_and(|pod| pod.is_available())
    } else if let Some(service) = &record.spec.service_backend {
        index.get_node(&service.node_name).is_some()
    } else {
        false
    };
    Some(View {
        driver: index.get_driver(&names::resolve(&key.namespace, &record.spec.lb_driver)),
        neighbours: index.neighbours(&record),
        backend_is_available,
        due: due(context, &record),
        record,
    })
}

/// When a registered record is ensured again.
fn due(context: &Context, record: &BackendRecord) -> Due {
    let Some(period) = period_of(context, record) else {
        return Due::Never;
    };
    context.periods.due(&work_key(record), period)
}

fn period_of(context: &Context, record: &BackendRecord) -> Option<Duration> {
    let policy = record.spec.ensure_policy.as_ref();
    period(policy, context.options.min_ensure_period)
}

/// Does something to the record's address while nobody else does.
async fn alone(
    context: &Context,
    view: &View,
    act: impl Future<Output = Progress> + Send,
) -> Progress {
    let Some(address) = AddressKey::of(&view.record) else {
        return Progress::Settled;
    };
    let Some(lock) = context.addresses.try_take(address) else {
        return Progress::After(ADDRESS_PAUSE);
    };
    // Between looking and taking, somebody may have finished with it: look again.
    let has_changed =
        look(context, &ObjectKey::of(&*view.record)).is_none_or(|now| decide(&now) != decide(view));
    if has_changed {
        return Progress::Again;
    }
    let progress = act.await;
    drop(lock);
    let neighbours = context.index().neighbours(&view.record);
    let wake = neighbours
        .iter()
        .map(|record| WorkKey::Record(ObjectKey::of(&**record)));
    context.queue.add(wake.map(Work::in_turn));
    progress
}

async fn generate(
    context: &Context,
    record: &BackendRecord,
    driver: &LoadBalancerDriver,
    mut request: GenerateBackendAddrRequest,
) -> Progress {
    match fetch(context, record, &mut request).await {
        Ok(true) => {}
        // The watch tells too; but what changed and changed back may wake nobody.
        Ok(false) => return Progress::Retry(None),
        Err(progress) => return progress,
    }
    request.retry_id = retry_id();
    let generated =
        operate::<GenerateBackendAddr, _>(context, (record, ""), driver, GENERATING, &request);
    let not_done = match generated.await {
        Ok(response) if !response.backend_addr.is_empty() => {
            let message = format!("addr: {}", response.backend_addr);
            context.report(record, Normal, "SuccGenerateAddr", message);
            let backend_addr = response.backend_addr;
            let status = BackendRecordStatus {
                backend_addr,
                ..status_of(record)
            };
            return write(context, record, status, Progress::Again).await;
        }
        Ok(_) => {
            let message = "the driver answered Succ without a backendAddr";
            context.report(record, Warning, GENERATING.invalid, message);
            let (reason, then) = (reasons::INVALID_RESPONSE, Progress::Retry(None));
            NotDone::Failed {
                reason,
                message: message.to_owned(),
                then,
            }
        }
        Err(not_done) => not_done,
    };
    tell(context, record, not_done).await
}

async fn ensure(
    context: &Context,
    record: &BackendRecord,
    driver: &LoadBalancerDriver,
    mut request: EnsureBackendRequest,
) -> Progress {
    request.retry_id = retry_id();
    match operate::<EnsureBackend, _>(context, (record, ""), driver, ENSURING, &request).await {
        Ok(response) => {
            let status = status_of(record);
            let is_news = !status.conditions.is_true(condition_types::REGISTERED);
            if is_news {
                context.report(
                    record,
                    Normal,
                    "SuccEnsureBackend",
                    "Successfully ensured backend",
                );
            }
            let registered =
                Condition::met(condition_types::REGISTERED, record.metadata.generation);
            let conditions = status.conditions.with(registered, Timestamp::now());
            let injected_info = match response.injected_info {
                // b121: an empty map leaves what there is.
                injected if injected.is_empty() => status.injected_info,
                injected => injected.into(),
            };
            let status = BackendRecordStatus {
                conditions,
                injected_info,
                ..status_of(record)
            };
            let then = write(context, record, status, restart(context, record)).await;
            if is_news && matches!(then, Progress::Settled | Progress::After(_)) {
                measure(context, record);
            }
            then
        }
        Err(not_done) => tell(context, record, not_done).await,
    }
}

/// What comes after a record was ensured.
fn restart(context: &Context, record: &BackendRecord) -> Progress {
    match period_of(context, record) {
        Some(period) => Progress::After(context.periods.restart(&work_key(record), period)),
        None => Progress::Settled,
    }
}

fn work_key(record: &BackendRecord) -> WorkKey {
    WorkKey::Record(ObjectKey::of(record))
}

async fn deregister(
    context: &Context,
    record: &BackendRecord,
    driver: &LoadBalancerDriver,
    mut request: DeregisterBackendRequest,
) -> Progress {
    request.retry_id = retry_id();
    match operate::<DeregisterBackend, _>(context, (record, ""), driver, DEREGISTERING, &request)
        .await
    {
        Ok(_) => let_go(context, record).await,
        Err(not_done) => not_done.then(),
    }
}

/// Measures how long a record took to be registered: the first time, so that one that failed after
/// a change does not count from its beginning.
fn measure(context: &Context, record: &BackendRecord) {
    let is_first = record.metadata.generation.is_none_or(|number| number <= 1);
    if let Some(made) = &record.metadata.creation_timestamp
        && is_first
    {
        let since = Timestamp::now().duration_since(made.0);
        // Another machine's clock may be ahead of ours.
        context
            .metrics
            .registered(Duration::try_from(since).unwrap_or_default());
    }
}

async fn report_driver_missing(context: &Context, record: &BackendRecord) -> Progress {
    let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
    let driver = names::resolve(namespace, &record.spec.lb_driver);
    let message = format!("spec.lbDriver: LoadBalancerDriver {driver} not found");
    context.report(record, Warning, reasons::DRIVER_NOT_FOUND, message.clone());
    // The driver wakes it.
    let (reason, then) = (reasons::DRIVER_NOT_FOUND, Progress::Settled);
    tell(
        context,
        record,
        NotDone::Failed {
            reason,
            message,
            then,
        },
    )
    .await
}

/// Says in the record's condition why it is not registered, and goes on as it says.
async fn tell(context: &Context, record: &BackendRecord, not_done: NotDone) -> Progress {
    match not_done {
        NotDone::Running(then) => then,
        NotDone::Failed {
            reason,
            message,
            then,
        } => {
            let status = status_of(record);
            let generation = record.metadata.generation;
            let unmet = Condition::unmet(condition_types::REGISTERED, reason, message, generation);
            let conditions = status.conditions.with(unmet, Timestamp::now());
            write(
                context,
                record,
                BackendRecordStatus {
                    conditions,
                    ..status
                },
                then,
            )
            .await
        }
    }
}

async fn let_go(context: &Context, record: &BackendRecord) -> Progress {
    let mut finalizers = record.metadata.finalizers.clone().unwrap_or_default();
    finalizers.retain(|finalizer| finalizer != FINALIZER_BACKEND_RECORD);
    context
        .write_finalizers(record, &finalizers, Index::record, Progress::Settled)
        .await
}

fn status_of(record: &BackendRecord) -> BackendRecordStatus {
    record.status.clone().unwrap_or_default()
}

async fn write(
    context: &Context,
    record: &BackendRecord,
    status: BackendRecordStatus,
    then: Progress,
) -> Progress {
    context
        .write_status(record, record.status.as_ref(), &status, Index::record, then)
        .await
}
