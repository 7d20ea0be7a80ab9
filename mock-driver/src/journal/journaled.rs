//! A driver around a driver, which writes down each call and its outcome. So the driver itself
//! stays free of it.

use super::JournalEntry;
use crate::cloud::Cloud;
use k8s_openapi::api::core::v1::Pod;
use lbcf_driver_sdk::fields::DriverSchemas;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancer, CreateLoadBalancerRequest, DeleteLoadBalancer, DeleteLoadBalancerRequest,
    DeregisterBackend, DeregisterBackendRequest, EnsureBackend, EnsureBackendRequest,
    EnsureLoadBalancer, EnsureLoadBalancerRequest, GenerateBackendAddr, GenerateBackendAddrRequest,
    Healthz, HealthzRequest, HealthzResponse, JudgePodDeregister, JudgePodDeregisterRequest,
    LoadBalancer, OperationRequest, StringMap, ValidateBackend, ValidateBackendRequest,
    ValidateLoadBalancer, ValidateLoadBalancerRequest, Webhook,
};
use lbcf_driver_sdk::{HookError, RawDriver, Rejection};

/// Writes the calls of `driver` into the journal of `cloud`.
#[derive(Debug)]
pub(crate) struct Journaled<D> {
    pub(crate) driver: D,
    pub(crate) cloud: Cloud,
    /// How many calls the journal keeps.
    pub(crate) size: usize,
}

impl<D> Journaled<D> {
    /// Counts a call as soon as it comes, whatever becomes of it.
    fn began<W: Webhook>(&self) -> JournalEntry {
        self.cloud.call_log().count(W::INFO.name);
        JournalEntry {
            sequence: 0,
            webhook: W::INFO.name.to_owned(),
            record_id: String::new(),
            retry_id: String::new(),
            dry_run: false,
            status: String::new(),
            msg: String::new(),
        }
    }

    fn operation_began<W: Webhook<Request: OperationRequest>>(
        &self,
        request: &W::Request,
    ) -> JournalEntry {
        JournalEntry {
            record_id: request.record_id().to_owned(),
            retry_id: request.retry_id().to_owned(),
            dry_run: request.dry_run(),
            ..self.began::<W>()
        }
    }

    fn ended(&self, mut entry: JournalEntry, status: &str, msg: &str) {
        tracing::debug!(
            webhook = entry.webhook,
            record_id = entry.record_id,
            status,
            msg,
            "answered"
        );
        status.clone_into(&mut entry.status);
        msg.clone_into(&mut entry.msg);
        self.cloud.call_log().add(entry, self.size);
    }
}

/// The operations: their requests say which task they belong to, and they end in one of three ways.
macro_rules! operations {
    ($($method:ident: $hook:ident, $request:ident => $done:ty;)*) => {$(
        async fn $method(&self, request: $request) -> Result<$done, HookError> {
            let entry = self.operation_began::<$hook>(&request);
            let result = self.driver.$method(request).await;
            match &result {
                Ok(_) => self.ended(entry, "Succ", ""),
                Err(hook_error) => {
                    self.ended(entry, &format!("{:?}", hook_error.status()), hook_error.message());
                }
            }
            result
        }
    )*};
}

/// The decisions: yes or no.
macro_rules! verdicts {
    ($($method:ident: $hook:ident, $request:ident => $done:ty;)*) => {$(
        async fn $method(&self, request: $request) -> Result<$done, Rejection> {
            let mut entry = self.began::<$hook>();
            entry.dry_run = request.dry_run;
            let result = self.driver.$method(request).await;
            match &result {
                Ok(_) => self.ended(entry, "Accepted", ""),
                Err(rejection) => self.ended(entry, "Refused", rejection.message()),
            }
            result
        }
    )*};
}

impl<D: RawDriver> RawDriver for Journaled<D> {
    async fn healthz(&self, request: HealthzRequest) -> HealthzResponse {
        let entry = self.began::<Healthz>();
        let response = self.driver.healthz(request).await;
        let status = if response.healthy { "Succ" } else { "Fail" };
        self.ended(entry, status, "");
        response
    }

    operations! {
        create_load_balancer: CreateLoadBalancer, CreateLoadBalancerRequest => StringMap;
        ensure_load_balancer: EnsureLoadBalancer, EnsureLoadBalancerRequest => ();
        delete_load_balancer: DeleteLoadBalancer, DeleteLoadBalancerRequest => ();
        generate_backend_addr: GenerateBackendAddr, GenerateBackendAddrRequest => String;
        ensure_backend: EnsureBackend, EnsureBackendRequest => StringMap;
        deregister_backend: DeregisterBackend, DeregisterBackendRequest => ();
    }

    verdicts! {
        validate_load_balancer: ValidateLoadBalancer, ValidateLoadBalancerRequest => ();
        validate_backend: ValidateBackend, ValidateBackendRequest => ();
        judge_pod_deregister: JudgePodDeregister, JudgePodDeregisterRequest => Vec<Pod>;
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
