//! How long calls may take.

use crate::webhook::Webhook;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long calls may take: one time for all webhooks, and others for some.
///
/// A call's time covers all of it: connecting, sending, the driver's work and the whole answer.
///
/// ```
/// use lbcf_driver_sdk::client::Timeouts;
/// use lbcf_driver_sdk::webhook::CreateLoadBalancer;
/// use std::time::Duration;
///
/// let timeouts = Timeouts::default().with::<CreateLoadBalancer>(Duration::from_secs(60));
/// assert_eq!(timeouts.of("createLoadBalancer"), Duration::from_secs(60));
/// assert_eq!(timeouts.of("ensureBackend"), Duration::from_secs(10));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    default: Duration,
    by_webhook: BTreeMap<&'static str, Duration>,
}

impl Timeouts {
    /// What controllers allow a webhook where nothing else is configured (b10): 10 s.
    pub const DEFAULT: Duration = Duration::from_secs(10);

    /// The same time for all webhooks.
    #[must_use]
    pub const fn new(default: Duration) -> Self {
        Self {
            default,
            by_webhook: BTreeMap::new(),
        }
    }

    /// Another time for one webhook.
    #[must_use]
    pub fn with<W: Webhook>(mut self, timeout: Duration) -> Self {
        self.by_webhook.insert(W::INFO.name, timeout);
        self
    }

    /// The time of the webhook that has this name. What is no webhook has the time of all.
    #[must_use]
    pub fn of(&self, webhook: &str) -> Duration {
        let own = self.by_webhook.get(webhook);
        own.copied().unwrap_or(self.default)
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::new(Self::DEFAULT)
    }
}
