//! UDP listeners: the datagrams of a client go to the same backend for as long as they keep coming.

use super::backend::Lease;
use super::context::{ListenerContext, OpenConnection};
use super::counts::Count;
use super::group::{Group, TRIES};
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

/// The largest datagram, in bytes.
const DATAGRAM: usize = 64 << 10;
/// The time that a session lasts without datagrams.
const IDLE: Duration = Duration::from_secs(30);
/// The number of sessions of a listener; further clients take the place of the one that was silent for
/// longest.
const SESSIONS: usize = 1024;

/// A client and its backend.
struct Session {
    backend: Arc<SessionBackend>,
    task: AbortHandle,
}

struct SessionBackend {
    socket: UdpSocket,
    lease: Lease,
    last: Mutex<Instant>,
}

/// Forwards until the listener is closed.
pub(super) async fn serve(socket: UdpSocket, group: Arc<Group>, context: Arc<ListenerContext>) {
    let socket = Arc::new(socket);
    let mut sessions: HashMap<SocketAddr, Session> = HashMap::new();
    // Ends the sessions when it is dropped.
    let mut tasks = JoinSet::new();
    let mut buffer = vec![0; DATAGRAM];
    loop {
        let received = tokio::select! {
            received = socket.recv_from(&mut buffer) => received,
            Some(ended) = tasks.join_next_with_id() => {
                if let Ok((id, client)) = ended
                    && sessions.get(&client).is_some_and(|it| it.task.id() == id)
                {
                    sessions.remove(&client);
                }
                continue;
            }
            () = context.closed.cancelled() => return,
        };
        // An error is about a datagram that was sent before, to a client that is gone.
        let Ok((length, client)) = received else {
            continue;
        };
        context.counters.count(Count::Request);
        let datagram = &buffer[..length];
        if let Some(session) = sessions.get(&client)
            && session.backend.send(datagram).await
        {
            continue;
        }
        remove(&mut sessions, &client);
        let Some(backend) = open(&group, datagram).await else {
            context.counters.count(Count::Failure);
            continue;
        };
        if sessions.len() >= SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, it)| it.backend.last());
            if let Some(client) = oldest.map(|(client, _)| *client) {
                remove(&mut sessions, &client);
            }
        }
        let backend = Arc::new(backend);
        let open = OpenConnection::new(&context);
        let responses = respond(Arc::clone(&socket), client, Arc::clone(&backend));
        let task = tasks.spawn(async move {
            responses.await;
            drop(open);
            client
        });
        sessions.insert(client, Session { backend, task });
    }
}

fn remove(sessions: &mut HashMap<SocketAddr, Session>, client: &SocketAddr) {
    if let Some(session) = sessions.remove(client) {
        session.task.abort();
    }
}

/// A session with the next backend that takes its first datagram.
async fn open(group: &Group, datagram: &[u8]) -> Option<SessionBackend> {
    let mut tried = Vec::new();
    while tried.len() < TRIES {
        let lease = group.choose(&tried)?;
        match connect(&lease).await {
            Ok(socket) => {
                lease.counters.count(Count::Connection);
                let session = SessionBackend {
                    socket,
                    lease,
                    last: Mutex::new(Instant::now()),
                };
                if session.send(datagram).await {
                    return Some(session);
                }
                tried.push(session.lease);
            }
            Err(error) => {
                tracing::debug!(backend = lease.address, %error, "a backend cannot be reached");
                lease.counters.count(Count::Failure);
                tried.push(lease);
            }
        }
    }
    None
}

async fn connect(lease: &Lease) -> io::Result<UdpSocket> {
    let target = lease.target.clone().map_err(io::Error::other)?;
    let any: SocketAddr = match target {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(target).await?;
    Ok(socket)
}

/// Sends what the backend responds to the client, until the session ends.
async fn respond(socket: Arc<UdpSocket>, client: SocketAddr, backend: Arc<SessionBackend>) {
    let mut buffer = vec![0; DATAGRAM];
    loop {
        let received = tokio::select! {
            received = backend.socket.recv(&mut buffer) => received,
            () = backend.lease.ended.cancelled() => return,
            () = sleep_until(backend.last() + IDLE) => {
                if backend.last() + IDLE <= Instant::now() {
                    return;
                }
                continue;
            }
        };
        match received {
            Ok(length) => {
                backend.touch();
                // As lost as any datagram may be.
                let _ = socket.send_to(&buffer[..length], client).await;
            }
            Err(error) => {
                tracing::debug!(backend = backend.lease.address, %error, "a backend refuses");
                backend.lease.counters.count(Count::Failure);
                return;
            }
        }
    }
}

impl SessionBackend {
    /// Sends a datagram to the backend, unless it is not to be used any more.
    async fn send(&self, datagram: &[u8]) -> bool {
        if self.lease.has_ended() {
            return false;
        }
        let is_sent = self.socket.send(datagram).await.is_ok();
        if is_sent {
            self.lease.counters.count(Count::Request);
            self.touch();
        } else {
            self.lease.counters.count(Count::Failure);
        }
        is_sent
    }

    fn touch(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn last(&self) -> Instant {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
