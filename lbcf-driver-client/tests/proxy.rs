//! Proxies between the client and drivers.

use super::pki::{Ca, Directory, TlsServer, config};
use super::sockets::{GOOD, response, serve_plain};
use lbcf_driver_client::{CallError, DriverClient, HttpClient, HttpClientSettings, Proxies};
use lbcf_driver_sdk::webhook::Healthz;
use rustls::ALL_VERSIONS;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A proxy that connects to this address whatever it is asked for, or responds with this status.
struct Proxy {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn start(behind: Result<String, &'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.unwrap());
                }
                seen.lock().unwrap().push(String::from_utf8(head).unwrap());
                match &behind {
                    Err(status) => {
                        let refusal = response(status, "");
                        client.write_all(refusal.as_bytes()).await.unwrap();
                    }
                    Ok(address) => {
                        let mut server = TcpStream::connect(address).await.unwrap();
                        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                        tokio::spawn(async move {
                            tokio::io::copy_bidirectional(&mut client, &mut server).await
                        });
                    }
                }
            }
        });
        let url = format!("http://user:secret@{address}");
        Self { url, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn healthz(url: &str, ca: &Ca, proxies: Proxies) -> Result<bool, CallError> {
    let files = Directory::new();
    let http = HttpClient::with(HttpClientSettings {
        ca_files: vec![files.write("ca.pem", &ca.pem)],
        token: Some("tok-123".into()),
        allow_token_over_http: true,
        proxies,
        ..Default::default()
    });
    let driver = DriverClient::with_http(http.unwrap(), url).unwrap();
    Ok(driver.call(&Healthz {}).await?.healthy)
}

#[tokio::test]
async fn d123_a_driver_over_tls_is_called_by_the_proxy_which_reads_nothing() {
    let ca = Ca::new("ours");
    let pair = ca.sign("driver.example", 2020..2200);
    let server = TlsServer::start(config(&pair, None, ALL_VERSIONS)).await;
    let port = server.url.rsplit(':').next().unwrap().trim_end_matches('/');
    let proxy = Proxy::start(Ok(format!("127.0.0.1:{port}"))).await;
    let url = "https://driver.example/lbcf";
    assert!(
        healthz(url, &ca, Proxies::new(&proxy.url, "other.example"))
            .await
            .unwrap()
    );
    let requests = proxy.requests();
    assert_eq!(requests.len(), 1);
    assert!(
        requests[0].starts_with("CONNECT driver.example:443 HTTP/1.1\r\n"),
        "{requests:?}"
    );
    assert!(
        requests[0]
            .to_lowercase()
            .contains("proxy-authorization: basic ")
    );
    assert!(!requests[0].contains("tok-123"), "{requests:?}");

    // Its host is in the list of exceptions, so that the name would have to be resolved.
    let error = healthz(url, &ca, Proxies::new(&proxy.url, ".example"))
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("driver.example:443: "),
        "{error}"
    );
    assert_eq!(proxy.requests().len(), 1);
}

#[tokio::test]
async fn d123_a_driver_without_tls_is_never_called_by_a_proxy() {
    let (port, _) = serve_plain(response("200 OK", GOOD)).await;
    let url = format!("http://127.0.0.1:{port}");
    let proxy = Proxy::start(Err("502 Bad Gateway")).await;
    let ca = Ca::new("ours");
    assert!(
        healthz(&url, &ca, Proxies::new(&proxy.url, ""))
            .await
            .unwrap()
    );
    assert_eq!(proxy.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn d123_the_error_of_a_proxy_names_it() {
    let proxy = Proxy::start(Err("502 Bad Gateway")).await;
    let ca = Ca::new("ours");
    let proxies = Proxies::new(&proxy.url, "");
    let error = healthz("https://driver.example", &ca, proxies)
        .await
        .unwrap_err();
    assert!(error.is_connect(), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("driver.example:443: ") && text.contains("by the proxy 127.0.0.1"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn d123_a_proxy_of_another_kind_is_refused() {
    let proxies = Proxies::new("socks5://127.0.0.1:1", "");
    let called = healthz("https://driver.example", &Ca::new("ours"), proxies).await;
    let text = called.unwrap_err().to_string();
    let expected = r#"the proxy has the scheme "socks5"; supported is "http""#;
    assert!(text.contains(expected), "{text}");
}
