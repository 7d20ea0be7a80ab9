//! The driver inside its process: each call that reaches it is counted, and a hook ends with the run of the
//! process. A running hook is cancelled where it waits; a waiting one never starts. The driver itself
//! stays free of all this.

use super::RunHandle;
use crate::cloud::Cloud;
use lbcf_driver_sdk::fields::DriverSchemas;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancer, CreateLoadBalancerRequest, DeleteLoadBalancer, DeleteLoadBalancerRequest,
    DeregisterBackend, DeregisterBackendRequest, EnsureBackend, EnsureBackendRequest,
    EnsureLoadBalancer, EnsureLoadBalancerRequest, GenerateBackendAddr, GenerateBackendAddrRequest,
    Healthz, HealthzRequest, HealthzResponse, JudgePodDeregister, JudgePodDeregisterRequest,
    KubernetesObject, ListBackends, ListBackendsRequest, ListedBackend, LoadBalancer, StringMap,
    ValidateBackend, ValidateBackendRequest, ValidateLoadBalancer, ValidateLoadBalancerRequest,
    Webhook, WebhookInfo,
};
use lbcf_driver_sdk::{HookError, RawDriver, Rejection};

/// A driver in one run of its process.
#[derive(Debug)]
pub(crate) struct ProcessDriver<D> {
    pub(crate) driver: D,
    /// Which counts the calls.
    pub(crate) cloud: Cloud,
    pub(crate) run: RunHandle,
}

/// No caller receives it: the connections of a killed run are closed.
const KILLED: &str = "the driver was killed";

impl<D> ProcessDriver<D> {
    /// The result of a hook, which is counted whether or not it completes; `None` if the run ends
    /// before.
    async fn run<W: Webhook, T>(&self, hook: impl Future<Output = T>) -> Option<T> {
        self.cloud.call_log().count(W::INFO.name);
        tokio::select! {
            biased;
            () = self.run.ended() => None,
            result = hook => Some(result),
        }
    }
}

/// The operations, which end in one of three ways.
macro_rules! operations {
    ($($method:ident: $webhook:ident, $request:ident => $result:ty;)*) => {$(
        async fn $method(&self, request: $request) -> Result<$result, HookError> {
            let result = self.run::<$webhook, _>(self.driver.$method(request)).await;
            result.unwrap_or_else(|| Err(HookError::fail(KILLED)))
        }
    )*};
}

/// The webhooks that decide, which accept or reject.
macro_rules! verdicts {
    ($($method:ident: $webhook:ident, $request:ident => $result:ty;)*) => {$(
        async fn $method(&self, request: $request) -> Result<$result, Rejection> {
            let result = self.run::<$webhook, _>(self.driver.$method(request)).await;
            result.unwrap_or_else(|| Err(Rejection::new(KILLED)))
        }
    )*};
}

impl<D: RawDriver> RawDriver for ProcessDriver<D> {
    async fn healthz(&self, request: HealthzRequest) -> HealthzResponse {
        let response = self.run::<Healthz, _>(self.driver.healthz(request));
        response.await.unwrap_or(HealthzResponse { healthy: false })
    }

    operations! {
        create_load_balancer: CreateLoadBalancer, CreateLoadBalancerRequest => StringMap;
        ensure_load_balancer: EnsureLoadBalancer, EnsureLoadBalancerRequest => ();
        delete_load_balancer: DeleteLoadBalancer, DeleteLoadBalancerRequest => ();
        generate_backend_addr: GenerateBackendAddr, GenerateBackendAddrRequest => String;
        ensure_backend: EnsureBackend, EnsureBackendRequest => StringMap;
        deregister_backend: DeregisterBackend, DeregisterBackendRequest => ();
        list_backends: ListBackends, ListBackendsRequest => Vec<ListedBackend>;
    }

    verdicts! {
        validate_load_balancer: ValidateLoadBalancer, ValidateLoadBalancerRequest => ();
        validate_backend: ValidateBackend, ValidateBackendRequest => ();
        judge_pod_deregister: JudgePodDeregister, JudgePodDeregisterRequest => Vec<KubernetesObject>;
    }

    fn serial_key(
        &self,
        webhook: WebhookInfo,
        load_balancer: LoadBalancer<&StringMap, &StringMap>,
    ) -> Option<String> {
        self.driver.serial_key(webhook, load_balancer)
    }

    fn accepts_dry_run(&self) -> bool {
        self.driver.accepts_dry_run()
    }

    fn schemas(&self) -> DriverSchemas {
        self.driver.schemas()
    }
}
