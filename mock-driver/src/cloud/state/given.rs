//! How listeners and rules are read: serde cannot refuse unknown fields of types with flattened ones.

use super::{ListenerProtocol, ListenerState, RuleState, TargetGroupState, TargetState};
use lbcf_driver_sdk::webhook::StringMap;
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GivenListener {
    id: String,
    protocol: ListenerProtocol,
    port: u16,
    attributes: Option<StringMap>,
    used_as: Option<Vec<StringMap>>,
    used_by: Option<BTreeSet<String>>,
    released_by: Option<BTreeSet<String>>,
    targets: Option<Vec<TargetState>>,
    rules: Option<Vec<RuleState>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GivenRule {
    domain: String,
    url: String,
    #[serde(default)]
    attributes: StringMap,
    #[serde(default)]
    used_as: Vec<StringMap>,
    #[serde(default)]
    used_by: BTreeSet<String>,
    #[serde(default)]
    released_by: BTreeSet<String>,
    #[serde(default)]
    targets: Vec<TargetState>,
}

impl From<GivenListener> for ListenerState {
    fn from(given: GivenListener) -> Self {
        let group = TargetGroupState {
            attributes: given.attributes.unwrap_or_default(),
            used_as: given.used_as.unwrap_or_default(),
            used_by: given.used_by.unwrap_or_default(),
            released_by: given.released_by.unwrap_or_default(),
            targets: given.targets.unwrap_or_default(),
        };
        let has_rules = given.protocol.has_rules() && group == TargetGroupState::default();
        Self {
            id: given.id,
            protocol: given.protocol,
            port: given.port,
            targets: (!has_rules).then_some(group),
            rules: given.rules,
        }
    }
}

impl From<GivenRule> for RuleState {
    fn from(given: GivenRule) -> Self {
        Self {
            domain: given.domain,
            url: given.url,
            targets: TargetGroupState {
                attributes: given.attributes,
                used_as: given.used_as,
                used_by: given.used_by,
                released_by: given.released_by,
                targets: given.targets,
            },
        }
    }
}
