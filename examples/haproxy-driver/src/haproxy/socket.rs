//! One command, one connection: HAProxy's sockets respond and close.

use lbcf_driver_sdk::{HookError, Reason};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, timeout};

/// HAProxy responds in less than a millisecond. One that was stopped accepts connections and does nothing.
const TIMEOUT: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(10);
/// The delay of the controller's next try while HAProxy is restarted.
const SOON: Duration = Duration::from_secs(2);
/// A line of `show stat` has about 500 bytes, so this is about 100,000 servers.
const LONGEST_RESPONSE: u64 = 64 << 20;

/// Sends a command and returns the response. Questions are repeated for a while: in a reload the master
/// executes itself again, and connections of that moment are closed without a response.
pub(super) async fn ask(socket: &Path, command: &str) -> std::result::Result<String, HookError> {
    let is_question = command.starts_with("show ");
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let sent = match timeout(TIMEOUT, exchange(socket, command)).await {
            Ok(Ok(response)) if is_question && response.is_empty() => {
                Err(ErrorKind::UnexpectedEof.into())
            }
            Ok(sent) => sent,
            Err(_) => Err(ErrorKind::TimedOut.into()),
        };
        match sent {
            Ok(response) => return Ok(response),
            Err(_) if is_question && Instant::now() < deadline => sleep(POLL).await,
            Err(error) => {
                let message = format!("HAProxy does not respond at {}", socket.display());
                let failure = HookError::new(Reason::Unavailable, message);
                return Err(failure.because(error).retry_after(SOON));
            }
        }
    }
}

async fn exchange(socket: &Path, command: &str) -> Result<String> {
    let mut stream = UnixStream::connect(socket).await?;
    stream.write_all(format!("{command}\n").as_bytes()).await?;
    // The master keeps the connection open for further commands until there can be none.
    stream.shutdown().await?;
    let mut response = Vec::new();
    let mut limited = stream.take(LONGEST_RESPONSE);
    if limited.read_to_end(&mut response).await? as u64 == LONGEST_RESPONSE {
        return Err(Error::other("the response is too long"));
    }
    Ok(String::from_utf8_lossy(&response).trim().to_owned())
}
