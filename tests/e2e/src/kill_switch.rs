//! A client whose process is killed at a chosen write, or by the test.

use crate::cluster::Cluster;
use http::{Method, Request};
use kube::Client;
use kube::client::Body;
use local_cluster::InProcess;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::Notify;
use tower::Service;

/// Whether the process is killed before or after the write takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMoment {
    /// Before the request reaches the API server.
    Before,
    /// After the API server has stored it, before the response arrives.
    After,
}

/// One write of a client, identified by what it writes to: unlike a number among all writes, this
/// does not depend on the order in which concurrent writes happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritePoint {
    /// Method, resource and subresource, such as `PATCH backendrecords/status`.
    pub target: String,
    /// Which of the writes to that target, from 0.
    pub nth: usize,
    /// Whether the process is killed before or after the write.
    pub moment: WriteMoment,
}

/// Kills a client and counts its writes. Clones control the same client.
#[derive(Debug, Clone, Default)]
pub struct KillSwitch {
    writes: Arc<Mutex<BTreeMap<String, usize>>>,
    killed: Arc<AtomicBool>,
    notify: Arc<Notify>,
}

impl KillSwitch {
    /// How often the client has written to each target, events left out.
    #[must_use]
    pub fn writes(&self) -> BTreeMap<String, usize> {
        let writes = self.writes.lock();
        writes.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on no request of the client completes.
    pub fn kill(&self) {
        self.killed.store(true, Ordering::SeqCst);
        self.notify.notify_one();
    }

    /// Whether the client has been killed.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.killed.load(Ordering::SeqCst)
    }

    /// Waits until the client is killed.
    pub async fn killed(&self) {
        self.notify.notified().await;
    }

    /// Counts a write and returns its number among those to the same target, from 0.
    fn count(&self, target: &str) -> usize {
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        let count = writes.entry(target.to_owned()).or_default();
        *count += 1;
        *count - 1
    }
}

/// A client of the controller's name that is killed at a write: it never gets the response to that
/// write nor to any later request. Without a point it lives until [`KillSwitch::kill`].
#[must_use]
pub fn client_killed_at(cluster: &Cluster, at: Option<WritePoint>) -> (Client, KillSwitch) {
    let switch = KillSwitch::default();
    let service = KillableService {
        inner: cluster.service().named(crate::CONTROLLER),
        at: at.map(Arc::new),
        switch: switch.clone(),
    };
    (Client::new(service, "default"), switch)
}

#[derive(Clone)]
struct KillableService {
    inner: InProcess,
    at: Option<Arc<WritePoint>>,
    switch: KillSwitch,
}

type ResponseFuture = Pin<
    Box<
        dyn Future<Output = <<InProcess as Service<Request<Body>>>::Future as Future>::Output>
            + Send,
    >,
>;

impl Service<Request<Body>> for KillableService {
    type Response = <InProcess as Service<Request<Body>>>::Response;
    type Error = std::convert::Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let switch = self.switch.clone();
        if switch.is_killed() {
            return Box::pin(std::future::pending());
        }
        let target = write_target(&request);
        let number = target.as_deref().map(|target| switch.count(target));
        let at = self.at.as_deref();
        let is_the_point =
            at.is_some_and(|at| target.as_ref() == Some(&at.target) && number == Some(at.nth));
        if let Some(at) = at.filter(|_| is_the_point) {
            switch.killed.store(true, Ordering::SeqCst);
            let stored = (at.moment == WriteMoment::After).then(|| self.inner.call(request));
            return Box::pin(async move {
                if let Some(stored) = stored {
                    let _ = stored.await;
                }
                switch.kill();
                std::future::pending().await
            });
        }
        let response = self.inner.call(request);
        Box::pin(async move {
            let response = response.await;
            if switch.is_killed() {
                return std::future::pending().await;
            }
            response
        })
    }
}

/// Method, resource and subresource of a request that writes anything but an event.
pub(crate) fn write_target(request: &Request<Body>) -> Option<String> {
    let path = request.uri().path();
    if request.method() == Method::GET || path.contains("/events") {
        return None;
    }
    let (_, path) = path.split_once("/namespaces/")?;
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let (resource, subresource) = (parts.first()?, parts.get(2));
    let subresource = subresource.map_or(String::new(), |name| format!("/{name}"));
    Some(format!("{} {resource}{subresource}", request.method()))
}
