//! Converts the wire's requests to those of a driver.
//!
//! The driver is not called with a value that does not fit, except where that would leak something:
//! a deletion needs no attributes, a deregistration no parameters, and the old values of an update
//! need not fit.

use super::typed::{
    Backend, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, Driver, EnsureBackend,
    EnsureLoadBalancer, GenerateBackendAddr, ListBackends, ValidateBackend, ValidateLoadBalancer,
};
use crate::HookError;
use crate::fields::{self, FieldError, Fields};
use crate::webhook::{self as wire, EndpointBackend, PodBackend, ServiceBackend, StringMap};

fn read_unless_empty<T: Fields>(name: &str, map: &StringMap) -> Result<Option<T>, FieldError> {
    if map.is_empty() {
        Ok(None)
    } else {
        fields::read(name, map).map(Some)
    }
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

/// The request of a validation, as far as it concerns the driver.
pub(crate) enum ValidationInput<R> {
    Validate(R),
    /// Values that were stored under earlier rules do not fit, and the update does not change them.
    /// It is accepted, so that users can change the rest of the object, such as a label that protects
    /// it from deletion.
    Unchanged,
}

impl<R> ValidationInput<R> {
    fn new(
        read: Result<R, FieldError>,
        operation: &wire::Operation,
        is_unchanged: bool,
    ) -> Result<Self, FieldError> {
        match read {
            Ok(request) => Ok(Self::Validate(request)),
            Err(_) if is_unchanged && *operation == wire::Operation::Update => Ok(Self::Unchanged),
            Err(error) => Err(error),
        }
    }
}

impl<D: Driver + ?Sized> ValidateLoadBalancer<D> {
    pub(crate) fn read(
        request: wire::ValidateLoadBalancerRequest,
    ) -> Result<ValidationInput<Self>, FieldError> {
        let wire::ValidateLoadBalancerRequest {
            dry_run,
            lb_spec,
            operation,
            attributes,
            old_attributes,
        } = request;
        let maps = both(
            fields::read("lbSpec", &lb_spec),
            fields::read("attributes", &attributes),
        );
        let read = maps.map(|(lb_spec, attributes)| Self {
            dry_run,
            lb_spec,
            attributes,
            old_attributes: match operation {
                wire::Operation::Create => None,
                _ => fields::read_if_it_fits(&old_attributes),
            },
            operation: operation.clone(),
        });
        // `lbSpec` never changes.
        ValidationInput::new(read, &operation, attributes == old_attributes)
    }
}

impl<D: Driver + ?Sized> CreateLoadBalancer<D> {
    pub(crate) fn read(request: wire::CreateLoadBalancerRequest) -> Result<Self, FieldError> {
        let (lb_spec, attributes) = both(
            fields::read_whole("lbSpec", request.lb_spec),
            fields::read_whole("attributes", request.attributes),
        )?;
        Ok(Self {
            lb_spec,
            attributes,
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        })
    }
}

impl<D: Driver + ?Sized> EnsureLoadBalancer<D> {
    pub(crate) fn read(request: wire::EnsureLoadBalancerRequest) -> Result<Self, FieldError> {
        Ok(Self {
            lb_info: fields::read_whole("lbInfo", request.lb_info)?,
            attributes: fields::read_whole("attributes", request.attributes)?,
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        })
    }
}

impl<D: Driver + ?Sized> DeleteLoadBalancer<D> {
    pub(crate) fn read(request: wire::DeleteLoadBalancerRequest) -> Result<Self, FieldError> {
        Ok(Self {
            lb_info: read_unless_empty("lbInfo", &request.lb_info)?,
            attributes: fields::read_if_it_fits(&request.attributes),
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        })
    }
}

impl<D: Driver + ?Sized> ValidateBackend<D> {
    pub(crate) fn read(
        request: wire::ValidateBackendRequest,
    ) -> Result<ValidationInput<Self>, FieldError> {
        let wire::ValidateBackendRequest {
            dry_run,
            backend_type,
            lb_info,
            operation,
            parameters,
            old_parameters,
        } = request;
        let read = fields::read("parameters", &parameters).map(|parameters| Self {
            dry_run,
            backend_type,
            // For a Bind it is the load balancer's lbSpec, which need not be an identity.
            lb_info: (!lb_info.is_empty())
                .then(|| fields::read_if_it_fits(&lb_info))
                .flatten(),
            parameters,
            old_parameters: match operation {
                wire::Operation::Create => None,
                _ => fields::read_if_it_fits(&old_parameters),
            },
            operation: operation.clone(),
        });
        ValidationInput::new(read, &operation, parameters == old_parameters)
    }
}

impl<D: Driver + ?Sized> GenerateBackendAddr<D> {
    pub(crate) fn read(request: wire::GenerateBackendAddrRequest) -> Result<Self, HookError> {
        let has_parameters = !request.parameters.is_empty();
        Ok(Self {
            lb_info: fields::read_whole("lbInfo", request.lb_info)?,
            lb_attributes: fields::read_whole("lbAttributes", request.lb_attributes)?,
            // The original leaves them out. The address is stored, so it must not be generated
            // without parameters that exist and do not fit.
            parameters: match fields::read_whole("parameters", request.parameters) {
                Ok(parameters) => Some(parameters),
                Err(_) if !has_parameters => None,
                Err(error) => return Err(error.into()),
            },
            backend: the_one(
                request.pod_backend,
                request.service_backend,
                request.endpoint_backend.as_ref(),
            )?,
            endpoint: request.endpoint_backend,
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        })
    }
}

/// A pod stays a pod where it is an endpoint as well, so that drivers need not know of endpoints.
fn the_one(
    pod: Option<PodBackend>,
    service: Option<ServiceBackend>,
    endpoint: Option<&EndpointBackend>,
) -> Result<Backend, HookError> {
    match (pod, service, endpoint) {
        (Some(pod), None, _) => Ok(Backend::Pod(Box::new(pod))),
        (None, Some(service), None) => Ok(Backend::Service(Box::new(service))),
        (None, None, Some(endpoint)) => Ok(Backend::Endpoint(Box::new(endpoint.clone()))),
        (None, None, None) => Err(HookError::fail(
            "the request names no backend: podBackend, serviceBackend or endpointBackend is needed",
        )),
        (None, Some(_), Some(_)) => Err(HookError::fail(
            "the request names two backends: serviceBackend and endpointBackend exclude each other",
        )),
        (Some(_), Some(_), _) => Err(HookError::fail(
            "the request names two backends: podBackend and serviceBackend exclude each other",
        )),
    }
}

impl<D: Driver + ?Sized> EnsureBackend<D> {
    pub(crate) fn read(request: wire::EnsureBackendRequest) -> Result<Self, FieldError> {
        let (lb_info, parameters) = both(
            fields::read_whole("lbInfo", request.lb_info),
            fields::read_whole("parameters", request.parameters),
        )?;
        Ok(Self {
            lb_info,
            backend_addr: fields::read_address("backendAddr", &request.backend_addr)?,
            parameters,
            injected_info: request.injected_info,
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        })
    }
}

impl<D: Driver + ?Sized> DeregisterBackend<D> {
    /// The inner error is that of the address: one that does not fit was never registered, so there
    /// is nothing to deregister. A user may have written it, and a failure would prevent the
    /// deletion of its record.
    pub(crate) fn read(
        request: wire::DeregisterBackendRequest,
    ) -> Result<Result<Self, FieldError>, FieldError> {
        let backend_addr = match fields::read_address("backendAddr", &request.backend_addr) {
            Ok(address) => address,
            Err(error) => return Ok(Err(error)),
        };
        // Without lbInfo the load balancer was never created, and nothing was registered to it.
        let never_created = request.lb_info.is_empty();
        let lb_info = match fields::read_whole("lbInfo", request.lb_info) {
            Ok(lb_info) => lb_info,
            Err(error) if never_created => return Ok(Err(error)),
            Err(error) => return Err(error),
        };
        Ok(Ok(Self {
            lb_info,
            backend_addr,
            parameters: fields::read_if_it_fits(&request.parameters),
            injected_info: request.injected_info,
            first_requested_at: request.first_requested_at,
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        }))
    }
}

impl<D: Driver + ?Sized> ListBackends<D> {
    pub(crate) fn read(request: wire::ListBackendsRequest) -> Result<Self, FieldError> {
        Ok(Self {
            lb_info: fields::read_whole("lbInfo", request.lb_info)?,
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d66_an_endpoint_is_a_pod_where_it_is_one_and_nothing_else_beside_it() {
        let endpoint = EndpointBackend {
            address: "192.0.2.1".to_owned(),
            ..EndpointBackend::default()
        };
        let (pod, service) = (PodBackend::default(), ServiceBackend::default());
        let read = |pod: Option<&PodBackend>, service: Option<&ServiceBackend>, endpoint| {
            let backend = the_one(pod.cloned(), service.cloned(), endpoint);
            backend.map_err(|error| error.message().to_owned())
        };
        let as_pod = Ok(Backend::Pod(Box::new(pod.clone())));
        assert_eq!(read(Some(&pod), None, None), as_pod);
        assert_eq!(read(Some(&pod), None, Some(&endpoint)), as_pod);
        let alone = read(None, None, Some(&endpoint));
        assert_eq!(alone, Ok(Backend::Endpoint(Box::new(endpoint.clone()))));
        for two in [
            read(None, Some(&service), Some(&endpoint)),
            read(Some(&pod), Some(&service), Some(&endpoint)),
        ] {
            assert!(two.unwrap_err().contains("names two backends"));
        }
    }
}
