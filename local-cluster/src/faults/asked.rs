//! What is known of a request before it is carried out, and choices among requests.

use std::collections::BTreeSet;

/// What a request wants, in the words of Kubernetes' permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "they are what they are called")]
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
    /// Those that read.
    pub const READS: [Self; 3] = [Self::Get, Self::List, Self::Watch];
    /// Those that ask for a change.
    pub const WRITES: [Self; 5] = [
        Self::Create,
        Self::Update,
        Self::Patch,
        Self::Delete,
        Self::DeleteCollection,
    ];

    /// The word, as it is in [`RequestKey::verb`](crate::RequestKey::verb).
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

/// A request for objects, before it is carried out.
#[derive(Clone, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) verb: Verb,
    pub(crate) group: &'a str,
    pub(crate) plural: &'a str,
    pub(crate) subresource: &'a str,
    /// Empty for all namespaces, and for what is in none.
    pub(crate) namespace: &'a str,
    /// As in the address: creations have none.
    pub(crate) name: &'a str,
    pub(crate) user_agent: &'a str,
}

impl Asked<'_> {
    /// The client's name, as requests are counted by.
    fn client(&self) -> &str {
        self.user_agent.split(['/', ' ']).next().unwrap_or_default()
    }
}

/// A choice of requests for objects; the default is all of them. Each method leaves fewer.
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
    /// Those of these verbs.
    #[must_use]
    pub fn verbs(mut self, verbs: impl IntoIterator<Item = Verb>) -> Self {
        self.verbs = Some(verbs.into_iter().collect());
        self
    }

    /// Those for one resource: `group/resource`, or `resource` of the core group.
    #[must_use]
    pub fn resource(mut self, resource: impl Into<String>) -> Self {
        self.resource = Some(resource.into());
        self
    }

    /// Those for one subresource; empty for the objects themselves.
    #[must_use]
    pub fn subresource(mut self, subresource: impl Into<String>) -> Self {
        self.subresource = Some(subresource.into());
        self
    }

    /// Those in one namespace; empty for those in none, or in all of them at once.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Those for one object. A creation's address does not name its object, so none is chosen.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Those of one client: its `User-Agent` up to the first `/` or space.
    #[must_use]
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = Some(user_agent.into());
        self
    }

    /// Whether a request is among them.
    pub(super) fn matches(&self, asked: &Asked<'_>) -> bool {
        let is = |wanted: &Option<String>, given: &str| wanted.as_ref().is_none_or(|w| w == given);
        let is_resource = |wanted: &String| match wanted.split_once('/') {
            Some((group, plural)) => (group, plural) == (asked.group, asked.plural),
            None => asked.group.is_empty() && wanted == asked.plural,
        };
        self.verbs.as_ref().is_none_or(|v| v.contains(&asked.verb))
            && self.resource.as_ref().is_none_or(is_resource)
            && is(&self.subresource, asked.subresource)
            && is(&self.namespace, asked.namespace)
            && is(&self.name, asked.name)
            && is(&self.user_agent, asked.client())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_condition_leaves_fewer() {
        let asked = Asked {
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
            assert_eq!(filter.matches(&asked), matches, "{filter:?}");
        }
    }
}
