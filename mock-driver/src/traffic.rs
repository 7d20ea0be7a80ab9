//! The data plane: listeners that listen, and forward to their backends.
//!
//! It belongs to the cloud and not to a driver: traffic goes on while no driver runs. Each load
//! balancer has an address of its own in 127.0.0.0/8. TCP and UDP listeners forward connections and
//! datagrams, HTTP and HTTPS listeners forward requests by domain and path. Backends have turns by
//! weight; one that does not accept is passed over. One that is deregistered gets nothing new from
//! the moment on when the call returns, and what is open may take the drain time.

mod address;
mod backend;
mod context;
mod counts;
mod group;
mod headers;
mod http;
mod listener;
mod options;
mod plane;
mod relay;
mod schedule;
mod table;
mod tcp;
mod timeline;
mod udp;
mod view;

pub use address::{AddressMode, PORT_OFFSET};
pub(crate) use counts::SECONDS;
pub use counts::TrafficCounts;
pub use options::TrafficOptions;
pub(crate) use plane::{DataPlane, Draining};
pub(crate) use timeline::{NOT_SERVED, TargetHistory, Timeline};
pub(crate) use view::TrafficTotal;
pub use view::{BackendTraffic, ListenerTraffic, LoadBalancerTraffic};
