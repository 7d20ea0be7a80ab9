//! The SDK for LBCF drivers: from a load balancer's API to a driver in production.
//!
//! LBCF (Load Balancer Controlling Framework) splits load-balancer control in Kubernetes in two:
//! a controller that handles pods, services and retries, and a *driver*, a small HTTP server that
//! calls one load balancer's API. The controller calls the driver's eleven JSON webhooks. To write a
//! driver, define five types and five methods:
//!
//! ```no_run
//! use lbcf_driver_sdk::request::{
//!     CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
//!     GenerateBackendAddr,
//! };
//! # #[cfg(feature = "server")]
//! use lbcf_driver_sdk::server;
//! use lbcf_driver_sdk::webhook::StringMap;
//! use lbcf_driver_sdk::{Driver, HookError};
//! use serde::{Deserialize, Serialize};
//!
//! /// What users write to get a load balancer.
//! #[derive(Debug, Serialize, Deserialize)]
//! #[serde(rename_all = "camelCase")]
//! struct Spec {
//!     listener_port: u16,
//! }
//!
//! /// Identifies a created load balancer.
//! #[derive(Debug, Serialize, Deserialize)]
//! struct Info {
//!     id: String,
//! }
//!
//! struct MyCloud;
//!
//! impl Driver for MyCloud {
//!     type LbSpec = Spec;
//!     type LbInfo = Info;
//!     type Attributes = StringMap;
//!     type Parameters = StringMap;
//!     type BackendAddr = String;
//!
//!     async fn create_load_balancer(&self, r: CreateLoadBalancer<Self>) -> Result<Info, HookError> {
//!         Ok(Info { id: format!("lb-{}", r.lb_spec.listener_port) })
//!     }
//!     async fn delete_load_balancer(&self, r: DeleteLoadBalancer<Self>) -> Result<(), HookError> {
//!         println!("{:?} is deleted", r.lb_info);
//!         Ok(())
//!     }
//!     async fn generate_backend_addr(&self, r: GenerateBackendAddr<Self>) -> Result<String, HookError> {
//!         Ok(r.target()?.socket_addr()?.to_string())
//!     }
//!     async fn ensure_backend(&self, r: EnsureBackend<Self>) -> Result<StringMap, HookError> {
//!         println!("{} joins {}", r.backend_addr, r.lb_info.id);
//!         Ok(StringMap::new())
//!     }
//!     async fn deregister_backend(&self, r: DeregisterBackend<Self>) -> Result<(), HookError> {
//!         println!("{} leaves {}", r.backend_addr, r.lb_info.id);
//!         Ok(())
//!     }
//! }
//!
//! # #[cfg(feature = "server")]
//! #[tokio::main]
//! async fn main() -> std::io::Result<()> {
//!     let app = axum::Router::new().nest("/my-cloud", server::router(MyCloud));
//!     axum::serve(tokio::net::TcpListener::bind("0.0.0.0:8080").await?, app).await
//! }
//! # #[cfg(not(feature = "server"))]
//! # fn main() {}
//! ```
//!
//! A `LoadBalancerDriver` whose `url` is `http://HOST:8080/my-cloud` then calls it.
//!
//! * [`guide`]: from concepts to production. Start there.
//! * [`Driver`]: the trait to implement, and [`request`]: the requests of its methods.
//! * [`fields`]: a driver's own types for the wire's maps of strings.
//! * [`outcome`]: the outcomes of hooks: [`HookError`], [`Rejection`].
//! * [`drain`]: whether a backend that is deregistered waits for its clients.
//! * [`mod@reconcile`]: shared resources of a cloud: plan, write what differs, retry on conflict.
//! * `jobs` (feature `server`): operations that take longer than a call.
//! * `local` (feature `server`): state, files and reloads of load balancers on the driver's machine.
//! * `server` (feature `server`): the router, which handles hang-ups, repeated calls, deadlines,
//!   panics and malformed calls.
//! * `testing` (feature `testing`): calls a driver in process, for its author's tests.
//! * `openapi` (feature `openapi`): the specification as an OpenAPI 3.1 document.
//! * [`specification`]: the rules that the conformance kit checks.
//! * [`webhook`]: the wire's requests and responses, from one table; [`wire`] reads them from JSON.

pub mod drain;
mod driver;
pub mod fields;
pub mod guide;
#[cfg(feature = "server")]
pub mod jobs;
#[cfg(feature = "server")]
pub mod local;
#[cfg(feature = "openapi")]
pub mod openapi;
pub mod outcome;
pub mod reconcile;
#[cfg(feature = "server")]
pub mod server;
pub mod specification;
#[cfg(feature = "testing")]
pub mod testing;
pub mod webhook;
pub mod wire;

pub use driver::{Driver, request};
pub use outcome::{HookError, OrOutcome, Rejection, RetryAfter};
pub use webhook::Reason;

/// The README's examples compile.
#[cfg(all(doctest, feature = "server", feature = "testing"))]
#[doc = include_str!("../README.md")]
struct Readme;
