//! https, and the files it needs.

use super::server::Server;
use super::{LONG, SHORT};
use crate::exchange::NoResponse;
use crate::transport::{Request, Settings, Transport};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;

/// The files of a test, deleted when they are dropped.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

/// Who signs, and what is signed.
struct Ca {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Ca {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { pem, issuer }
    }

    /// A certificate for a name, and its key.
    fn sign(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// Starts a server with a certificate for this name, which responds with `{}`, and on request
    /// only to clients with a certificate.
    async fn serve(&self, name: &str, wants_certificate: bool) -> Server {
        let (certificate, key) = self.sign(name);
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap();
        roots.add(root).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .unwrap();
        let builder = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if wants_certificate {
            builder.with_client_cert_verifier(verifier)
        } else {
            builder.with_no_client_auth()
        };
        let config = builder
            .with_single_cert(
                vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()],
                PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
            )
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let mut server = Server::new(move |stream| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                let mut got = Vec::new();
                while !got.ends_with(b"{}") {
                    if stream.read_buf(&mut got).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
                stream.write_all(answer).await.ok();
                stream.shutdown().await.ok();
            }
        })
        .await;
        server.url = server.url.replace("http", "https");
        server
    }
}

fn request() -> Request {
    Request::post("healthz", "{}")
}

#[tokio::test]
async fn transport_trusts_the_roots_of_ca_files_only() {
    let files = Files::new();
    let (ours, theirs) = (Ca::new(), Ca::new());
    let ours_file = files.write("ours.pem", &ours.pem);
    let theirs_file = files.write("theirs.pem", &theirs.pem);
    let server = ours.serve("127.0.0.1", false).await;
    for (ca_files, is_trusted) in [
        (vec![ours_file.clone()], true),
        (vec![theirs_file.clone(), ours_file.clone()], true),
        (vec![theirs_file], false),
    ] {
        let settings = Settings {
            ca_files,
            ..Settings::default()
        };
        let transport = Transport::to_url(&server.url, &settings).unwrap();
        match transport.send(&request(), LONG).await {
            Ok(received) => assert!(is_trusted && received.body == "{}"),
            Err(NoResponse::NotConnected(words)) => {
                assert!(!is_trusted && words.contains("TLS"), "{words}");
            }
            Err(problem) => panic!("{problem}"),
        }
    }
    // The client rejects a certificate for another name.
    let other = ours.serve("driver.example", false).await;
    let settings = Settings {
        ca_files: vec![ours_file],
        ..Settings::default()
    };
    let transport = Transport::to_url(&other.url, &settings).unwrap();
    let problem = transport.send(&request(), LONG).await.unwrap_err();
    assert!(matches!(problem, NoResponse::NotConnected(_)), "{problem}");
    let hung_up = transport
        .send_and_hang_up(&request(), usize::MAX, std::time::Duration::ZERO)
        .await;
    assert!(matches!(hung_up, Err(NoResponse::NotConnected(_))));
}

#[tokio::test]
async fn transport_shows_its_certificate() {
    let files = Files::new();
    let ca = Ca::new();
    let server = ca.serve("127.0.0.1", true).await;
    let (certificate, key) = ca.sign("lbcf-conformance");
    let mut settings = Settings {
        ca_files: vec![files.write("ca.pem", &ca.pem)],
        ..Settings::default()
    };
    let without = Transport::to_url(&server.url, &settings).unwrap();
    let problem = without.send(&request(), LONG).await.unwrap_err();
    assert!(
        problem.to_string().to_lowercase().contains("certificate"),
        "{problem}"
    );

    settings.client_certificate = Some((
        files.write("client.pem", &certificate),
        files.write("client.key", &key),
    ));
    let with = Transport::to_url(&server.url, &settings).unwrap();
    assert_eq!(with.send(&request(), LONG).await.unwrap().status, 200);
}

#[tokio::test]
async fn transport_does_not_wait_for_tls_that_never_comes() {
    let files = Files::new();
    let server = Server::new(|mut stream| async move {
        tokio::io::copy(&mut stream, &mut tokio::io::sink())
            .await
            .ok();
    })
    .await;
    let settings = Settings {
        ca_files: vec![files.write("ca.pem", &Ca::new().pem)],
        connect_timeout: SHORT,
        ..Settings::default()
    };
    let transport = Transport::to_url(&server.url.replace("http", "https"), &settings).unwrap();
    let problem = transport.send(&request(), LONG).await.unwrap_err();
    assert!(
        matches!(&problem, NoResponse::NotConnected(words) if words.contains("150ms")),
        "{problem}"
    );
}

#[tokio::test]
async fn transport_names_the_file_that_cannot_be_used() {
    let files = Files::new();
    let ca = Ca::new();
    let (certificate, key) = ca.sign("me");
    let (_, other_key) = ca.sign("me");
    let good = files.write("good.pem", &certificate);
    let good_key = files.write("good.key", &key);
    let empty = files.write("empty.pem", "");
    let long = files.write("long.pem", &" ".repeat((1 << 20) + 1));
    let damaged = files.write("damaged.pem", "-----BEGIN CERTIFICATE-----\nab");
    let other = files.write("other.key", &other_key);
    let missing = files.0.path().join("missing.pem");

    let with_ca = |path: &PathBuf| Settings {
        ca_files: vec![good.clone(), path.clone()],
        ..Settings::default()
    };
    let with_client = |certificate: &PathBuf, key: &PathBuf| Settings {
        ca_files: vec![good.clone()],
        client_certificate: Some((certificate.clone(), key.clone())),
        ..Settings::default()
    };
    for (settings, named, words) in [
        (with_ca(&missing), &missing, "no such file"),
        (with_ca(&empty), &empty, "section CERTIFICATE"),
        (with_ca(&good_key), &good_key, "section CERTIFICATE"),
        (with_ca(&long), &long, "1048576 bytes"),
        (with_ca(&damaged), &damaged, "damaged PEM"),
        (with_client(&missing, &good_key), &missing, "no such file"),
        (with_client(&good, &missing), &missing, "no such file"),
        (with_client(&good, &good), &good, "section PRIVATE KEY"),
        (with_client(&good, &other), &other, "not the key of"),
    ] {
        let problem = Transport::to_url("https://h", &settings)
            .unwrap_err()
            .to_string();
        assert!(
            problem.starts_with(&named.display().to_string()),
            "{problem}"
        );
        assert!(problem.contains(words), "{problem}");
        assert!(!problem.contains(&key[40..60]), "{problem}");
    }
    assert!(Transport::to_url("https://h", &with_client(&good, &good_key)).is_ok());
}
