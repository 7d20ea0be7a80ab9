//! Copies bytes between two connections, in both directions.
//!
//! A connection that is idle has no buffer: a worker's scratch buffer is used for as long as nothing
//! waits. Only what the receiver does not take at once is kept, and while it is, nothing more is
//! read; so a slow receiver slows the sender down.

use super::backend::Lease;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::{Instant, sleep};

const SCRATCH: usize = 64 << 10;

thread_local! {
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; SCRATCH].into());
}

/// One direction.
struct Copy<'a> {
    from: ReadHalf<'a>,
    to: WriteHalf<'a>,
    /// The bytes that the receiver has not taken, from `sent` on.
    rest: Vec<u8>,
    sent: usize,
    /// True when the sender has closed its half.
    has_ended: bool,
    /// True when that was passed on.
    is_done: bool,
}

/// Copies until both halves are closed.
///
/// # Errors
/// Those of the connections; `TimedOut` if nothing has moved for `idle`, and `ConnectionAborted` when
/// the use of the backend ends.
pub(super) async fn relay(
    client: &mut TcpStream,
    backend: &mut TcpStream,
    lease: &Lease,
    idle: Duration,
) -> io::Result<()> {
    let (from_client, to_client) = client.split();
    let (from_backend, to_backend) = backend.split();
    let mut request = Copy::new(from_client, to_backend);
    let mut response = Copy::new(from_backend, to_client);
    let mut ended = pin!(lease.ended.cancelled());
    let mut timer = pin!(sleep(idle));
    let (mut has_moved, mut is_registered) = (false, false);
    poll_fn(move |context| {
        let mut moved = false;
        let copied = [
            request.poll(context, &mut moved)?,
            response.poll(context, &mut moved)?,
        ];
        if copied.iter().all(Poll::is_ready) {
            return Poll::Ready(Ok(()));
        }
        has_moved |= moved;
        // Bytes have woken the task, and the others are registered: looking at them takes longer.
        if moved && is_registered && !timer.is_elapsed() {
            return match lease.has_ended() {
                true => Poll::Ready(Err(ErrorKind::ConnectionAborted.into())),
                false => Poll::Pending,
            };
        }
        is_registered = true;
        if ended.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(ErrorKind::ConnectionAborted.into()));
        }
        while timer.as_mut().poll(context).is_ready() {
            if !std::mem::take(&mut has_moved) {
                return Poll::Ready(Err(ErrorKind::TimedOut.into()));
            }
            timer.as_mut().reset(Instant::now() + idle);
        }
        Poll::Pending
    })
    .await
}

impl<'a> Copy<'a> {
    const fn new(from: ReadHalf<'a>, to: WriteHalf<'a>) -> Self {
        Self {
            from,
            to,
            rest: Vec::new(),
            sent: 0,
            has_ended: false,
            is_done: false,
        }
    }

    /// Copies what there is. The end is passed on, while the other direction goes on.
    fn poll(&mut self, context: &mut Context<'_>, moved: &mut bool) -> Poll<io::Result<()>> {
        while !self.is_done {
            ready!(self.poll_rest(context, moved))?;
            if self.has_ended {
                ready!(Pin::new(&mut self.to).poll_shutdown(context))?;
                self.is_done = true;
            } else {
                ready!(self.poll_once(context, moved))?;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_rest(&mut self, context: &mut Context<'_>, moved: &mut bool) -> Poll<io::Result<()>> {
        while self.sent < self.rest.len() {
            let rest = &self.rest[self.sent..];
            match ready!(Pin::new(&mut self.to).poll_write(context, rest))? {
                0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                written => self.sent += written,
            }
            *moved = true;
        }
        if self.sent > 0 {
            (self.rest, self.sent) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_once(&mut self, context: &mut Context<'_>, moved: &mut bool) -> Poll<io::Result<()>> {
        BUFFER.with_borrow_mut(|buffer| {
            let mut read = ReadBuf::new(buffer);
            // Unlike `try_read`, this remembers that a short read has left nothing.
            ready!(Pin::new(&mut self.from).poll_read(context, &mut read))?;
            let read = read.filled();
            if read.is_empty() {
                self.has_ended = true;
                return Poll::Ready(Ok(()));
            }
            *moved = true;
            let written = match Pin::new(&mut self.to).poll_write(context, read) {
                Poll::Ready(written) => written?,
                Poll::Pending => 0,
            };
            self.rest.extend_from_slice(&read[written..]);
            Poll::Ready(Ok(()))
        })
    }
}
