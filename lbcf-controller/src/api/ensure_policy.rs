//! When something that is done already is ensured again (b17, b18).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether ensuring is repeated although nothing changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnsurePolicy {
    /// `IfNotSucc` (the default) or `Always`.
    #[serde(default)]
    pub policy: EnsurePolicyType,
    /// With `Always`: the least time between two calls, such as `1m`; at least 30s, 1m when not
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_period: Option<String>,
}

/// The two policies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum EnsurePolicyType {
    /// Only what is not done, or has changed, is ensured.
    #[default]
    IfNotSucc,
    /// It is ensured again and again.
    Always,
}
