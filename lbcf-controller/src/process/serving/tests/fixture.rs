//! Callers, clusters that fail, and a log to read.

use crate::api::ObjectKey;
use crate::process::api_server::ApiServer;
use crate::process::serving::certificates::tests::names;
use crate::process::serving::self_signed_ca::SelfSignedCa;
use crate::process::serving::webhook_configurations::ConfigurationName;
use jiff::Timestamp;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use lbcf_serving::tls::ServerTls;
use local_cluster::{LocalCluster, LocalClusterOptions};
use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tracing::subscriber::DefaultGuard;

/// Nothing in these tests takes longer, so what does is a failure.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);

/// The name of the webhook in both configurations.
pub(super) const WEBHOOK: &str = "x.lbcf.tkestack.io";

/// What API servers call the server.
pub(super) const NAME: &str = "lbcf.kube-system.svc";

#[derive(Debug)]
struct At(Timestamp);

impl TimeProvider for At {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.as_second()).unwrap();
        Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}

/// A client's certificate, and the CA that signed it.
pub(super) struct ClientIdentity {
    pub(super) ca: String,
    certificate: CertificateDer<'static>,
    key: rcgen::KeyPair,
}

impl ClientIdentity {
    pub(super) fn new() -> Self {
        let (ca_key, key) = (
            rcgen::KeyPair::generate().unwrap(),
            rcgen::KeyPair::generate().unwrap(),
        );
        let mut ca = rcgen::CertificateParams::default();
        ca.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let ca_pem = ca.self_signed(&ca_key).unwrap().pem();
        let issuer = rcgen::Issuer::new(ca, ca_key);
        let mut client = rcgen::CertificateParams::default();
        client.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = client.signed_by(&key, &issuer).unwrap();
        Self {
            ca: ca_pem,
            certificate: certificate.der().clone(),
            key,
        }
    }
}

/// A caller that trusts these CA certificates only, at some time.
pub(super) fn caller(ca_bundle: &[u8], now: Timestamp) -> TlsConnector {
    caller_as(ca_bundle, now, None)
}

fn caller_as(ca_bundle: &[u8], now: Timestamp, identity: Option<&ClientIdentity>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    for ca in CertificateDer::pem_slice_iter(ca_bundle) {
        roots.add(ca.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_details(provider, Arc::new(At(now)))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some(identity) => {
            let key = PrivateKeyDer::try_from(identity.key.serialize_der()).unwrap();
            config
                .with_client_auth_cert(vec![identity.certificate.clone()], key)
                .unwrap()
        }
    };
    // A resumed session verifies no certificate.
    config.resumption = Resumption::disabled();
    Arc::new(config).into()
}

pub(super) fn name() -> ServerName<'static> {
    ServerName::try_from(NAME).unwrap()
}

/// One handshake with whatever is served just now; tells which certificate that is.
pub(super) async fn handshake(
    tls: &ServerTls,
    ca_bundle: &[u8],
    now: Timestamp,
) -> io::Result<CertificateDer<'static>> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let acceptor = TlsAcceptor::from(tls.config());
    let server = tokio::spawn(async move { acceptor.accept(far).await.map(drop) });
    let stream = caller(ca_bundle, now).connect(name(), near).await;
    let _ = server.await.unwrap();
    Ok(stream?.get_ref().1.peer_certificates().unwrap()[0]
        .clone()
        .into_owned())
}

/// A connection to a server, after its handshake.
pub(super) async fn connect(
    addr: SocketAddr,
    ca_bundle: &[u8],
) -> io::Result<TlsStream<TcpStream>> {
    connect_as(addr, ca_bundle, None).await
}

async fn connect_as(
    addr: SocketAddr,
    ca_bundle: &[u8],
    identity: Option<&ClientIdentity>,
) -> io::Result<TlsStream<TcpStream>> {
    let connecting = async {
        let stream = TcpStream::connect(addr).await?;
        let caller = caller_as(ca_bundle, Timestamp::now(), identity);
        caller.connect(name(), stream).await
    };
    tokio::time::timeout(DEADLINE, connecting).await?
}

/// One request on a connection; its answer, up to the end of the body "answer".
pub(super) async fn request(stream: &mut TlsStream<TcpStream>, path: &str) -> io::Result<String> {
    let asking = async {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {NAME}\r\n\r\n");
        stream.write_all(head.as_bytes()).await?;
        let mut answer = String::new();
        while !answer.ends_with("answer") {
            let mut buffer = [0; 1024];
            match stream.read(&mut buffer).await? {
                0 => return Err(io::Error::other(format!("cut off after {answer:?}"))),
                length => answer.push_str(std::str::from_utf8(&buffer[..length]).unwrap()),
            }
        }
        Ok(answer)
    };
    tokio::time::timeout(DEADLINE, asking).await?
}

/// One request on a connection of its own.
pub(super) async fn call(addr: SocketAddr, ca_bundle: &[u8]) -> io::Result<String> {
    request(&mut connect(addr, ca_bundle).await?, "/").await
}

/// [`call`] with a client's certificate, or without one.
pub(super) async fn call_as(
    addr: SocketAddr,
    ca_bundle: &[u8],
    identity: Option<&ClientIdentity>,
) -> io::Result<String> {
    request(&mut connect_as(addr, ca_bundle, identity).await?, "/").await
}

/// Asks again and again, until there is an answer.
pub(super) async fn eventually<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut ask: impl FnMut() -> F,
) -> T {
    let asking = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(DEADLINE, asking)
        .await
        .unwrap_or_else(|_| panic!("not in time: {what}"))
}

/// A cluster, and whom its API servers would trust.
pub(super) struct Cluster(pub(super) LocalCluster);

impl Cluster {
    /// A cluster without webhook configurations.
    pub(super) async fn empty() -> Self {
        let options = LocalClusterOptions::default();
        Self(LocalCluster::start(options).await.unwrap())
    }

    /// A cluster with a webhook configuration of each kind, both called `lbcf`.
    pub(super) async fn new() -> Self {
        let cluster = Self::empty().await;
        cluster.install().await;
        cluster
    }

    /// Creates a webhook configuration of each kind, both called `lbcf`.
    pub(super) async fn install(&self) {
        let webhook = json!([{
            "name": WEBHOOK, "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": "lbcf", "namespace": "kube-system"}},
        }]);
        let body = json!({"metadata": {"name": "lbcf"}, "webhooks": webhook});
        let validating = serde_json::from_value(body.clone()).unwrap();
        let params = PostParams::default();
        let created = self.validating().create(&params, &validating).await;
        created.unwrap();
        let mutating = serde_json::from_value(body).unwrap();
        self.mutating().create(&params, &mutating).await.unwrap();
    }

    /// Deletes both webhook configurations.
    pub(super) async fn uninstall(&self) {
        let params = DeleteParams::default();
        self.validating().delete("lbcf", &params).await.unwrap();
        self.mutating().delete("lbcf", &params).await.unwrap();
    }

    /// Changes both webhook configurations.
    pub(super) async fn change(&self, patch: Value) {
        let (params, patch) = (PatchParams::default(), Patch::Strategic(patch));
        let changed = self.validating().patch("lbcf", &params, &patch).await;
        changed.unwrap();
        let changed = self.mutating().patch("lbcf", &params, &patch).await;
        changed.unwrap();
    }

    /// The CA certificates of the Secret, if both webhook configurations have them.
    pub(super) async fn trusted_by_all(&self) -> Option<Vec<u8>> {
        let validating = self.validating().get("lbcf").await.unwrap();
        let mutating = self.mutating().get("lbcf").await.unwrap();
        let secret = self.secrets().get_opt("certs").await.unwrap();
        let published = [
            &validating.webhooks?[0].client_config.ca_bundle,
            &mutating.webhooks?[0].client_config.ca_bundle,
        ]
        .map(Clone::clone);
        let stored = secret?.data?.remove("ca.crt")?;
        let is_published = published.iter().all(|one| one.as_ref() == Some(&stored));
        is_published.then_some(stored.0)
    }

    pub(super) fn validating(&self) -> Api<ValidatingWebhookConfiguration> {
        Api::all(self.0.client_as("test"))
    }

    fn mutating(&self) -> Api<MutatingWebhookConfiguration> {
        Api::all(self.0.client_as("test"))
    }

    pub(super) fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.0.client_as("test"), "kube-system")
    }

    /// The CA certificates in each of the two webhook configurations.
    pub(super) async fn trusted_by_each(&self) -> [Vec<u8>; 2] {
        let validating = self.validating().get("lbcf").await.unwrap();
        let mutating = self.mutating().get("lbcf").await.unwrap();
        [
            validating.webhooks.unwrap()[0]
                .client_config
                .ca_bundle
                .clone(),
            mutating.webhooks.unwrap()[0]
                .client_config
                .ca_bundle
                .clone(),
        ]
        .map(|ca_bundle| ca_bundle.unwrap().0)
    }

    /// The CA certificates in the webhook configurations, which agree.
    pub(super) async fn trusted(&self) -> Vec<u8> {
        let [one, other] = self.trusted_by_each().await;
        assert!(one == other, "the webhook configurations differ");
        one
    }

    pub(super) async fn secret(&self, key: &str) -> Vec<u8> {
        let secret = self.secrets().get("certs").await.unwrap();
        secret.data.unwrap().remove(key).unwrap().0
    }

    /// Overwrites parts of the Secret.
    pub(super) async fn spoil(&self, part: Value) {
        let patch = Patch::Merge(json!({ "data": part }));
        let params = PatchParams::default();
        self.secrets()
            .patch("certs", &params, &patch)
            .await
            .unwrap();
    }

    /// What replicas do to the API, since the beginning.
    pub(super) fn writes(&self) -> u64 {
        self.0.requests().writes_by("replica")
    }

    pub(super) fn replica(&self) -> Replica {
        Replica::new(self.0.client_as("replica"))
    }
}

pub(super) struct Replica {
    pub(super) ca: SelfSignedCa,
    pub(super) tls: Arc<ServerTls>,
}

impl Replica {
    pub(super) fn new(client: Client) -> Self {
        let tls = Arc::new(ServerTls::new(None).unwrap());
        let ca = SelfSignedCa::new(
            ApiServer(client),
            secret_key(),
            names(),
            configurations(),
            Arc::clone(&tls),
        );
        Self { ca, tls }
    }

    pub(super) async fn rotate(&mut self, now: Timestamp) {
        self.ca.rotate(now).await.unwrap();
    }

    /// Called from both webhook configurations.
    pub(super) async fn called_from(&self, cluster: &Cluster, now: Timestamp, case: &str) {
        for ca_bundle in cluster.trusted_by_each().await {
            self.called(&ca_bundle, now).await.expect(case);
        }
    }

    pub(super) async fn called(
        &self,
        ca_bundle: &[u8],
        now: Timestamp,
    ) -> io::Result<CertificateDer<'static>> {
        handshake(&self.tls, ca_bundle, now).await
    }
}

pub(super) fn secret_key() -> ObjectKey {
    ObjectKey::new("kube-system", "certs")
}

pub(super) fn configurations() -> Vec<ConfigurationName> {
    vec![
        ConfigurationName::Validating("lbcf".into()),
        ConfigurationName::Validating("not-there".into()),
        ConfigurationName::Mutating("lbcf".into()),
    ]
}

/// All that is logged by this thread, while it lives.
pub(super) struct Log {
    text: Arc<Mutex<Vec<u8>>>,
    /// With one subscriber in the process, tracing asks the thread that first meets a log line whether it is
    /// wanted, and remembers that thread's answer. With two it asks both.
    _other: tracing::Dispatch,
    _guard: DefaultGuard,
}

struct Writer(Arc<Mutex<Vec<u8>>>);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    pub(super) fn new() -> Self {
        let text = Arc::new(Mutex::default());
        let written = Arc::clone(&text);
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(move || Writer(Arc::clone(&written)))
            .finish();
        Self {
            text,
            _other: tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default()),
            _guard: tracing::subscriber::set_default(subscriber),
        }
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8(self.text.lock().unwrap().clone()).unwrap()
    }

    /// The lines that are warnings.
    pub(super) fn warnings(&self) -> Vec<String> {
        let text = self.text();
        let warnings = text.lines().filter(|line| line.contains(" WARN "));
        warnings.map(ToOwned::to_owned).collect()
    }
}
