//! A driver that says yes to everything, for trying out controllers and the conformance kit:
//!
//! ```text
//! cargo run -p lbcf-driver-sdk --example minimal -- 127.0.0.1:8080
//! ```

use lbcf_driver_sdk::server::DriverRouter;
use lbcf_driver_sdk::webhook::{
    DeregisterBackendRequest, EnsureBackendRequest, GenerateBackendAddrRequest, StringMap,
};
use lbcf_driver_sdk::{NotSucc, RawDriver};

struct Minimal;

impl RawDriver for Minimal {
    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddrRequest,
    ) -> Result<String, NotSucc> {
        if let Some(pod) = request.pod_backend {
            let ip = pod.pod.status.and_then(|status| status.pod_ip);
            let ip = ip.ok_or_else(|| NotSucc::running("the pod has no address yet"))?;
            return Ok(format!("{ip}:{}", pod.port.port));
        }
        let service = request
            .service_backend
            .ok_or_else(|| NotSucc::fail("neither podBackend nor serviceBackend is given"))?;
        Ok(format!("{}:{}", service.node_name, service.port.port))
    }

    async fn ensure_backend(&self, _: EnsureBackendRequest) -> Result<StringMap, NotSucc> {
        Ok(StringMap::new())
    }

    async fn deregister_backend(&self, _: DeregisterBackendRequest) -> Result<(), NotSucc> {
        Ok(())
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:8080");
    let listener = tokio::net::TcpListener::bind(address).await?;

    let driver = DriverRouter::new(Minimal);
    let hooks = driver.running_hooks();
    axum::serve(listener, driver.build())
        .with_graceful_shutdown(async {
            // Without a handler for it, Ctrl-C ends the process anyway.
            let _ = tokio::signal::ctrl_c().await;
        })
        .await?;
    hooks.idle().await;
    Ok(())
}
