//! A client whose list of one resource is delayed until the test releases it.

use crate::cluster::Cluster;
use http::Request;
use kube::Client;
use kube::client::Body;
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
    let inner = cluster.service().named(crate::CONTROLLER);
    let service = tower::service_fn(move |request: Request<Body>| {
        let is_held = request.uri().path().ends_with(resource);
        let response = inner.clone().call(request);
        let mut released = released.clone();
        async move {
            if is_held {
                // An error means that the test has ended.
                let _ = released.wait_for(|released| *released).await;
            }
            response.await
        }
    });
    (Client::new(service, "default"), Release(release))
}
