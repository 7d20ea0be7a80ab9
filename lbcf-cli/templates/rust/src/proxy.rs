//! A TCP proxy in this process, in place of a real load balancer, so that `--forward` brings requests to
//! the pods.
//!
//! FILL-IN: remove this file and `--forward`. Connections are your load balancer's work.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;

/// Listens at this port, and forwards each connection to the next of the backends that are sent, until the
/// sender is dropped.
///
/// # Errors
/// Those of listening, such as a port that is in use.
pub fn start(port: u16) -> io::Result<watch::Sender<Vec<SocketAddr>>> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let (sender, backends) = watch::channel(Vec::new());
    let mut sending = backends.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = accept(listener, backends) => {}
            // Such a value is never sent: it ends with the sender.
            _ = sending.wait_for(|_| false) => {}
        }
    });
    Ok(sender)
}

async fn accept(listener: TcpListener, backends: watch::Receiver<Vec<SocketAddr>>) {
    for turn in 0usize.. {
        let Ok((client, _)) = listener.accept().await else {
            // Such as too many open files.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        let backends = backends.borrow();
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
