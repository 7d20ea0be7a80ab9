//! A TLS server of admission webhooks for tests.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::serve::Listener;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{StatusCode, Uri};
use local_cluster::LocalCluster;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::fixture::{call, eventually};

#[derive(Clone, Debug)]
pub(crate) struct WebhookCall {
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) request: Value,
}

impl WebhookCall {
    /// A response that allows the request, with changes.
    pub(crate) fn respond(&self, change: Value) -> Response {
        let mut review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": {"uid": self.request["uid"], "allowed": true},
        });
        json_patch::merge(&mut review, &change);
        plain(StatusCode::OK, review.to_string())
    }

    pub(crate) fn allow(&self) -> Response {
        self.respond(json!({}))
    }

    pub(crate) fn deny(&self, status: Value) -> Response {
        self.respond(json!({"response": {"allowed": false, "status": status}}))
    }

    pub(crate) fn patch(&self, operations: Value) -> Response {
        let patch = STANDARD.encode(operations.to_string());
        self.respond(json!({"response": {"patch": patch, "patchType": "JSONPatch"}}))
    }

    /// A field of the request, by JSON pointer.
    pub(crate) fn at(&self, pointer: &str) -> &str {
        self.request
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

pub(crate) fn plain(code: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    response
}

type Handler = dyn Fn(&WebhookCall) -> Response + Send + Sync;

struct ServerState {
    handler: Box<Handler>,
    calls: Mutex<Vec<WebhookCall>>,
    /// Calls of paths that begin with `/gated` wait here.
    gate: Semaphore,
    connections: AtomicUsize,
}

/// A server of webhooks, stopped when dropped.
pub(crate) struct Webhooks {
    pub(crate) address: SocketAddr,
    /// The CA of the server's certificate, in PEM.
    pub(crate) authority: String,
    shared: Arc<ServerState>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Webhooks {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct TlsListener {
    tcp: TcpListener,
    acceptor: TlsAcceptor,
    shared: Arc<ServerState>,
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = self.tcp.accept().await.unwrap();
            if let Ok(stream) = self.acceptor.accept(stream).await {
                self.shared.connections.fetch_add(1, Ordering::SeqCst);
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}

impl Webhooks {
    /// Serves webhooks by this function, except for `/never`, which does not respond.
    pub(crate) async fn start(
        handler: impl Fn(&WebhookCall) -> Response + Send + Sync + 'static,
    ) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let names = ["127.0.0.1", "hooks.default.svc"].map(str::to_owned);
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(names)
            .unwrap()
            .signed_by(&key, &authority)
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )
            .unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap();
        let shared = Arc::new(ServerState {
            handler: Box::new(handler),
            calls: Mutex::default(),
            gate: Semaphore::new(0),
            connections: AtomicUsize::new(0),
        });
        let listener = TlsListener {
            tcp,
            acceptor: TlsAcceptor::from(Arc::new(config)),
            shared: Arc::clone(&shared),
        };
        let router = Router::new()
            .fallback(handle)
            .with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            address,
            authority: authority.pem(),
            shared,
            task,
        }
    }

    /// Stops the server, so that connections are refused.
    pub(crate) async fn end(self) {
        self.task.abort();
        let rejected = || async { TcpStream::connect(self.address).await.err() };
        eventually("the server has ended", rejected).await;
    }

    pub(crate) fn calls(&self) -> Vec<WebhookCall> {
        self.shared.calls.lock().unwrap().clone()
    }

    /// Takes the calls so far.
    pub(crate) fn take(&self) -> Vec<WebhookCall> {
        std::mem::take(&mut *self.shared.calls.lock().unwrap())
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Lets this many calls of gated paths continue.
    pub(crate) fn open_gate(&self, calls: usize) {
        self.shared.gate.add_permits(calls);
    }

    /// The configuration of a webhook for widgets at a path of this server, with changes.
    pub(crate) fn webhook(&self, name: &str, path: &str, change: Value) -> Value {
        let mut webhook = json!({
            "name": name, "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {
                "url": format!("https://{}{path}", self.address),
                "caBundle": STANDARD.encode(&self.authority),
            },
            "rules": [{
                "operations": ["CREATE", "UPDATE", "DELETE"], "apiGroups": ["example.com"],
                "apiVersions": ["v1"], "resources": ["widgets"],
            }],
        });
        json_patch::merge(&mut webhook, &change);
        webhook
    }

    /// Installs a validating webhook.
    pub(crate) async fn validate(&self, cluster: &LocalCluster, path: &str, change: Value) {
        let webhook = self.webhook("validate.example.com", path, change);
        install(cluster, "Validating", "validate", &[webhook]).await;
    }

    /// Installs a mutating webhook.
    pub(crate) async fn mutate(&self, cluster: &LocalCluster, path: &str, change: Value) {
        let webhook = self.webhook("mutate.example.com", path, change);
        install(cluster, "Mutating", "mutate", &[webhook]).await;
    }
}

async fn handle(State(shared): State<Arc<ServerState>>, uri: Uri, body: Bytes) -> Response {
    let review: Value = serde_json::from_slice(&body).unwrap();
    let call = WebhookCall {
        path: uri.path().to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        request: review["request"].clone(),
    };
    shared.calls.lock().unwrap().push(call.clone());
    if call.path == "/never" {
        std::future::pending::<()>().await;
    }
    if call.path.starts_with("/gated") {
        shared.gate.acquire().await.unwrap().forget();
    }
    (shared.handler)(&call)
}

/// The path of `Mutating` or `Validating` configurations.
pub(crate) fn configurations(which: &str) -> String {
    let which = which.to_lowercase();
    format!("/apis/admissionregistration.k8s.io/v1/{which}webhookconfigurations")
}

pub(crate) fn configuration(which: &str, name: &str, webhooks: &[Value]) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{which}WebhookConfiguration"),
        "metadata": {"name": name}, "webhooks": webhooks,
    })
}

pub(crate) async fn install(cluster: &LocalCluster, which: &str, name: &str, webhooks: &[Value]) {
    let body = configuration(which, name, webhooks);
    let (status, response) = call(cluster, "POST", &configurations(which), Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{response}");
}
