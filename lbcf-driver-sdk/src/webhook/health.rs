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
}
