//! Counts the requests of a world's clients, and ends them with the world.

use super::permissions::Permissions;
use super::target::Target;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use kube::client::{Body, DynBody};
use local_cluster::{RequestCounts, RequestKey};
use serde_json::json;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Instant;
use tower::{BoxError, Layer, Service};

/// The requests of one world. Clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Traffic(Arc<State>);

#[derive(Debug, Default)]
struct State {
    counts: Mutex<BTreeMap<RequestKey, u64>>,
    is_closed: AtomicBool,
    in_flight: AtomicUsize,
}

impl Traffic {
    pub(super) fn counts(&self) -> RequestCounts {
        let counts = self.0.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.clone().into_iter().collect()
    }

    /// A layer for a client of this name. What these permissions do not allow, if any are given, is
    /// answered as by an API server that authorises its clients.
    pub(crate) fn layer(
        &self,
        user_agent: &str,
        permissions: Option<Arc<Permissions>>,
    ) -> TrafficLayer {
        TrafficLayer {
            traffic: self.clone(),
            user_agent: user_agent.to_owned(),
            permissions,
        }
    }

    /// From now on no request is sent: controllers that still run change nothing. Waits for those that
    /// were sent, but not for long, as tasks that have ended do not read their responses.
    pub(super) async fn close(&self) {
        const LONGEST: Duration = Duration::from_secs(3);
        self.0.is_closed.store(true, Ordering::SeqCst);
        let deadline = Instant::now() + LONGEST;
        while self.0.in_flight.load(Ordering::SeqCst) > 0 && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Counts a request; none if the world has ended.
    fn begin(&self, user_agent: &str, target: Option<&Target>) -> Option<InFlight> {
        self.0.in_flight.fetch_add(1, Ordering::SeqCst);
        let in_flight = InFlight(Arc::clone(&self.0));
        if self.0.is_closed.load(Ordering::SeqCst) {
            return None;
        }
        if let Some(target) = target {
            let (resource, subresource) = (target.qualified_resource(), &*target.subresource);
            let key = RequestKey::new(user_agent, target.verb, resource, subresource);
            let mut counts = self.0.counts.lock().unwrap_or_else(PoisonError::into_inner);
            *counts.entry(key).or_default() += 1;
        }
        Some(in_flight)
    }
}

/// A request without a response so far.
struct InFlight(Arc<State>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Debug, Clone)]
pub(crate) struct TrafficLayer {
    traffic: Traffic,
    user_agent: String,
    permissions: Option<Arc<Permissions>>,
}

impl<S> Layer<S> for TrafficLayer {
    type Service = CountedService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        CountedService {
            inner,
            layer: self.clone(),
        }
    }
}

pub(crate) struct CountedService<S> {
    inner: S,
    layer: TrafficLayer,
}

type ApiResponse = Response<Box<DynBody>>;

impl<S> Service<Request<Body>> for CountedService<S>
where
    S: Service<Request<Body>, Response = ApiResponse>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = ApiResponse;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<ApiResponse, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let TrafficLayer {
            traffic,
            user_agent,
            permissions,
        } = &self.layer;
        let target = Target::of(&request);
        let Some(in_flight) = traffic.begin(user_agent, target.as_ref()) else {
            return Box::pin(std::future::pending());
        };
        if let (Some(permissions), Some(target)) = (permissions, &target)
            && !permissions.allow(target)
        {
            let forbidden = forbidden(target);
            return Box::pin(std::future::ready(Ok(forbidden)));
        }
        let response = self.inner.call(request);
        Box::pin(async move {
            let response = response.await;
            drop(in_flight);
            response
        })
    }
}

fn forbidden(target: &Target) -> ApiResponse {
    let (verb, resource) = (target.verb, target.qualified_resource());
    let message = format!("the role may not {verb} {resource} {}", target.subresource);
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "code": 403, "reason": "Forbidden", "message": message,
    });
    let never = |never: Infallible| -> BoxError { match never {} };
    let body = Full::from(status.to_string()).map_err(never);
    let mut response = Response::new(Box::new(body) as Box<DynBody>);
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}
