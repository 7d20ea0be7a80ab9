//! A driver around a driver, whose hooks end with the run of the process that they belong to: what
//! is at work breaks off where it waits, what waits for its turn is never begun.

use super::Life;
use k8s_openapi::api::core::v1::Pod;
use lbcf_driver_sdk::fields::DriverSchemas;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancerRequest, DeleteLoadBalancerRequest, DeregisterBackendRequest,
    EnsureBackendRequest, EnsureLoadBalancerRequest, GenerateBackendAddrRequest, HealthzRequest,
    HealthzResponse, JudgePodDeregisterRequest, LoadBalancer, StringMap, ValidateBackendRequest,
    ValidateLoadBalancerRequest,
};
use lbcf_driver_sdk::{HookError, RawDriver, Rejection};

/// A driver that dies.
#[derive(Debug)]
pub(crate) struct Mortal<D> {
    pub(crate) driver: D,
    pub(crate) life: Life,
}

/// Nobody hears it: who asked was cut off when the run ended.
const KILLED: &str = "the driver was killed";

impl<D> Mortal<D> {
    /// The hook's result, unless the run ends first.
    async fn while_alive<T>(&self, hook: impl Future<Output = T>, killed: impl FnOnce() -> T) -> T {
        tokio::select! {
            biased;
            () = self.life.is_over() => killed(),
            result = hook => result,
        }
    }
}

macro_rules! hooks {
    ($($method:ident: $request:ident => $done:ty, $not:ident::$make:ident;)*) => {$(
        async fn $method(&self, request: $request) -> Result<$done, $not> {
            let hook = self.driver.$method(request);
            self.while_alive(hook, || Err($not::$make(KILLED))).await
        }
    )*};
}

impl<D: RawDriver> RawDriver for Mortal<D> {
    async fn healthz(&self, request: HealthzRequest) -> HealthzResponse {
        let hook = self.driver.healthz(request);
        self.while_alive(hook, || HealthzResponse { healthy: false })
            .await
    }

    hooks! {
        validate_load_balancer: ValidateLoadBalancerRequest => (), Rejection::new;
        create_load_balancer: CreateLoadBalancerRequest => StringMap, HookError::fail;
        ensure_load_balancer: EnsureLoadBalancerRequest => (), HookError::fail;
        delete_load_balancer: DeleteLoadBalancerRequest => (), HookError::fail;
        validate_backend: ValidateBackendRequest => (), Rejection::new;
        generate_backend_addr: GenerateBackendAddrRequest => String, HookError::fail;
        ensure_backend: EnsureBackendRequest => StringMap, HookError::fail;
        deregister_backend: DeregisterBackendRequest => (), HookError::fail;
        judge_pod_deregister: JudgePodDeregisterRequest => Vec<Pod>, Rejection::new;
    }

    fn serial_key(&self, load_balancer: LoadBalancer<&StringMap, &StringMap>) -> Option<String> {
        self.driver.serial_key(load_balancer)
    }

    fn accepts_dry_run(&self) -> bool {
        self.driver.accepts_dry_run()
    }

    fn schemas(&self) -> DriverSchemas {
        self.driver.schemas()
    }
}
