//! One command, one connection: HAProxy's sockets respond and close.

use super::HaproxyError;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep, timeout};

/// HAProxy responds in less than a millisecond. One that was stopped accepts connections and does nothing.
const TIMEOUT: Duration = Duration::from_secs(2);
/// A line of `show stat` has about 500 bytes, so this is about 100,000 servers.
const LONGEST_RESPONSE: u64 = 64 << 20;

const POLL: Duration = Duration::from_millis(10);

/// Sends a command and returns the response. Questions are repeated for a while: in a reload the master
/// executes itself again, and connections of that moment are closed without a response.
pub(super) async fn ask(
    name: &'static str,
    path: &Path,
    command: &str,
) -> std::result::Result<String, HaproxyError> {
    let is_question = command.starts_with("show ");
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let sent = match timeout(TIMEOUT, exchange(path, command)).await {
            Ok(Ok(response)) if is_question && response.is_empty() => {
                Err(ErrorKind::UnexpectedEof.into())
            }
            Ok(sent) => sent,
            Err(_) => Err(ErrorKind::TimedOut.into()),
        };
        match sent {
            Ok(response) => return Ok(response),
            Err(_) if is_question && Instant::now() < deadline => sleep(POLL).await,
            Err(source) => {
                let (socket, source) = (name, Arc::new(source));
                return Err(HaproxyError::Unreachable { socket, source });
            }
        }
    }
}

async fn exchange(path: &Path, command: &str) -> Result<String> {
    let mut stream = UnixStream::connect(path).await?;
    stream.write_all(format!("{command}\n").as_bytes()).await?;
    // The master keeps the connection open for further commands until there can be none.
    stream.shutdown().await?;
    let mut response = Vec::new();
    let read = stream
        .take(LONGEST_RESPONSE)
        .read_to_end(&mut response)
        .await?;
    if read as u64 == LONGEST_RESPONSE {
        return Err(Error::new(
            ErrorKind::InvalidData,
            "the response is too long",
        ));
    }
    Ok(String::from_utf8_lossy(&response).trim().to_owned())
}
