//! The controller is killed before and after each of its writes, and when the driver receives each
//! webhook and responds to it: the next controller reaches the same state of the cloud, and nothing is left
//! behind, also where everything is deleted before it starts.

use crate::concurrently::run_concurrently;
use crate::points::{ATTEMPTS, UNDISTURBED_RUNS, common, is_batched};
use crate::scenario::{Scenario, delete_everything};
use lbcf_controller::api::Bind;
use lbcf_e2e::manifests::{BIND, NAMESPACE};
use lbcf_e2e::{
    DriverProxy, KillSwitch, ProxyAction, World, WriteMoment, WritePoint, client_killed_at, sample,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::JoinHandle;

/// The number of kill points of a scenario in the normal run; see [`sample`].
const SAMPLE: usize = 3;

/// When the controller is killed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum KillPoint {
    Write(WritePoint),
    /// When the driver has received a webhook for the `nth` time; it completes the call, and the
    /// response is lost.
    WebhookReceived(String, usize),
    /// When the driver responds to a webhook for the `nth` time; the response may reach the
    /// controller, but has no effect.
    WebhookAnswered(String, usize),
}

/// What happens before the next controller starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterKill {
    /// The scenario continues where it was.
    Continue,
    /// Everything is deleted, including pods.
    DeleteEverything,
}

/// How often a run wrote to each target and called each webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RunCounts {
    writes: BTreeMap<String, usize>,
    webhooks: BTreeMap<String, usize>,
}

/// Runs a scenario whose controller is killed at a point and replaced by another one. Returns what
/// the first controller did, and whether the point was reached.
async fn run_and_kill(
    scenario: Scenario,
    point: Option<KillPoint>,
    after: AfterKill,
) -> (RunCounts, bool) {
    let mut world = World::bare().await;
    let proxy = world.start_proxy().await;
    let at_write = match &point {
        Some(KillPoint::Write(point)) => Some(point.clone()),
        _ => None,
    };
    let (client, switch) = client_killed_at(&world.cluster, at_write);
    let is_replaced = Arc::new(AtomicBool::new(false));
    kill_at_webhook(&proxy, &switch, &is_replaced, point);
    let first = world.start_controller_with(client, scenario.options());
    let start_next = || {
        is_replaced.store(true, Ordering::SeqCst);
        world.start(scenario.options())
    };
    let mut next: Option<JoinHandle<()>> = None;
    {
        let mut scenario = std::pin::pin!(scenario.run(&world));
        let mut killed = std::pin::pin!(switch.killed());
        loop {
            tokio::select! {
                () = &mut scenario => break,
                () = &mut killed, if next.is_none() => {
                    first.abort();
                    if after == AfterKill::DeleteEverything {
                        break;
                    }
                    next = Some(start_next());
                }
            }
        }
    }
    if switch.is_killed() && after == AfterKill::DeleteEverything {
        delete_everything(&world).await;
        next = Some(start_next());
        world.until_deleted::<Bind>(NAMESPACE, BIND).await;
        world.delete_basics().await;
    }
    // The scenario, or deleting everything, has checked that the cloud and the cluster are empty.
    first.abort();
    if let Some(next) = next {
        next.abort();
    }
    let mut webhooks = BTreeMap::new();
    for call in proxy.calls() {
        if call.webhook == "healthz" {
            continue; // Probes have no order among the other calls.
        }
        *webhooks.entry(call.webhook).or_default() += 1;
    }
    let counts = RunCounts {
        writes: switch.writes(),
        webhooks,
    };
    (counts, switch.is_killed())
}

fn kill_at_webhook(
    proxy: &DriverProxy,
    switch: &KillSwitch,
    is_replaced: &Arc<AtomicBool>,
    point: Option<KillPoint>,
) {
    let (receiving, is_replaced) = (switch.clone(), Arc::clone(is_replaced));
    let answered = point.clone();
    proxy.rule(move |call| {
        if matches!(&point, Some(KillPoint::WebhookReceived(webhook, nth)) if (&call.webhook, call.nth) == (webhook, *nth))
        {
            receiving.kill();
            ProxyAction::ForwardThenHang
        } else if receiving.is_killed() && !is_replaced.load(Ordering::SeqCst) {
            // A process that was killed sends nothing.
            ProxyAction::Hang
        } else {
            ProxyAction::Forward
        }
    });
    let answering = switch.clone();
    proxy.on_response(move |call| {
        if matches!(&answered, Some(KillPoint::WebhookAnswered(webhook, nth)) if (&call.webhook, call.nth) == (webhook, *nth))
        {
            answering.kill();
        }
    });
}

/// Where a controller can be killed. Status writes are batched by time, so some runs make one more
/// than others: the points are those that all of the undisturbed runs have.
///
/// What is stored before a write is what is stored after the write or call before it, and what is after a response is what is
/// when the call was received and completed: of these, only the first of each target is a point of its own.
fn kill_points(runs: &[RunCounts]) -> Vec<(KillPoint, AfterKill)> {
    let writes = common(runs.iter().map(|run| &run.writes));
    let webhooks = common(runs.iter().map(|run| &run.webhooks));
    let write = |moment| {
        move |(target, nth)| {
            KillPoint::Write(WritePoint {
                target,
                nth,
                moment,
            })
        }
    };
    let received = |(webhook, nth)| KillPoint::WebhookReceived(webhook, nth);
    let answered = |(webhook, nth)| KillPoint::WebhookAnswered(webhook, nth);
    fn first(points: &[(String, usize)]) -> impl Iterator<Item = (String, usize)> {
        points.iter().filter(|(_, nth)| *nth == 0).cloned()
    }
    let before = first(&writes).map(write(WriteMoment::Before));
    let after = || writes.iter().cloned().map(write(WriteMoment::After));
    let continuing = before
        .chain(after())
        .chain(webhooks.iter().cloned().map(received))
        .chain(first(&webhooks).map(answered))
        .map(|point| (point, AfterKill::Continue));
    let deleting = after()
        .chain(webhooks.iter().cloned().map(received))
        .map(|point| (point, AfterKill::DeleteEverything));
    continuing.chain(deleting).collect()
}

async fn kill_everywhere(scenario: Scenario, least_writes: usize, least_webhooks: usize) {
    if lbcf_e2e::needs_embedded("a controller that is killed at a write") {
        return;
    }
    let runs = run_concurrently(0..UNDISTURBED_RUNS, |_| async move {
        let (counts, _) = run_and_kill(scenario, None, AfterKill::Continue).await;
        counts
    })
    .await;
    for run in &runs {
        let totals = [&run.writes, &run.webhooks].map(|counts| counts.values().sum::<usize>());
        assert!(
            totals[0] >= least_writes && totals[1] >= least_webhooks,
            "the scenario has too few points to be killed at: {run:?}"
        );
    }
    let points = sample(
        &format!("kill points of {scenario:?}"),
        kill_points(&runs),
        SAMPLE,
    );
    run_concurrently(points, |(point, after)| async move {
        for _ in 0..ATTEMPTS {
            if run_and_kill(scenario, Some(point.clone()), after).await.1 {
                return;
            }
        }
        let is_batched =
            matches!(&point, KillPoint::Write(at) if is_batched(scenario, &at.target, at.nth));
        assert!(is_batched, "{point:?} was not reached in {ATTEMPTS} runs");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_killed_anywhere_with_a_group_of_pods_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::Pods, 20, 10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d90_a_controller_killed_anywhere_in_a_replacement_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::Replacement, 25, 12).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d96_a_controller_killed_anywhere_in_a_cancel_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::Cancel, 20, 8).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_killed_anywhere_with_a_group_of_a_service_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::Service, 30, 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_killed_anywhere_with_a_group_of_endpoints_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::Endpoints, 25, 12).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_killed_anywhere_with_a_group_of_addresses_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::Static, 18, 8).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_killed_anywhere_with_a_bind_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::Bind, 50, 30).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d78_a_controller_killed_anywhere_with_a_bind_of_a_service_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::BindOfService, 30, 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_killed_anywhere_with_a_deregister_webhook_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::Verdicts, 20, 12).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d32_a_controller_killed_anywhere_with_a_namespace_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::Namespace, 20, 12).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d67_a_controller_killed_anywhere_with_readiness_gates_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::Gates, 15, 8).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d73_a_controller_killed_anywhere_with_a_service_class_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::ServiceClass, 30, 12).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d76_a_controller_killed_anywhere_with_gated_endpoints_loses_and_leaves_nothing() {
    kill_everywhere(Scenario::GatedEndpoints, 15, 8).await;
}
