//! Probes drivers: calls `healthz` and evaluates the response.

use super::{DriverError, Drivers, PROBE_TIMEOUT, call_span, send, timeout_of};
use crate::api::{
    Condition, ConditionStatus, LoadBalancerDriver, ObjectKey, condition_types, reasons,
};
use crate::process::leader::NotLeading;
use crate::process::lock::Mutex;
use crate::process::metrics::Outcome;
use crate::process::text::in_full;
use lbcf_driver_client::CallError;
use lbcf_driver_sdk::webhook::{Healthz, HealthzResponse, Webhook};
use std::collections::HashMap;
use tokio::time::Instant;
use tracing::Instrument;

/// The finding of the last probe of a driver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DriverHealth {
    /// `Unknown` if the driver responds, but not as `healthz` does.
    status: ConditionStatus,
    reason: &'static str,
    /// The same for every probe that finds the same, as each difference is written to the API server.
    message: String,
    /// Those of its features that the controller knows; none if the response does not say.
    features: Option<Vec<String>>,
}

impl DriverHealth {
    fn of(response: &Result<HealthzResponse, DriverError>) -> Self {
        use ConditionStatus::{False, True, Unknown};
        let new = |status, reason, message: &str| Self {
            status,
            reason,
            message: message.to_owned(),
            features: None,
        };
        let error = match response {
            Ok(response) => {
                let message = "the driver responded to healthz with healthy: false";
                let health = match response.healthy {
                    true => new(True, "", ""),
                    false => new(False, reasons::UNHEALTHY, message),
                };
                let cancel = response.has_feature(HealthzResponse::CANCEL);
                let known = cancel.then(|| HealthzResponse::CANCEL.to_owned());
                return Self {
                    features: Some(known.into_iter().collect()),
                    ..health
                };
            }
            Err(error) => error,
        };
        match error {
            DriverError::Call { source, .. } => match source {
                // The body may differ each time.
                CallError::Status { status, .. } => {
                    let message =
                        format!("the driver responded to healthz with HTTP status {status}");
                    match status {
                        404 | 405 | 501 => new(Unknown, reasons::HEALTHZ_NOT_SERVED, &message),
                        500..600 => new(False, reasons::WEBHOOK_ERROR, &message),
                        _ => new(Unknown, reasons::INVALID_RESPONSE, &message),
                    }
                }
                CallError::Malformed(_) | CallError::TooLarge { .. } => {
                    new(Unknown, reasons::INVALID_RESPONSE, &in_full(source))
                }
                _ => new(False, reasons::WEBHOOK_ERROR, &in_full(source)),
            },
            _ => new(False, reasons::WEBHOOK_ERROR, &in_full(error)),
        }
    }

    #[cfg(test)]
    pub(crate) fn healthy() -> Self {
        Self {
            status: ConditionStatus::True,
            reason: "",
            message: String::new(),
            features: None,
        }
    }

    #[cfg(test)]
    pub(crate) fn with_features(self, features: &[&str]) -> Self {
        Self {
            features: Some(features.iter().copied().map(str::to_owned).collect()),
            ..self
        }
    }

    #[cfg(test)]
    pub(crate) fn unreachable() -> Self {
        Self {
            status: ConditionStatus::False,
            reason: reasons::WEBHOOK_ERROR,
            message: "unreachable".to_owned(),
            features: None,
        }
    }

    /// True for a driver that cannot be expected to handle calls.
    pub(crate) fn is_unhealthy(&self) -> bool {
        self.status == ConditionStatus::False
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn features(&self) -> Option<&[String]> {
        self.features.as_deref()
    }

    /// None if the driver does not say.
    fn is_healthy(&self) -> Option<bool> {
        match self.status {
            ConditionStatus::True => Some(true),
            ConditionStatus::False => Some(false),
            ConditionStatus::Unknown => None,
        }
    }

    pub(crate) fn condition(&self, observed_generation: Option<i64>) -> Condition {
        let type_ = condition_types::HEALTHY;
        Condition::unmet(type_, self.reason, &self.message, observed_generation)
            .with_status(self.status)
    }
}

impl Drivers {
    /// Asks a driver once whether it is healthy, as the leader. The call is not one of those that
    /// [`CallCounts`](super::CallCounts) counts, because objects do not cause it. Its metrics are those
    /// of the webhook `healthz`, without the errors of drivers that do not serve it.
    pub(crate) async fn probe(
        &self,
        driver: &LoadBalancerDriver,
    ) -> Result<DriverHealth, NotLeading> {
        let (key, webhook) = (ObjectKey::of(driver), Healthz::INFO.name);
        self.called.lock().insert(key.clone());
        let began = Instant::now();
        let timeout = timeout_of(driver, webhook).min(PROBE_TIMEOUT);
        let call = async {
            let client = self.client_of_leader(driver)?;
            send::<Healthz>(client, &key, &Healthz {}, timeout).await
        };
        let call = call.instrument(call_span::<Healthz>(driver));
        let response = self.guard.run(call).await?;
        let health = DriverHealth::of(&response);
        let outcome = match &response {
            Ok(response) if !response.healthy => Some(Outcome::Fail),
            Ok(_) => Some(Outcome::Ok),
            Err(_) => health.is_unhealthy().then_some(Outcome::Error),
        };
        if let Some(outcome) = outcome {
            self.measure(&key, webhook, began.elapsed(), outcome);
        }
        // A driver that was deleted meanwhile must not leave a series behind.
        let called = self.called.lock();
        if called.contains(&key) {
            self.metrics.driver_health(&key, health.is_healthy());
        }
        Ok(health)
    }
}

/// The results of the last probes of all drivers.
#[derive(Debug, Default)]
pub(crate) struct HealthResults(Mutex<HashMap<ObjectKey, DriverHealth>>);

impl HealthResults {
    pub(crate) fn get(&self, driver: &ObjectKey) -> Option<DriverHealth> {
        self.0.lock().get(driver).cloned()
    }

    /// Replaces a driver's last result, which is returned.
    pub(crate) fn insert(&self, driver: &ObjectKey, health: DriverHealth) -> Option<DriverHealth> {
        self.0.lock().insert(driver.clone(), health)
    }

    pub(crate) fn remove(&self, driver: &ObjectKey) {
        self.0.lock().remove(driver);
    }
}

#[cfg(test)]
mod tests;
