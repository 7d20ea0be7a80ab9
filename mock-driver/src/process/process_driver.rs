//! The driver inside its process: each call is recorded in the journal, and a hook ends with the run of the
//! process. A running hook is cancelled where it waits; a waiting one never starts. The driver itself
//! stays free of all this.

use super::RunHandle;
use crate::cloud::Cloud;
use crate::journal::JournalEntry;
use k8s_openapi::api::core::v1::Pod;
use lbcf_driver_sdk::fields::DriverSchemas;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancer, CreateLoadBalancerRequest, DeleteLoadBalancer, DeleteLoadBalancerRequest,
    DeregisterBackend, DeregisterBackendRequest, EnsureBackend, EnsureBackendRequest,
    EnsureLoadBalancer, EnsureLoadBalancerRequest, GenerateBackendAddr, GenerateBackendAddrRequest,
    Healthz, HealthzRequest, HealthzResponse, JudgePodDeregister, JudgePodDeregisterRequest,
    ListBackends, ListBackendsRequest, ListedBackend, LoadBalancer, OperationRequest, StringMap,
    ValidateBackend, ValidateBackendRequest, ValidateLoadBalancer, ValidateLoadBalancerRequest,
    Webhook,
};
use lbcf_driver_sdk::{HookError, RawDriver, Rejection};

/// A driver in one run of its process.
#[derive(Debug)]
pub(crate) struct ProcessDriver<D> {
    pub(crate) driver: D,
    /// Where the journal is kept.
    pub(crate) cloud: Cloud,
    pub(crate) journal_size: usize,
    pub(crate) run: RunHandle,
}

/// No caller receives it: the connections of a killed run are closed.
const KILLED: &str = "the driver was killed";

impl<D> ProcessDriver<D> {
    /// Counts a call when it starts, whether or not it completes.
    fn start<W: Webhook>(&self, dry_run: bool) -> JournalEntry {
        self.cloud.call_log().count(W::INFO.name);
        JournalEntry {
            sequence: 0,
            webhook: W::INFO.name.to_owned(),
            record_id: String::new(),
            retry_id: String::new(),
            dry_run,
            status: String::new(),
            msg: String::new(),
        }
    }

    /// The result of a hook, recorded in the journal; `None` if the run ends before.
    async fn complete<T>(
        &self,
        mut entry: JournalEntry,
        hook: impl Future<Output = T>,
        outcome: impl FnOnce(&T) -> (String, String),
    ) -> Option<T> {
        let result = tokio::select! {
            biased;
            () = self.run.ended() => return None,
            result = hook => result,
        };
        (entry.status, entry.msg) = outcome(&result);
        let JournalEntry {
            webhook,
            record_id,
            status,
            msg,
            ..
        } = &entry;
        tracing::debug!(webhook, record_id, status, msg, "replied");
        self.cloud.call_log().add(entry, self.journal_size);
        Some(result)
    }
}

/// The operations, which end in one of three ways.
macro_rules! operations {
    ($($method:ident: $webhook:ident, $request:ident => $result:ty;)*) => {$(
        async fn $method(&self, request: $request) -> Result<$result, HookError> {
            let entry = JournalEntry {
                record_id: request.record_id().to_owned(),
                retry_id: request.retry_id().to_owned(),
                ..self.start::<$webhook>(request.dry_run())
            };
            let outcome = |result: &Result<$result, HookError>| match result {
                Ok(_) => ("Succ".to_owned(), String::new()),
                Err(error) => (format!("{:?}", error.status()), error.message().to_owned()),
            };
            let result = self.complete(entry, self.driver.$method(request), outcome).await;
            result.unwrap_or_else(|| Err(HookError::fail(KILLED)))
        }
    )*};
}

/// The webhooks that decide, which accept or reject.
macro_rules! verdicts {
    ($($method:ident: $webhook:ident, $request:ident => $result:ty;)*) => {$(
        async fn $method(&self, request: $request) -> Result<$result, Rejection> {
            let entry = self.start::<$webhook>(request.dry_run);
            let outcome = |result: &Result<$result, Rejection>| match result {
                Ok(_) => ("Accepted".to_owned(), String::new()),
                Err(rejection) => ("Refused".to_owned(), rejection.message().to_owned()),
            };
            let result = self.complete(entry, self.driver.$method(request), outcome).await;
            result.unwrap_or_else(|| Err(Rejection::new(KILLED)))
        }
    )*};
}

impl<D: RawDriver> RawDriver for ProcessDriver<D> {
    async fn healthz(&self, request: HealthzRequest) -> HealthzResponse {
        let entry = self.start::<Healthz>(false);
        let outcome = |response: &HealthzResponse| {
            let status = if response.healthy { "Succ" } else { "Fail" };
            (status.to_owned(), String::new())
        };
        let response = self.complete(entry, self.driver.healthz(request), outcome);
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
