//! The order of groups and versions; clients prefer the first.

use crate::resources::Registry;

/// The groups of built-in kinds, by priority.
const GROUPS: [&str; 20] = [
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "resource.k8s.io",
    "flowcontrol.apiserver.k8s.io",
];

/// The names of all groups but the core group; groups of definitions come last, by name.
pub(crate) fn group_names(registry: &Registry) -> Vec<String> {
    let kinds = registry.all();
    let kinds = kinds.iter().chain(registry.reviews());
    let mut names: Vec<String> = kinds.map(|k| k.group.clone()).collect();
    names.retain(|name| !name.is_empty());
    let place = |name: &str| GROUPS.iter().position(|g| *g == name);
    names.sort_by_cached_key(|name| (place(name).unwrap_or(GROUPS.len()), name.clone()));
    names.dedup();
    names
}

/// The versions of a group by priority: stable before beta before alpha, newest first.
pub(crate) fn versions_of(registry: &Registry, group: &str) -> Vec<String> {
    let mut versions: Vec<String> = Vec::new();
    for kind in registry.all().iter().chain(registry.reviews()) {
        if kind.group == group && !versions.contains(&kind.version) {
            versions.push(kind.version.clone());
        }
    }
    versions.sort_by_key(|version| std::cmp::Reverse(rank(version)));
    versions
}

/// v2 > v1 > v1beta2 > v1beta1 > v1alpha1 > anything else.
fn rank(version: &str) -> (u8, u64, u64) {
    let Some(rest) = version.strip_prefix('v') else {
        return (0, 0, 0);
    };
    let number = |text: &str| text.parse::<u64>().unwrap_or(0);
    if let Ok(major) = rest.parse() {
        (3, major, 0)
    } else if let Some((major, minor)) = rest.split_once("beta") {
        (2, number(major), number(minor))
    } else if let Some((major, minor)) = rest.split_once("alpha") {
        (1, number(major), number(minor))
    } else {
        (0, 0, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_first() {
        let mut versions = ["v1alpha1", "v1", "v1beta2", "odd", "v2", "v1beta10"];
        versions.sort_by_key(|v| std::cmp::Reverse(rank(v)));
        assert_eq!(
            versions,
            ["v2", "v1", "v1beta10", "v1beta2", "v1alpha1", "odd"]
        );
    }
}
