//! A driver in an axum server of your own, beside other routes, with a graceful shutdown.
//!
//! ```text
//! cargo run -p lbcf-driver-sdk --features cli --example embed_in_axum -- --listen 127.0.0.1:8080
//! curl http://127.0.0.1:8080/backends
//! ```
//!
//! The webhooks are at `/lbcf/…`, so the `url` of the `LoadBalancerDriver` is
//! `http://HOST:8080/lbcf`. Flags, listener and shutdown are those of the program, without `ServerArgs`.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use clap::Parser;
use lbcf_driver_sdk::outcome::OrOutcome;
use lbcf_driver_sdk::request::{
    Backend, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
    GenerateBackendAddr,
};
use lbcf_driver_sdk::server::DriverRouter;
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The state that the driver and the other routes share: the backends of each pool.
type Pools = Arc<Mutex<BTreeSet<(String, String)>>>;

/// Pools need not be created, so `lbSpec` is the identity.
#[derive(Debug, Serialize, Deserialize)]
struct Pool {
    pool: String,
}

struct PoolDriver(Pools);

impl PoolDriver {
    fn with<T>(&self, what: impl FnOnce(&mut BTreeSet<(String, String)>) -> T) -> T {
        what(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Driver for PoolDriver {
    type LbSpec = Pool;
    type LbInfo = Pool;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<Pool, HookError> {
        Ok(request.lb_spec)
    }

    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        if let Some(Pool { pool }) = request.lb_info {
            self.with(|backends| backends.retain(|(of, _)| *of != pool));
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
            Backend::Endpoint(backend) => Ok(format!("{}:{}", backend.address, backend.port)),
        }
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let backend = (request.lb_info.pool, request.backend_addr);
        self.with(|backends| backends.insert(backend));
        Ok(StringMap::new())
    }

    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        let backend = (request.lb_info.pool, request.backend_addr);
        self.with(|backends| backends.remove(&backend));
        Ok(())
    }
}

/// Another route with the same state: `GET /backends`, one per line.
async fn backends(State(pools): State<Pools>) -> String {
    let pools = pools.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = pools.iter().map(|(pool, addr)| format!("{pool} {addr}\n"));
    lines.collect()
}

/// A server with a driver.
#[derive(Parser)]
struct Args {
    /// Address to listen on; port 0 is a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Timeout of running operations in a shutdown
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    stop_within: u64,
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let args = Args::parse();
    let pools = Pools::default();
    let driver = DriverRouter::new(PoolDriver(Arc::clone(&pools)));
    let hooks = driver.running_hooks();
    let app = Router::new()
        .route("/backends", get(backends).with_state(pools))
        .nest("/lbcf", driver.build());

    let listener = TcpListener::bind(args.listen).await?;
    let address = listener.local_addr()?;
    writeln!(io::stdout(), "serving webhooks at http://{address}/lbcf")?;

    // A shutdown waits for open connections, and for operations that continue without them, both
    // within the limit.
    let stop = Arc::new(Notify::new());
    let stopping = Arc::clone(&stop);
    let server =
        axum::serve(listener, app).with_graceful_shutdown(async move { stopping.notified().await });
    let server = tokio::spawn(server.into_future());
    shutdown_signal().await;
    stop.notify_one();
    let finish = async {
        let served = server.await;
        hooks.idle().await;
        served
    };
    match tokio::time::timeout(Duration::from_secs(args.stop_within), finish).await {
        Ok(served) => served.map_err(io::Error::other)?,
        Err(_) => Err(io::Error::other(format!(
            "{} operations did not end in time",
            hooks.count()
        ))),
    }
}

/// Waits for Ctrl-C, or SIGTERM from the kubelet.
async fn shutdown_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => return,
                _ = tokio::signal::ctrl_c() => return,
            }
        }
    }
    // Without a handler, Ctrl-C ends the process.
    let _ = tokio::signal::ctrl_c().await;
}
