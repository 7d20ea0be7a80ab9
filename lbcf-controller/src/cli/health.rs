//! Where the controller tells how it is.

use super::Listen;

/// Where the controller tells how it is.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Health and metrics")]
pub struct HealthArgs {
    /// Address of /healthz, /readyz and /metrics over plain HTTP; port 0 takes a free one, off
    /// serves none
    #[arg(
        long,
        env = "LBCF_HEALTH_ADDRESS",
        value_name = "ADDR",
        default_value = "127.0.0.1:11029"
    )]
    pub health_address: Listen,
}
