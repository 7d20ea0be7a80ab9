//! A client whose writes go wrong now and then, and a driver whose answers do, in the ways that
//! networks and servers have.

use axum::body::Body as Answer;
use axum::response::IntoResponse;
use axum::{Router, extract, middleware};
use http::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use local_cluster::{InProcess, LocalCluster};
use serde_json::json;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tower::Service;

/// How many requests went wrong.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<AtomicU64>);

impl Faults {
    /// How many by now.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A client of the controller's name, of whose requests every third or so goes wrong: refused
/// with a conflict or an error, or done and then not answered properly. Which ones depends on the
/// seed and the request's number alone.
#[must_use]
pub fn faulty(cluster: &LocalCluster, seed: u64) -> (Client, Faults) {
    let faults = Faults::default();
    let service = Faulty {
        inner: cluster.service().named("lbcf-controller"),
        seed,
        requests: Arc::default(),
        faults: faults.clone(),
    };
    (Client::new(service, "default"), faults)
}

#[derive(Clone)]
struct Faulty {
    inner: InProcess,
    seed: u64,
    requests: Arc<AtomicU64>,
    faults: Faults,
}

impl Service<Request<Body>> for Faulty {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let is_list = request.method() == Method::GET && !request.uri().path().contains("/pods/");
        let fault = if is_list {
            9
        } else {
            scrambled(self.seed, number) % 10
        };
        if fault < 3 {
            self.faults.0.fetch_add(1, Ordering::SeqCst);
        }
        match fault {
            0 => refuse(StatusCode::CONFLICT, "Conflict"),
            1 => refuse(StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
            2 => {
                let done = self.inner.call(request);
                Box::pin(async move {
                    let _ = done.await;
                    refuse(StatusCode::INTERNAL_SERVER_ERROR, "InternalError").await
                })
            }
            _ => Box::pin(self.inner.call(request)),
        }
    }
}

type Refusal = Pin<Box<dyn Future<Output = Result<Response<Answer>, Infallible>> + Send>>;

fn refuse(status: StatusCode, reason: &str) -> Refusal {
    let body = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "code": status.as_u16(), "reason": reason, "message": "made to fail by the test",
    });
    let mut response = Response::new(Answer::from(body.to_string()));
    *response.status_mut() = status;
    Box::pin(std::future::ready(Ok(response)))
}

/// A driver of which every third answer or so goes wrong: the work is not done, or is done and the
/// answer lost, or the answer is none.
pub(crate) fn flaky(driver: Router, seed: u64, faults: Faults) -> Router {
    let requests = Arc::new(AtomicU64::new(0));
    driver.layer(middleware::from_fn(
        move |request: extract::Request, next: middleware::Next| {
            let number = requests.fetch_add(1, Ordering::SeqCst);
            let fault = scrambled(seed, number) % 10;
            if fault < 3 {
                faults.0.fetch_add(1, Ordering::SeqCst);
            }
            async move {
                match fault {
                    0 => StatusCode::BAD_GATEWAY.into_response(),
                    1 => {
                        let _ = next.run(request).await;
                        StatusCode::GATEWAY_TIMEOUT.into_response()
                    }
                    2 => {
                        let _ = next.run(request).await;
                        r#"{"status":"succeeded"}"#.into_response()
                    }
                    _ => next.run(request).await,
                }
            }
        },
    ))
}

/// SplitMix64: the same numbers on every machine.
const fn scrambled(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
