//! A TCP proxy in this process, in place of a real load balancer, so that `--forward` brings requests to
//! the pods.
//!
//! FILL-IN: remove this file and `--forward`. Connections are your load balancer's work.

use crate::cloud::Cloud;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// Listens at this port, and forwards each connection to the next backend of the load balancer.
///
/// # Errors
/// Those of listening, such as a port that is in use.
pub fn start(port: u16, cloud: Cloud, id: String) -> io::Result<AbortHandle> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    Ok(tokio::spawn(accept(listener, cloud, id)).abort_handle())
}

async fn accept(listener: TcpListener, cloud: Cloud, id: String) {
    for turn in 0.. {
        let Ok((client, _)) = listener.accept().await else {
            // Such as too many open files.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        if let Some(backend) = backend(&cloud, &id, turn).await {
            tokio::spawn(forward(client, backend));
        }
    }
}

/// The backend whose turn it is; none with weight 0, and no share by weight.
async fn backend(cloud: &Cloud, id: &str, turn: usize) -> Option<SocketAddr> {
    let load_balancers = cloud.load_balancers().await;
    let all = load_balancers.get(id)?.backends.iter();
    let open: Vec<_> = all.filter(|(_, weight)| **weight > 0).collect();
    let (at, _) = open.get(turn.checked_rem(open.len())?)?;
    Some(**at)
}

async fn forward(mut client: TcpStream, backend: SocketAddr) {
    if let Ok(mut server) = TcpStream::connect(backend).await {
        // Either side may break off.
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
}
