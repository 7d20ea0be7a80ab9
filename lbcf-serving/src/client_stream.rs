//! A client's TCP connection that is kept for further requests.

use hyper_util::client::legacy::connect::{Connected, Connection};
use socket2::SockRef;
use std::io::{self, ErrorKind, Read as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The addresses of the host `localhost`, whatever a resolver says: some programs listen on the one, some on the other.
#[must_use]
pub fn localhost(port: u16) -> [SocketAddr; 2] {
    [
        (Ipv4Addr::LOCALHOST, port).into(),
        (Ipv6Addr::LOCALHOST, port).into(),
    ]
}

/// TCP that reads from the socket whatever the runtime knows about it.
///
/// A runtime learns that a server has closed a connection when it next asks the system, which on a busy
/// machine is after the next request was written: HTTP clients read before they send, but the runtime
/// says that there is nothing to read. Here they read what has arrived.
#[derive(Debug)]
pub struct ClientStream(TcpStream);

impl From<TcpStream> for ClientStream {
    fn from(stream: TcpStream) -> Self {
        Self(stream)
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.0).poll_read(cx, buffer) {
            return Poll::Ready(read);
        }
        match (&*SockRef::from(&self.0)).read(buffer.initialize_unfilled()) {
            Ok(read) => {
                buffer.advance(read);
                Poll::Ready(Ok(()))
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                // The runtime wakes this task when something arrives.
                Poll::Pending
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

impl Connection for ClientStream {
    fn connected(&self) -> Connected {
        self.0.connected()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::Shutdown;
    use tokio::io::AsyncReadExt as _;
    use tokio::net::TcpListener;

    /// Nothing here awaits between the peer's action and the read, so the runtime cannot have noticed it.
    #[tokio::test]
    async fn what_has_arrived_is_read_before_the_runtime_knows_of_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let mut client = ClientStream::from(client.unwrap());
        let peer = accepted.unwrap().0.into_std().unwrap();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let mut read = |client: &mut ClientStream| {
            let mut bytes = [0; 8];
            let mut buffer = ReadBuf::new(&mut bytes);
            let polled = Pin::new(client).poll_read(&mut cx, &mut buffer);
            polled.map(|read| read.map(|()| buffer.filled().to_vec()).unwrap())
        };
        assert_eq!(read(&mut client), Poll::Pending);
        (&peer).write_all(b"ab").unwrap();
        assert_eq!(read(&mut client), Poll::Ready(b"ab".to_vec()));
        assert_eq!(read(&mut client), Poll::Pending);
        peer.shutdown(Shutdown::Both).unwrap();
        assert_eq!(read(&mut client), Poll::Ready(Vec::new()));
    }

    #[tokio::test]
    async fn a_reader_that_waits_is_woken() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let mut client = ClientStream::from(client.unwrap());
        let peer = accepted.unwrap().0.into_std().unwrap();
        let waiting = tokio::spawn(async move { client.read_u8().await });
        tokio::task::yield_now().await;
        (&peer).write_all(b"x").unwrap();
        assert_eq!(waiting.await.unwrap().unwrap(), b'x');
    }
}
