//! What a test costs: the controller's requests to the API server and the calls of the driver, counted
//! where they arrive.

use crate::World;
use local_cluster::RequestCounts;
use mock_driver::WebhookCalls;

/// The `User-Agent` of the controllers whose requests are counted.
pub const CONTROLLER: &str = "lbcf-controller";

/// Requests and calls, of all time or since a moment.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The requests of all clients.
    pub requests: RequestCounts,
    /// The calls of the driver.
    pub calls: WebhookCalls,
}

impl World {
    /// All requests and calls so far.
    #[must_use]
    pub fn cost(&self) -> Cost {
        Cost {
            requests: self.cluster.requests(),
            calls: self.cloud.calls(),
        }
    }

    /// The requests and calls since then.
    #[must_use]
    pub fn cost_since(&self, before: &Cost) -> Cost {
        Cost {
            requests: self.cluster.requests().since(&before.requests),
            calls: self.cloud.calls().difference(&before.calls),
        }
    }
}

impl Cost {
    /// The controller's writes to a resource, such as `backendrecords`, also those that failed.
    #[must_use]
    pub fn writes(&self, resource: &str) -> u64 {
        self.requests.count(|key| {
            let is_of = |name: &str| name.rsplit('/').next() == Some(resource);
            key.user_agent == CONTROLLER && key.is_write() && is_of(&key.resource)
        })
    }

    /// The controller's writes to all resources except events.
    #[must_use]
    pub fn all_writes(&self) -> u64 {
        self.requests.writes_by(CONTROLLER)
    }

    /// Requires that these webhooks were called so often, and no others.
    #[track_caller]
    pub fn assert_calls<const N: usize>(&self, expected: [(&'static str, u64); N]) {
        assert_eq!(*self.calls.as_map(), expected.into());
    }
}
