//! Every [`Driver`] is a [`RawDriver`]: the wire's maps are converted to its types before a method is
//! called, and its result back to maps.

use super::raw::RawDriver;
use super::read::ValidationInput;
use super::typed::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, Driver, EnsureBackend,
    EnsureLoadBalancer, GenerateBackendAddr, ListBackends, ListedBackend, ValidateBackend,
    ValidateLoadBalancer,
};
#[cfg(feature = "openapi")]
use crate::fields::DriverSchemas;
use crate::fields::{self, FieldError};
use crate::webhook as wire;
use crate::webhook::{KubernetesObject, LoadBalancer, StringMap, WebhookInfo};
use crate::{HookError, Rejection};

impl<D: Driver> RawDriver for D {
    async fn healthz(&self, _request: wire::HealthzRequest) -> wire::HealthzResponse {
        wire::HealthzResponse {
            healthy: Driver::healthz(self).await,
        }
    }

    async fn validate_load_balancer(
        &self,
        request: wire::ValidateLoadBalancerRequest,
    ) -> Result<(), Rejection> {
        match ValidateLoadBalancer::read(request)? {
            ValidationInput::Validate(request) => {
                Driver::validate_load_balancer(self, request).await
            }
            ValidationInput::Unchanged => Ok(()),
        }
    }

    async fn create_load_balancer(
        &self,
        request: wire::CreateLoadBalancerRequest,
    ) -> Result<StringMap, HookError> {
        let lb_spec = request.lb_spec.clone();
        let request = CreateLoadBalancer::read(request)?;
        let lb_info = Driver::create_load_balancer(self, request).await?;
        let written = fields::write("lbInfo", &lb_info)?;
        // An identity that cannot be read back could never be deleted. An empty one means lbSpec.
        let identity = if written.is_empty() {
            &lb_spec
        } else {
            &written
        };
        fields::read::<D::LbInfo>("lbInfo", identity)?;
        Ok(written)
    }

    async fn ensure_load_balancer(
        &self,
        request: wire::EnsureLoadBalancerRequest,
    ) -> Result<(), HookError> {
        Driver::ensure_load_balancer(self, EnsureLoadBalancer::read(request)?).await
    }

    async fn delete_load_balancer(
        &self,
        request: wire::DeleteLoadBalancerRequest,
    ) -> Result<(), HookError> {
        Driver::delete_load_balancer(self, DeleteLoadBalancer::read(request)?).await
    }

    async fn validate_backend(
        &self,
        request: wire::ValidateBackendRequest,
    ) -> Result<(), Rejection> {
        match ValidateBackend::read(request)? {
            ValidationInput::Validate(request) => Driver::validate_backend(self, request).await,
            ValidationInput::Unchanged => Ok(()),
        }
    }

    async fn generate_backend_addr(
        &self,
        request: wire::GenerateBackendAddrRequest,
    ) -> Result<String, HookError> {
        let request = GenerateBackendAddr::read(request)?;
        let address = Driver::generate_backend_addr(self, request).await?;
        Ok(fields::write_address("backendAddr", &address)?)
    }

    async fn ensure_backend(
        &self,
        request: wire::EnsureBackendRequest,
    ) -> Result<StringMap, HookError> {
        Driver::ensure_backend(self, EnsureBackend::read(request)?).await
    }

    async fn deregister_backend(
        &self,
        request: wire::DeregisterBackendRequest,
    ) -> Result<(), HookError> {
        match DeregisterBackend::read(request)? {
            Ok(request) => Driver::deregister_backend(self, request).await,
            Err(_never_registered) => {
                #[cfg(feature = "server")]
                tracing::warn!(
                    "{_never_registered}: treated as a backend that was never registered"
                );
                Ok(())
            }
        }
    }

    async fn judge_pod_deregister(
        &self,
        request: wire::JudgePodDeregisterRequest,
    ) -> Result<Vec<KubernetesObject>, Rejection> {
        Driver::judge_pod_deregister(self, request).await
    }

    async fn list_backends(
        &self,
        request: wire::ListBackendsRequest,
    ) -> Result<Vec<wire::ListedBackend>, HookError> {
        let listed = Driver::list_backends(self, ListBackends::read(request)?).await?;
        let written = listed.into_iter().map(write_listed::<D>);
        Ok(written.collect::<Result<_, _>>()?)
    }

    fn serial_key(
        &self,
        webhook: WebhookInfo,
        load_balancer: LoadBalancer<&StringMap, &StringMap>,
    ) -> Option<String> {
        // A value that does not fit is refused when the hook runs.
        match load_balancer {
            LoadBalancer::Wanted(spec) => {
                let key = |spec: &D::LbSpec| {
                    Driver::serial_key(self, webhook, LoadBalancer::Wanted(spec))
                };
                fields::show_if_it_fits(spec, key)?
            }
            LoadBalancer::Created(info) => {
                let key = |info: &D::LbInfo| {
                    Driver::serial_key(self, webhook, LoadBalancer::Created(info))
                };
                fields::show_if_it_fits(info, key)?
            }
        }
    }

    fn accepts_dry_run(&self) -> bool {
        Driver::accepts_dry_run(self)
    }

    #[cfg(feature = "openapi")]
    fn schemas(&self) -> DriverSchemas {
        Driver::schemas(self)
    }
}

fn write_listed<D: Driver>(listed: ListedBackend<D>) -> Result<wire::ListedBackend, FieldError> {
    let parameters = listed.parameters.as_ref();
    let parameters = parameters.map(|parameters| fields::write("parameters", parameters));
    Ok(wire::ListedBackend {
        backend_addr: fields::write_address("backendAddr", &listed.backend_addr)?,
        parameters: parameters.transpose()?.unwrap_or_default(),
        record_id: listed.record_id.unwrap_or_default(),
    })
}
