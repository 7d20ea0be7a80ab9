//! The cloud's data plane, and what it serves.

use super::handle::Cloud;
use crate::resources::{Endpoint, ListenerProtocol};
use crate::traffic::{DataPlane, Draining, LoadBalancerTraffic, TrafficOptions, TrafficTotal};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The running data plane of a cloud. Dropping it closes all listeners and connections.
///
/// ```
/// use mock_driver::{Cloud, Traffic, TrafficOptions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let cloud = Cloud::with_samples();
/// let traffic = Traffic::start(&cloud, TrafficOptions::default());
/// let load_balancers = cloud.traffic();
/// let listener = &load_balancers["lb-1234"].listeners[0];
/// println!("lb-1234 listens on {}", listener.listens.expect("it does"));
/// # }
/// ```
#[derive(Debug)]
pub struct Traffic {
    cloud: Cloud,
    plane: Arc<DataPlane>,
}

impl Traffic {
    /// Listens for all load balancers of the cloud, and follows its changes. Takes the place of a
    /// data plane that was started before. A listener that cannot listen does not keep others from
    /// it: see [`Cloud::traffic`].
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(cloud: &Cloud, options: TrafficOptions) -> Self {
        let plane = Arc::new(DataPlane::new(options));
        let before = cloud.data_plane().replace(Arc::clone(&plane));
        if let Some(before) = before {
            before.stop();
        }
        // Applies what the state declares.
        cloud.with(|_, _| ());
        Self {
            cloud: cloud.clone(),
            plane,
        }
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.plane.stop();
        let mut current = self.cloud.data_plane();
        current.take_if(|it| Arc::ptr_eq(it, &self.plane));
    }
}

impl Cloud {
    /// The traffic of each load balancer, by ID; empty without [`Traffic`].
    #[must_use]
    pub fn traffic(&self) -> BTreeMap<String, LoadBalancerTraffic> {
        let plane = self.data_plane().clone();
        plane.map(|plane| plane.view()).unwrap_or_default()
    }

    /// The traffic of all listeners, in the order of [`ListenerProtocol::ALL`]; none without
    /// [`Traffic`].
    pub(crate) fn traffic_totals(&self) -> Option<[TrafficTotal; ListenerProtocol::ALL.len()]> {
        let plane = self.data_plane().clone();
        plane.map(|plane| plane.totals())
    }

    /// Waits for what is open on a target that is not bound any more, for at most `wait`. Returns
    /// what still is.
    pub(crate) async fn drained(
        &self,
        endpoint: &Endpoint,
        address: &str,
        wait: Duration,
    ) -> Option<Draining> {
        let plane = self.data_plane().clone();
        plane?.drained(endpoint, address, wait).await
    }
}
