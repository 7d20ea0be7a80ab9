//! A driver for a load balancer with an HTTP API, which the example serves on another port: instances
//! with listeners, and targets of each listener.
//!
//! ```text
//! cargo run -p lbcf-driver-sdk --features cli --example http_api -- --listen 127.0.0.1:8080
//! ```
//!
//! * This file is the driver: its types, and the API calls of each webhook.
//! * `api.rs` is the API's client, which converts its errors to outcomes of hooks.
//! * `cloud.rs` is the API's server, only for this example; `--api-url` sets another one.

mod api;
mod cloud;

use api::{Api, InstanceId, OrGone};
use clap::Parser;
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, ValidateBackend, ValidateLoadBalancer,
};
use lbcf_driver_sdk::server::ServerArgs;
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError, Rejection};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::process::ExitCode;

/// `spec.lbSpec` of a LoadBalancer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LbSpec {
    /// An existing instance; without it, one is created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instance: Option<InstanceId>,
    listener_port: u16,
}

/// `lbInfo`: identifies a created load balancer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LbInfo {
    instance: InstanceId,
    listener_port: u16,
    /// Whether this driver created the instance and has to delete it.
    created: bool,
}

/// `spec.attributes` of a LoadBalancer.
#[derive(Debug, Serialize, Deserialize)]
struct Attributes {
    #[serde(default)]
    scheduler: Scheduler,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Scheduler {
    #[default]
    RoundRobin,
    LeastConnections,
}

/// `spec.parameters` of a BackendGroup.
#[derive(Debug, Serialize, Deserialize)]
struct Parameters {
    #[serde(default = "default_weight")]
    weight: u8,
}

const fn default_weight() -> u8 {
    50
}

struct HttpApi {
    api: Api,
}

impl Driver for HttpApi {
    type LbSpec = LbSpec;
    type LbInfo = LbInfo;
    type Attributes = Attributes;
    type Parameters = Parameters;
    type BackendAddr = SocketAddr;

    async fn validate_load_balancer(
        &self,
        request: ValidateLoadBalancer<Self>,
    ) -> Result<(), Rejection> {
        // The types are checked before. The API is not called: whether it is available now must
        // not decide whether the user's object is stored.
        match request.lb_spec.listener_port {
            0 => Err(Rejection::new(
                "lbSpec.listenerPort: \"0\": not a number from 1 to 65535",
            )),
            _ => Ok(()),
        }
    }

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<LbInfo, HookError> {
        let token = request.object_id().to_owned();
        let LbSpec {
            instance,
            listener_port,
        } = request.lb_spec;
        let created = instance.is_none();
        let instance = match instance {
            // Creating the listener fails if it does not exist.
            Some(instance) => instance,
            // The API is idempotent by token, so a repeated call creates no second instance.
            None => self.api.create(&token).await?,
        };
        let scheduler = request.attributes.scheduler;
        self.api
            .put_listener(&instance, listener_port, scheduler)
            .await?;
        Ok(LbInfo {
            instance,
            listener_port,
            created,
        })
    }

    async fn ensure_load_balancer(
        &self,
        request: EnsureLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let LbInfo {
            instance,
            listener_port,
            ..
        } = request.lb_info;
        let scheduler = request.attributes.scheduler;
        self.api
            .put_listener(&instance, listener_port, scheduler)
            .await?;
        Ok(())
    }

    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let instance = match request.lb_info {
            Some(lb_info) if lb_info.created => Some(lb_info.instance),
            // The driver created the listener, but not the instance.
            Some(LbInfo {
                instance,
                listener_port,
                ..
            }) => {
                let deleted = self.api.delete_listener(&instance, listener_port).await;
                return Ok(deleted.or_gone()?);
            }
            // A creation may have failed after the instance was created.
            None => self.api.find(request.object_id()).await?,
        };
        if let Some(instance) = instance {
            self.api.delete(&instance).await.or_gone()?;
        }
        Ok(())
    }

    async fn validate_backend(&self, request: ValidateBackend<Self>) -> Result<(), Rejection> {
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
        request.target()?.socket_addr()
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let LbInfo {
            instance,
            listener_port,
            ..
        } = request.lb_info;
        let (target, weight) = (request.backend_addr, request.parameters.weight);
        self.api
            .put_target(&instance, listener_port, target, weight)
            .await?;
        Ok(StringMap::new())
    }

    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        let LbInfo {
            instance,
            listener_port,
            ..
        } = request.lb_info;
        let deleted = self
            .api
            .delete_target(&instance, listener_port, request.backend_addr);
        // If target, listener or instance do not exist, it is deregistered.
        Ok(deleted.await.or_gone()?)
    }

    async fn healthz(&self) -> bool {
        self.api.ping().await.is_ok()
    }
}

/// A driver for a load balancer with an HTTP API.
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,
    /// URL of the API [default: served by the example]
    #[arg(long, value_name = "URL")]
    api_url: Option<String>,
    /// Key of the API
    #[arg(long, env = "API_KEY", hide_env_values = true, default_value = cloud::KEY)]
    api_key: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let url = match args.api_url {
        Some(url) => Ok(url),
        None => cloud::serve().await,
    };
    match url {
        Ok(url) => {
            let api = Api::new(url, args.api_key);
            args.server.serve(HttpApi { api }).await
        }
        Err(error) => {
            tracing::error!("cannot serve the API: {error}");
            ExitCode::FAILURE
        }
    }
}
