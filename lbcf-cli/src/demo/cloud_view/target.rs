//! Backends that are registered with load balancers.

use crate::demo::maps::contains;
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::demo) struct Target {
    /// The pod's address, or the pod's name with another driver; or a static address.
    pub(in crate::demo) address: String,
    pub(in crate::demo) parameters: StringMap,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::demo) struct Registered {
    /// The parameters of each target by its address.
    pub(in crate::demo) targets: BTreeMap<String, StringMap>,
}

impl Registered {
    /// True for the same targets, with at least the expected parameters.
    pub(in crate::demo) fn has_exactly(&self, expected: &Self) -> bool {
        self.targets.len() == expected.targets.len()
            && expected.targets.iter().all(|(address, parameters)| {
                let found = self.targets.get(address);
                found.is_some_and(|found| contains(found, parameters))
            })
    }
}

/// The IP in an address of the mock, which is JSON; any other text unchanged.
pub(super) fn ip_of(addr: &str) -> String {
    serde_json::from_str::<serde_json::Value>(addr)
        .ok()
        .and_then(|addr| addr.get("ip")?.as_str().map(str::to_owned))
        .unwrap_or_else(|| addr.to_owned())
}

/// At most eight of the lines, and the number of the others.
pub(super) fn few(lines: BTreeSet<String>) -> Vec<String> {
    const MAX: usize = 8;
    let more = lines.len().saturating_sub(MAX);
    let lines = lines.into_iter().take(MAX);
    let mut few: Vec<String> = lines.map(|line| format!("  {line}")).collect();
    if more > 0 {
        few.push(format!("  … and {more} more"));
    }
    few
}
