//! The controller, with admission served at the address that the cluster calls.

use super::cluster::{CERTIFICATES, Cluster};
use crate::waiting::until;
use lbcf_controller::admission::{AdmissionServer, Certificates};
use lbcf_controller::names::{CONTROLLER, SYSTEM_NAMESPACE};
use lbcf_controller::{CallCounts, Controller, Health, ObjectKey, Options};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Starts the controller, and waits until it serves admission.
pub(super) async fn start_controller(
    cluster: &Cluster,
    options: Options,
    counts: &CallCounts,
) -> Result<(JoinHandle<()>, Health), String> {
    let client = cluster.client_as(CONTROLLER);
    let (admission, addr) = admission_server().await?;
    cluster.call_admission_at(addr).await?;
    let controller = Controller::with_counts(client, options, counts.clone());
    let controller = controller.with_admission(admission);
    let health = controller.health();
    let task = tokio::spawn(async move {
        if let Err(error) = controller.run(std::future::pending()).await {
            tracing::error!(%error, "the controller ended");
        }
    });
    until("the controller serves admission", async || {
        Ok(health.ready().ok())
    })
    .await?;
    Ok((task, health))
}

async fn admission_server() -> Result<(AdmissionServer, SocketAddr), String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.map_err(|error| format!("listening for admission: {error}"))?;
    let certificates = Certificates::SelfSignedCa {
        service: ObjectKey::new(SYSTEM_NAMESPACE, CONTROLLER),
        secret: ObjectKey::new(SYSTEM_NAMESPACE, CERTIFICATES),
        names: vec![Ipv4Addr::LOCALHOST.to_string()],
    };
    let server = AdmissionServer::new(listener, certificates).map_err(|error| error.to_string())?;
    let addr = server.addr().map_err(|error| error.to_string())?;
    Ok((server, addr))
}
