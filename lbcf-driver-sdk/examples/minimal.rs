//! A driver that accepts everything, to try out controllers and the conformance kit:
//!
//! ```text
//! cargo run -p lbcf-driver-sdk --features cli --example minimal -- --listen 127.0.0.1:8080
//! ```

use clap::Parser;
use lbcf_driver_sdk::request::{
    Backend, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
    GenerateBackendAddr,
};
use lbcf_driver_sdk::server::ServerArgs;
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError};
use std::process::ExitCode;

/// A driver that accepts everything
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,
}

struct Minimal;

impl Driver for Minimal {
    type LbSpec = StringMap;
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
        Ok(request.lb_spec)
    }

    async fn delete_load_balancer(&self, _: DeleteLoadBalancer<Self>) -> Result<(), HookError> {
        Ok(())
    }

    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Ok(match request.backend()? {
            Backend::Pod(pod) => {
                let ip = pod.pod.ips.first();
                let ip = ip.ok_or_else(|| HookError::running("the pod has no address yet"))?;
                format!("{ip}:{}", pod.port.port)
            }
            Backend::Service(service) => format!("{}:{}", service.node_name, service.port.port),
            Backend::Endpoint(endpoint) => format!("{}:{}", endpoint.address, endpoint.port),
        })
    }

    async fn ensure_backend(&self, _: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        Ok(StringMap::new())
    }

    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        Ok(())
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    Args::parse().server.serve(Minimal).await
}
