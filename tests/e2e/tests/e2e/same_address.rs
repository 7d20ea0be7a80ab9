//! Two groups that register the same address at the same load balancer.

use k8s_openapi::api::core::v1::Event;
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Condition, Conditions, EnsurePolicy, EnsurePolicyType, StringMap,
};
use lbcf_controller::{Backoff, Options};
use lbcf_e2e::manifests::{self, LB, NAMESPACE};
use lbcf_e2e::{DriverProxy, ProxyAction, World, kill, until, until_is};
use serde_json::json;
use std::time::{Duration, SystemTime};
use tokio::task::JoinHandle;

const CONFLICT: &str = "ParametersConflict";
const ENSURE: &str = "ensureBackend";
/// The older group has the later name, so that the name cannot be what decides.
const OLDER: &str = "z-stable";
const YOUNGER: &str = "a-canary";

/// A world with a pod, and a controller.
async fn setup(options: Options) -> (World, DriverProxy, JoinHandle<()>) {
    setup_in(World::bare().await, options).await
}

async fn setup_in(mut world: World, options: Options) -> (World, DriverProxy, JoinHandle<()>) {
    let proxy = world.start_proxy().await;
    let controller = world.start(options);
    world.create_driver().await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::pod("web-0")).await;
    (world, proxy, controller)
}

fn group(name: &str, weight: &str) -> BackendGroup {
    let mut group = manifests::group(name, &[LB]);
    group.spec.parameters = StringMap::from([("weight", weight)]);
    group
}

/// Creates a group and waits until another one would be younger: creation times are in seconds.
async fn create_aged(world: &World, group: &BackendGroup) {
    let created = world.create(group).await.metadata.creation_timestamp;
    let created = SystemTime::from(created.expect("the API server sets it").0);
    until("the next second", async || {
        let age = created.elapsed().ok()?;
        (age >= Duration::from_secs(1)).then_some(())
    })
    .await;
}

/// The older group with weight 10, then the younger one with weight 50, on the same pod.
async fn disagreeing(world: &World) {
    create_aged(world, &group(OLDER, "10")).await;
    world.until_records(1).await;
    create_aged(world, &group(YOUNGER, "50")).await;
    world.until_records(2).await;
}

/// The condition of a group's only record.
async fn conflict_of(world: &World, group: &str) -> Option<Condition> {
    let records: Vec<BackendRecord> = world.all().await;
    let mut records = records.into_iter().filter(|record| {
        let owners = record.metadata.owner_references.iter().flatten();
        owners.into_iter().any(|owner| owner.name == group)
    });
    let conditions = records.next()?.status?.conditions;
    conditions.find(CONFLICT).cloned()
}

async fn until_conflict(world: &World, group: &str, expected: (&str, &str)) {
    let expected = Some((expected.0.to_owned(), expected.1.to_owned()));
    let what = format!("{CONFLICT} of {group}'s record");
    until_is(&what, expected, async || {
        let condition = conflict_of(world, group).await?;
        Some((format!("{:?}", condition.status), condition.reason))
    })
    .await;
}

async fn until_both_say_so(world: &World) {
    until_conflict(world, OLDER, ("True", "ParametersApply")).await;
    until_conflict(world, YOUNGER, ("True", "ParametersOverridden")).await;
}

async fn delete_group(world: &World, name: &str) {
    world.delete::<BackendGroup>(NAMESPACE, name).await;
    until("its record is deleted", async || {
        (world.all::<BackendRecord>().await.len() == 1).then_some(())
    })
    .await;
}

async fn end(world: &World) {
    world.delete::<BackendGroup>(NAMESPACE, OLDER).await;
    world.delete::<BackendGroup>(NAMESPACE, YOUNGER).await;
    world.delete_basics().await;
}

/// The weights that were sent with `ensureBackend`.
fn weights(proxy: &DriverProxy) -> Vec<String> {
    let weight = |body: &serde_json::Value| body["parameters"]["weight"].as_str().map(Into::into);
    let calls = proxy.calls_of(ENSURE);
    calls.iter().filter_map(|call| weight(&call.body)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d41_the_younger_group_is_deleted_and_the_older_ones_parameters_are_in_the_cloud() {
    let (world, proxy, _controller) = setup(World::quick()).await;
    disagreeing(&world).await;
    delete_group(&world, YOUNGER).await;
    world.until_targets(&["web-0"], "10").await;
    world.until_records(1).await;
    until_conflict(&world, OLDER, ("False", "Resolved")).await;
    assert_eq!(weights(&proxy).last().map(String::as_str), Some("10"));
    assert!(proxy.calls_of("deregisterBackend").is_empty());
    end(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d41_the_older_group_is_deleted_and_the_one_that_stays_is_ensured_again() {
    let (world, proxy, _controller) = setup(World::quick()).await;
    disagreeing(&world).await;
    until_both_say_so(&world).await;
    world.until_targets(&["web-0"], "10").await;
    delete_group(&world, OLDER).await;
    world.until_pods(1).await;
    until_conflict(&world, YOUNGER, ("False", "Resolved")).await;
    assert!(proxy.calls_of("deregisterBackend").is_empty());
    end(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d41_records_that_disagree_say_so_and_their_groups_too() {
    let (world, proxy, _controller) = setup(World::quick()).await;
    disagreeing(&world).await;
    until_both_say_so(&world).await;
    for (group, other) in [(OLDER, YOUNGER), (YOUNGER, OLDER)] {
        let message = conflict_of(&world, group).await.unwrap().message;
        assert!(
            message.contains(&format!("BackendGroup {NAMESPACE}/{other}")),
            "{message}"
        );
        assert!(message.contains("(weight)"), "{message}");
    }
    for kind in ["BackendRecord", "BackendGroup"] {
        until(&format!("events of both {kind}s"), async || {
            let events: Vec<Event> = world.all().await;
            let mut about: Vec<_> = events
                .into_iter()
                .filter(|event| event.reason.as_deref() == Some(CONFLICT))
                .filter(|event| event.involved_object.kind.as_deref() == Some(kind))
                .filter_map(|event| event.involved_object.name)
                .collect();
            about.sort();
            about.dedup();
            (about.len() == 2).then_some(())
        })
        .await;
    }
    // Nothing goes on while it lasts: absence can only be observed over time.
    world.until_counts(OLDER, [1, 1, 1, 1]).await;
    world.until_counts(YOUNGER, [1, 1, 1, 1]).await;
    let (calls, before) = (proxy.count(), world.cost());
    tokio::time::sleep(Duration::from_millis(500)).await;
    let writes = world.cost_since(&before).all_writes();
    assert_eq!((proxy.count() - calls, writes), (0, 0));
    // Equal parameters end it.
    world.set_weight::<BackendGroup>(YOUNGER, "10").await;
    for group in [OLDER, YOUNGER] {
        until_conflict(&world, group, ("False", "Resolved")).await;
    }
    end(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d41_records_that_agree_cost_what_they_cost_alone() {
    let (world, proxy, _controller) = setup(World::quick()).await;
    world.create(&group(OLDER, "50")).await;
    world.until_counts(OLDER, [1, 1, 1, 1]).await;
    let (calls, before) = (proxy.count(), world.cost());
    world.create(&group(YOUNGER, "50")).await;
    world.until_counts(YOUNGER, [1, 1, 1, 1]).await;
    let cost = world.cost_since(&before);
    let of_records = cost.writes("backendrecords");
    assert_eq!((proxy.count() - calls, of_records), (2, 2), "{cost:?}");
    for group in [OLDER, YOUNGER] {
        assert_eq!(conflict_of(&world, group).await, None);
    }
    end(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d41_ensuring_periodically_does_not_alternate() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    let options = Options {
        min_ensure_period: Duration::from_millis(50),
        ..World::quick()
    };
    let (world, proxy, _controller) = setup_in(World::without_rules().await, options).await;
    for (name, weight) in [(OLDER, "10"), (YOUNGER, "50")] {
        let mut group = group(name, weight);
        group.spec.ensure_policy = Some(EnsurePolicy {
            policy: EnsurePolicyType::Always,
            min_period: Some("50ms".into()),
        });
        create_aged(&world, &group).await;
    }
    world.until_records(2).await;
    let seen = weights(&proxy).len();
    until("both were ensured a few times", async || {
        (weights(&proxy).len() >= seen + 10).then_some(())
    })
    .await;
    let later = weights(&proxy).split_off(seen);
    assert!(later.iter().all(|weight| weight == "10"), "{later:?}");
    end(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d41_b157_a_group_that_is_deleted_without_a_controller_leaves_the_others_parameters() {
    let (world, _proxy, controller) = setup(World::quick()).await;
    disagreeing(&world).await;
    until_both_say_so(&world).await;
    kill(controller).await;
    world.delete::<BackendGroup>(NAMESPACE, OLDER).await;
    let _controller = world.start(World::quick());
    world.until_pods(1).await;
    until_conflict(&world, YOUNGER, ("False", "Resolved")).await;
    world.until_records(1).await;
    end(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d41_b137_two_records_of_one_address_that_fail_do_not_retry_each_other() {
    let wait = Duration::from_secs(3600);
    let options = Options {
        backoff: Backoff {
            min: wait,
            step: wait,
            max: wait,
        },
        ..World::quick()
    };
    let (world, proxy, _controller) = setup(options).await;
    let answer = json!({"status": "Fail", "msg": "no capacity"});
    proxy.rule(move |call| match call.webhook.as_str() {
        ENSURE => ProxyAction::reply_json(&answer),
        _ => ProxyAction::Forward,
    });
    world.create(&group(OLDER, "50")).await;
    world.create(&group(YOUNGER, "50")).await;
    until("both failed", async || {
        let records: Vec<BackendRecord> = world.all().await;
        let failed = records.iter().filter(|record| {
            let status = record.status.as_ref();
            status.is_some_and(|status| status.conditions.find("Registered").is_some())
        });
        (failed.count() == 2).then_some(())
    })
    .await;
    // One call each, and those that a record waited for while the other one was called.
    // Absence can only be observed over time.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let calls = proxy.calls_of(ENSURE).len();
    assert!(calls <= 6, "{calls} calls although the backoff is an hour");
    proxy.forward_all();
    end(&world).await;
}
