//! A driver that takes the maps unchanged and stores them without knowing their fields, as would
//! a recorder, a template or a proxy to another driver.
//!
//! ```text
//! cargo run -p lbcf-driver-sdk --features cli --example raw_maps -- --listen 127.0.0.1:8080
//! ```
//!
//! Where the fields are known, use types: see `http_api`.

use clap::Parser;
use lbcf_driver_sdk::outcome::OrOutcome;
use lbcf_driver_sdk::request::{
    Backend, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
    EnsureLoadBalancer, GenerateBackendAddr, ValidateLoadBalancer,
};
use lbcf_driver_sdk::server::ServerArgs;
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError, Reason, Rejection};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The desired state of each load balancer, by its identity.
#[derive(Default)]
struct Wishes {
    load_balancers: Mutex<BTreeMap<StringMap, LoadBalancer>>,
}

#[derive(Default)]
struct LoadBalancer {
    attributes: StringMap,
    /// The backends' parameters by address.
    backends: BTreeMap<String, StringMap>,
}

impl Wishes {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<StringMap, LoadBalancer>> {
        let load_balancers = self.load_balancers.lock();
        load_balancers.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driver for Wishes {
    type LbSpec = StringMap;
    type LbInfo = StringMap;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

    async fn validate_load_balancer(
        &self,
        request: ValidateLoadBalancer<Self>,
    ) -> Result<(), Rejection> {
        if request.lb_spec.is_empty() {
            return Err(Rejection::new(
                "lbSpec: empty: at least one field is needed to tell load balancers apart",
            ));
        }
        Ok(())
    }

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
        let mut load_balancers = self.lock();
        let lb = load_balancers.entry(request.lb_spec.clone()).or_default();
        lb.attributes = request.attributes;
        // `lbSpec` is the identity. An empty map would mean the same.
        Ok(request.lb_spec)
    }

    async fn ensure_load_balancer(
        &self,
        request: EnsureLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let mut load_balancers = self.lock();
        let lb = load_balancers.get_mut(&request.lb_info);
        let gone = || HookError::new(Reason::NotFound, no_such(&request.lb_info));
        lb.ok_or_else(gone)?.attributes = request.attributes;
        Ok(())
    }

    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        // Succeeds if it does not exist, or was never created.
        if let Some(lb_info) = request.lb_info {
            self.lock().remove(&lb_info);
        }
        Ok(())
    }

    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        match request.backend()? {
            Backend::Pod(backend) => {
                let ip = backend.pod.ips.first();
                let ip = ip.or_running("the pod has no address yet")?;
                Ok(format!("{ip}:{}", backend.port.port))
            }
            Backend::Service(backend) => Ok(format!("{}:{}", backend.node_name, backend.port.port)),
            Backend::Endpoint(_) => Err(HookError::fail("only pods and services are supported")),
        }
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let mut load_balancers = self.lock();
        let lb = load_balancers.get_mut(&request.lb_info);
        let backends = &mut lb.or_fail(no_such(&request.lb_info))?.backends;
        // Updates the parameters of a registered backend.
        backends.insert(request.backend_addr.clone(), request.parameters);
        // The controller sends it back as injectedInfo. Return the same map if nothing has changed,
        // because each difference is written to the cluster.
        Ok(StringMap::from([(
            "registeredAs".into(),
            request.backend_addr,
        )]))
    }

    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        // Succeeds if it is not registered, or its load balancer does not exist.
        if let Some(lb) = self.lock().get_mut(&request.lb_info) {
            lb.backends.remove(&request.backend_addr);
        }
        Ok(())
    }
}

fn no_such(lb_info: &StringMap) -> String {
    format!("lbInfo: {lb_info:?}: there is no such load balancer")
}

/// A driver that stores any fields.
#[derive(Parser)]
struct Args {
    #[command(flatten)]
    server: ServerArgs,
}

#[tokio::main]
async fn main() -> ExitCode {
    Args::parse().server.serve(Wishes::default()).await
}
