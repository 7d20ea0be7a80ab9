//! The server as a whole.

use super::api_server::status;
use super::files::Directory;
use super::fixture::{
    ClientIdentity, Cluster, DEADLINE, WEBHOOK, call, call_as, configurations, eventually,
    secret_key,
};
use crate::process::serving::certificates::tests::{days, first, names};
use crate::process::serving::{CertificateSource, Server, ServingError};
use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use axum::routing::get;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use kube::Client;
use serde_json::json;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

struct Running {
    addr: SocketAddr,
    ready: watch::Receiver<Result<(), String>>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), ServingError>>,
}

impl Running {
    async fn start(client: Client, source: CertificateSource) -> Self {
        Self::start_rotating(client, source, Duration::from_millis(20)).await
    }

    async fn start_rotating(client: Client, source: CertificateSource, interval: Duration) -> Self {
        Self::start_server(Server::new(client, source, None), interval)
    }

    fn start_server(mut server: Server, interval: Duration) -> Self {
        server.rotation_interval = interval;
        server.files_interval = Duration::from_millis(20);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let addr = listener.local_addr().unwrap();
        let (sender, ready) = watch::channel(Err("not reported yet".to_owned()));
        let report = move |state| {
            let _ = sender.send_replace(state);
        };
        let router = Router::new().route("/", get(|| async { "answer" }));
        let (stop, stopped) = oneshot::channel();
        let stopped = async { drop(stopped.await) };
        let task = tokio::spawn(server.run(listener, router, stopped, report));
        Self {
            addr,
            ready,
            stop,
            task,
        }
    }

    async fn wait_until_ready(&mut self) {
        self.wait_until(Result::is_ok).await;
    }

    async fn wait_until(&mut self, is_met: impl Fn(&Result<(), String>) -> bool) {
        let ready = self.ready.wait_for(|ready| is_met(ready));
        let ready = tokio::time::timeout(DEADLINE, ready).await;
        drop(ready.unwrap().unwrap());
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        let ended = tokio::time::timeout(DEADLINE, self.task).await;
        ended.unwrap().unwrap().unwrap();
    }
}

fn self_signed() -> CertificateSource {
    CertificateSource::SelfSignedCa {
        secret: secret_key(),
        names: names(),
        configurations: configurations(),
    }
}

fn files(directory: &Directory) -> CertificateSource {
    CertificateSource::Files {
        cert: directory.path("tls.crt"),
        key: directory.path("tls.key"),
    }
}

#[tokio::test]
async fn u47_a_server_that_is_ready_is_trusted_by_whom_the_cluster_tells() {
    let cluster = Cluster::new().await;
    let mut server = Running::start(cluster.0.client_as("replica"), self_signed()).await;
    server.wait_until_ready().await;
    call(server.addr, &cluster.trusted().await).await.unwrap();
    assert_eq!(cluster.writes(), 3);
    server.stop().await;
}

#[tokio::test]
async fn u47_every_call_succeeds_while_certificates_change() {
    let cluster = Cluster::new().await;
    // The same CA, and a server's certificate that is due.
    let due = first(Timestamp::now() - days(61));
    let parts = [
        ("tls.crt", &due.server),
        ("tls.key", &due.server_key.0),
        ("ca.crt", &due.cas),
        ("ca.key", &due.ca_key.0),
    ];
    let due: serde_json::Map<_, _> = parts
        .map(|(key, value)| (key.to_owned(), json!(ByteString(value.clone()))))
        .into_iter()
        .collect();
    let secret = json!({"metadata": {"name": "certs"}, "data": due});
    let secret = serde_json::from_value(secret).unwrap();
    let params = kube::api::PostParams::default();
    cluster.secrets().create(&params, &secret).await.unwrap();

    let mut one = Running::start(cluster.0.client_as("replica"), self_signed()).await;
    let mut other = Running::start(cluster.0.client_as("replica"), self_signed()).await;
    one.wait_until_ready().await;
    other.wait_until_ready().await;
    let trusted = cluster.trusted().await;
    let mut certificates = Vec::new();
    let calls = AtomicU64::new(0);
    let calling = async {
        loop {
            for server in [&one, &other] {
                call(server.addr, &trusted).await.unwrap();
                calls.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    let changing = async {
        for _ in 0..5 {
            let certificate = cluster.secret("tls.crt").await;
            assert!(!certificates.contains(&certificate));
            certificates.push(certificate.clone());
            cluster
                .spoil(json!({"tls.crt": due["tls.crt"], "tls.key": due["tls.key"]}))
                .await;
            eventually("renewed", || async {
                let new = cluster.secret("tls.crt").await;
                let due = json!(ByteString(new.clone())) == due["tls.crt"];
                (!due && new != certificate).then_some(())
            })
            .await;
            let so_far = calls.load(Ordering::Relaxed);
            eventually("calls", || async {
                (calls.load(Ordering::Relaxed) >= so_far + 6).then_some(())
            })
            .await;
        }
    };
    tokio::select! {
        () = calling => {}
        () = changing => {}
    }
    assert_eq!(cluster.trusted().await, trusted);
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn u47_a_server_is_not_ready_before_the_ca_is_published_and_tries_until_it_is() {
    let cluster = Cluster::new().await;
    let left = Arc::new(AtomicU64::new(2));
    let service = cluster.0.service().named("replica");
    let refused = Arc::clone(&left);
    let service = tower::service_fn(move |request: Request<kube::client::Body>| {
        let (service, refused) = (service.clone(), Arc::clone(&refused));
        async move {
            let is_patch = request.method() == "PATCH";
            let goes_down = |left: u64| left.checked_sub(1);
            let order = Ordering::Relaxed;
            if is_patch && refused.fetch_update(order, order, goes_down).is_ok() {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::FORBIDDEN;
                return Ok::<_, Infallible>(response);
            }
            service.oneshot(request).await
        }
    });
    let client = Client::new(service, "default");
    let mut server = Running::start(client, self_signed()).await;
    eventually("both are refused", || async {
        (left.load(Ordering::Relaxed) == 0).then_some(())
    })
    .await;
    assert!(server.ready.borrow().is_err());
    server.wait_until_ready().await;
    call(server.addr, &cluster.trusted().await).await.unwrap();
    server.stop().await;
}

/// Longer than a test may take: what happens is not due to a regular rotation.
const RARELY: Duration = Duration::from_secs(24 * 3600);

#[tokio::test]
async fn d49_a_configuration_that_comes_late_loses_the_ca_or_is_replaced_gets_it_at_once() {
    let cluster = Cluster::empty().await;
    let client = cluster.0.client_as("replica");
    let mut server = Running::start_rotating(client, self_signed(), RARELY).await;
    // Without a configuration nothing is refused.
    server.wait_until_ready().await;
    cluster.install().await;
    eventually("a late one has it", || cluster.trusted_by_all()).await;
    let lost = json!({"webhooks": [{"name": WEBHOOK, "clientConfig": {"caBundle": ""}}]});
    cluster.change(lost).await;
    eventually("one that lost it has it", || cluster.trusted_by_all()).await;
    cluster.uninstall().await;
    cluster.install().await;
    let trusted = eventually("a new one has it", || cluster.trusted_by_all()).await;
    call(server.addr, &trusted).await.unwrap();
    server.wait_until_ready().await;
    server.stop().await;
}

#[tokio::test]
async fn d49_of_two_replicas_either_publishes_and_both_are_ready() {
    let cluster = Cluster::empty().await;
    let start = || {
        let client = cluster.0.client_as("replica");
        Running::start_rotating(client, self_signed(), RARELY)
    };
    let (mut one, mut other) = (start().await, start().await);
    one.wait_until_ready().await;
    other.wait_until_ready().await;
    cluster.install().await;
    eventually("it is published", || cluster.trusted_by_all()).await;
    one.stop().await;
    cluster.uninstall().await;
    cluster.install().await;
    let trusted = eventually("it is published again", || cluster.trusted_by_all()).await;
    other.wait_until_ready().await;
    call(other.addr, &trusted).await.unwrap();
    other.stop().await;
}

#[tokio::test]
async fn d49_a_server_is_not_ready_while_a_configuration_lacks_the_ca_and_names_it() {
    let cluster = Cluster::empty().await;
    let is_forbidden = Arc::new(AtomicBool::new(true));
    let service = cluster.0.service().named("replica");
    let forbidden = Arc::clone(&is_forbidden);
    let service = tower::service_fn(move |request: Request<kube::client::Body>| {
        let is_patch = request.method() == "PATCH" && request.uri().path().contains("/mutating");
        let is_forbidden = is_patch && forbidden.load(Ordering::Relaxed);
        let service = service.clone();
        async move {
            if is_forbidden {
                return Ok::<_, Infallible>(status(StatusCode::FORBIDDEN));
            }
            service.oneshot(request).await
        }
    });
    let client = Client::new(service, "default");
    let mut server = Running::start_rotating(client, self_signed(), RARELY).await;
    server.wait_until_ready().await;
    cluster.install().await;
    let names_it = |ready: &Result<(), String>| {
        let problem = ready.clone().err().unwrap_or_default();
        problem.contains("MutatingWebhookConfiguration lbcf lacks")
            && problem.contains("not you")
            && problem.contains("deploy/controller/rbac.yaml")
    };
    server.wait_until(names_it).await;
    // The next attempt after the failure succeeds.
    is_forbidden.store(false, Ordering::Relaxed);
    eventually("it is published", || cluster.trusted_by_all()).await;
    server.wait_until_ready().await;
    server.stop().await;
}

#[tokio::test]
async fn d49_a_replica_that_may_not_watch_reads_the_configurations_with_each_rotation() {
    let cluster = Cluster::empty().await;
    let service = cluster.0.service().named("replica");
    let service = tower::service_fn(move |request: Request<kube::client::Body>| {
        let path = request.uri().path();
        let is_list = request.method() == "GET" && path.ends_with("webhookconfigurations");
        let service = service.clone();
        async move {
            if is_list {
                return Ok::<_, Infallible>(status(StatusCode::FORBIDDEN));
            }
            service.oneshot(request).await
        }
    });
    let mut server = Running::start(Client::new(service, "default"), self_signed()).await;
    server.wait_until_ready().await;
    cluster.install().await;
    eventually("it is published", || cluster.trusted_by_all()).await;
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_waits_for_its_certificate_can_be_stopped() {
    let cluster = Cluster::new().await;
    let service = tower::service_fn(|_: Request<kube::client::Body>| async {
        std::future::pending::<Result<Response<Body>, Infallible>>().await
    });
    let server = Running::start(Client::new(service, "default"), self_signed()).await;
    assert!(server.ready.borrow().is_err());
    server.stop().await;
    drop(cluster);
}

#[tokio::test]
async fn u47_files_are_served_and_followed() {
    let cluster = Cluster::empty().await;
    let now = Timestamp::now();
    let (old, new) = (first(now), first(now));
    let directory = Directory::new();
    directory.write(&old);
    let mut server = Running::start(cluster.0.client_as("replica"), files(&directory)).await;
    server.wait_until_ready().await;
    call(server.addr, &old.cas).await.unwrap();
    directory.write(&new);
    eventually("the new certificate is served", || async {
        call(server.addr, &new.cas).await.ok()
    })
    .await;
    server.stop().await;
    // Files ask nothing of the cluster.
    assert_eq!(
        cluster
            .0
            .requests()
            .count(|key| key.user_agent == "replica"),
        0
    );
}

#[tokio::test]
async fn d104_only_clients_with_a_certificate_of_the_ca_are_let_in() {
    let cluster = Cluster::empty().await;
    let bundle = first(Timestamp::now());
    let directory = Directory::new();
    directory.write(&bundle);
    let client_ca = directory.path("client-ca.crt");
    let (old, new) = (ClientIdentity::new(), ClientIdentity::new());
    std::fs::write(&client_ca, &old.ca).unwrap();
    let source = files(&directory);
    let server = Server::new(cluster.0.client(), source, Some(client_ca.clone()));
    let mut server = Running::start_server(server, RARELY);
    server.wait_until_ready().await;
    let calls = async |identity| call_as(server.addr, &bundle.cas, identity).await.is_ok();
    assert!(!calls(None).await);
    assert!(!calls(Some(&new)).await);
    assert!(calls(Some(&old)).await);
    std::fs::write(&client_ca, &new.ca).unwrap();
    eventually("the new CA is trusted", || async {
        calls(Some(&new)).await.then_some(())
    })
    .await;
    assert!(!calls(Some(&old)).await);
    server.stop().await;
}

#[tokio::test]
async fn files_that_cannot_be_served_are_reported_at_the_start() {
    let cluster = Cluster::empty().await;
    let directory = Directory::new();
    let fails = async || {
        let server = Running::start(cluster.0.client(), files(&directory)).await;
        server.task.await.unwrap().unwrap_err().to_string()
    };
    let path = directory.path("tls.crt");
    let error = fails().await;
    assert!(error.contains(path.to_str().unwrap()), "{error}");
    let mut other = first(Timestamp::now());
    other.server_key = first(Timestamp::now()).server_key;
    directory.write(&other);
    let error = fails().await;
    assert!(error.contains(path.to_str().unwrap()), "{error}");
    assert!(
        error.contains("not the key of the certificate in"),
        "{error}"
    );
}

/// The seconds by which the clock of one test is ahead.
static AHEAD: AtomicI64 = AtomicI64::new(0);

fn clock_ahead() -> Timestamp {
    Timestamp::now() + SignedDuration::from_secs(AHEAD.load(Ordering::SeqCst))
}

#[tokio::test]
async fn d124_a_server_whose_certificate_has_expired_is_not_ready_until_there_is_another_one() {
    let directory = Directory::new();
    directory.write(&first(Timestamp::now()));
    let cluster = Cluster::new().await;
    let mut server = Server::new(cluster.0.client_as("replica"), files(&directory), None);
    server.clock = clock_ahead;
    let mut server = Running::start_server(server, Duration::from_millis(20));
    server.wait_until_ready().await;
    AHEAD.store(days(400).as_secs(), Ordering::SeqCst);
    let is_named = |state: &Result<(), String>| {
        let problem = state.as_ref().err();
        problem.is_some_and(|it| it.starts_with("the certificate was valid until "))
    };
    server.wait_until(is_named).await;
    directory.write(&first(clock_ahead()));
    server.wait_until_ready().await;
    server.stop().await;
}
