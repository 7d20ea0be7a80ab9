//! The controller's view of the cluster is wrong for a while, from each of its writes on: it lags, leaves out what was
//! meanwhile, repeats, or begins again with an older list. The cloud reaches the states of an undisturbed run, nothing is left
//! behind, and no load balancer is created twice.

use crate::concurrently::run_concurrently;
use crate::points::{ATTEMPTS, UNDISTURBED_RUNS, common, is_batched};
use crate::scenario::Scenario;
use lbcf_e2e::{Staleness, World, client_stale_at, sample, scrambled};
use std::collections::{BTreeMap, BTreeSet};

/// The number of cases of a scenario in the normal run; see [`sample`].
const SAMPLE: usize = 2;

/// What happened in a run.
struct Run {
    /// How often the controller wrote to each target.
    writes: BTreeMap<String, usize>,
    /// How many load balancers were created.
    created: usize,
    /// True if the view was wrong.
    was_wrong: bool,
}

async fn run(scenario: Scenario, how: Staleness, at: Option<(String, usize)>) -> Run {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let (client, view) = client_stale_at(&world.cluster, how, at).await;
    let controller = world.start_controller_with(client, scenario.options());
    // In the end it has checked that the cloud and the cluster are empty.
    scenario.run(&world).await;
    controller.abort();
    let created = proxy.calls_of("createLoadBalancer").into_iter();
    let created = created.map(|call| call.response["lbInfo"]["lbID"].to_string());
    Run {
        writes: view.writes(),
        created: created.collect::<BTreeSet<_>>().len(),
        was_wrong: view.was_wrong(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d125_a_view_that_is_wrong_for_a_while_loses_and_leaves_nothing() {
    if lbcf_e2e::needs_embedded("views that are wrong") {
        return;
    }
    let runs = (0..UNDISTURBED_RUNS).flat_map(|_| Scenario::ALL);
    let runs = run_concurrently(runs, async |scenario| {
        (scenario, run(scenario, Staleness::Lags, None).await)
    })
    .await;
    let mut cases = Vec::new();
    for scenario in Scenario::ALL {
        let runs = runs.iter().filter(|(of, _)| *of == scenario);
        let runs: Vec<&Run> = runs.map(|(_, run)| run).collect();
        let created = runs.iter().map(|run| run.created).max();
        let writes = common(runs.iter().map(|run| &run.writes));
        assert!(!writes.is_empty(), "{scenario:?} writes nothing");
        let all = Staleness::ALL.into_iter();
        let all = all.flat_map(|how| writes.iter().cloned().map(move |at| (how, at)));
        // In no order, so that a sample has something of everything.
        let mut all: Vec<_> = (0..).zip(all).collect();
        all.sort_by_key(|(number, _)| scrambled(0, *number));
        let all = all.into_iter().map(|(_, case)| case);
        let some = sample(&format!("wrong views of {scenario:?}"), all, SAMPLE);
        cases.extend(
            some.into_iter()
                .map(|(how, at)| (scenario, how, at, created)),
        );
    }
    run_concurrently(cases, async |(scenario, how, at, created)| {
        for _ in 0..ATTEMPTS {
            let run = run(scenario, how, Some(at.clone())).await;
            assert!(
                Some(run.created) <= created,
                "{} load balancers were created, and {created:?} when undisturbed",
                run.created
            );
            if run.was_wrong {
                return;
            }
        }
        let may_be_missed = is_batched(scenario, &at.0, at.1);
        assert!(may_be_missed, "it was not reached in {ATTEMPTS} runs");
    })
    .await;
}
