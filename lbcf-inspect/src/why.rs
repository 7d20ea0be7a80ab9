//! Finds the first cause of what stops an object, and what follows from it up to the object.

mod conditions;
mod general;
mod nearest;
mod node;
mod pod;
mod selection;
mod selector;
mod service;
mod service_source;
mod text;

use crate::cluster::Cluster;
use crate::finding::{Chain, Problem};
use crate::object::{Kind, ObjectRef};
pub(crate) use general::not_leading;
use std::collections::BTreeSet;
pub use text::{json, text};

/// The longest chain of references that is followed.
const DEPTH_MAX: usize = 12;
/// The most chains of one object, of which further ones are much the same.
const CHAINS_MAX: usize = 20;

/// Why an object is not as declared; empty if nothing is known to stop it.
#[must_use]
pub fn why(cluster: &Cluster, object: &ObjectRef) -> Vec<Chain> {
    once(follow(cluster, object, &mut Vec::new()))
}

/// Why anything in the cluster is not as declared: a chain for each first cause, up to the first object that it stops.
#[must_use]
pub fn everything(cluster: &Cluster) -> Vec<Chain> {
    let services = cluster
        .all(Kind::Service)
        .filter(|(_, it)| service::has_class(it));
    let kinds = [
        Kind::BackendGroup,
        Kind::Bind,
        Kind::LoadBalancer,
        Kind::LoadBalancerDriver,
        Kind::BackendRecord,
    ];
    let objects = services.chain(kinds.into_iter().flat_map(|kind| cluster.all(kind)));
    once(objects.flat_map(|(object, _)| why(cluster, &object)))
}

/// One chain for each first cause.
fn once(chains: impl IntoIterator<Item = Chain>) -> Vec<Chain> {
    let mut seen = BTreeSet::new();
    let mut is_new = |chain: &Chain| {
        let first = chain.first();
        first.is_some_and(|first| seen.insert((first.object.clone(), first.message.clone())))
    };
    chains.into_iter().filter(|chain| is_new(chain)).collect()
}

fn follow(cluster: &Cluster, object: &ObjectRef, path: &mut Vec<ObjectRef>) -> Vec<Chain> {
    if path.contains(object) || path.len() >= DEPTH_MAX {
        return Vec::new();
    }
    path.push(object.clone());
    let mut chains = Vec::new();
    for Problem {
        finding,
        because,
        follows,
    } in problems(cluster, object)
    {
        let before = chains.len();
        for cause in &because {
            chains.extend(follow(cluster, cause, path).into_iter().map(|mut chain| {
                chain.push(finding.clone());
                chain
            }));
        }
        if chains.len() == before && !follows {
            chains.push(vec![finding]);
        }
    }
    chains.truncate(CHAINS_MAX);
    path.pop();
    chains
}

/// The problems of an object, without those of others.
fn problems(cluster: &Cluster, object: &ObjectRef) -> Vec<Problem> {
    if *object == general::controller() {
        return general::not_leading(cluster).into_iter().collect();
    }
    let Some(found) = cluster.get(object) else {
        return general::missing(cluster, object).into_iter().collect();
    };
    let mut problems = general::problems(object, found);
    problems.extend(match object.kind {
        Kind::Service => service::problems(cluster, object, found),
        Kind::Pod => pod::problems(cluster, object, found),
        Kind::Node => node::problems(object, found),
        _ => conditions::problems(cluster, object, found),
    });
    problems
}

#[cfg(test)]
mod tests;
