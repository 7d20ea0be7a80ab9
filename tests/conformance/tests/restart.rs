//! A restart of the driver begins a new generation of connections.

use crate::bent::{fixture, only, passed, right};
use axum::body::Body;
use axum::http::Request;
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use lbcf_conformance::Suite;
use lbcf_conformance::fixture::Action;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt as _;

/// A driver with `/restart`. Connections from before a restart serve one more request, as a process that is
/// being killed may, and end with the next.
struct Driver {
    router: axum::Router,
    restarts: AtomicUsize,
}

impl Driver {
    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let began = self.restarts.load(Ordering::SeqCst);
        let late = Arc::new(AtomicUsize::new(0));
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let (driver, late) = (self.clone(), late.clone());
            async move {
                let is_late = driver.restarts.load(Ordering::SeqCst) > began;
                if is_late && late.fetch_add(1, Ordering::SeqCst) > 0 {
                    return Err("the process has ended");
                }
                if request.uri().path() == "/restart" {
                    driver.restarts.fetch_add(1, Ordering::SeqCst);
                    return Ok(().into_response());
                }
                let response: Response = driver
                    .router
                    .clone()
                    .oneshot(request.map(Body::new))
                    .await
                    .unwrap();
                Ok(response)
            }
        });
        let serving = hyper::server::conn::http1::Builder::new();
        // The client ends connections, too.
        let _ = serving
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }
}

#[tokio::test]
async fn checks_use_no_connection_of_the_process_before_the_restart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let driver = Arc::new(Driver {
        router: right(),
        restarts: AtomicUsize::new(0),
    });
    let served = driver.clone();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(served.clone().serve(stream));
        }
    });
    let mut fixture = fixture();
    fixture.restart = Some(Action::Url(format!("{url}/restart")));
    let suite = Suite::of_url(&url).unwrap().fixture(fixture);
    let report = suite.settings(only("LIFE-05")).run().await.unwrap();
    assert_eq!(passed(&report), ["LIFE-05"]);
    assert!(driver.restarts.load(Ordering::SeqCst) > 3);
}
