//! Every [`Driver`] is a [`RawDriver`]: its types are read from the wire's maps before a method is
//! called, and written back from its answer.

use crate::fields::{self, read_address};
use crate::request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, ValidateBackend, ValidateLoadBalancer,
};
use crate::webhook as wire;
use crate::webhook::{LoadBalancer, StringMap};
use crate::{Driver, NotSucc, RawDriver, Refusal};
use k8s_openapi::api::core::v1::Pod;

impl<D: Driver> RawDriver for D {
    async fn healthz(&self, _request: wire::HealthzRequest) -> wire::HealthzResponse {
        wire::HealthzResponse {
            healthy: Driver::healthz(self).await,
        }
    }

    async fn validate_load_balancer(
        &self,
        request: wire::ValidateLoadBalancerRequest,
    ) -> Result<(), Refusal> {
        Driver::validate_load_balancer(self, ValidateLoadBalancer::read(request)?).await
    }

    async fn create_load_balancer(
        &self,
        request: wire::CreateLoadBalancerRequest,
    ) -> Result<StringMap, NotSucc> {
        let request = CreateLoadBalancer::read(request)?;
        let lb_info = Driver::create_load_balancer(self, request).await?;
        Ok(fields::write("lbInfo", &lb_info)?)
    }

    async fn ensure_load_balancer(
        &self,
        request: wire::EnsureLoadBalancerRequest,
    ) -> Result<(), NotSucc> {
        Driver::ensure_load_balancer(self, EnsureLoadBalancer::read(request)?).await
    }

    async fn delete_load_balancer(
        &self,
        request: wire::DeleteLoadBalancerRequest,
    ) -> Result<(), NotSucc> {
        Driver::delete_load_balancer(self, DeleteLoadBalancer::read(request)?).await
    }

    async fn validate_backend(&self, request: wire::ValidateBackendRequest) -> Result<(), Refusal> {
        Driver::validate_backend(self, ValidateBackend::read(request)?).await
    }

    async fn generate_backend_addr(
        &self,
        request: wire::GenerateBackendAddrRequest,
    ) -> Result<String, NotSucc> {
        let request = GenerateBackendAddr::read(request)?;
        let address = Driver::generate_backend_addr(self, request).await?;
        let text = address.to_string();
        if text.is_empty() {
            return Err(NotSucc::fail("the driver gave an empty backendAddr"));
        }
        // What cannot be read back could never be registered.
        read_address::<D::BackendAddr>("backendAddr", &text)?;
        Ok(text)
    }

    async fn ensure_backend(
        &self,
        request: wire::EnsureBackendRequest,
    ) -> Result<StringMap, NotSucc> {
        Driver::ensure_backend(self, EnsureBackend::read(request)?).await
    }

    async fn deregister_backend(
        &self,
        request: wire::DeregisterBackendRequest,
    ) -> Result<(), NotSucc> {
        Driver::deregister_backend(self, DeregisterBackend::read(request)?).await
    }

    async fn judge_pod_deregister(
        &self,
        request: wire::JudgePodDeregisterRequest,
    ) -> Result<Vec<Pod>, Refusal> {
        Driver::judge_pod_deregister(self, request).await
    }

    fn serial_key(&self, load_balancer: LoadBalancer<&StringMap, &StringMap>) -> Option<String> {
        // What does not fit is refused when its turn comes.
        match load_balancer {
            LoadBalancer::Wanted(spec) => {
                let spec = fields::read("lbSpec", spec).ok()?;
                Driver::serial_key(self, LoadBalancer::Wanted(&spec))
            }
            LoadBalancer::Created(info) => {
                let info = fields::read("lbInfo", info).ok()?;
                Driver::serial_key(self, LoadBalancer::Created(&info))
            }
        }
    }

    fn accepts_dry_run(&self) -> bool {
        Driver::accepts_dry_run(self)
    }
}
