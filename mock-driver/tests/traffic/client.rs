//! An HTTP client over one connection.

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

pub(super) struct Client(SendRequest<Full<Bytes>>);

impl Client {
    pub(super) async fn connect(addr: SocketAddr) -> Self {
        Self::over(TcpStream::connect(addr).await.unwrap()).await
    }

    pub(super) async fn over(io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        let (sender, connection) = http1::handshake(TokioIo::new(io)).await.unwrap();
        tokio::spawn(connection);
        Self(sender)
    }

    pub(super) async fn get(&mut self, host: &str, path: &str) -> (StatusCode, Value) {
        let request = Request::get(path).header("host", host);
        self.send(request.body(Full::default()).unwrap()).await
    }

    /// The status, and the body as JSON or as text.
    pub(super) async fn send(&mut self, request: Request<Full<Bytes>>) -> (StatusCode, Value) {
        self.0.ready().await.unwrap();
        let response = self.0.send_request(request).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = || String::from_utf8_lossy(&body).into_owned().into();
        (
            status,
            serde_json::from_slice(&body).unwrap_or_else(|_| text()),
        )
    }
}

/// One request on a connection of its own.
pub(super) async fn get(addr: SocketAddr, host: &str, path: &str) -> (StatusCode, Value) {
    Client::connect(addr).await.get(host, path).await
}
