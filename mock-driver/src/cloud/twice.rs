//! One address bound more than once. Most clouds refuse it; those that name targets themselves do
//! not, and there a driver that binds without looking leaves a target behind that gets a second
//! share of the traffic.

use super::Cloud;
use super::endpoint::Endpoint;
use super::model::{Target, TargetGroup};
use std::collections::BTreeMap;

/// What stands between an address and the number of its further target. No address has it.
const MARK: &str = "\0again ";

impl Cloud {
    /// Binds one more target with an address that is bound already.
    pub(crate) fn bind_again(&self, endpoint: &Endpoint, address: &str, target: Target) {
        self.with(|model, _| {
            if let Ok(TargetGroup { targets, .. }) = model.group_mut(endpoint) {
                let number = targets.len();
                targets.insert(format!("{address}{MARK}{number}"), target);
            }
        });
    }
}

/// The address of a target by its key.
pub(super) fn address_of(key: &str) -> &str {
    key.split(MARK).next().unwrap_or(key)
}

/// Takes away what [`Cloud::bind_again`] has added for this address.
pub(super) fn remove_further(targets: &mut BTreeMap<String, Target>, address: &str) {
    let mark = format!("{address}{MARK}");
    let mut from_mark = targets.range(mark.clone()..);
    if from_mark
        .next()
        .is_some_and(|(key, _)| key.starts_with(&mark))
    {
        targets.retain(|key, _| !key.starts_with(&mark));
    }
}
