//! The groups of a listener, by rule.

use super::group::Group;
use super::table::{Targets, any_rule, route};
use crate::cloud::Rule;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::runtime::Handle;

#[derive(Debug, Default)]
pub(super) struct Routes(RwLock<BTreeMap<Rule, Arc<Group>>>);

impl Routes {
    /// Makes these the groups. A group that is none any more ends at once.
    pub(super) fn update(
        &self,
        desired: &BTreeMap<Rule, Targets>,
        drain_time: Duration,
        runtime: &Handle,
    ) {
        let mut groups = self.0.write().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|rule, group| {
            let stays = desired.contains_key(rule);
            if !stays {
                group.end();
            }
            stays
        });
        for (rule, targets) in desired {
            let group = groups.entry(rule.clone()).or_default();
            group.update(targets, drain_time, runtime);
        }
    }

    /// The group for a request.
    pub(super) fn find(&self, host: &str, path: &str) -> Option<Arc<Group>> {
        let groups = self.0.read().unwrap_or_else(PoisonError::into_inner);
        groups.get(route(groups.keys(), host, path)?).cloned()
    }

    pub(super) fn get(&self, rule: &Rule) -> Option<Arc<Group>> {
        let groups = self.0.read().unwrap_or_else(PoisonError::into_inner);
        groups.get(rule).cloned()
    }

    /// The group of a listener without rules.
    pub(super) fn direct(&self) -> Arc<Group> {
        self.get(&any_rule()).unwrap_or_default()
    }

    pub(super) fn all(&self) -> Vec<(Rule, Arc<Group>)> {
        let groups = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let all = groups.iter();
        all.map(|(rule, group)| (rule.clone(), Arc::clone(group)))
            .collect()
    }

    /// Ends all groups.
    pub(super) fn end(&self) {
        let mut groups = self.0.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *groups)
            .values()
            .for_each(|group| group.end());
    }
}
