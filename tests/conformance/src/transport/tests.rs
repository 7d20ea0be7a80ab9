//! Over TCP, over TLS and in process, against peers that misbehave.

mod hang_ups;
mod in_process;
mod kept;
mod responses;
mod server;
mod tls;
mod wire;

use std::time::Duration;

/// Longer than anything takes that works.
const LONG: Duration = Duration::from_secs(20);
/// For what never comes.
const SHORT: Duration = Duration::from_millis(150);

/// What has to come about in time.
async fn soon<F: Future>(wanted: F) -> F::Output {
    tokio::time::timeout(LONG, wanted)
        .await
        .expect("it comes about in time")
}
