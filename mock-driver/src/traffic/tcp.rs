//! TCP listeners: each connection goes to the backend whose turn it is.

use super::context::{ListenerContext, OpenConnection};
use super::counts::Count;
use super::group::Group;
use super::relay::relay;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;

/// The pause of accepting when the operating system refuses, for want of files for example.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Accepts until the listener is closed.
pub(super) async fn serve(listener: TcpListener, group: Arc<Group>, context: Arc<ListenerContext>) {
    let accepting = async {
        loop {
            // The semaphore is never closed.
            let Ok(permit) = Arc::clone(&context.permits).acquire_owned().await else {
                return;
            };
            let accepted = listener.accept().await;
            // The worker registers it with its own event loop.
            let stream = match accepted.and_then(|(stream, _)| stream.into_std()) {
                Ok(stream) => stream,
                Err(error) => {
                    if error.kind() != ErrorKind::ConnectionAborted {
                        tracing::warn!(%error, "cannot accept connections");
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                    }
                    continue;
                }
            };
            let (group, shared) = (Arc::clone(&group), Arc::clone(&context));
            context.workers.spawn(async move {
                match TcpStream::from_std(stream) {
                    Ok(stream) => forward(stream, group, shared, permit).await,
                    Err(error) => tracing::warn!(%error, "a connection cannot be served"),
                }
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        () = context.closed.cancelled() => {}
    }
}

/// Forwards a connection. It ends with the use of its backend, at the latest when the listener is
/// closed.
async fn forward(
    mut client: TcpStream,
    group: Arc<Group>,
    context: Arc<ListenerContext>,
    _permit: OwnedSemaphorePermit,
) {
    let _open = OpenConnection::new(&context);
    let _ = client.set_nodelay(true);
    let (lease, mut backend) = match group.connect().await {
        Ok(connected) => connected,
        Err(why) => {
            tracing::debug!(?why, "a connection was not forwarded");
            context.counters.count(Count::Failure);
            // The client learns from a reset that it was not the end of a response.
            let _ = client.set_zero_linger();
            return;
        }
    };
    let copied = relay(
        &mut client,
        &mut backend,
        &lease,
        context.options.idle_timeout,
    )
    .await;
    if copied.is_err() {
        let _ = client.set_zero_linger();
        let _ = backend.set_zero_linger();
    }
}
