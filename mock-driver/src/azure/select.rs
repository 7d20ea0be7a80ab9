//! Which availability set's load balancer a service gets. Pure.

use super::fields::list;
use super::naming::{Cluster, Side};
use crate::resources::azure::{ResourceId, SharedLoadBalancer};
use std::collections::{BTreeMap, BTreeSet};

/// The sets that the attribute `azure-load-balancer-mode` allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    Primary,
    Auto,
    Named(Vec<String>),
}

impl Mode {
    /// Reads the attribute. The seed of Azure's documentation says `auto`, its original `__auto__`.
    pub(super) fn read(attribute: Option<&str>) -> Self {
        match list(attribute).as_slice() {
            [] => Self::Primary,
            ["auto" | "__auto__"] => Self::Auto,
            names => Self::Named(names.iter().map(|&name| name.to_owned()).collect()),
        }
    }

    /// The sets to choose from.
    ///
    /// # Errors
    /// What is wrong with the attribute.
    pub(super) fn candidates<'a>(
        &'a self,
        cluster: &Cluster,
        sets: &'a BTreeSet<String>,
    ) -> Result<Vec<&'a str>, String> {
        let named: Vec<&str> = match self {
            Self::Primary => vec![cluster.primary_set],
            Self::Auto => sets.iter().map(String::as_str).collect(),
            Self::Named(names) => names.iter().map(String::as_str).collect(),
        }
        .into_iter()
        .map(|name| sets.get(name).map(String::as_str).ok_or(name))
        .collect::<Result<_, _>>()
        .map_err(|unknown| {
            let known = Vec::from_iter(sets.iter().map(String::as_str)).join(", ");
            format!(
                "attributes.azure-load-balancer-mode: no availability set is called {unknown:?}: \
                 there are {known}"
            )
        })?;
        Ok(named)
    }
}

/// The candidate whose load balancer has the fewest rules; one that does not exist has none. The
/// first by name of several.
pub(super) fn fewest_rules<'a>(
    candidates: &[&'a str],
    rules: impl Fn(&str) -> usize,
) -> Option<&'a str> {
    let mut candidates = candidates.to_vec();
    candidates.sort_unstable();
    candidates.into_iter().min_by_key(|set| rules(set))
}

/// The load balancer that has the pool of this frontend, on one side.
pub(super) fn existing<'a>(
    side: Side,
    frontend: &str,
    load_balancers: &'a BTreeMap<ResourceId, SharedLoadBalancer>,
) -> Option<&'a ResourceId> {
    let has_it = |it: &SharedLoadBalancer| it.pools.contains_key(frontend);
    let mut found = load_balancers.iter().filter(|(_, it)| has_it(it));
    found
        .find(|(id, _)| side_of(&id.name) == side)
        .map(|(id, _)| id)
}

fn side_of(load_balancer: &str) -> Side {
    if load_balancer.ends_with("-internal") {
        Side::Internal
    } else {
        Side::Public
    }
}

/// The availability set of a load balancer.
pub(super) fn set_of<'a>(cluster: &'a Cluster, load_balancer: &'a str) -> &'a str {
    let name = load_balancer.strip_suffix("-internal");
    let name = name.unwrap_or(load_balancer);
    if name == cluster.name {
        cluster.primary_set
    } else {
        name
    }
}
