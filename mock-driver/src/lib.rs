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
//! [`azure`] is a second cloud with a driver of its own: [`Cloud::azure`], whose load balancers services share.
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
//! | `GET /` | a page with the load balancers, the last calls, and switches for faults |
//! | `GET /_mock/state` | everything that the cloud holds; `PUT` replaces it |
//! | `DELETE /_mock/loadbalancers/{id}` | restores the initial state of one instance: mostly, that it does not exist |
//! | `GET /_mock/loadbalancers` | the load balancers, and with [`Traffic`] where they listen and what they have served; `/{id}` is one of them |
//! | `POST /_mock/load` | `{"rate":25}`: with [`Traffic`], sends at most that many requests a second to the listeners, until `{"rate":0}` |
//! | `GET /_mock/differences` | what differs between the cloud and the cluster of [`MockOptions::cluster`]; 404 without one, 503 while it cannot be read |
//! | `GET /_mock/observe` | the load balancers of LBCF, by the identities that the controller stores |
//! | `GET /_mock/requests` | the last webhook calls; `?webhook=`, `?recordID=`, `?loadBalancer=`, `?address=`, `?status=` with `*` and `?`, `?fault=true`, `?since=`, `?bodies=true` |
//! | `GET /_mock/requests/{number}` | one of them, with its bodies |
//! | `GET /_mock/requests/wait` | the same query, `?count=`, `?timeout=`: waits until there are as many calls; 504 if they do not come |
//! | `GET /_mock/requests/stream` | the same query: calls as server-sent events, as they end |
//! | `GET /_mock/requests/export` | the same query: a document for `lbcf conformance replay` |
//! | `GET`, `POST`, `PUT`, `DELETE /_mock/faults` | lists, adds, replaces and removes [fault rules](#faults); `DELETE /_mock/faults/{id}` removes one |
//! | `POST /_mock/creations/release` | completes creations that are held, all or `{"recordID":""}` or `{"lbID":""}` |
//! | `POST /_mock/clock/advance` | `{"seconds":60}`: moves the cloud's time forward; `GET /_mock/clock` shows it |
//! | `POST /_mock/reset` | restores the initial state of the cloud and the fault rules of the start, and ends an outage and requests |
//! | `POST /_mock/observe/foreign` | binds a backend that LBCF has not registered: `{"lbInfo":{},"addr":""}` |
//! | `POST /_mock/observe/unbind` | unbinds a backend behind the driver's back: the same body |
//! | `POST /_mock/observe/attributes` | replaces attributes behind the driver's back: `{"lbInfo":{},"attributes":{}}` |
//! | `POST /_mock/fault` | `{"on":true}`: the cloud's API is temporarily unavailable, until `{"on":false}`; `GET` shows which |
//! | `POST /_mock/restart` | kills the driver and starts it again, while the cloud stays; responds when it serves |
//! | `GET /_mock/openapi.json` | these endpoints as an OpenAPI 3.1 document |
//! | `GET /docs` | a page to read that document and the one of the webhooks, `/openapi.json`, and to try calls |
//! | `GET /livez`, `GET /readyz` | whether the mock runs, and whether its driver is not being restarted |
//! | `GET /metrics` | the driver's metrics, as every driver of the SDK has them, and with `lbcf_mock_` those of the cloud |
//!
//! Endpoints that change something respond with the new state. Errors are `{"error":"…"}` and name
//! the field: 404 if `lbInfo` names no load balancer, 409 for a backend that is bound already.
//!
//! These have no password. Requests of another site's page, by its `Origin`, are refused, and on a
//! loopback address those under a name other than `localhost`. [`MockOptions::endpoints_listen`] gives
//! them an address of their own.
//!
//! # Faults
//!
//! A rule matches calls and does something to them. The first one that matches a call wins; the cloud
//! stays right. [`FaultRule`] has all conditions and actions:
//!
//! ```json
//! {"match": {"webhook": "ensureBackend", "loadBalancer": "lb-*", "share": 0.3, "times": 5}, "action": "loseAnswer"}
//! {"match": {"webhook": "deregisterBackend"}, "action": {"running": {"calls": 3, "retryAfter": "1s"}}}
//! {"match": {"address": "10.0.0.1:*", "skip": 1}, "action": {"fail": {"message": "no such network"}}}
//! {"action": {"delay": {"time": "200ms", "jitter": "300ms"}}}
//! ```
//!
//! `fail`, `running`, `httpStatus`, `hang` and `reset` come instead of the work; `malformed`,
//! `truncated` and `loseAnswer` after it. The body may be a rule, a list of rules, or
//! `{"rules":[],"preset":"chaos"}` ([`FaultPreset`]). A load balancer's attributes and a backend's
//! parameters may have a rule under the key [`IN_BAND_FAULT`], or just the name of an action: it hits
//! the operations on that load balancer or backend.
//!
//! A restart closes the connections of the killed driver, and its pending calls get no response.

pub mod azure;
mod backend_address;
mod by_hand;
mod calls;
mod checked;
pub mod cli;
mod cloud;
mod differences;
mod driver;
mod drivers;
mod error;
mod faults;
mod fields;
mod glob;
mod inspect;
mod journal;
mod load;
mod metrics;
mod middleware;
mod no_answer;
mod observe;
mod options;
mod page;
mod process;
mod resources;
mod router;
mod server;
mod strict;
mod traffic;

pub use calls::{RecordedCalls, record_calls};
pub use cloud::{Clock, Cloud, Traffic};
pub use differences::{
    ClusterBackend, ClusterLoadBalancer, ClusterReader, ClusterView, ObjectReference,
};
pub use driver::ClbDriver;
pub use drivers::{KEEP_REGISTERED, MockedDriver};
pub use error::MockError;
pub use faults::{
    DelayFault, FailFault, FaultAction, FaultMatch, FaultPreset, FaultRule, FaultStatus,
    FaultTable, HttpStatusFault, IN_BAND_FAULT, RunningFault,
};
pub use fields::{Attributes, Domain, LbInfo, LbSpec, NewLbSpec, Parameters, UrlPath, Weight};
pub use glob::Glob;
pub use journal::{JournalEntry, WebhookCalls};
pub use load::{LoadGenerator, TrafficReport};
pub use middleware::Middleware;
pub use observe::{Observation, ObservedBackend, ObservedLoadBalancer};
pub use options::MockOptions;
pub use resources::{
    AddListenerError, BindError, CloudError, CloudState, CreateError, Creation, CreationPace,
    CreationStage, CreationState, Endpoint, Ids, Incidental, ListenerProtocol, ListenerState,
    LoadBalancerState, LoadBalancerType, NewLoadBalancer, NotFound, QuotaExceeded, Quotas, Rule,
    RuleState, SetAttributesError, StateVersion, Target, TargetGroupState, TargetState,
    TooManyTargets, Unavailable,
};
pub use router::{router, router_with};
pub use server::MockServer;
pub use traffic::{
    AddressMode, BackendTraffic, ListenerTraffic, LoadBalancerTraffic, PORT_OFFSET, TrafficCounts,
    TrafficOptions,
};
