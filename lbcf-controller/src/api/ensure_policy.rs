//! The policy for calling ensure webhooks again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Determines whether the driver is called again while nothing has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnsurePolicy {
    /// `IfNotSucc` (the default): only after a change or a failure. `Always`: also periodically.
    #[serde(default)]
    pub policy: EnsurePolicyType,
    /// Period of `Always`, as a duration such as `1m30s`. Minimum 30s, default 1m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_period: Option<String>,
}

/// When an ensure webhook is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EnsurePolicyType {
    /// After a change, and until a call succeeds.
    #[default]
    IfNotSucc,
    /// Additionally once in every period.
    Always,
}
