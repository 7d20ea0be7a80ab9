//! The points of a scenario's runs at which tests disturb them.

use crate::scenario::Scenario;
use std::collections::BTreeMap;

/// The number of undisturbed runs from which the points are taken.
pub(crate) const UNDISTURBED_RUNS: usize = 3;
/// The number of runs in which a point has to be reached.
pub(crate) const ATTEMPTS: usize = 5;

/// What all of these runs did, by name and number among those of the name, from 0. Status writes are batched by time, so
/// that some runs make one more than others.
pub(crate) fn common<'a>(
    runs: impl Iterator<Item = &'a BTreeMap<String, usize>>,
) -> Vec<(String, usize)> {
    let runs: Vec<_> = runs.collect();
    let least = |name: &String| {
        let counts = runs.iter().map(|run| run.get(name));
        counts.map(|count| count.copied().unwrap_or(0)).min()
    };
    let names = runs.first().into_iter().flat_map(|run| run.keys());
    names
        .flat_map(|name| (0..least(name).unwrap_or(0)).map(|nth| (name.clone(), nth)))
        .collect()
}

/// True if it is a repeated write of counts, or of a wait: of a load balancer after `creating` and `created`, and of the
/// records of a cancel after three are registered and one drains.
/// They are batched by time, so that a run on a machine that is less busy than in the undisturbed runs makes fewer.
pub(crate) fn is_batched(scenario: Scenario, target: &str, nth: usize) -> bool {
    match target {
        "PATCH backendgroups/status" | "PATCH binds/status" => nth > 0,
        "PATCH loadbalancers/status" => nth > 1,
        "PATCH backendrecords/status" => scenario == Scenario::Cancel && nth > 3,
        _ => false,
    }
}
