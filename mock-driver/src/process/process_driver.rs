//! The driver inside its process: each call that reaches it is counted, and a hook ends with the run of the
//! process. A running hook is cancelled where it waits; a waiting one never starts. The driver itself
//! stays free of all this.

use super::RunHandle;
use crate::cloud::Cloud;
use lbcf_driver_sdk::fields::DriverSchemas;
use lbcf_driver_sdk::webhook::{
    self, Healthz, KubernetesObject, LoadBalancer, StringMap, Webhook, WebhookInfo,
};
use lbcf_driver_sdk::{Driver, HookError, Rejection, request};

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
    ($($method:ident: $webhook:ident => $result:ty;)*) => {$(
        async fn $method(&self, request: request::$webhook<D>) -> Result<$result, HookError> {
            let result = self.run::<webhook::$webhook, _>(self.driver.$method(request)).await;
            result.unwrap_or_else(|| Err(HookError::fail(KILLED)))
        }
    )*};
}

/// The operations on several backends, each of which ends in one of three ways.
macro_rules! batches {
    ($($method:ident: $webhook:ident => $result:ty;)*) => {$(
        async fn $method(
            &self,
            batch: Vec<request::$webhook<D>>,
        ) -> Vec<Result<$result, HookError>> {
            let requests = batch.len();
            for _ in 1..requests {
                self.cloud.call_log().count(webhook::$webhook::INFO.name);
            }
            let outcomes = self.run::<webhook::$webhook, _>(self.driver.$method(batch)).await;
            outcomes.unwrap_or_else(|| vec![Err(HookError::fail(KILLED)); requests])
        }
    )*};
}

/// The webhooks that decide, which accept or reject.
macro_rules! verdicts {
    ($($method:ident($request:ty): $webhook:ident => $result:ty;)*) => {$(
        async fn $method(&self, request: $request) -> Result<$result, Rejection> {
            let result = self.run::<webhook::$webhook, _>(self.driver.$method(request)).await;
            result.unwrap_or_else(|| Err(Rejection::new(KILLED)))
        }
    )*};
}

impl<D: Driver> Driver for ProcessDriver<D> {
    type LbSpec = D::LbSpec;
    type LbInfo = D::LbInfo;
    type Attributes = D::Attributes;
    type Parameters = D::Parameters;
    type BackendAddr = D::BackendAddr;

    async fn healthz(&self) -> bool {
        let healthy = self.run::<Healthz, _>(self.driver.healthz());
        healthy.await.unwrap_or(false)
    }

    operations! {
        create_load_balancer: CreateLoadBalancer => D::LbInfo;
        ensure_load_balancer: EnsureLoadBalancer => ();
        delete_load_balancer: DeleteLoadBalancer => ();
        generate_backend_addr: GenerateBackendAddr => D::BackendAddr;
        ensure_backend: EnsureBackend => StringMap;
        deregister_backend: DeregisterBackend => ();
        list_backends: ListBackends => Vec<request::ListedBackend<D>>;
    }

    batches! {
        ensure_backends: EnsureBackend => StringMap;
        deregister_backends: DeregisterBackend => ();
    }

    verdicts! {
        validate_load_balancer(request::ValidateLoadBalancer<D>): ValidateLoadBalancer => ();
        validate_backend(request::ValidateBackend<D>): ValidateBackend => ();
        judge_pod_deregister(webhook::JudgePodDeregister): JudgePodDeregister => Vec<KubernetesObject>;
    }

    fn serial_key(
        &self,
        webhook: WebhookInfo,
        load_balancer: LoadBalancer<&D::LbSpec, &D::LbInfo>,
    ) -> Option<String> {
        self.driver.serial_key(webhook, load_balancer)
    }

    fn batch_size(&self, webhook: WebhookInfo) -> usize {
        self.driver.batch_size(webhook)
    }

    fn accepts_dry_run(&self) -> bool {
        self.driver.accepts_dry_run()
    }

    fn cancels_deregistrations(&self) -> bool {
        self.driver.cancels_deregistrations()
    }

    fn schemas(&self) -> DriverSchemas {
        self.driver.schemas()
    }
}
