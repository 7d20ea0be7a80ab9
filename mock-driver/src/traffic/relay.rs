//! Copies bytes between two connections, in both directions.
//!
//! A connection that is idle has no buffer: a worker's scratch buffer is used for as long as nothing
//! waits. Only what the receiver does not take at once is kept, and while it is, nothing more is
//! read; so a slow receiver slows the sender down.

use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::task::coop::consume_budget;

const SCRATCH: usize = 64 << 10;

thread_local! {
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; SCRATCH].into());
}

/// What one read has led to.
enum Copied {
    /// Everything that was read is sent.
    All,
    /// The receiver has not taken this.
    Rest(Vec<u8>),
    /// There was nothing to read.
    Nothing,
    /// The sender has closed its half.
    End,
}

/// Copies until both halves are closed, or nothing has moved for `idle`.
///
/// # Errors
/// Those of the connections, and `TimedOut`.
pub(super) async fn relay(
    client: &mut TcpStream,
    backend: &mut TcpStream,
    idle: Duration,
) -> io::Result<()> {
    let has_moved = AtomicBool::new(false);
    let (from_client, to_client) = client.split();
    let (from_backend, to_backend) = backend.split();
    let both = async {
        tokio::try_join!(
            copy(from_client, to_backend, &has_moved),
            copy(from_backend, to_client, &has_moved),
        )
    };
    let idle = async {
        while {
            tokio::time::sleep(idle).await;
            has_moved.swap(false, Relaxed)
        } {}
    };
    tokio::select! {
        copied = both => copied.map(drop),
        () = idle => Err(ErrorKind::TimedOut.into()),
    }
}

/// Copies one direction. Its end is passed on, while the other direction goes on.
async fn copy(from: ReadHalf<'_>, mut to: WriteHalf<'_>, has_moved: &AtomicBool) -> io::Result<()> {
    loop {
        from.readable().await?;
        match copy_once(&from, &to)? {
            Copied::All => {}
            Copied::Rest(rest) => write_rest(&to, &rest, has_moved).await?,
            Copied::Nothing => continue,
            Copied::End => return to.shutdown().await,
        }
        has_moved.store(true, Relaxed);
        // The other direction has its turn even if there is always something to read.
        consume_budget().await;
    }
}

fn copy_once(from: &ReadHalf<'_>, to: &WriteHalf<'_>) -> io::Result<Copied> {
    BUFFER.with_borrow_mut(|buffer| {
        let read = match from.try_read(buffer) {
            Ok(0) => return Ok(Copied::End),
            Ok(read) => &buffer[..read],
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Copied::Nothing),
            Err(error) => return Err(error),
        };
        let written = match to.try_write(read) {
            Ok(written) => written,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        Ok(match &read[written..] {
            [] => Copied::All,
            rest => Copied::Rest(rest.to_vec()),
        })
    })
}

async fn write_rest(to: &WriteHalf<'_>, mut rest: &[u8], has_moved: &AtomicBool) -> io::Result<()> {
    while !rest.is_empty() {
        to.writable().await?;
        match to.try_write(rest) {
            Ok(written) => {
                rest = &rest[written..];
                has_moved.store(true, Relaxed);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
