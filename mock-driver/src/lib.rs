//! A cloud load balancer that lives in memory, and the reference LBCF driver for it.
//!
//! The [`Cloud`] replaces a provider: it has load balancers with listeners, forwarding rules for
//! HTTP and HTTPS, and targets with weights. The [`ClbDriver`] implements the
//! [`Driver`](lbcf_driver_sdk::Driver) trait of the SDK and is an example of how a driver is written:
//! `src/driver.rs` has its webhooks, `src/fields.rs` the types of their fields. Demos and tests run
//! both in their own process and read from the cloud what has happened:
//!
//! ```
//! use mock_driver::{Cloud, MockOptions, MockServer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cloud = Cloud::with_samples();
//! let server =
//!     MockServer::start(cloud.clone(), "127.0.0.1:0".parse()?, MockOptions::default()).await?;
//! println!("spec.url of the LoadBalancerDriver: {}", server.url());
//!
//! // … a controller registers backends …
//! assert!(cloud.observe().load_balancers.is_empty(), "nothing was left behind");
//! assert_eq!(cloud.calls().get("ensureBackend"), 0);
//!
//! server.stop().await; // the driver is down; the cloud keeps its state
//! # Ok(())
//! # }
//! ```
//!
//! # Fields
//!
//! | map | fields |
//! |---|---|
//! | `lbSpec` of an existing load balancer | `lbID` (or `loadBalancerID`), `lblID` (or `listenerID`), for HTTP(S) `domain` and `url` |
//! | `lbSpec` of a new one | `lbVpcID` (or `vpcID`), `lbListenerPort` (or `listenerPort`), `lbListenerProtocol` (or `listenerProtocol`: TCP, UDP, HTTP, HTTPS), optional `loadBalancerType` (OPEN, INTERNAL), for HTTP(S) optional `domain` (any, `*`) and `url` (`/`) |
//! | `attributes` | anything, kept as given; `chargeType` cannot change from or to `PREPAID` |
//! | `parameters` | `weight`, a whole number from 0 to 100, 100 by default; others are kept as given |
//!
//! Pods that are not ready stay registered under the `Webhook` deregister policy when they have
//! the annotation or label [`KEEP_REGISTERED`] with the value `true`.
//!
//! `listBackends` returns all targets of a load balancer. Those that `ensureBackend` bound have its
//! `recordID`, which the cloud stores as a tag; those that were bound by hand have none.
//!
//! `deleteLoadBalancer` deletes a load balancer that `createLoadBalancer` has created, with its
//! listener and targets, and leaves one that existed before as it is. `lbInfo` always has `lbID` and
//! `lblID`, however `lbSpec` spells them.
//!
//! # Around the driver
//!
//! A [`Middleware`] changes what callers see of the driver. The crate `lbcf-defective-driver` makes
//! it misbehave in the ways that drivers in the field do, and `lbcf mock-driver` has flags for that.
//!
//! # Traffic
//!
//! [`Traffic`] has the load balancers of a cloud listen on this machine and forward to their backends.
//!
//! # Beside the webhooks
//!
//! | | |
//! |---|---|
//! | `GET /_mock/state` | everything that the cloud holds |
//! | `GET /_mock/loadbalancers` | the load balancers, and with [`Traffic`] where they listen and what they have served; `/{id}` is one of them |
//! | `GET /_mock/observe` | the load balancers of LBCF, by the identities that the controller stores |
//! | `GET /_mock/requests` | the last webhook calls; `?webhook=`, `?recordID=`, `?since=` |
//! | `POST /_mock/reset` | restores the initial state of the cloud, and ends an outage |
//! | `POST /_mock/observe/foreign` | binds a backend that LBCF has not registered: `{"lbInfo":{},"addr":""}` |
//! | `POST /_mock/observe/unbind` | unbinds a backend behind the driver's back: the same body |
//! | `POST /_mock/observe/attributes` | replaces attributes behind the driver's back: `{"lbInfo":{},"attributes":{}}` |
//! | `POST /_mock/fault` | `{"on":true}`: the cloud's API is temporarily unavailable, until `{"on":false}`; `GET` shows which |
//! | `POST /_mock/restart` | kills the driver and starts it again, while the cloud stays; responds when it serves |
//!
//! Endpoints that change something respond with the new state. Errors are `{"error":"…"}` and name
//! the field: 404 if `lbInfo` names no load balancer, 409 for a backend that is bound already.
//!
//! A restart closes the connections of the killed driver, and its pending calls get no response.

mod backend_addr;
pub mod cli;
mod cloud;
mod cloud_errors;
mod driver;
mod error;
mod fields;
mod inspect;
mod journal;
mod middleware;
mod not_ready_pods;
mod options;
mod process;
mod router;
mod server;
mod traffic;

pub use cloud::{
    AddListenerError, Clock, Cloud, CloudError, CloudState, CreateError, Creation, CreationStage,
    Endpoint, ListenerProtocol, ListenerState, LoadBalancerState, LoadBalancerType,
    NewLoadBalancer, NotFound, Observation, ObservedBackend, ObservedLoadBalancer, Rule, RuleState,
    Target, TargetGroupState, TargetState, Unavailable,
};
pub use driver::ClbDriver;
pub use error::MockError;
pub use fields::{Attributes, Domain, LbInfo, LbSpec, NewLbSpec, Parameters, UrlPath, Weight};
pub use journal::{JournalEntry, WebhookCalls};
pub use middleware::Middleware;
pub use not_ready_pods::KEEP_REGISTERED;
pub use options::MockOptions;
pub use router::{router, router_with};
pub use server::MockServer;
pub use traffic::{
    AddressMode, BackendTraffic, ListenerTraffic, LoadBalancerTraffic, PORT_OFFSET, Traffic,
    TrafficCounts, TrafficOptions,
};
