//! A client whose list of one resource is delayed until the test releases it.

use crate::cluster::Cluster;
use http::Request;
use kube::Client;
use kube::client::Body;
use local_cluster::InProcess;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::watch;
use tower::Service;

/// Releases what a client of the test waits for. Dropping it releases it, too.
#[derive(Debug)]
pub struct Release(watch::Sender<bool>);

impl Release {
    pub(crate) const fn new(release: watch::Sender<bool>) -> Self {
        Self(release)
    }

    /// Lets the delayed requests complete.
    pub fn release(&self) {
        self.0.send_replace(true);
    }
}

/// A client of the controller's name whose lists of `resource` (its plural) do not complete until
/// they are released.
#[must_use]
pub fn hold_list(cluster: &Cluster, resource: &'static str) -> (Client, Release) {
    let (release, released) = watch::channel(false);
    let service = DelayingService {
        inner: cluster.service().named(crate::CONTROLLER),
        resource,
        released,
    };
    (Client::new(service, "default"), Release(release))
}

#[derive(Clone)]
struct DelayingService {
    inner: InProcess,
    resource: &'static str,
    released: watch::Receiver<bool>,
}

type ListResult = <<InProcess as Service<Request<Body>>>::Future as Future>::Output;

impl Service<Request<Body>> for DelayingService {
    type Response = <InProcess as Service<Request<Body>>>::Response;
    type Error = <InProcess as Service<Request<Body>>>::Error;
    type Future = Pin<Box<dyn Future<Output = ListResult> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_held = request.uri().path().ends_with(self.resource);
        let response = self.inner.call(request);
        let mut released = self.released.clone();
        Box::pin(async move {
            if is_held {
                // An error means that the test has ended.
                let _ = released.wait_for(|released| *released).await;
            }
            response.await
        })
    }
}
