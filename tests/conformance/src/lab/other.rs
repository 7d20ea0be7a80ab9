//! The calls that are about neither a load balancer nor a backend.

use super::call::Call;
use lbcf_driver_sdk::webhook::{Healthz, HealthzRequest};

/// Is the driver healthy?
pub(crate) fn healthz() -> Call {
    Call::of::<Healthz>(&HealthzRequest {})
}
