//! The permissions of a manifest, for clusters that do not authorise their clients.

use super::target::Target;
use serde_json::Value;

/// What the roles of a manifest allow, all of which are bound to one account.
#[derive(Debug, Clone, Default)]
pub(crate) struct Permissions(Vec<Rule>);

#[derive(Debug, Clone)]
struct Rule {
    /// That of a Role; empty for a ClusterRole.
    namespace: String,
    groups: Vec<String>,
    /// With their subresources, as `pods/status`.
    resources: Vec<String>,
    /// Empty for any name.
    names: Vec<String>,
    verbs: Vec<String>,
}

impl Permissions {
    /// Adds the rules of a Role or ClusterRole; other objects have none.
    pub(crate) fn add(&mut self, role: &Value) {
        for rule in role["rules"].as_array().into_iter().flatten() {
            let words = |field: &str| -> Vec<String> {
                let words = rule[field].as_array().into_iter().flatten();
                words
                    .filter_map(|word| word.as_str().map(str::to_owned))
                    .collect()
            };
            let namespace = role["metadata"]["namespace"].as_str().unwrap_or_default();
            self.0.push(Rule {
                namespace: namespace.to_owned(),
                groups: words("apiGroups"),
                resources: words("resources"),
                names: words("resourceNames"),
                verbs: words("verbs"),
            });
        }
    }

    /// As the API server decides: no role denies anything.
    pub(super) fn allow(&self, target: &Target) -> bool {
        let resource = match target.subresource.as_str() {
            "" => target.resource.clone(),
            subresource => format!("{}/{subresource}", target.resource),
        };
        self.0.iter().any(|rule| {
            (rule.namespace.is_empty() || rule.namespace == target.namespace)
                && rule.groups.contains(&target.group)
                && rule.resources.contains(&resource)
                && (rule.names.is_empty() || rule.names.contains(&target.name))
                && rule.verbs.iter().any(|verb| verb == target.verb)
        })
    }
}
