//! What requests are made of: verbs, parameters, and kinds with valid objects and values of their fields.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The definitions of custom resources.
pub(super) const CRDS: &str = include_str!("crds.json");

/// Values of fields by JSON pointer.
pub(super) type Edits = BTreeMap<String, Vec<Value>>;
type Words = Vec<String>;

/// Names that begin with `wild` are of requests that may be invalid.
#[derive(Deserialize)]
pub(super) struct Table {
    pub(super) verbs: BTreeMap<String, Verb>,
    pub(super) queries: BTreeMap<String, Words>,
    pub(super) wild_queries: BTreeMap<String, Words>,
    pub(super) accepts: BTreeMap<String, Words>,
    pub(super) wild_accepts: Words,
    pub(super) delete_options: Vec<Value>,
    pub(super) wild_bodies: Words,
    pub(super) content_types: Words,
    /// Label selectors that match every object as it is created.
    pub(super) labels: Words,
    pub(super) metadata: Edits,
    pub(super) wild: Edits,
    pub(super) scale: Edits,
    pub(super) wild_scale: Edits,
    /// Values for any field of a custom resource.
    pub(super) values: Vec<Value>,
    pub(super) kinds: Vec<Kind>,
}

/// A verb by which requests are counted.
#[derive(Deserialize)]
pub(super) struct Verb {
    weight: usize,
    pub(super) method: String,
    /// Its path is that of the collection.
    #[serde(default)]
    pub(super) collection: bool,
    /// Subresources have it.
    #[serde(default)]
    parts: bool,
    #[serde(default = "json_type")]
    pub(super) content_type: String,
    /// The names of its pools of parameters and media types.
    pub(super) query: String,
    pub(super) accept: String,
}

#[derive(Deserialize)]
pub(super) struct Kind {
    pub(super) plural: String,
    /// The path of the group.
    pub(super) group: String,
    pub(super) versions: Words,
    /// The share of scenarios.
    weight: usize,
    #[serde(default)]
    pub(super) namespaced: bool,
    /// Its requests may be invalid.
    #[serde(default)]
    pub(super) custom: bool,
    /// The server writes its status on its own.
    #[serde(default)]
    pub(super) settles: bool,
    /// The name of an object, by its short name `<n>`.
    #[serde(default = "short_name")]
    pub(super) name: String,
    #[serde(default)]
    pub(super) subresources: Words,
    pub(super) object: Value,
    pub(super) edits: Edits,
    /// Values for requests of the subresource; empty if [`Self::edits`] has them.
    #[serde(default)]
    pub(super) status: Edits,
    #[serde(default)]
    pub(super) strategic: Vec<Value>,
    /// Field selectors that match every object as it is created.
    pub(super) fields: Words,
    /// Verbs that it does not have.
    #[serde(default)]
    without: Words,
}

fn json_type() -> String {
    "application/json".to_owned()
}

fn short_name() -> String {
    "<n>".to_owned()
}

impl Table {
    pub(super) fn read() -> Self {
        let mut table: Self = serde_json::from_str(include_str!("kinds.json")).unwrap();
        if let Ok(chosen) = std::env::var("LOCAL_CLUSTER_KINDS") {
            let is_chosen = |kind: &Kind| chosen.split(',').any(|plural| plural == kind.plural);
            table.kinds.retain(is_chosen);
        }
        table
    }

    /// The kind of a scenario.
    pub(super) fn kind(&self, number: usize) -> &Kind {
        let turns = self.kinds.iter();
        let turns = turns.flat_map(|kind| std::iter::repeat_n(kind, kind.weight));
        let turns: Vec<&Kind> = turns.collect();
        turns[number % turns.len()]
    }

    /// The verbs of a kind or a subresource, frequent ones several times.
    pub(super) fn verbs(&self, kind: &Kind, subresource: &str) -> Vec<&str> {
        let verbs = self.verbs.iter();
        let has = verbs.filter(|(name, verb)| {
            let lacks = kind.without.contains(name) || kind.settles && *name == "watch";
            (subresource.is_empty() || verb.parts) && !lacks
        });
        let turns = has.flat_map(|(name, verb)| std::iter::repeat_n(name.as_str(), verb.weight));
        turns.collect()
    }

    /// Everything that must be reached: verbs, and resources with their subresources.
    pub(super) fn cells(&self) -> Vec<(String, String)> {
        let mut cells = Vec::new();
        for kind in &self.kinds {
            let parts = kind.subresources.iter().map(String::as_str);
            for part in std::iter::once("").chain(parts) {
                let verbs = self.verbs(kind, part).into_iter();
                cells.extend(verbs.map(|verb| (verb.to_owned(), kind.resource(part))));
            }
        }
        cells.sort();
        cells.dedup();
        cells
    }
}

impl Kind {
    fn group_name(&self) -> Option<&str> {
        self.group.strip_prefix("/apis/")
    }

    /// The resource as reports name it, such as `deployments.apps/scale`.
    pub(super) fn resource(&self, subresource: &str) -> String {
        let group = self.group_name().map(|group| format!(".{group}"));
        let part = if subresource.is_empty() { "" } else { "/" };
        format!(
            "{}{}{part}{subresource}",
            self.plural,
            group.unwrap_or_default()
        )
    }

    /// The resource is its own, or a subresource.
    pub(super) fn has(&self, resource: &str) -> bool {
        let mut parts = self.subresources.iter();
        resource == self.resource("") || parts.any(|part| resource == self.resource(part))
    }

    pub(super) fn api_version(&self, version: &str) -> String {
        match self.group_name() {
            Some(group) => format!("{group}/{version}"),
            None => version.to_owned(),
        }
    }
}
