//! A cloud load balancer that lives in memory, and the reference LBCF driver for it.
//!
//! The [`Cloud`] is a provider: load balancers with listeners, for HTTP and HTTPS with forward
//! rules, and targets with weights. The [`ClbDriver`] is built on `lbcf-driver-sdk` like anyone's
//! driver, and is the place to read how one is written. Demos and tests run both in their own
//! process and read from the cloud's state what has really happened:
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
//! server.stop().await; // the driver is down; the cloud is still there
//! # Ok(())
//! # }
//! ```
//!
//! # What the driver understands
//!
//! | map | fields |
//! |---|---|
//! | `lbSpec` of an existing load balancer | `lbID` (or `loadBalancerID`), `lblID` (or `listenerID`), for HTTP(S) `domain` and `url` |
//! | `lbSpec` of a new one | `lbVpcID` (or `vpcID`), `lbListenerPort` (or `listenerPort`), `lbListenerProtocol` (or `listenerProtocol`: TCP, UDP, HTTP, HTTPS), optional `loadBalancerType` (OPEN, INTERNAL), for HTTP(S) optional `domain` (any, `*`) and `url` (`/`) |
//! | `attributes` | anything; kept as given. What is `PREPAID` by `chargeType` stays that, and nothing else becomes it |
//! | `parameters` | `weight`, a whole number from 0 to 100, 100 where it is not given; others are kept as given |
//!
//! Pods that are not ready stay registered under the `Webhook` deregister policy when they have
//! the annotation or label [`KEEP_REGISTERED`] with the value `true`.
//!
//! A load balancer that `createLoadBalancer` made is deleted with its listener and whatever is
//! still bound to it; one that was there before is left as it is.
//!
//! # Wrong on purpose
//!
//! [`MockOptions::defects`] makes it misbehave in the ways that drivers of the field do, one at a
//! time or several: see [`Defect`].
//!
//! # Beside the webhooks
//!
//! | | |
//! |---|---|
//! | `GET /_mock/state` | everything that the cloud holds |
//! | `GET /_mock/observe` | what LBCF has there, by the identities that the controller knows |
//! | `GET /_mock/requests` | the last webhook calls; `?webhook=`, `?recordID=`, `?since=` |
//! | `POST /_mock/reset` | puts the cloud back to its start, and ends an outage |
//! | `POST /_mock/observe/foreign` | binds a backend that LBCF has not registered: `{"lbInfo":{},"addr":""}` |
//! | `POST /_mock/observe/unbind` | takes a backend away behind the driver's back: the same body |
//! | `POST /_mock/observe/attributes` | replaces attributes behind the driver's back: `{"lbInfo":{},"attributes":{}}` |
//! | `POST /_mock/fault` | `{"on":true}`: the cloud's API is temporarily unavailable, until `{"on":false}`; `GET` tells |
//! | `POST /_mock/restart` | kills the driver and starts it again, while the cloud stays; answers when it serves |
//!
//! What changes something answers with what there is then. Errors are `{"error":"…"}` and name
//! the field: 404 where `lbInfo` names no load balancer, 409 for a backend that is bound already.
//!
//! After a restart use new connections: those of the killed driver are closed, and a call that it
//! had not answered gets no answer.

pub mod cli;
mod cloud;
mod defects;
mod driver;
mod error;
mod inspect;
mod journal;
mod options;
mod process;
mod router;
mod server;

pub use cloud::{
    AddListenerError, Clock, Cloud, CloudError, CloudState, CreateError, Creation, Endpoint,
    ListenerProtocol, ListenerState, LoadBalancerState, LoadBalancerType, NewLoadBalancer, NoneOf,
    NotFound, Observation, ObservedBackend, ObservedLoadBalancer, Rule, RuleState, Stage, Target,
    TargetGroupState, TargetState, Unavailable,
};
pub use defects::{Defect, DefectPace, UnknownDefect};
pub use driver::{ClbDriver, KEEP_REGISTERED};
pub use error::MockError;
pub use journal::{JournalEntry, WebhookCalls};
pub use options::MockOptions;
pub use router::router;
pub use server::MockServer;
