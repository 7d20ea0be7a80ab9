//! The SDK for LBCF drivers: the webhook specification as Rust types, a trait that becomes
//! routes, and a typed client.
//!
//! LBCF (Load Balancer Controlling Framework) splits load-balancer control in Kubernetes in two:
//! a controller that knows pods, services and retries, and a *driver*, a small HTTP server that
//! knows one load balancer's API. They talk through ten JSON webhooks. To write a driver,
//! implement [`RawDriver`] and serve it:
//!
//! ```no_run
//! use lbcf_driver_sdk::webhook::{
//!     DeregisterBackendRequest, EnsureBackendRequest, GenerateBackendAddrRequest, StringMap,
//! };
//! # #[cfg(feature = "server")]
//! use lbcf_driver_sdk::server;
//! use lbcf_driver_sdk::{RawDriver, NotSucc};
//!
//! struct MyCloud;
//!
//! impl RawDriver for MyCloud {
//!     async fn generate_backend_addr(&self, r: GenerateBackendAddrRequest) -> Result<String, NotSucc> {
//!         let backend = r.pod_backend.ok_or_else(|| NotSucc::fail("only pods are supported"))?;
//!         let status = backend.pod.status.unwrap_or_default();
//!         let ip = status.pod_ip.ok_or_else(|| NotSucc::running("the pod has no address yet"))?;
//!         Ok(format!("{ip}:{}", backend.port.port))
//!     }
//!     async fn ensure_backend(&self, r: EnsureBackendRequest) -> Result<StringMap, NotSucc> {
//!         println!("{} joins {:?}", r.backend_addr, r.lb_info);
//!         Ok(StringMap::new())
//!     }
//!     async fn deregister_backend(&self, r: DeregisterBackendRequest) -> Result<(), NotSucc> {
//!         println!("{} leaves {:?}", r.backend_addr, r.lb_info);
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
//! * [`webhook`]: the requests and responses, from one table, and what each webhook is for.
//! * [`NotSucc`] and [`Refusal`]: how a hook says that it failed, still runs, or says no.
//! * `server` (feature `server`): the router. It sees to hang-ups, repeated calls, deadlines,
//!   panics and malformed calls.
//! * `client` (feature `client`): calls any driver, as a controller does.
//! * `openapi` (feature `openapi`): the specification as an OpenAPI 3.1 document.
//! * [`wire`]: how tolerantly bytes are read, for both directions.

#[cfg(feature = "client")]
pub mod client;
mod driver;
pub mod fields;
#[cfg(feature = "openapi")]
pub mod openapi;
mod outcome;
#[cfg(feature = "server")]
pub mod server;
pub mod webhook;
pub mod wire;

pub use driver::{Driver, RawDriver, request};
pub use outcome::{NotSucc, Refusal};

/// The README's example compiles.
#[cfg(all(doctest, feature = "server"))]
#[doc = include_str!("../README.md")]
struct Readme;
