//! Certificates, files and servers over TLS.

use super::sockets::{GOOD, Log, answer_all, response};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// A directory that is deleted after the test.
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("lbcf-client-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Writes a file atomically.
    pub(super) fn write(&self, name: &str, contents: &str) -> PathBuf {
        let half = self.0.join(format!("{name}.new"));
        std::fs::write(&half, contents).unwrap();
        let path = self.0.join(name);
        std::fs::rename(half, &path).unwrap();
        path
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) struct Ca {
    pub(super) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) cert: String,
    pub(super) key: String,
}

impl Pair {
    pub(super) fn der(&self) -> Vec<u8> {
        let der = CertificateDer::from_pem_slice(self.cert.as_bytes()).unwrap();
        der.as_ref().to_vec()
    }
}

impl Ca {
    pub(super) fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            pem,
            issuer: Issuer::new(params, key),
        }
    }

    /// A certificate for a server or a client, valid between these years.
    pub(super) fn sign(&self, name: &str, years: std::ops::Range<i32>) -> Pair {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(years.start, 1, 1);
        params.not_after = date_time_ymd(years.end, 1, 1);
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ServerAuth,
            ExtendedKeyUsagePurpose::ClientAuth,
        ];
        let key = KeyPair::generate().unwrap();
        Pair {
            cert: params.signed_by(&key, &self.issuer).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }

    /// A valid certificate for 127.0.0.1.
    pub(super) fn good(&self) -> Pair {
        self.sign("127.0.0.1", 2020..2200)
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        let der = CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap();
        roots.add(der).unwrap();
        roots
    }
}

/// A server's TLS, which requires client certificates of that CA.
pub(super) fn config(
    server: &Pair,
    clients: Option<&Ca>,
    versions: &[&'static SupportedProtocolVersion],
) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(ca) => {
            let roots = Arc::new(ca.roots());
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let chain = vec![CertificateDer::from_pem_slice(server.cert.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(server.key.as_bytes()).unwrap();
    Arc::new(builder.with_single_cert(chain, key).unwrap())
}

/// A driver over TLS whose hooks all succeed.
pub(super) struct TlsServer {
    pub(super) url: String,
    pub(super) log: Log,
    config: Arc<Mutex<Arc<ServerConfig>>>,
}

impl TlsServer {
    pub(super) async fn start(config: Arc<ServerConfig>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let log = Log::default();
        let config = Arc::new(Mutex::new(config));
        let (current, seen) = (Arc::clone(&config), log.clone());
        tokio::spawn(async move {
            for connection in 1.. {
                let (stream, _) = listener.accept().await.unwrap();
                let acceptor = TlsAcceptor::from(Arc::clone(&current.lock().unwrap()));
                tokio::spawn(serve(acceptor, stream, connection, seen.clone()));
            }
        });
        Self { url, log, config }
    }

    /// The configuration of new connections.
    pub(super) fn change(&self, config: Arc<ServerConfig>) {
        *self.config.lock().unwrap() = config;
    }
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream, connection: usize, log: Log) {
    match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => {
            let client = stream.get_ref().1.peer_certificates();
            let client = client.and_then(|chain| Some(chain.first()?.as_ref().to_vec()));
            let answer = response("200 OK", GOOD);
            answer_all(stream, (connection, client), answer, log).await;
        }
        Err((_, mut stream)) => {
            // Reads what the client has sent, so that the connection is not reset before it reads the alert.
            let _ = stream.shutdown().await;
            let rest = async { while stream.read_u8().await.is_ok() {} };
            let _ = tokio::time::timeout(Duration::from_secs(20), rest).await;
        }
    }
}
