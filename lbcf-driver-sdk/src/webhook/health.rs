//! `healthz`.

use serde::{Deserialize, Serialize};

/// The version of the specification that this crate follows: `openapi/specification.md`. Members and features are
/// added within a version.
pub const SPECIFICATION: &str = "1";
/// The header in which a controller sends the [version](SPECIFICATION) that it follows.
pub const SPECIFICATION_HEADER: &str = "lbcf-specification";

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
    /// The version of the specification that the driver follows, such as `1`. Empty if it does not say.
    #[serde(
        default,
        deserialize_with = "crate::wire::null_as_default",
        skip_serializing_if = "String::is_empty"
    )]
    pub specification: String,
    /// Abilities that not every driver has: `batches`, `cancel`, `pages`, `reasons`. Absent or `null` for none; callers ignore
    /// names that they do not know.
    #[serde(
        default,
        deserialize_with = "crate::wire::null_as_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Vec<String>>))]
    pub features: Vec<String>,
}

impl HealthzResponse {
    /// The feature of drivers that [take several backends at once](crate::Driver::batch_size), for which controllers call about
    /// one load balancer after the other instead of about many in turn.
    pub const BATCHES: &str = "batches";
    /// The feature of drivers that [cancel deregistrations](crate::Driver::cancels_deregistrations).
    pub const CANCEL: &str = "cancel";
    /// The feature of drivers whose `listBackends`, if they have it, reads `limit` and `continue`.
    pub const PAGES: &str = "pages";
    /// The feature of drivers that say the [`Reason`](crate::webhook::Reason) of a failure that has one.
    pub const REASONS: &str = "reasons";

    /// True if the driver has this feature, such as [`CANCEL`](Self::CANCEL).
    #[must_use]
    pub fn has_feature(&self, name: &str) -> bool {
        self.features.iter().any(|feature| feature == name)
    }
}
