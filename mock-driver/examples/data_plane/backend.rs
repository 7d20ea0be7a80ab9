//! The backends: as little work as possible, so that the proxies are measured.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// What each request gets.
pub(crate) const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\
    content-length: 64\r\n\r\n0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Prints the addresses of two servers, and serves until the process is killed.
pub(crate) async fn serve() {
    let mut listeners = Vec::new();
    for _ in 0..2 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(16_384).unwrap();
        println!("{}", listener.local_addr().unwrap());
        listeners.push(listener);
    }
    let servers = listeners.into_iter().map(|listener| {
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                tokio::spawn(respond(stream));
            }
        })
    });
    for server in servers.collect::<Vec<_>>() {
        server.await.unwrap();
    }
}

/// Responds to each end of a head.
async fn respond(mut stream: TcpStream) -> Option<()> {
    let mut buffer = vec![0; 1024];
    let mut length = 0;
    loop {
        let read = stream.read(&mut buffer[length..]).await.ok()?;
        if read == 0 {
            return None;
        }
        length += read;
        while let Some(end) = find_end(&buffer[..length]) {
            stream.write_all(RESPONSE).await.ok()?;
            buffer.copy_within(end..length, 0);
            length -= end;
        }
    }
}

fn find_end(bytes: &[u8]) -> Option<usize> {
    let end = bytes.windows(4).position(|it| it == b"\r\n\r\n")?;
    Some(end + 4)
}
