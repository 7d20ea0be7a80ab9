//! UDP listeners.

use super::lab::{DEADLINE, Lab, until};
use mock_driver::ListenerProtocol;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Answers each datagram with its name and the datagram.
async fn echo(name: u8, tasks: &mut JoinSet<()>) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let addr = socket.local_addr().unwrap();
    tasks.spawn(async move {
        let mut buffer = vec![0; 64 << 10];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let answer = [&[name], &buffer[..length]].concat();
            socket.send_to(&answer, from).await.unwrap();
        }
    });
    addr
}

async fn client(addr: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.connect(addr).await.unwrap();
    socket
}

/// The name of the backend that answers.
async fn ask(client: &UdpSocket, datagram: &[u8]) -> char {
    client.send(datagram).await.unwrap();
    let mut buffer = vec![0; 64 << 10];
    let length = timeout(DEADLINE, client.recv(&mut buffer)).await;
    let length = length.unwrap().unwrap();
    assert_eq!(&buffer[1..length], datagram);
    buffer[0].into()
}

#[tokio::test]
async fn clients_stay_with_their_backend_until_it_is_deregistered() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Udp, 53);
    let mut tasks = JoinSet::new();
    let (a, b) = (echo(b'a', &mut tasks).await, echo(b'b', &mut tasks).await);
    lab.bind(&endpoint, a, 1);
    lab.bind(&endpoint, b, 1);
    let addr = lab.addr(&endpoint);
    let (first, second) = (client(addr).await, client(addr).await);
    let (by_first, by_second) = (ask(&first, b"1").await, ask(&second, b"2").await);
    assert_ne!(by_first, by_second);
    for _ in 0..5 {
        assert_eq!(ask(&first, b"more").await, by_first);
        assert_eq!(ask(&second, &[7; 9000]).await, by_second);
    }
    lab.unbind(&endpoint, a);
    assert_eq!(ask(&first, b"3").await, 'b');
    assert_eq!(ask(&second, b"4").await, 'b');
    assert_eq!(lab.listener(&endpoint).backends.len(), 1);
    let counts = lab.listener(&endpoint).counts;
    assert_eq!((counts.requests, counts.failed), (14, 0));
}

#[tokio::test]
async fn a_backend_that_refuses_loses_its_clients() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Udp, 53);
    let mut tasks = JoinSet::new();
    let a = echo(b'a', &mut tasks).await;
    // Connected to another address, it refuses datagrams and keeps others from getting its port.
    let refusing = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    refusing.connect("127.0.0.1:1").await.unwrap();
    lab.bind(&endpoint, a, 1);
    lab.bind(&endpoint, refusing.local_addr().unwrap(), 100);
    let addr = lab.addr(&endpoint);
    let client = Arc::new(client(addr).await);
    until("the other backend answers", async || {
        client.send(b"x").await.unwrap();
        let mut buffer = [0; 2];
        let wait = std::time::Duration::from_millis(50);
        matches!(timeout(wait, client.recv(&mut buffer)).await, Ok(Ok(2)))
    })
    .await;
}

#[tokio::test]
async fn without_a_backend_datagrams_are_lost_and_counted() {
    let lab = Lab::new();
    let endpoint = lab.create(ListenerProtocol::Udp, 53);
    let client = client(lab.addr(&endpoint)).await;
    client.send(b"x").await.unwrap();
    until("it is counted", async || {
        lab.listener(&endpoint).counts.failed == 1
    })
    .await;
}
