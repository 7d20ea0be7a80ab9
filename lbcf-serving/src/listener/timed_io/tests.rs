use super::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

fn stream() -> (TimedIo<DuplexStream>, DuplexStream, Connection) {
    stream_with(Duration::from_secs(1_000_000))
}

fn stream_with(idle: Duration) -> (TimedIo<DuplexStream>, DuplexStream, Connection) {
    let (near, far) = duplex(4);
    let limits = Limits {
        idle,
        head: Duration::from_secs(5),
        stall: Duration::from_secs(7),
        ..Limits::default()
    };
    let connection = Connection::new(CancellationToken::new());
    (
        TimedIo::new(near, |_| {}, &limits, connection.clone()),
        far,
        connection,
    )
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_nothing_times_out_but_not_a_slow_one() {
    let (mut near, mut far, _) = stream();
    let slowly = async {
        for _ in 0..8 {
            tokio::time::sleep(Duration::from_secs(6)).await;
            far.read_u8().await.unwrap();
        }
    };
    let (sent, ()) = tokio::join!(near.write_all(b"12345678"), slowly);
    sent.unwrap();
    let stalled = near.write_all(b"12345678").await.unwrap_err();
    assert_eq!(stalled.kind(), io::ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn half_a_head_times_out_however_it_trickles() {
    let (mut near, mut far, _) = stream();
    let begin = Instant::now();
    let trickle = tokio::spawn(async move {
        while far.write_u8(b'x').await.is_ok() {
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    });
    let mut head = Vec::new();
    let late = near.read_to_end(&mut head).await.unwrap_err();
    assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    assert_eq!(begin.elapsed(), Duration::from_secs(5));
    drop(near);
    trickle.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn neither_an_idle_connection_nor_a_body_is_half_a_head() {
    let (mut near, mut far, connection) = stream();
    let hour = Duration::from_secs(3600);
    tokio::time::timeout(hour, near.read_u8())
        .await
        .unwrap_err();
    far.write_u8(b'1').await.unwrap();
    near.read_u8().await.unwrap();
    let request = connection.begin();
    tokio::time::timeout(hour, near.read_u8())
        .await
        .unwrap_err();
    far.write_u8(b'2').await.unwrap();
    near.read_u8().await.unwrap();
    tokio::time::timeout(hour, near.read_u8())
        .await
        .unwrap_err();
    drop(request);
    tokio::time::timeout(hour, near.read_u8())
        .await
        .unwrap_err();
    // The next request has the same limit as the first.
    far.write_u8(b'3').await.unwrap();
    near.read_u8().await.unwrap();
    let late = near.read_u8().await.unwrap_err();
    assert_eq!(late.kind(), io::ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_request_times_out() {
    let (mut near, _far, _) = stream_with(Duration::from_secs(60));
    let begin = Instant::now();
    let late = near.read_u8().await.unwrap_err();
    assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    assert_eq!(begin.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn idle_time_begins_at_the_end_of_the_response() {
    let (mut near, mut far, connection) = stream_with(Duration::from_secs(60));
    far.write_u8(b'1').await.unwrap();
    near.read_u8().await.unwrap();
    let request = connection.begin();
    // hyper does not poll it again when the response is sent either.
    tokio::time::timeout(Duration::from_secs(250), near.read_u8())
        .await
        .unwrap_err();
    drop(request);
    near.write_u8(b'2').await.unwrap();
    let begin = Instant::now();
    let late = near.read_u8().await.unwrap_err();
    assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    assert_eq!(begin.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn a_connection_with_a_slow_reader_is_not_idle() {
    let (near, mut far, _) = stream_with(Duration::from_secs(10));
    let (mut reading, mut writing) = tokio::io::split(near);
    let taken = async {
        for _ in 0..40 {
            tokio::time::sleep(Duration::from_secs(6)).await;
            far.read_u8().await.unwrap();
        }
    };
    let sent = async { writing.write_all(&[0; 40]).await.unwrap() };
    let begin = Instant::now();
    let read = async {
        let late = reading.read_u8().await.unwrap_err();
        (late.kind(), begin.elapsed())
    };
    let (late, (), ()) = tokio::join!(read, sent, taken);
    // Four bytes are under way when the last is sent.
    let due = Duration::from_secs(36 * 6 + 10);
    assert_eq!(late, (io::ErrorKind::TimedOut, due));
}
