//! A driver for a cloud with slow creations: the cloud accepts a creation as a task, which has to be
//! polled until it is done.
//!
//! ```text
//! cargo run -p lbcf-driver-sdk --features cli --example async_create -- \
//!     --listen 127.0.0.1:8080 --creating-takes-seconds 5
//! ```
//!
//! [`Creation`] submits, polls, finds and cancels such a task; `Jobs` creates each load balancer once
//! despite hang-ups, repeated calls and lost responses. Replace the simulated cloud (`cloud.rs`) by your
//! client.

mod cloud;

use clap::Parser;
use cloud::{Cloud, CloudError, TaskState};
use lbcf_driver_sdk::jobs::{Job, JobState, Jobs};
use lbcf_driver_sdk::outcome::{OrOutcome, RetryAfter};
use lbcf_driver_sdk::request::{
    Backend, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
    EnsureLoadBalancer, GenerateBackendAddr, ValidateBackend,
};
use lbcf_driver_sdk::server::ServerArgs;
use lbcf_driver_sdk::webhook::{BackendType, LoadBalancer, StringMap, WebhookInfo};
use lbcf_driver_sdk::{Driver, HookError, Rejection};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

/// `spec.lbSpec` of a LoadBalancer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LbSpec {
    zone: Zone,
}

/// The zones of the cloud.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Zone {
    East,
    West,
}

/// `lbInfo`: identifies a created load balancer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LbInfo {
    id: String,
}

/// `spec.attributes` of a LoadBalancer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Attributes {
    bandwidth_mbps: u32,
}

impl Default for Attributes {
    fn default() -> Self {
        Self { bandwidth_mbps: 10 }
    }
}

/// `spec.parameters` of a BackendGroup.
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Parameters {
    weight: u8,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { weight: 50 }
    }
}

/// Creates a load balancer.
struct Creation {
    cloud: Cloud,
}

impl Job for Creation {
    // Without the attributes, which can be updated later.
    type Request = LbSpec;
    type Task = u64;
    type Output = LbInfo;

    async fn submit(&self, key: &str, spec: &LbSpec) -> Result<u64, HookError> {
        // The key is the client token, so that the cloud recognises a repeated submit.
        Ok(self.cloud.create(key, spec.zone).await?)
    }

    async fn poll(&self, task: &u64) -> Result<JobState<LbInfo>, HookError> {
        // An error here means that the task's state is not known.
        Ok(job_state(self.cloud.task(*task).await?))
    }

    async fn find(&self, key: &str, spec: Option<&LbSpec>) -> Result<Option<u64>, HookError> {
        // A cancellation has no spec.
        let zone = spec.map(|spec| spec.zone);
        Ok(self.cloud.find_task(key, zone).await?)
    }

    async fn cancel(&self, task: &u64) -> Result<JobState<LbInfo>, HookError> {
        Ok(job_state(self.cloud.cancel_task(*task).await?))
    }
}

fn job_state(state: TaskState) -> JobState<LbInfo> {
    match state {
        TaskState::AtWork { percent } => {
            JobState::running(format!("the cloud is creating it: {percent} % done"))
                .retry_after(Duration::from_secs(1))
        }
        TaskState::Made { id } => JobState::Done(LbInfo { id }),
        TaskState::Cancelled => JobState::failed("creating was cancelled"),
    }
}

struct AsyncCreate {
    cloud: Cloud,
    creations: Jobs<Creation>,
}

impl Driver for AsyncCreate {
    type LbSpec = LbSpec;
    type LbInfo = LbInfo;
    type Attributes = Attributes;
    type Parameters = Parameters;
    type BackendAddr = SocketAddr;

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<LbInfo, HookError> {
        // The recordIDs of creation and deletion have this part in common.
        let key = request.object_id().to_owned();
        // `Running` until it is created.
        let lb_info = self.creations.run(&key, request.lb_spec).await?;
        let bandwidth = request.attributes.bandwidth_mbps;
        self.cloud.set_bandwidth(&lb_info.id, bandwidth).await?;
        Ok(lb_info)
    }

    async fn ensure_load_balancer(
        &self,
        request: EnsureLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let bandwidth = request.attributes.bandwidth_mbps;
        let id = &request.lb_info.id;
        Ok(self.cloud.set_bandwidth(id, bandwidth).await?)
    }

    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        // Without lbInfo it may still be being created.
        let key = request.object_id().to_owned();
        let made = self.creations.cancel(&key).await?;
        for LbInfo { id } in request.lb_info.into_iter().chain(made) {
            match self.cloud.delete(&id).await {
                Ok(()) | Err(CloudError::NoSuchLoadBalancer(_)) => {}
                Err(error) => Err(error)?,
            }
        }
        self.creations.forget(&key);
        Ok(())
    }

    async fn validate_backend(&self, request: ValidateBackend<Self>) -> Result<(), Rejection> {
        if request.backend_type == BackendType::Service {
            return Err(Rejection::new(
                "only pods and static addresses are supported",
            ));
        }
        match request.parameters.weight {
            0..=100 => Ok(()),
            weight => Err(Rejection::new(format!(
                "parameters.weight: \"{weight}\": not a number from 0 to 100"
            ))),
        }
    }

    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<SocketAddr, HookError> {
        let Backend::Pod(backend) = request.backend()? else {
            return Err(HookError::fail("only pods are supported"));
        };
        let ip = backend.pod.ips.first();
        let ip = ip
            .or_running("the pod has no address yet")
            .retry_after(Duration::from_secs(2))?;
        let ip = ip.parse().or_fail(format!("podIP: {ip:?}: no address"))?;
        let port = backend.port.port;
        let port = port.try_into().or_fail(format!("port: {port}: no port"))?;
        Ok(SocketAddr::new(ip, port))
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let (id, address) = (&request.lb_info.id, request.backend_addr);
        let weight = request.parameters.weight;
        self.cloud.register(id, address, weight).await?;
        Ok(StringMap::new())
    }

    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        let (id, address) = (&request.lb_info.id, request.backend_addr);
        match self.cloud.deregister(id, address).await {
            // Backends are deleted with their load balancer.
            Ok(()) | Err(CloudError::NoSuchLoadBalancer(_)) => Ok(()),
            Err(error) => Err(error)?,
        }
    }

    fn serial_key(
        &self,
        webhook: WebhookInfo,
        load_balancer: LoadBalancer<&LbSpec, &LbInfo>,
    ) -> Option<String> {
        if !webhook.changes_load_balancer() {
            return None;
        }
        // This cloud accepts one change of a load balancer at a time.
        match load_balancer {
            LoadBalancer::Wanted(_) => None,
            LoadBalancer::Created(lb_info) => Some(lb_info.id.clone()),
        }
    }
}

/// A driver for a cloud with slow creations.
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,
    /// Duration of a creation in the cloud
    #[arg(long, value_name = "SECONDS", default_value_t = 5)]
    creating_takes_seconds: u32,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let cloud = Cloud::new(Duration::from_secs(args.creating_takes_seconds.into()));
    let creations = Jobs::new(Creation {
        cloud: cloud.clone(),
    });
    let driver = AsyncCreate { cloud, creations };
    args.server.serve(driver).await
}
