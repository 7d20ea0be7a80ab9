//! A client whose requests go wrong now and then, in the ways that networks and API servers have.

mod cut_short;

use crate::seed::scrambled;
use axum::body::Body as Answer;
use cut_short::{CutShort, End};
use http::{Method, Request, Response, StatusCode};
use kube::Client;
use kube::client::Body;
use local_cluster::{InProcess, LocalCluster};
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

/// How many lists and watches of one resource may go wrong: whoever watches waits longer each time
/// before it tries again.
const SPOILT_WATCHES: u64 = 2;

/// How many requests went wrong.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<AtomicU64>);

impl Faults {
    /// How many by now.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A client of the controller's name, of whose requests every third or so goes wrong: refused
/// with a conflict or an error, done and then not answered properly, or slow; and whose first
/// watches break off or expire. What happens depends on the seed and the request's number alone.
#[must_use]
pub fn faulty(cluster: &LocalCluster, seed: u64) -> (Client, Faults) {
    let faults = Faults::default();
    let service = Faulty {
        inner: cluster.service().named("lbcf-controller"),
        seed,
        requests: Arc::default(),
        collections: Arc::default(),
        faults: faults.clone(),
    };
    (Client::new(service, "default"), faults)
}

#[derive(Clone)]
struct Faulty {
    inner: InProcess,
    seed: u64,
    requests: Arc<AtomicU64>,
    /// How often each collection was listed or watched.
    collections: Arc<Mutex<HashMap<String, u64>>>,
    faults: Faults,
}

type Answering = Pin<Box<dyn Future<Output = Result<Response<Answer>, Infallible>> + Send>>;

impl Service<Request<Body>> for Faulty {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Answering;

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
        let answer = match fault {
            0 => return refuse(StatusCode::CONFLICT, "Conflict"),
            1 => return refuse(StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
            2 => return refuse(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"),
            _ => self.inner.call(request),
        };
        Box::pin(async move {
            match fault {
                3 => {
                    let _ = answer.await;
                    refuse(StatusCode::INTERNAL_SERVER_ERROR, "InternalError").await
                }
                4 => {
                    // It is done at once, and the answer is long on its way.
                    let answer = answer.await;
                    tokio::time::sleep(Duration::from_millis(60)).await;
                    answer
                }
                _ => answer.await,
            }
        })
    }
}

impl Faulty {
    fn read_collection(&mut self, request: Request<Body>) -> Answering {
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
        let is_spoilt = number < SPOILT_WATCHES && (is_watch || fault.is_multiple_of(3));
        if !is_spoilt {
            return Box::pin(self.inner.call(request));
        }
        self.faults.add();
        if !is_watch {
            return refuse(StatusCode::INTERNAL_SERVER_ERROR, "InternalError");
        }
        let end = match fault % 4 {
            0 => return refuse(StatusCode::GONE, "Expired"),
            1 => End::Quietly,
            2 => End::Broken,
            _ => End::Expired,
        };
        let frames = fault / 4 % 8;
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            Ok(answer.map(|body| Answer::new(CutShort::new(body, frames, end))))
        })
    }
}

/// Whether a path names all objects of a kind and not one of them.
fn is_collection(path: &str) -> bool {
    const COLLECTIONS: [&str; 8] = [
        "/loadbalancerdrivers",
        "/loadbalancers",
        "/backendgroups",
        "/backendrecords",
        "/binds",
        "/pods",
        "/services",
        "/nodes",
    ];
    COLLECTIONS.iter().any(|name| path.ends_with(name))
}

fn refuse(status: StatusCode, reason: &str) -> Answering {
    let mut response = Response::new(Answer::from(status_object(status, reason)));
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
