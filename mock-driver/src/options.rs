//! Options of the mock.

use std::net::SocketAddr;
use std::time::Duration;

/// Options of the mock. Created from [`Default`], so that new options are no breaking change.
#[derive(Debug, Clone)]
pub struct MockOptions {
    /// How long each stage of a load balancer's creation takes; zero by default.
    pub stage_duration: Duration,
    /// How many webhook calls the journal keeps; 1000 by default.
    pub journal_size: usize,
    /// Where the page and the endpoints under `/_mock` are served; none for the address of the webhooks.
    pub endpoints_listen: Option<SocketAddr>,
}

impl Default for MockOptions {
    fn default() -> Self {
        Self {
            stage_duration: Duration::ZERO,
            journal_size: 1000,
            endpoints_listen: None,
        }
    }
}
