//! Bytes on a connection as they are wanted, and hanging up.

use super::connection::BODY_LIMIT;
use super::stream::Stream;
use crate::exchange::NoAnswer;
use bytes::{Bytes, BytesMut};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

/// Writes bytes, waits, and hangs up without having read anything.
pub(super) async fn write_and_hang_up(
    mut stream: Stream,
    bytes: &[u8],
    linger: Duration,
) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await?;
    tokio::time::sleep(linger).await;
    // A peer that is gone already has been hung up on.
    stream.shutdown().await.ok();
    Ok(())
}

/// Writes bytes and reads all that comes, until the peer closes the connection, the time is over
/// or it is too much.
pub(super) async fn write_and_read(
    stream: Stream,
    bytes: &[u8],
    deadline: Instant,
) -> Result<Bytes, NoAnswer> {
    let (mut from, mut to) = tokio::io::split(stream);
    let mut received = BytesMut::new();
    // What the peer does not take, it may still answer.
    let writing = async {
        if to.write_all(bytes).await.is_ok() {
            to.flush().await.ok();
        }
        std::future::pending::<io::Result<()>>().await
    };
    let reading = async {
        while received.len() < BODY_LIMIT && from.read_buf(&mut received).await? > 0 {}
        Ok(())
    };
    let ended = tokio::time::timeout_at(deadline, async {
        tokio::select! {
            result = reading => result,
            result = writing => result,
        }
    })
    .await;
    if !received.is_empty() {
        received.truncate(BODY_LIMIT);
        return Ok(received.freeze());
    }
    match ended {
        Ok(Ok(())) => Err(NoAnswer::Closed("it was closed".into())),
        Ok(Err(error)) => Err(NoAnswer::Closed(error.to_string())),
        // The caller knows how long that was.
        Err(_) => Err(NoAnswer::TimedOut(Duration::ZERO)),
    }
}
