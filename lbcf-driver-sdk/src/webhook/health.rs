//! `healthz`.

use serde::{Deserialize, Serialize};

/// Has no fields. An empty body and `{}` are equivalent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Healthz {}

/// The driver's health.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HealthzResponse {
    /// True if the driver can serve other webhooks.
    pub healthy: bool,
    /// Abilities that not every driver has. Defined is `cancel`: an `ensureBackend` while
    /// `deregisterBackend` of the same load balancer and address is `Running` cancels that deregistration.
    /// Absent or `null` for none; callers ignore names that they do not know.
    #[serde(
        default,
        deserialize_with = "crate::wire::null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub features: Vec<String>,
}

impl HealthzResponse {
    /// The feature of drivers that [cancel deregistrations](crate::Driver::cancels_deregistrations).
    pub const CANCEL: &str = "cancel";

    /// True if the driver has this feature, such as [`CANCEL`](Self::CANCEL).
    #[must_use]
    pub fn has_feature(&self, name: &str) -> bool {
        self.features.iter().any(|feature| feature == name)
    }
}
