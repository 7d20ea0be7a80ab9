//! Options of the mock.

use crate::differences::ClusterReader;
use crate::resources::CreationPace;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Options of the mock. Created from [`Default`], so that new options are no breaking change.
#[derive(Debug, Clone)]
pub struct MockOptions {
    /// The time of each stage of a load balancer's creation; zero by default.
    pub stage_duration: Duration,
    /// The number of calls that a creation takes, instead of a time.
    pub creation_polls: Option<u32>,
    /// True if creations wait until they are released by hand.
    pub hold_creations: bool,
    /// True, the default, if `Running` names a delay, which is whole seconds. Without, callers poll
    /// as often as they like.
    pub name_delays: bool,
    /// The most backends of one call of the cloud's API; as many as that cloud takes by default, and with 1 each
    /// call is about one.
    pub batch_size: Option<usize>,
    /// The number of hooks that start in a second, of those that change something; not limited by default.
    pub max_hooks_per_second: Option<u32>,
    /// The number of webhook calls that the journal keeps; 1000 by default.
    pub journal_size: usize,
    /// Where the page and the endpoints under `/_mock` are served; none for the address of the webhooks.
    pub endpoints_listen: Option<SocketAddr>,
    /// Host names by which clients may call loopback addresses, beside `localhost` and loopback addresses. A web
    /// page that calls by any other gets 403.
    pub allow_hosts: Vec<String>,
    /// The cluster that uses this cloud, for the page and `/_mock/differences` to show what differs; none by
    /// default.
    pub cluster: Option<Arc<dyn ClusterReader>>,
}

impl Default for MockOptions {
    fn default() -> Self {
        Self {
            stage_duration: Duration::ZERO,
            creation_polls: None,
            hold_creations: false,
            name_delays: true,
            batch_size: None,
            max_hooks_per_second: None,
            journal_size: 1000,
            endpoints_listen: None,
            allow_hosts: Vec::new(),
            cluster: None,
        }
    }
}

impl MockOptions {
    pub(crate) fn creation(&self) -> CreationPace {
        match self.creation_polls {
            _ if self.hold_creations => CreationPace::Held,
            Some(polls) => CreationPace::Polls(polls),
            None => CreationPace::Time(self.stage_duration),
        }
    }
}
