use super::listen::Listen;

/// Flags of the health server.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Health and metrics")]
pub struct HealthArgs {
    /// Address at which to serve /healthz, /readyz and /metrics over plain HTTP, or off; port 0
    /// selects a free port
    #[arg(
        long,
        env = "LBCF_HEALTH_ADDRESS",
        value_name = "ADDR",
        default_value = "127.0.0.1:11029"
    )]
    pub health_address: Listen,
}
