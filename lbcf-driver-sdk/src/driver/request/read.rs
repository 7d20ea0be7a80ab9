//! From the wire's requests to a driver's own.

use super::{
    Backend, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
    EnsureLoadBalancer, GenerateBackendAddr, ValidateBackend, ValidateLoadBalancer,
};
use crate::fields::{self, FieldError, Fields};
use crate::webhook::{self as wire, PodBackend, ServiceBackend, StringMap};
use crate::{Driver, NotSucc};

/// A map that is empty where there is nothing to tell.
fn read_unless_empty<T: Fields>(name: &str, map: &StringMap) -> Result<Option<T>, FieldError> {
    if map.is_empty() {
        Ok(None)
    } else {
        fields::read(name, map).map(Some)
    }
}

impl<D: Driver + ?Sized> ValidateLoadBalancer<D> {
    pub(crate) fn read(request: wire::ValidateLoadBalancerRequest) -> Result<Self, FieldError> {
        let wire::ValidateLoadBalancerRequest {
            dry_run,
            lb_spec,
            operation,
            attributes,
            old_attributes,
        } = request;
        Ok(Self {
            dry_run,
            lb_spec: fields::read("lbSpec", &lb_spec)?,
            attributes: fields::read("attributes", &attributes)?,
            old_attributes: match operation {
                wire::Operation::Create => None,
                _ => fields::read("oldAttributes", &old_attributes).ok(),
            },
            operation,
        })
    }
}

impl<D: Driver + ?Sized> CreateLoadBalancer<D> {
    pub(crate) fn read(request: wire::CreateLoadBalancerRequest) -> Result<Self, FieldError> {
        Ok(Self {
            lb_spec: fields::read("lbSpec", &request.lb_spec)?,
            attributes: fields::read("attributes", &request.attributes)?,
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        })
    }
}

impl<D: Driver + ?Sized> EnsureLoadBalancer<D> {
    pub(crate) fn read(request: wire::EnsureLoadBalancerRequest) -> Result<Self, FieldError> {
        Ok(Self {
            lb_info: fields::read("lbInfo", &request.lb_info)?,
            attributes: fields::read("attributes", &request.attributes)?,
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
            attributes: fields::read("attributes", &request.attributes).ok(),
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        })
    }
}

impl<D: Driver + ?Sized> ValidateBackend<D> {
    pub(crate) fn read(request: wire::ValidateBackendRequest) -> Result<Self, FieldError> {
        let wire::ValidateBackendRequest {
            dry_run,
            backend_type,
            lb_info,
            operation,
            parameters,
            old_parameters,
        } = request;
        Ok(Self {
            dry_run,
            backend_type,
            lb_info: read_unless_empty("lbInfo", &lb_info)?,
            parameters: fields::read("parameters", &parameters)?,
            old_parameters: match operation {
                wire::Operation::Create => None,
                _ => fields::read("oldParameters", &old_parameters).ok(),
            },
            operation,
        })
    }
}

impl<D: Driver + ?Sized> GenerateBackendAddr<D> {
    pub(crate) fn read(request: wire::GenerateBackendAddrRequest) -> Result<Self, NotSucc> {
        Ok(Self {
            lb_info: fields::read("lbInfo", &request.lb_info)?,
            lb_attributes: fields::read("lbAttributes", &request.lb_attributes)?,
            parameters: fields::read("parameters", &request.parameters).ok(),
            backend: the_one(request.pod_backend, request.service_backend)?,
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        })
    }
}

fn the_one(pod: Option<PodBackend>, service: Option<ServiceBackend>) -> Result<Backend, NotSucc> {
    match (pod, service) {
        (Some(pod), None) => Ok(Backend::Pod(Box::new(pod))),
        (None, Some(service)) => Ok(Backend::Service(Box::new(service))),
        (None, None) => Err(NotSucc::fail(
            "the request names no backend: podBackend or serviceBackend is needed",
        )),
        (Some(_), Some(_)) => Err(NotSucc::fail(
            "the request names two backends: podBackend and serviceBackend exclude each other",
        )),
    }
}

impl<D: Driver + ?Sized> EnsureBackend<D> {
    pub(crate) fn read(request: wire::EnsureBackendRequest) -> Result<Self, FieldError> {
        Ok(Self {
            lb_info: fields::read("lbInfo", &request.lb_info)?,
            backend_addr: fields::read_address("backendAddr", &request.backend_addr)?,
            parameters: fields::read("parameters", &request.parameters)?,
            injected_info: request.injected_info,
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        })
    }
}

impl<D: Driver + ?Sized> DeregisterBackend<D> {
    pub(crate) fn read(request: wire::DeregisterBackendRequest) -> Result<Self, FieldError> {
        Ok(Self {
            lb_info: fields::read("lbInfo", &request.lb_info)?,
            backend_addr: fields::read_address("backendAddr", &request.backend_addr)?,
            parameters: fields::read("parameters", &request.parameters).ok(),
            injected_info: request.injected_info,
            record_id: request.record_id,
            retry_id: request.retry_id,
            dry_run: request.dry_run,
        })
    }
}
