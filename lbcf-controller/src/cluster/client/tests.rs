use super::*;
use crate::process::metrics::Snapshot;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use futures::future::join_all;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::Api;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// An API server whose responses wait for permits. The first `refused` requests get 429.
struct Server {
    refused: usize,
    attempts: AtomicUsize,
    waiting: AtomicUsize,
    most_waiting: AtomicUsize,
    permits: Semaphore,
}

impl Server {
    async fn start(refused: usize, permits: usize) -> (Arc<Self>, Config) {
        let server = Arc::new(Self {
            refused,
            attempts: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            most_waiting: AtomicUsize::new(0),
            permits: Semaphore::new(permits),
        });
        let router = Router::new()
            .fallback(respond)
            .with_state(Arc::clone(&server));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (server, Config::new(url.parse().unwrap()))
    }
}

async fn respond(State(server): State<Arc<Server>>) -> impl IntoResponse {
    let attempt = server.attempts.fetch_add(1, Ordering::SeqCst);
    if attempt < server.refused {
        let retry_after = [("retry-after", "1")];
        return (StatusCode::TOO_MANY_REQUESTS, retry_after, "").into_response();
    }
    let waiting = server.waiting.fetch_add(1, Ordering::SeqCst) + 1;
    server.most_waiting.fetch_max(waiting, Ordering::SeqCst);
    server.permits.acquire().await.unwrap().forget();
    server.waiting.fetch_sub(1, Ordering::SeqCst);
    let namespace = serde_json::to_string(&Namespace::default()).unwrap();
    namespace.into_response()
}

const LIMITS: ClientLimits = ClientLimits {
    in_flight: 2,
    rate: None,
};

fn rendered(metrics: &Metrics) -> String {
    let nothing = Snapshot {
        queue: Vec::new(),
        unregistered: 0,
        leads: false,
    };
    metrics.render(&nothing).unwrap()
}

#[tokio::test]
async fn d54_only_so_many_requests_wait_for_a_response_at_a_time() {
    let (server, config) = Server::start(0, 0).await;
    let metrics = Metrics::new();
    let namespaces: Api<Namespace> = Api::all(build(config, LIMITS, &metrics).unwrap());
    let responses = join_all((0..10).map(|_| namespaces.get("default")));
    let release = async {
        while server.waiting.load(Ordering::SeqCst) < LIMITS.in_flight {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        server.permits.add_permits(10);
    };
    let (responses, ()) = tokio::join!(responses, release);
    assert!(responses.iter().all(Result::is_ok));
    assert_eq!(server.most_waiting.load(Ordering::SeqCst), 2);
    let counted = r#"rest_client_requests_total{code="200",method="GET"} 10"#;
    let metrics = rendered(&metrics);
    assert!(metrics.contains(counted), "{metrics}");
}

#[tokio::test]
async fn d54_a_request_that_the_server_refuses_for_now_is_repeated_when_it_says() {
    let (server, config) = Server::start(1, 1).await;
    let namespaces: Api<Namespace> = Api::all(build(config, LIMITS, &Metrics::new()).unwrap());
    let began = Instant::now();
    namespaces.get("default").await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(1), "Retry-After");
    assert_eq!(server.attempts.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn requests_without_a_response_are_counted_too() {
    // Bound, so that nothing else takes the port, and not listening.
    let refusing = tokio::net::TcpSocket::new_v4().unwrap();
    refusing.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}", refusing.local_addr().unwrap());
    let metrics = Metrics::new();
    let client = build(Config::new(url.parse().unwrap()), LIMITS, &metrics).unwrap();
    let refused = Api::<Namespace>::all(client).get("default").await;
    assert!(refused.is_err());
    let counted = r#"rest_client_requests_total{code="<error>",method="GET"} 1"#;
    let metrics = rendered(&metrics);
    assert!(metrics.contains(counted), "{metrics}");
}
