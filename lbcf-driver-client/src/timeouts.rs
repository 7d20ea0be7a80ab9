//! Timeouts of calls.

use lbcf_driver_sdk::webhook::Webhook;
use std::collections::BTreeMap;
use std::time::Duration;

/// Timeouts of calls: a default, and others for single webhooks. They cover connecting, sending, the
/// driver and the whole response.
///
/// ```
/// use lbcf_driver_client::Timeouts;
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
    /// The default of controllers: 10 s.
    pub const DEFAULT: Duration = Duration::from_secs(10);

    /// One timeout for all webhooks.
    #[must_use]
    pub const fn new(default: Duration) -> Self {
        Self {
            default,
            by_webhook: BTreeMap::new(),
        }
    }

    /// Sets the timeout of one webhook.
    #[must_use]
    pub fn with<W: Webhook>(mut self, timeout: Duration) -> Self {
        self.by_webhook.insert(W::INFO.name, timeout);
        self
    }

    /// The timeout of the webhook with this name, or the default.
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
