//! Calls a driver with the wire's requests: their maps are converted to its types, and its result back.
//!
//! The driver is not called with a value that does not fit, except where that would leak something:
//! a deletion needs no attributes, a deregistration no parameters, and the old values of an update
//! need not fit.

mod batches;

pub(crate) use batches::{deregister_backends, ensure_backends};

use super::Driver;
use super::request::{self, ListedBackend};
use crate::fields::{self, FieldError, Fields};
use crate::webhook::{
    self, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
    EnsureLoadBalancer, GenerateBackendAddr, Healthz, HealthzResponse, JudgePodDeregister,
    KubernetesObject, ListBackends, LoadBalancer, Operation, SPECIFICATION, StringMap,
    ValidateBackend, ValidateLoadBalancer, WebhookInfo,
};
use crate::{HookError, Reason, Rejection};

pub(crate) async fn healthz<D: Driver>(driver: &D, _request: Healthz) -> HealthzResponse {
    health(driver, driver.healthz().await)
}

/// The features do not depend on the driver's health.
pub(crate) fn health<D: Driver>(driver: &D, healthy: bool) -> HealthzResponse {
    let batches = driver.batch_size(<EnsureBackend as webhook::Webhook>::INFO) > 1;
    let features = [
        (HealthzResponse::BATCHES, batches),
        (HealthzResponse::CANCEL, driver.cancels_deregistrations()),
        (HealthzResponse::PAGES, true),
        (HealthzResponse::REASONS, true),
    ];
    let features = features.into_iter().filter(|(_, has)| *has);
    HealthzResponse {
        healthy,
        specification: SPECIFICATION.to_owned(),
        features: features.map(|(name, _)| name.to_owned()).collect(),
    }
}

pub(crate) async fn validate_load_balancer<D: Driver>(
    driver: &D,
    request: ValidateLoadBalancer,
) -> Result<(), Rejection> {
    is_known(request.operation.unknown())?;
    let maps = both(
        fields::read("lbSpec", &request.lb_spec),
        fields::read("attributes", &request.attributes),
    );
    let (lb_spec, attributes) = match maps {
        Ok(maps) => maps,
        // `lbSpec` never changes.
        Err(_)
            if is_unchanged(
                &request.operation,
                &request.attributes,
                &request.old_attributes,
            ) =>
        {
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let request = ValidateLoadBalancer {
        dry_run: request.dry_run,
        namespace: request.namespace,
        name: request.name,
        lb_spec,
        attributes,
        old_attributes: read_old(&request.operation, &request.old_attributes),
        operation: request.operation,
    };
    driver.validate_load_balancer(request).await
}

pub(crate) async fn create_load_balancer<D: Driver>(
    driver: &D,
    request: CreateLoadBalancer,
) -> Result<StringMap, HookError> {
    let wanted = request.lb_spec.clone();
    let (lb_spec, attributes) = both(
        fields::read_whole("lbSpec", request.lb_spec),
        fields::read_whole("attributes", request.attributes),
    )
    .map_err(invalid)?;
    let request = CreateLoadBalancer {
        lb_spec,
        attributes,
        record_id: request.record_id,
        retry_id: request.retry_id,
        dry_run: request.dry_run,
        namespace: request.namespace,
        name: request.name,
    };
    let lb_info = driver.create_load_balancer(request).await?;
    let written = fields::write("lbInfo", &lb_info)?;
    // An identity that cannot be read back could never be deleted. An empty one means lbSpec.
    let identity = if written.is_empty() {
        &wanted
    } else {
        &written
    };
    fields::read::<D::LbInfo>("lbInfo", identity)?;
    Ok(written)
}

pub(crate) async fn ensure_load_balancer<D: Driver>(
    driver: &D,
    request: EnsureLoadBalancer,
) -> Result<(), HookError> {
    let request = EnsureLoadBalancer {
        lb_info: fields::read_whole("lbInfo", request.lb_info)?,
        attributes: fields::read_whole("attributes", request.attributes).map_err(invalid)?,
        record_id: request.record_id,
        retry_id: request.retry_id,
        dry_run: request.dry_run,
        namespace: request.namespace,
        name: request.name,
    };
    driver.ensure_load_balancer(request).await
}

pub(crate) async fn delete_load_balancer<D: Driver>(
    driver: &D,
    request: DeleteLoadBalancer,
) -> Result<(), HookError> {
    let lb_info = match request.lb_info.is_empty() {
        true => None,
        false => Some(fields::read_whole("lbInfo", request.lb_info)?),
    };
    let request = DeleteLoadBalancer {
        lb_info,
        attributes: fields::read_if_it_fits(&request.attributes),
        record_id: request.record_id,
        retry_id: request.retry_id,
        dry_run: request.dry_run,
        namespace: request.namespace,
        name: request.name,
    };
    driver.delete_load_balancer(request).await
}

pub(crate) async fn validate_backend<D: Driver>(
    driver: &D,
    request: ValidateBackend,
) -> Result<(), Rejection> {
    is_known(request.backend_type.unknown())?;
    is_known(request.operation.unknown())?;
    let (parameters, old) = (&request.parameters, &request.old_parameters);
    let parameters = match fields::read("parameters", parameters) {
        Ok(parameters) => parameters,
        Err(_) if is_unchanged(&request.operation, parameters, old) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let request = ValidateBackend {
        dry_run: request.dry_run,
        namespace: request.namespace,
        name: request.name,
        backend_type: request.backend_type,
        // For a Bind it is the load balancer's lbSpec, which need not be an identity.
        lb_info: match request.lb_info.is_empty() {
            true => None,
            false => fields::read_if_it_fits(&request.lb_info),
        },
        parameters,
        old_parameters: read_old(&request.operation, old),
        operation: request.operation,
    };
    driver.validate_backend(request).await
}

pub(crate) async fn generate_backend_addr<D: Driver>(
    driver: &D,
    request: GenerateBackendAddr,
) -> Result<String, HookError> {
    let has_parameters = !request.parameters.is_empty();
    let request = GenerateBackendAddr {
        lb_info: fields::read_whole("lbInfo", request.lb_info)?,
        lb_attributes: fields::read_whole("lbAttributes", request.lb_attributes)?,
        // The original leaves them out. The address is stored, so it must not be generated without
        // parameters that exist and do not fit.
        parameters: match fields::read_whole("parameters", request.parameters) {
            Ok(parameters) => Some(parameters),
            Err(_) if !has_parameters => None,
            Err(error) => return Err(invalid(error)),
        },
        pod_backend: request.pod_backend,
        service_backend: request.service_backend,
        endpoint_backend: request.endpoint_backend,
        record_id: request.record_id,
        retry_id: request.retry_id,
        dry_run: request.dry_run,
        namespace: request.namespace,
        name: request.name,
    };
    request.backend()?;
    let address = driver.generate_backend_addr(request).await?;
    Ok(fields::write_address("backendAddr", &address)?)
}

fn read_ensure_backend<D: Driver>(
    request: EnsureBackend,
) -> Result<request::EnsureBackend<D>, HookError> {
    let (lb_info, parameters) = both(
        fields::read_whole("lbInfo", request.lb_info),
        fields::read_whole("parameters", request.parameters),
    )
    .map_err(invalid)?;
    Ok(EnsureBackend {
        lb_info,
        backend_addr: fields::read_address("backendAddr", &request.backend_addr)
            .map_err(invalid)?,
        parameters,
        injected_info: request.injected_info,
        record_id: request.record_id,
        retry_id: request.retry_id,
        dry_run: request.dry_run,
        namespace: request.namespace,
        name: request.name,
    })
}

pub(crate) async fn ensure_backend<D: Driver>(
    driver: &D,
    request: EnsureBackend,
) -> Result<StringMap, HookError> {
    driver
        .ensure_backend(read_ensure_backend::<D>(request)?)
        .await
}

/// The outcome is that of a request for which nothing is left to do, or whose values do not fit.
///
/// An address that does not fit was never registered, and without lbInfo there is no load balancer, so there
/// is nothing to deregister. A user may have written such a record, and a failure would prevent its deletion.
fn read_deregister_backend<D: Driver>(
    request: DeregisterBackend,
) -> Result<request::DeregisterBackend<D>, Result<(), HookError>> {
    let never_created = request.lb_info.is_empty();
    let never_registered = |error: FieldError| {
        tracing::warn!("{error}: treated as a backend that was never registered");
        Err(Ok(()))
    };
    let backend_addr = match fields::read_address("backendAddr", &request.backend_addr) {
        Ok(address) => address,
        Err(error) => return never_registered(error),
    };
    let lb_info = match fields::read_whole("lbInfo", request.lb_info) {
        Ok(lb_info) => lb_info,
        Err(error) if never_created => return never_registered(error),
        Err(error) => return Err(Err(error.into())),
    };
    Ok(DeregisterBackend {
        lb_info,
        backend_addr,
        parameters: fields::read_if_it_fits(&request.parameters),
        injected_info: request.injected_info,
        first_requested_at: request.first_requested_at,
        record_id: request.record_id,
        retry_id: request.retry_id,
        dry_run: request.dry_run,
        namespace: request.namespace,
        name: request.name,
    })
}

pub(crate) async fn deregister_backend<D: Driver>(
    driver: &D,
    request: DeregisterBackend,
) -> Result<(), HookError> {
    match read_deregister_backend::<D>(request) {
        Ok(request) => driver.deregister_backend(request).await,
        Err(outcome) => outcome,
    }
}

pub(crate) async fn judge_pod_deregister<D: Driver>(
    driver: &D,
    request: JudgePodDeregister,
) -> Result<Vec<KubernetesObject>, Rejection> {
    driver.judge_pod_deregister(request).await
}

pub(crate) async fn list_backends<D: Driver>(
    driver: &D,
    request: ListBackends,
) -> Result<(Vec<webhook::ListedBackend>, String), HookError> {
    let (limit, continue_token) = (request.limit, request.continue_token);
    let request = ListBackends {
        lb_info: fields::read_whole("lbInfo", request.lb_info)?,
        limit: 0,
        continue_token: String::new(),
        record_id: request.record_id,
        retry_id: request.retry_id,
        dry_run: request.dry_run,
        namespace: request.namespace,
        name: request.name,
    };
    let listed = driver.list_backends(request).await?;
    let written = listed.into_iter().map(write_listed::<D>);
    let written = written.collect::<Result<_, _>>()?;
    Ok(webhook::page(written, limit, &continue_token))
}

fn write_listed<D: Driver>(listed: ListedBackend<D>) -> Result<webhook::ListedBackend, FieldError> {
    let parameters = listed.parameters.as_ref();
    let parameters = parameters.map(|parameters| fields::write("parameters", parameters));
    Ok(webhook::ListedBackend {
        backend_addr: fields::write_address("backendAddr", &listed.backend_addr)?,
        parameters: parameters.transpose()?.unwrap_or_default(),
        record_id: listed.record_id,
    })
}

/// A value that does not fit has no key; it is refused when the hook runs.
pub(crate) fn serial_key<D: Driver>(
    driver: &D,
    webhook: WebhookInfo,
    load_balancer: LoadBalancer<&StringMap, &StringMap>,
) -> Option<String> {
    match load_balancer {
        LoadBalancer::Wanted(spec) => fields::show_if_it_fits(spec, |spec| {
            driver.serial_key(webhook, LoadBalancer::Wanted(spec))
        }),
        LoadBalancer::Created(info) => fields::show_if_it_fits(info, |info| {
            driver.serial_key(webhook, LoadBalancer::Created(info))
        }),
    }
    .flatten()
}

/// Both values, or the problems of both.
fn both<A, B>(
    one: Result<A, FieldError>,
    other: Result<B, FieldError>,
) -> Result<(A, B), FieldError> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(one), Err(other)) => Err(one.and(other)),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// A value of the user's object that does not fit.
fn invalid(error: FieldError) -> HookError {
    HookError::new(Reason::InvalidArgument, error.to_string()).because(error)
}

/// Refuses a value that this edition of the specification does not define.
fn is_known(problem: Option<String>) -> Result<(), Rejection> {
    problem.map_or(Ok(()), |problem| Err(Rejection::new(problem)))
}

/// True if values that were stored under earlier rules do not fit, and an update does not change them. It is
/// accepted, so that users can change the rest of the object, such as a label that protects it from deletion.
fn is_unchanged(operation: &Operation, new: &StringMap, old: &StringMap) -> bool {
    *operation == Operation::Update && new == old
}

fn read_old<T: Fields>(operation: &Operation, old: &StringMap) -> Option<T> {
    match operation {
        Operation::Create => None,
        _ => fields::read_if_it_fits(old),
    }
}
