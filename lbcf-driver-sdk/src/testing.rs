//! Testing a driver: call it in process, as a controller would, and say what is expected.
//!
//! A [`TestDriver`] has the router of production around the driver, so a test sees what a
//! controller sees: joined repeats, deadlines, panics, values that do not fit. There is no socket
//! and no port. [Calls](WebhookCall) are written down by what matters of them; [answers](DriverReply) say in
//! full what they are when they are not what was expected.
//!
//! ```
//! use lbcf_driver_sdk::testing::{TestDriver, create_load_balancer, ensure_backend, pod};
//! use lbcf_driver_sdk::testing::{generate_backend_addr, validate_backend};
//! # use lbcf_driver_sdk::{Driver, HookError, Rejection, request, webhook::StringMap};
//! # struct MyDriver;
//! # impl Driver for MyDriver {
//! #     type LbSpec = StringMap;
//! #     type LbInfo = StringMap;
//! #     type Attributes = StringMap;
//! #     type Parameters = StringMap;
//! #     type BackendAddr = String;
//! #     async fn create_load_balancer(&self, r: request::CreateLoadBalancer<Self>) -> Result<StringMap, HookError> {
//! #         Ok(StringMap::from([("id".to_owned(), format!("lb-{}", r.lb_spec["name"]))]))
//! #     }
//! #     async fn delete_load_balancer(&self, _: request::DeleteLoadBalancer<Self>) -> Result<(), HookError> { Ok(()) }
//! #     async fn generate_backend_addr(&self, r: request::GenerateBackendAddr<Self>) -> Result<String, HookError> {
//! #         let request::Backend::Pod(backend) = r.backend else { return Err(HookError::fail("pods only")) };
//! #         let ip = backend.pod.status.and_then(|status| status.pod_ip);
//! #         Ok(format!("{}:{}", ip.ok_or_else(|| HookError::running("the pod has no address yet"))?, backend.port.port))
//! #     }
//! #     async fn ensure_backend(&self, _: request::EnsureBackend<Self>) -> Result<StringMap, HookError> { Ok(StringMap::new()) }
//! #     async fn deregister_backend(&self, _: request::DeregisterBackend<Self>) -> Result<(), HookError> { Ok(()) }
//! #     async fn validate_backend(&self, r: request::ValidateBackend<Self>) -> Result<(), Rejection> {
//! #         match r.parameters.get("weight").map(|weight| weight.parse::<u8>()) {
//! #             Some(Err(_)) => Err(Rejection::new("parameters.weight: not a number")),
//! #             _ => Ok(()),
//! #         }
//! #     }
//! # }
//!
//! #[tokio::test(start_paused = true)]
//! # async fn not_called() {}
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! # a_pod_is_registered().await
//! # }
//! async fn a_pod_is_registered() {
//!     let driver = TestDriver::new(MyDriver);
//!
//!     // One call, and what it came to.
//!     driver
//!         .call(validate_backend().parameter("weight", "heavy"))
//!         .await
//!         .assert_refused("weight");
//!
//!     // A life: what a controller does and stores.
//!     let lb_info = driver.create(create_load_balancer().spec("name", "web")).await;
//!     let web = pod("web-0").ip("10.0.0.7").port(80);
//!     let backend = driver
//!         .register(generate_backend_addr().lb_info(&lb_info).pod(web))
//!         .await;
//!     assert_eq!(backend.backend_addr, "10.0.0.7:80");
//!
//!     // Later calls start from what was stored.
//!     driver
//!         .call(backend.ensure().parameter("weight", 20))
//!         .await
//!         .assert_succ();
//! }
//! ```
//!
//! * Waiting costs nothing on a paused clock (`start_paused = true`); [`Clock`] moves it.
//! * Dropping the future of a call is what hanging up is:
//!   `tokio::time::timeout(limit, driver.call(…))` is a controller that loses patience.
//! * [`check_idempotency`] goes through the rules that every driver has to keep.
//!
//! The functions of this module panic where something is not as it has to be: that is how a test
//! fails. Do not use them outside tests.
#![allow(
    clippy::panic,
    reason = "a panic is how a test says that something is not as expected"
)]

mod backends;
mod clock;
mod driver;
mod life;
mod reply;
mod rules;
mod webhook_call;

pub use backends::{PodBuilder, ServiceBuilder, pod, service};
pub use clock::Clock;
pub use driver::TestDriver;
pub use life::Registered;
pub use reply::{DriverReply, HttpReply};
pub use rules::{Broken, Findings, Sample, check_idempotency};
pub use webhook_call::{
    WebhookCall, create_load_balancer, delete_load_balancer, deregister_backend, ensure_backend,
    ensure_load_balancer, generate_backend_addr, healthz, judge_pod_deregister, validate_backend,
    validate_load_balancer,
};
