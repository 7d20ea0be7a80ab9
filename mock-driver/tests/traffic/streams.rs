//! TCP listeners.

use super::lab::{Lab, connect, echo, is_alive, names, refusing, server, until};
use mock_driver::{ListenerProtocol, TrafficOptions};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[tokio::test]
async fn connections_follow_the_weights_and_0_gets_none() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    let (a, b, c) = (echo(b'a').await, echo(b'b').await, echo(b'c').await);
    lab.bind(&endpoint, a.addr, 10);
    lab.bind(&endpoint, b.addr, 30);
    lab.bind(&endpoint, c.addr, 0);
    let addr = lab.addr(&endpoint);
    assert_eq!(
        names(addr, 40).await,
        BTreeMap::from([('a', 10), ('b', 30)])
    );
    lab.bind(&endpoint, b.addr, 0);
    assert_eq!(names(addr, 4).await, BTreeMap::from([('a', 4)]));
    let listener = lab.listener(&endpoint);
    assert_eq!(listener.counts.connections, 44);
    let served = listener.backends.iter().map(|it| it.counts.connections);
    assert_eq!(served.sum::<u64>(), 44);
    lab.until_nothing_is_open(&endpoint).await;
}

#[tokio::test]
async fn a_half_that_is_closed_leaves_the_other_open() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    // Responds when the request is complete.
    let counting = server(|mut stream| async move {
        let mut request = Vec::new();
        stream.read_to_end(&mut request).await?;
        stream.write_all(request.len().to_string().as_bytes()).await
    });
    let counting = counting.await;
    lab.bind(&endpoint, counting.addr, 1);
    let mut stream = TcpStream::connect(lab.addr(&endpoint)).await.unwrap();
    stream.write_all(&[7; 300_000]).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    assert_eq!(response, "300000");

    // Stops sending first, and still receives.
    let received = Arc::new(AtomicUsize::new(0));
    let sum = Arc::clone(&received);
    let listening = server(move |mut stream| {
        let sum = Arc::clone(&sum);
        async move {
            stream.shutdown().await?;
            let mut request = Vec::new();
            sum.store(stream.read_to_end(&mut request).await?, Ordering::SeqCst);
            Ok(())
        }
    });
    let listening = listening.await;
    lab.unbind(&endpoint, counting.addr);
    lab.bind(&endpoint, listening.addr, 1);
    let mut stream = TcpStream::connect(lab.addr(&endpoint)).await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    stream.write_all(b"hello").await.unwrap();
    drop(stream);
    until("the rest has arrived", async || {
        received.load(Ordering::SeqCst) == 5
    })
    .await;
    lab.until_nothing_is_open(&endpoint).await;
}

#[tokio::test]
async fn a_backend_that_refuses_is_passed_over() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    let a = echo(b'a').await;
    let gone = refusing().await;
    lab.bind(&endpoint, a.addr, 1);
    lab.bind(&endpoint, gone, 100);
    lab.bind(&endpoint, "not an address", 100);
    let addr = lab.addr(&endpoint);
    assert_eq!(names(addr, 20).await, BTreeMap::from([('a', 20)]));
    let listener = lab.listener(&endpoint);
    assert_eq!(listener.counts.failed, 0);
    let backend = |addr: &str| {
        let found = listener.backends.iter().find(|it| it.addr == addr);
        found.unwrap().clone()
    };
    assert!(backend(&gone.to_string()).counts.failed > 0);
    let why = "neither IP:PORT nor JSON with ip and port";
    assert_eq!(backend("not an address").error.as_deref(), Some(why));
}

#[tokio::test]
async fn without_a_backend_connections_are_reset() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    for with_refusing in [false, true] {
        if with_refusing {
            lab.bind(&endpoint, refusing().await, 1);
        }
        let mut stream = TcpStream::connect(lab.addr(&endpoint)).await.unwrap();
        let error = stream.read(&mut [0]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    assert_eq!(lab.listener(&endpoint).counts.failed, 2);
}

#[tokio::test]
async fn a_slow_reader_slows_the_sender_down_and_gets_everything() {
    const TOTAL: usize = 64 << 20;
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let sender = server(move |mut stream| {
        let count = Arc::clone(&count);
        async move {
            let block: Vec<u8> = (0..64 << 10).map(|at| (at % 251) as u8).collect();
            for _ in 0..TOTAL / block.len() {
                stream.write_all(&block).await?;
                count.fetch_add(block.len(), Ordering::SeqCst);
            }
            Ok(())
        }
    });
    let sender = sender.await;
    lab.bind(&endpoint, sender.addr, 1);
    let mut stream = TcpStream::connect(lab.addr(&endpoint)).await.unwrap();
    // Until the sender is stuck, which it is if nothing changes for a while.
    let before = AtomicUsize::new(usize::MAX);
    until("the sender is held back", async || {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = sent.load(Ordering::SeqCst);
        now > 0 && before.swap(now, Ordering::SeqCst) == now
    })
    .await;
    assert!(
        sent.load(Ordering::SeqCst) < TOTAL / 2,
        "everything was read ahead"
    );
    let mut received = Vec::with_capacity(TOTAL);
    stream.read_to_end(&mut received).await.unwrap();
    assert_eq!(received.len(), TOTAL);
    let intact = |(at, byte): (usize, &u8)| usize::from(*byte) == at % (64 << 10) % 251;
    assert!(received.iter().enumerate().all(intact));
}

#[tokio::test]
async fn deleting_the_load_balancer_closes_its_port_and_connections() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    let a = echo(b'a').await;
    lab.bind(&endpoint, a.addr, 1);
    let addr = lab.addr(&endpoint);
    let (mut stream, _) = connect(addr).await;
    assert!(is_alive(&mut stream).await);
    lab.cloud
        .release("createLoadBalancer(1)", &endpoint)
        .unwrap();
    assert!(lab.cloud.traffic().is_empty());
    assert!(!is_alive(&mut stream).await);
    until("the port is closed", async || {
        TcpStream::connect(addr).await.is_err()
    })
    .await;
}

#[tokio::test]
async fn the_end_of_the_data_plane_closes_everything() {
    let mut lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    let a = echo(b'a').await;
    lab.bind(&endpoint, a.addr, 1);
    let addr = lab.addr(&endpoint);
    let (mut stream, _) = connect(addr).await;
    lab.traffic = None;
    assert!(!is_alive(&mut stream).await);
    until("the port is closed", async || {
        TcpStream::connect(addr).await.is_err()
    })
    .await;
    assert!(lab.cloud.traffic().is_empty());
}

#[tokio::test]
async fn connections_without_bytes_end_and_are_limited() {
    let lab = Lab::with(TrafficOptions {
        idle_timeout: Duration::from_millis(200),
        max_connections: 2,
        ..TrafficOptions::default()
    });
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    let a = echo(b'a').await;
    lab.bind(&endpoint, a.addr, 1);
    let addr = lab.addr(&endpoint);
    let mut all = Vec::new();
    for _ in 0..6 {
        all.push(TcpStream::connect(addr).await.unwrap());
    }
    // Each gets its turn when earlier ones have ended.
    for mut stream in all {
        assert_eq!(stream.read_u8().await.unwrap(), b'a');
        assert!(stream.read_u8().await.is_err());
    }
    lab.until_nothing_is_open(&endpoint).await;
    assert_eq!(lab.listener(&endpoint).counts.connections, 6);
}

#[tokio::test]
async fn many_connections_leave_nothing_behind() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Tcp, 80);
    let a = echo(b'a').await;
    lab.bind(&endpoint, a.addr, 1);
    let addr = lab.addr(&endpoint);
    for _ in 0..3 {
        let mut open = Vec::new();
        for _ in 0..300 {
            open.push(connect(addr).await.0);
        }
        assert_eq!(lab.listener(&endpoint).backends[0].counts.open, 300);
        drop(open);
        lab.until_nothing_is_open(&endpoint).await;
    }
}
