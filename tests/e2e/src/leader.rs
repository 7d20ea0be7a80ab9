//! Which controller leads.

use lbcf_controller::Health;

/// Whether this controller leads.
#[must_use]
pub fn leads(health: &Health) -> bool {
    let metrics = health.metrics().expect("metrics are available");
    metrics.contains("lbcf_leader 1\n")
}
