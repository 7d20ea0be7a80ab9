#![doc = include_str!("docs/modules/testing.md")]
#![allow(clippy::panic, reason = "a panic fails the test")]

mod backends;
mod clock;
mod driver;
mod life;
mod reply;
mod rules;
mod webhook_call;

pub use backends::{PodBuilder, ServiceBuilder, endpoint, pod, service};
pub use clock::Clock;
pub use driver::TestDriver;
pub use life::Registered;
pub use reply::{DriverReply, HttpReply};
pub use rules::{Broken, Findings, Sample, check_idempotency};
pub use webhook_call::{
    WebhookCall, create_load_balancer, delete_load_balancer, deregister_backend, ensure_backend,
    ensure_load_balancer, generate_backend_addr, healthz, judge_pod_deregister, list_backends,
    validate_backend, validate_load_balancer,
};
