//! `healthz`: can the driver work?

use serde::{Deserialize, Serialize};

/// Nothing is asked; an empty body and `{}` are the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HealthzRequest {}

/// Whether the driver can work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HealthzResponse {
    /// `true` when it can.
    pub healthy: bool,
}
