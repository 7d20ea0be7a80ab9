//! The data plane: listeners that listen, and forward to their backends (d79, d80).
//!
//! It belongs to the cloud and not to a driver: traffic goes on while no driver runs. Each load
//! balancer has an address of its own in 127.0.0.0/8. TCP and UDP listeners forward connections and
//! datagrams, HTTP and HTTPS listeners forward requests by domain and path. Backends have turns by
//! weight; one that does not accept is passed over. One that is deregistered gets nothing new from
//! the moment on when the call returns, and what is open may take the drain time.

mod address;
mod backend;
mod certificate;
mod counts;
mod group;
mod headers;
mod http;
mod plane;
mod pool;
mod relay;
mod routes;
mod running;
mod schedule;
mod table;
mod target;
mod tcp;
mod udp;
mod view;
mod workers;

pub use address::{AddressMode, PORT_OFFSET};
pub use counts::TrafficCounts;
pub(crate) use plane::{DataPlane, Draining};
pub(crate) use view::TrafficTotal;
pub use view::{BackendTraffic, ListenerTraffic, LoadBalancerTraffic};

use crate::cloud::Cloud;
use std::sync::Arc;
use std::time::Duration;

/// Options of the data plane. Created from [`Default`], so that new options are no breaking change.
#[derive(Debug, Clone)]
pub struct TrafficOptions {
    /// How long what is open on a deregistered backend may take; 5 s by default.
    pub drain_time: Duration,
    /// How long a connection may be without a byte or a request; 15 minutes by default.
    pub idle_timeout: Duration,
    /// How many connections a listener has at most; further ones wait. 16,384 by default.
    pub max_connections: usize,
    /// How load balancers get their addresses.
    pub addresses: AddressMode,
}

impl Default for TrafficOptions {
    fn default() -> Self {
        Self {
            drain_time: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(15 * 60),
            max_connections: 16 << 10,
            addresses: AddressMode::default(),
        }
    }
}

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
        if let Some(before) = cloud.set_data_plane(Some(Arc::clone(&plane))) {
            before.stop();
        }
        cloud.apply_to_data_plane();
        Self {
            cloud: cloud.clone(),
            plane,
        }
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.plane.stop();
        self.cloud.unset_data_plane(&self.plane);
    }
}
