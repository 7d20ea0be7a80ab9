//! Carrying out a record's next step.

use super::decide::{Step, View, decide};
use crate::api::{
    BackendRecord, BackendRecordStatus, Condition, Conditions, condition_types, reasons,
};
use crate::cluster::EventType::{Normal, Warning};
use crate::context::{Context, after_failed_write};
use crate::index::{AddressKey, Index, Lookup, PodView};
use crate::key::ObjectKey;
use crate::key::WorkKey;
use crate::names::{self, FINALIZER_BACKEND_RECORD};
use crate::outcome::{Outcome, in_full, poll, retry_id};
use crate::work::{Progress, Work};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube::api::Api;
use lbcf_driver_sdk::webhook::{
    BackendPort, DeregisterBackend, DeregisterBackendRequest, EnsureBackend, EnsureBackendRequest,
    GenerateBackendAddr, GenerateBackendAddrRequest, PodBackend,
};
use std::time::Duration;

/// How soon a record looks again whose address is in use. Whoever uses it wakes it sooner.
const ADDRESS_PAUSE: Duration = Duration::from_secs(1);

/// Looks at a record and does what comes next.
pub(crate) async fn act(context: &Context, key: &ObjectKey) -> Progress {
    let Some(view) = look(context, key) else {
        return Progress::Settled;
    };
    match decide(&view) {
        Step::Nothing => Progress::Settled,
        Step::AddFinalizer => {
            let mut finalizers = view.record.metadata.finalizers.clone().unwrap_or_default();
            finalizers.push(FINALIZER_BACKEND_RECORD.to_owned());
            finalize(context, &view.record, &finalizers, Progress::Again).await
        }
        Step::ReportDriverMissing => report_driver_missing(context, &view.record).await,
        Step::Generate(request) => generate(context, &view, request).await,
        Step::AwaitNeighbour(other) => {
            let message = format!("BackendRecord {other} is taking the same address away; waiting");
            context.report(&*view.record, Normal, "DelayedEnsureBackend", message);
            Progress::Settled // Its going wakes this record.
        }
        Step::Ensure(request) => alone(context, &view, ensure(context, &view, request)).await,
        Step::Deregister(request) => {
            alone(context, &view, deregister(context, &view, request)).await
        }
        Step::LetGo => let_go(context, &view.record).await,
        Step::LetGoShared(other) => {
            let message =
                format!("BackendRecord {other} has the same address and keeps it registered");
            context.report(&*view.record, Normal, "SkippedDeregister", message);
            let_go(context, &view.record).await
        }
    }
}

fn look(context: &Context, key: &ObjectKey) -> Option<View> {
    let index = context.index();
    let record = index.get_record(key).found()?;
    let pod =
        record.spec.pod_backend.as_ref().and_then(|pod| {
            index.get_pod(&ObjectKey::new(key.namespace.clone(), pod.name.clone()))
        });
    Some(View {
        driver: index.get_driver(&names::resolve(&key.namespace, &record.spec.lb_driver)),
        neighbours: index.neighbours(&record),
        pod_is_available: pod.is_some_and(|pod| pod.is_available()),
        record,
    })
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
    view: &View,
    mut request: Box<GenerateBackendAddrRequest>,
) -> Progress {
    let (record, Lookup::Found(driver)) = (&*view.record, &view.driver) else {
        return Progress::Settled;
    };
    match fetch_pod(context, record).await {
        Ok(Some(pod)) => request.pod_backend = Some(pod),
        Ok(None) => return Progress::Settled, // The watch tells of it, and wakes this record.
        Err(progress) => return progress,
    }
    request.retry_id = retry_id();
    match context
        .drivers
        .call::<GenerateBackendAddr>(driver, &request)
        .await
        .into()
    {
        Outcome::Succ(response) if response.backend_addr.is_empty() => {
            let message = "the driver answered Succ without a backendAddr";
            context.report(record, Warning, "InvalidGenerateAddr", message);
            fail(context, record, reasons::WEBHOOK_ERROR, message, None).await
        }
        Outcome::Succ(response) => {
            let message = format!("addr: {}", response.backend_addr);
            context.report(record, Normal, "SuccGenerateAddr", message);
            let status = BackendRecordStatus {
                backend_addr: response.backend_addr,
                ..status_of(record)
            };
            write(context, record, status, Progress::Again).await
        }
        Outcome::Running { message, delay } => {
            context.report(
                record,
                Normal,
                "RunningGenerateAddr",
                format!("msg: {message}"),
            );
            poll(context, delay)
        }
        Outcome::Fail { message, delay } => {
            context.report(
                record,
                Warning,
                "FailedGenerateAddr",
                format!("msg: {message}"),
            );
            fail(context, record, reasons::OPERATION_FAILED, &message, delay).await
        }
        Outcome::Error(error) => {
            let message = in_full(&error);
            context.report(record, Warning, "InvalidGenerateAddr", message.clone());
            fail(context, record, reasons::WEBHOOK_ERROR, &message, None).await
        }
    }
}

/// The pod as the API server has it now, whole, as drivers know it. None where it is not, or no
/// longer, the pod that the record was made for, or may not be registered (b120).
async fn fetch_pod(
    context: &Context,
    record: &BackendRecord,
) -> Result<Option<PodBackend>, Progress> {
    let (Some(backend), Some(name)) = (&record.spec.pod_backend, &record.metadata.name) else {
        return Ok(None);
    };
    let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), namespace);
    let fetched =
        tokio::time::timeout(context.options.write_timeout, pods.get_opt(&backend.name)).await;
    let pod = match fetched {
        Ok(Ok(Some(pod))) => pod,
        Ok(Ok(None)) => return Ok(None),
        Ok(Err(error)) => {
            tracing::warn!(pod = %backend.name, error = &error as &dyn std::error::Error, "fetching a pod failed");
            return Err(Progress::Retry(None));
        }
        Err(_) => return Err(Progress::Retry(None)),
    };
    let port = BackendPort {
        port: backend.port.number(),
        protocol: backend.port.protocol(),
    };
    let view = PodView::of(&pod);
    let group = record.metadata.owner_references.iter().flatten().next();
    let expected = names::pod_record_name(
        &record.spec.lb_name,
        group.map_or("", |group| &group.name),
        &view.uid,
        port.port,
        port.protocol.as_str(),
    );
    Ok((view.is_available() && expected == *name).then_some(PodBackend { pod, port }))
}

async fn ensure(context: &Context, view: &View, mut request: EnsureBackendRequest) -> Progress {
    let (record, Lookup::Found(driver)) = (&*view.record, &view.driver) else {
        return Progress::Settled;
    };
    request.retry_id = retry_id();
    match context
        .drivers
        .call::<EnsureBackend>(driver, &request)
        .await
        .into()
    {
        Outcome::Succ(response) => {
            let status = status_of(record);
            if !status.conditions.is_true(condition_types::REGISTERED) {
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
            write(context, record, status, Progress::Settled).await
        }
        Outcome::Running { message, delay } => {
            context.report(
                record,
                Normal,
                "RunningEnsureBackend",
                format!("msg: {message}"),
            );
            poll(context, delay)
        }
        Outcome::Fail { message, delay } => {
            context.report(
                record,
                Warning,
                "FailedEnsureBackend",
                format!("msg: {message}"),
            );
            fail(context, record, reasons::OPERATION_FAILED, &message, delay).await
        }
        Outcome::Error(error) => {
            let message = in_full(&error);
            context.report(record, Warning, "InvalidEnsureBackend", message.clone());
            fail(context, record, reasons::WEBHOOK_ERROR, &message, None).await
        }
    }
}

async fn deregister(
    context: &Context,
    view: &View,
    mut request: DeregisterBackendRequest,
) -> Progress {
    let (record, Lookup::Found(driver)) = (&*view.record, &view.driver) else {
        return Progress::Settled;
    };
    request.retry_id = retry_id();
    match context
        .drivers
        .call::<DeregisterBackend>(driver, &request)
        .await
        .into()
    {
        Outcome::Succ(_) => let_go(context, record).await,
        Outcome::Running { message, delay } => {
            context.report(
                record,
                Normal,
                "RunningDeregister",
                format!("msg: {message}"),
            );
            poll(context, delay)
        }
        Outcome::Fail { message, delay } => {
            context.report(
                record,
                Warning,
                "FailedDeregister",
                format!("msg: {message}"),
            );
            Progress::Retry(delay)
        }
        Outcome::Error(error) => {
            context.report(record, Warning, "InvalidDeregister", in_full(&error));
            Progress::Retry(None)
        }
    }
}

async fn report_driver_missing(context: &Context, record: &BackendRecord) -> Progress {
    let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
    let driver = names::resolve(namespace, &record.spec.lb_driver);
    let message = format!("spec.lbDriver: LoadBalancerDriver {driver} not found");
    context.report(record, Warning, reasons::DRIVER_NOT_FOUND, message.clone());
    match fail(context, record, reasons::DRIVER_NOT_FOUND, &message, None).await {
        Progress::Retry(_) => Progress::Settled, // The driver wakes it.
        other => other,
    }
}

/// Says in the record's condition why it is not registered, and tries again.
async fn fail(
    context: &Context,
    record: &BackendRecord,
    reason: &str,
    message: &str,
    delay: Option<Duration>,
) -> Progress {
    let status = status_of(record);
    let unmet = Condition::unmet(
        condition_types::REGISTERED,
        reason,
        message,
        record.metadata.generation,
    );
    let conditions = status.conditions.with(unmet, Timestamp::now());
    let status = BackendRecordStatus {
        conditions,
        ..status
    };
    write(context, record, status, Progress::Retry(delay)).await
}

async fn let_go(context: &Context, record: &BackendRecord) -> Progress {
    let mut finalizers = record.metadata.finalizers.clone().unwrap_or_default();
    finalizers.retain(|finalizer| finalizer != FINALIZER_BACKEND_RECORD);
    context.forget(record.metadata.uid.as_deref());
    finalize(context, record, &finalizers, Progress::Settled).await
}

async fn finalize(
    context: &Context,
    record: &BackendRecord,
    finalizers: &[String],
    then: Progress,
) -> Progress {
    match context.cluster.finalizers(record, finalizers).await {
        Ok(record) => {
            context.written(record, Index::record);
            then
        }
        Err(error) => after_failed_write(&error),
    }
}

fn status_of(record: &BackendRecord) -> BackendRecordStatus {
    record.status.clone().unwrap_or_default()
}

/// Writes a status, unless it is there already, and goes on as `then` says.
async fn write(
    context: &Context,
    record: &BackendRecord,
    status: BackendRecordStatus,
    then: Progress,
) -> Progress {
    if record.status.as_ref() == Some(&status) {
        return then;
    }
    match context
        .cluster
        .status(record, record.status.as_ref(), &status)
        .await
    {
        Ok(record) => {
            context.written(record, Index::record);
            then
        }
        Err(error) => after_failed_write(&error),
    }
}
