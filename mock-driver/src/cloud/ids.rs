//! IDs of new resources: counted, so that the same calls in the same order give the same IDs, and
//! tests and documents can name `lb-00000001`.

use serde::{Deserialize, Serialize};

/// The numbers of the last IDs.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Ids {
    /// Of a CLB instance.
    pub load_balancers: u64,
    /// Of a listener.
    pub listeners: u64,
}

impl Ids {
    pub(super) fn next_load_balancer(&mut self) -> String {
        self.load_balancers = self.load_balancers.saturating_add(1);
        format!("lb-{:08}", self.load_balancers)
    }

    pub(super) fn next_listener(&mut self) -> String {
        self.listeners = self.listeners.saturating_add(1);
        format!("lbl-{:08}", self.listeners)
    }
}
