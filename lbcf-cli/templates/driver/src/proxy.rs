//! A TCP proxy in this process, in place of a real load balancer, so that `--forward` brings requests to
//! the pods.
//!
//! FILL-IN: remove this file and `--forward`. Connections are your load balancer's work.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// Forwards connections from a port to backends, until it is dropped.
#[derive(Debug)]
pub struct Proxy {
    backends: Arc<Mutex<Vec<SocketAddr>>>,
    accepting: AbortHandle,
}

impl Proxy {
    /// Listens at this port.
    ///
    /// # Errors
    /// Those of listening, such as a port that is in use.
    pub fn start(port: u16) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let backends = Arc::default();
        let accepting = tokio::spawn(accept(listener, Arc::clone(&backends))).abort_handle();
        Ok(Self {
            backends,
            accepting,
        })
    }

    /// Replaces the backends, which connections are forwarded to in turn.
    pub fn set_backends(&self, backends: Vec<SocketAddr>) {
        *self.backends.lock().unwrap_or_else(PoisonError::into_inner) = backends;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, backends: Arc<Mutex<Vec<SocketAddr>>>) {
    for turn in 0usize.. {
        let Ok((client, _)) = listener.accept().await else {
            // Such as too many open files.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let backends = backends.lock().unwrap_or_else(PoisonError::into_inner);
        let at = turn.checked_rem(backends.len());
        if let Some(backend) = at.and_then(|at| backends.get(at)) {
            tokio::spawn(forward(client, *backend));
        }
    }
}

async fn forward(mut client: TcpStream, backend: SocketAddr) {
    if let Ok(mut server) = TcpStream::connect(backend).await {
        // Either side may break off.
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
}
