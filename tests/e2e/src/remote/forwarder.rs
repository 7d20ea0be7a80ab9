//! Forwards the API server's connections to the controller that serves admission.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// A port that stays the same while controllers come and go, as that of a Service. It does not decrypt
/// anything. It is closed on drop.
#[derive(Debug)]
pub(super) struct Forwarder {
    port: u16,
    target: Arc<Mutex<Option<SocketAddr>>>,
    task: AbortHandle,
}

impl Forwarder {
    /// Listens on a free port: on loopback, or on all addresses if the API server is elsewhere.
    pub(super) async fn start(host: &str) -> Self {
        let is_loopback = match host.parse::<IpAddr>() {
            Ok(addr) => addr.is_loopback(),
            Err(_) => host == "localhost",
        };
        let addr = match is_loopback {
            true => Ipv4Addr::LOCALHOST,
            false => Ipv4Addr::UNSPECIFIED,
        };
        let listener = TcpListener::bind((addr, 0)).await.expect("a free port");
        let port = listener.local_addr().expect("it has an address").port();
        let target = Arc::<Mutex<Option<SocketAddr>>>::default();
        let current = Arc::clone(&target);
        let task = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let target = *current.lock().unwrap_or_else(PoisonError::into_inner);
                // Without a target the connection is closed, as by a Service without endpoints.
                if let Some(target) = target {
                    tokio::spawn(forward(connection, target));
                }
            }
        });
        Self {
            port,
            target,
            task: task.abort_handle(),
        }
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn set_target(&self, addr: SocketAddr) {
        let mut target = self.target.lock().unwrap_or_else(PoisonError::into_inner);
        *target = Some(addr);
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn forward(mut connection: TcpStream, target: SocketAddr) {
    if let Ok(mut server) = TcpStream::connect(target).await {
        // An error ends both directions, as it would without the forwarder.
        let _ = tokio::io::copy_bidirectional(&mut connection, &mut server).await;
    }
}
