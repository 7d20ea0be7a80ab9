//! Requests, before they are handled, and filters for them.

use std::collections::BTreeSet;

/// A verb of Kubernetes' API, as in RBAC rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are those of the API")]
pub enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
}

impl Verb {
    /// The verbs that change nothing.
    pub const READS: [Self; 3] = [Self::Get, Self::List, Self::Watch];
    /// The verbs that ask for a change.
    pub const WRITES: [Self; 5] = [
        Self::Create,
        Self::Update,
        Self::Patch,
        Self::Delete,
        Self::DeleteCollection,
    ];

    /// The verb in lower case, as in [`RequestKey::verb`](crate::RequestKey::verb).
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct RequestInfo<'a> {
    pub(crate) verb: Verb,
    pub(crate) group: &'a str,
    pub(crate) plural: &'a str,
    pub(crate) subresource: &'a str,
    /// Empty for all namespaces and for cluster-scoped objects.
    pub(crate) namespace: &'a str,
    /// The name in the URL; empty in a create.
    pub(crate) name: &'a str,
    pub(crate) user_agent: &'a str,
}

impl RequestInfo<'_> {
    /// The client's name, by which requests are counted.
    fn client(&self) -> &str {
        self.user_agent.split(['/', ' ']).next().unwrap_or_default()
    }
}

/// Selects requests for objects. The default matches all; each method adds a condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    verbs: Option<BTreeSet<Verb>>,
    resource: Option<String>,
    subresource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    user_agent: Option<String>,
}

impl RequestFilter {
    /// Matches requests with one of these verbs.
    #[must_use]
    pub fn verbs(mut self, verbs: impl IntoIterator<Item = Verb>) -> Self {
        self.verbs = Some(verbs.into_iter().collect());
        self
    }

    /// Matches requests for `group/resource`, or for `resource` of the core group.
    #[must_use]
    pub fn resource(mut self, resource: impl Into<String>) -> Self {
        self.resource = Some(resource.into());
        self
    }

    /// Matches requests for a subresource; empty for the objects themselves.
    #[must_use]
    pub fn subresource(mut self, subresource: impl Into<String>) -> Self {
        self.subresource = Some(subresource.into());
        self
    }

    /// Matches requests in a namespace; empty for cluster-scoped requests and those for all namespaces.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Matches requests for one object; never a create, whose URL has no name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Matches requests of a client: its `User-Agent` up to the first `/` or space.
    #[must_use]
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = Some(user_agent.into());
        self
    }

    pub(super) fn matches(&self, request: &RequestInfo<'_>) -> bool {
        let is = |filter: &Option<String>, value: &str| filter.as_ref().is_none_or(|f| f == value);
        let is_resource = |filter: &String| match filter.split_once('/') {
            Some((group, plural)) => (group, plural) == (request.group, request.plural),
            None => request.group.is_empty() && filter == request.plural,
        };
        self.verbs
            .as_ref()
            .is_none_or(|v| v.contains(&request.verb))
            && self.resource.as_ref().is_none_or(is_resource)
            && is(&self.subresource, request.subresource)
            && is(&self.namespace, request.namespace)
            && is(&self.name, request.name)
            && is(&self.user_agent, request.client())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_condition_matches_fewer_requests() {
        let request = RequestInfo {
            verb: Verb::Patch,
            group: "g.io",
            plural: "things",
            subresource: "status",
            namespace: "n",
            name: "x",
            user_agent: "agent/1.0 (y)",
        };
        let all = RequestFilter::default;
        for (filter, matches) in [
            (all(), true),
            (all().verbs(Verb::WRITES), true),
            (all().verbs(Verb::READS), false),
            (all().verbs([]), false),
            (all().resource("g.io/things"), true),
            (all().resource("things"), false),
            (all().resource("h.io/things"), false),
            (all().subresource("status"), true),
            (all().subresource(""), false),
            (all().namespace("n"), true),
            (all().namespace(""), false),
            (all().name("x"), true),
            (all().name("y"), false),
            (all().user_agent("agent"), true),
            (all().user_agent("agent/1.0"), false),
            (all().name("x").user_agent("other"), false),
        ] {
            assert_eq!(filter.matches(&request), matches, "{filter:?}");
        }
    }
}
