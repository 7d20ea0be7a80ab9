use super::*;
use crate::transport::connection::{Connection, TrackedBody};
use bytes::Bytes;
use std::task::Waker;
use std::time::Duration;

/// A peer that responds to the first byte, and accepts none.
#[derive(Default)]
struct Refusing {
    answer: Option<&'static [u8]>,
    waiting: Option<Waker>,
}

impl AsyncRead for Refusing {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Some(answer) = self.answer else {
            self.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        };
        let (now, later) = answer.split_at(answer.len().min(buffer.remaining()));
        buffer.put_slice(now);
        self.answer = Some(later);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Refusing {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &[u8],
    ) -> Poll<io::Result<usize>> {
        let answer = b"HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nlarge";
        self.answer.get_or_insert(answer);
        if let Some(waiting) = self.waiting.take() {
            waiting.wake();
        }
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn transport_reads_the_answer_of_a_peer_that_takes_no_more() {
    let mut connection = Connection::new(Box::new(Refusing::default()), 0)
        .await
        .unwrap();
    let body = Bytes::from(vec![b' '; 1 << 20]);
    let (body, _) = TrackedBody::new(body);
    let request = http::Request::post("/x").body(body).unwrap();
    let answer = tokio::time::timeout(Duration::from_secs(20), connection.exchange(request))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((answer.status, &answer.body[..]), (413, &b"large"[..]));
    assert!(!connection.is_ready().await);
}
