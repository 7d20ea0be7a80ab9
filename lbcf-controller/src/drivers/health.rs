//! Probes drivers: calls `healthz` and evaluates the response.

use super::{DriverError, Drivers, PROBE_TIMEOUT, call_span, is_not_served, send, timeout_of};
use crate::api::reasons::{self, ReportReason};
use crate::api::{Condition, ConditionStatus, LoadBalancerDriver, ObjectKey, condition_types};
use crate::process::leader::NotLeading;
use crate::process::lock::Mutex;
use crate::process::metrics::Outcome;
use crate::process::text::{in_full, of_driver, shortened};
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
    /// None if it is healthy.
    reason: Option<&'static ReportReason>,
    /// The same for every probe that finds the same, as each difference is written to the API server.
    message: String,
    /// None if the response does not say.
    abilities: Option<DriverAbilities>,
    /// False if there was no response.
    responds: bool,
}

/// The version and the features that a driver names in `healthz`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DriverAbilities {
    /// Empty if it says none.
    pub specification: String,
    /// Those that the controller knows.
    pub features: Vec<String>,
}

/// The longest name of a version of the specification, in characters.
const SPECIFICATION_LENGTH: usize = 32;

impl DriverAbilities {
    const KNOWN: [&str; 4] = [
        HealthzResponse::BATCHES,
        HealthzResponse::CANCEL,
        HealthzResponse::PAGES,
        HealthzResponse::REASONS,
    ];

    fn of(response: &HealthzResponse) -> Self {
        let specification = of_driver(&response.specification).trim().to_owned();
        let features = Self::KNOWN.iter();
        let features = features.filter(|feature| response.has_feature(feature));
        Self {
            specification: shortened(specification, SPECIFICATION_LENGTH),
            features: features.copied().map(str::to_owned).collect(),
        }
    }
}

impl DriverHealth {
    fn of(response: &Result<HealthzResponse, DriverError>) -> Self {
        use ConditionStatus::{False, True, Unknown};
        let new = |status, reason, message: &str| Self {
            status,
            reason,
            message: message.to_owned(),
            abilities: None,
            responds: true,
        };
        let no_response = |message: &str| Self {
            responds: false,
            ..new(False, Some(reasons::WEBHOOK_ERROR), message)
        };
        let error = match response {
            Ok(response) => {
                let message = "the driver responded to healthz with healthy: false";
                let health = match response.healthy {
                    true => new(True, None, ""),
                    false => new(False, Some(reasons::UNHEALTHY), message),
                };
                return Self {
                    abilities: Some(DriverAbilities::of(response)),
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
                        _ if is_not_served(*status) => Self {
                            abilities: Some(DriverAbilities::default()),
                            ..new(Unknown, Some(reasons::HEALTHZ_NOT_SERVED), &message)
                        },
                        500..600 => new(False, Some(reasons::WEBHOOK_ERROR), &message),
                        _ => new(Unknown, Some(reasons::INVALID_RESPONSE), &message),
                    }
                }
                CallError::Malformed(_) | CallError::TooLarge { .. } => {
                    new(Unknown, Some(reasons::INVALID_RESPONSE), &in_full(source))
                }
                _ => no_response(&in_full(source)),
            },
            _ => no_response(&in_full(error)),
        }
    }

    #[cfg(test)]
    pub(crate) fn healthy() -> Self {
        Self {
            status: ConditionStatus::True,
            reason: None,
            message: String::new(),
            abilities: None,
            responds: true,
        }
    }

    #[cfg(test)]
    pub(crate) fn with_abilities(self, specification: &str, features: &[&str]) -> Self {
        let abilities = DriverAbilities {
            specification: specification.to_owned(),
            features: features.iter().copied().map(str::to_owned).collect(),
        };
        Self {
            abilities: Some(abilities),
            ..self
        }
    }

    #[cfg(test)]
    pub(crate) fn unreachable() -> Self {
        Self {
            status: ConditionStatus::False,
            reason: Some(reasons::WEBHOOK_ERROR),
            message: "unreachable".to_owned(),
            abilities: None,
            responds: false,
        }
    }

    /// True for a driver that cannot be expected to handle calls.
    pub(crate) fn is_unhealthy(&self) -> bool {
        self.status == ConditionStatus::False
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) const fn abilities(&self) -> Option<&DriverAbilities> {
        self.abilities.as_ref()
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
        Condition {
            status: self.status,
            reason: self.reason.map(|it| it.to_string()).unwrap_or_default(),
            message: self.message.clone(),
            ..Condition::met(type_, observed_generation)
        }
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

    /// Why the driver does not respond, if it did not when it was asked last.
    pub(crate) fn no_response(&self, driver: &ObjectKey) -> Option<String> {
        let results = self.0.lock();
        let silent = results.get(driver).filter(|health| !health.responds)?;
        Some(silent.message.clone())
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
