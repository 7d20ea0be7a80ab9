//! Certificates: made, and from files.

use std::path::{Path, PathBuf};

use local_cluster::{LocalCluster, ServeOptions, Tls};
use rcgen::{CertificateParams, KeyPair};
use tokio::io::AsyncWriteExt as _;

use super::{client_of, nodes, secured, served};
use crate::fixture::quick;
use crate::wire;

/// A folder that is deleted when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("local-cluster-tls-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn the_self_signed_certificate_is_for_every_name_of_the_api() {
    let options = ServeOptions {
        tls: Some(Tls::SelfSignedCa {
            names: vec!["more.example".into()],
        }),
        ..ServeOptions::default()
    };
    let (_cluster, server) = served(options).await;
    let port = server.addr().port();
    let authority = server.authority().unwrap();
    assert!(authority.starts_with("-----BEGIN CERTIFICATE-----"));
    for (name, is_its) in [
        ("127.0.0.1", true),
        ("localhost", true),
        ("kubernetes", true),
        ("kubernetes.default.svc", true),
        ("more.example", true),
        ("other.example", false),
    ] {
        let config = server.kubeconfig().replace(
            &format!("server: https://127.0.0.1:{port}\n"),
            &format!("server: https://127.0.0.1:{port}\n    tls-server-name: {name}\n"),
        );
        let found = nodes(client_of(&config).await).await;
        assert_eq!(found.is_ok(), is_its, "{name}: {found:?}");
    }
    let stranger = served(secured("t")).await.1;
    let config = stranger
        .kubeconfig()
        .replace(&stranger.url(), &server.url());
    assert!(nodes(client_of(&config).await).await.is_err());
    server.shutdown().await;
}

#[tokio::test]
async fn a_certificate_can_come_from_files_and_invalid_files_are_errors() {
    let folder = Folder::new();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = folder.file("cert.pem", &params.self_signed(&key).unwrap().pem());
    let key_file = folder.file("key.pem", &key.serialize_pem());
    let other_key = folder.file("other.pem", &KeyPair::generate().unwrap().serialize_pem());
    let junk = folder.file("junk.pem", "junk");
    let missing = folder.0.join("missing.pem");
    let files = |certificate: &Path, key: &Path, authority: Option<&Path>| ServeOptions {
        tls: Some(Tls::Files {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            authority: authority.map(Path::to_owned),
        }),
        ..ServeOptions::default()
    };
    let (cluster, server) = served(files(&certificate, &key_file, None)).await;
    assert_eq!(
        nodes(client_of(&server.kubeconfig()).await).await.unwrap(),
        2
    );
    server.shutdown().await;
    for (options, wanted) in [
        (
            files(&junk, &key_file, None),
            "junk.pem: not PEM with a section CERTIFICATE",
        ),
        (
            files(&certificate, &junk, None),
            "junk.pem: not PEM with a section PRIVATE KEY",
        ),
        (
            files(&certificate, &other_key, None),
            "other.pem: not the key of the certificate in",
        ),
        (
            files(&certificate, &key_file, Some(&junk)),
            "junk.pem: not PEM with a section CERTIFICATE",
        ),
        (files(&missing, &key_file, None), "missing.pem"),
        (files(&certificate, &missing, None), "missing.pem"),
    ] {
        let refused = cluster.serve_with(options).await.unwrap_err().to_string();
        assert!(refused.contains(wanted), "{refused}");
    }
}

#[tokio::test]
async fn names_that_are_none_are_refused() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let options = ServeOptions {
        tls: Some(Tls::SelfSignedCa {
            names: vec!["a b".into()],
        }),
        ..ServeOptions::default()
    };
    let refused = cluster.serve_with(options).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "cannot serve over TLS: \"a b\": neither a DNS name nor an IP address"
    );
}

#[tokio::test]
async fn the_wrong_protocol_is_an_error_and_other_clients_are_served() {
    let (cluster, server) = served(secured("t")).await;
    let response = wire::exchange(server.addr(), wire::get("/livez", "")).await;
    assert!(
        response.starts_with("HTTP/1.0 400 Bad Request\r\n"),
        "{response}"
    );
    assert!(
        response.ends_with("Client sent an HTTP request to an HTTPS server.\n"),
        "{response}"
    );
    for junk in [&b"\0\0\0\0"[..], b"\x16\x03\x01\xff\xff", b"\xff"] {
        let mut stream = wire::connect(server.addr()).await;
        stream.write_all(junk).await.unwrap();
        stream.shutdown().await.unwrap();
        wire::to_end(&mut stream).await;
    }
    assert_eq!(
        nodes(client_of(&server.kubeconfig()).await).await.unwrap(),
        2
    );

    let plain = cluster.serve_with(ServeOptions::default()).await.unwrap();
    let hello = b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03hello";
    let response = wire::exchange(plain.addr(), hello).await;
    assert!(
        response.is_empty() || response.starts_with("HTTP/1.1 400"),
        "{response}"
    );
    assert_eq!(
        nodes(client_of(&plain.kubeconfig()).await).await.unwrap(),
        2
    );
}
