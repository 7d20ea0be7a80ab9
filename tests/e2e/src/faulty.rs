//! A client some of whose requests fail, in the ways in which networks and API servers fail.

mod truncated;

use crate::cluster::Cluster;
use crate::seed::scrambled;
use axum::body::Body as ResponseBody;
use http::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use local_cluster::InProcess;
use serde_json::json;
use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tower::Service;
use truncated::{StreamEnd, Truncated};

/// How many lists and watches of one resource may fail. A watcher backs off longer after each
/// failure, so more of them would only make the test wait.
const FAILING_WATCHES: u64 = 2;

/// Counts the requests that failed.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<AtomicU64>);

impl Faults {
    /// The number of failed requests so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A client of the controller's name. About every third request fails: it is rejected with a
/// conflict or an error, or carried out and answered with an error, or answered late; and the first
/// watches break or expire. What fails depends only on the seed and the request's number.
#[must_use]
pub fn faulty(cluster: &Cluster, seed: u64) -> (Client, Faults) {
    let faults = Faults::default();
    let service = FaultyService {
        inner: cluster.service().named("lbcf-controller"),
        seed,
        requests: Arc::default(),
        collections: Arc::default(),
        faults: faults.clone(),
    };
    (Client::new(service, "default"), faults)
}

#[derive(Clone)]
struct FaultyService {
    inner: InProcess,
    seed: u64,
    requests: Arc<AtomicU64>,
    /// How often each collection was listed or watched.
    collections: Arc<Mutex<HashMap<String, u64>>>,
    faults: Faults,
}

type ResponseFuture =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

impl Service<Request<Body>> for FaultyService {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if request.method() == Method::GET && is_collection(request.uri().path()) {
            return self.read_collection(request);
        }
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let fault = scrambled(self.seed, number) % 12;
        if fault < 5 {
            self.faults.add();
        }
        let response = match fault {
            0 => return reject(StatusCode::CONFLICT, "Conflict"),
            1 => return reject(StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
            2 => return reject(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"),
            _ => self.inner.call(request),
        };
        Box::pin(async move {
            match fault {
                3 => {
                    let _ = response.await;
                    reject(StatusCode::INTERNAL_SERVER_ERROR, "InternalError").await
                }
                4 => {
                    // The request is carried out at once; its response takes long.
                    let response = response.await;
                    tokio::time::sleep(Duration::from_millis(60)).await;
                    response
                }
                _ => response.await,
            }
        })
    }
}

impl FaultyService {
    fn read_collection(&mut self, request: Request<Body>) -> ResponseFuture {
        let uri = request.uri();
        let is_watch = uri.query().unwrap_or_default().contains("watch=");
        let name = format!("{} {is_watch}", uri.path());
        let number = {
            let collections = self.collections.lock();
            let mut collections = collections.unwrap_or_else(PoisonError::into_inner);
            let number = collections.entry(name.clone()).or_default();
            *number += 1;
            *number - 1
        };
        let salt: u64 = name.bytes().map(u64::from).sum();
        let fault = scrambled(self.seed ^ (salt << 32), number);
        let fails = number < FAILING_WATCHES && (is_watch || fault.is_multiple_of(3));
        if !fails {
            return Box::pin(self.inner.call(request));
        }
        self.faults.add();
        if !is_watch {
            return reject(StatusCode::INTERNAL_SERVER_ERROR, "InternalError");
        }
        let end = match fault % 4 {
            0 => return reject(StatusCode::GONE, "Expired"),
            1 => StreamEnd::Quietly,
            2 => StreamEnd::Broken,
            _ => StreamEnd::Expired,
        };
        let frames = fault / 4 % 8;
        let response = self.inner.call(request);
        Box::pin(async move {
            let response = response.await?;
            Ok(response.map(|body| ResponseBody::new(Truncated::new(body, frames, end))))
        })
    }
}

/// Whether a path is that of all objects of a kind rather than of one.
fn is_collection(path: &str) -> bool {
    const COLLECTIONS: [&str; 10] = [
        "/loadbalancerdrivers",
        "/loadbalancers",
        "/backendgroups",
        "/backendrecords",
        "/binds",
        "/pods",
        "/services",
        "/nodes",
        "/mutatingwebhookconfigurations",
        "/validatingwebhookconfigurations",
    ];
    COLLECTIONS.iter().any(|name| path.ends_with(name))
}

fn reject(status: StatusCode, reason: &str) -> ResponseFuture {
    let mut response = Response::new(ResponseBody::from(status_object(status, reason)));
    *response.status_mut() = status;
    Box::pin(std::future::ready(Ok(response)))
}

fn status_object(status: StatusCode, reason: &str) -> String {
    json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "code": status.as_u16(), "reason": reason, "message": "made to fail by the test",
    })
    .to_string()
}
