//! A client whose list of one resource is held back for a while.

use http::Request;
use kube::Client;
use kube::client::Body;
use local_cluster::{InProcess, LocalCluster};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::watch;
use tower::Service;

/// Lets the list through, once and for all.
#[derive(Debug)]
pub struct Release(watch::Sender<bool>);

impl Release {
    pub(crate) const fn new(release: watch::Sender<bool>) -> Self {
        Self(release)
    }

    /// Lets the list through.
    pub fn release(&self) {
        self.0.send_replace(true);
    }
}

/// A client of the controller's name that gets no list of `resource` (its plural) until it is
/// released.
#[must_use]
pub fn hold_list(cluster: &LocalCluster, resource: &'static str) -> (Client, Release) {
    let (release, released) = watch::channel(false);
    let service = Holding {
        inner: cluster.service().named("lbcf-controller"),
        resource,
        released,
    };
    (Client::new(service, "default"), Release(release))
}

#[derive(Clone)]
struct Holding {
    inner: InProcess,
    resource: &'static str,
    released: watch::Receiver<bool>,
}

type Answer = <<InProcess as Service<Request<Body>>>::Future as Future>::Output;

impl Service<Request<Body>> for Holding {
    type Response = <InProcess as Service<Request<Body>>>::Response;
    type Error = <InProcess as Service<Request<Body>>>::Error;
    type Future = Pin<Box<dyn Future<Output = Answer> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_held = request.uri().path().ends_with(self.resource);
        let answer = self.inner.call(request);
        let mut released = self.released.clone();
        Box::pin(async move {
            if is_held {
                // Whoever could release it is gone with the test.
                let _ = released.wait_for(|released| *released).await;
            }
            answer.await
        })
    }
}
