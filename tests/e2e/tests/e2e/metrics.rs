//! The controller's metrics compared with what the cluster and the cloud received.

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use lbcf_controller::api::{BackendGroup, LoadBalancer, LoadBalancerDriver};
use lbcf_controller::{Controller, Health};
use lbcf_e2e::manifests::{self, DRIVER, GROUP, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{CONTROLLER, World, kill, until, until_is};
use serde_json::json;
use std::future::pending;
use tokio::task::JoinHandle;

/// The sum of a metric's samples that have all of these labels.
fn sum(text: &str, name: &str, labels: &[&str]) -> u64 {
    text.lines()
        .filter(|line| {
            line.starts_with(&format!("{name}{{")) || line.starts_with(&format!("{name} "))
        })
        .filter(|line| labels.iter().all(|label| line.contains(label)))
        .map(|line| {
            let value: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
            value as u64
        })
        .sum()
}

fn scraped(health: &Health) -> String {
    health.metrics().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b143_b144_b145_metrics_match_what_the_cluster_and_the_cloud_received() {
    let mut world = World::bare().await;
    let controller = Controller::new(world.cluster.client_as(CONTROLLER), World::options());
    let health = controller.health();
    let running = tokio::spawn(controller.run(pending()));
    world.settle_basics(3).await;

    let text = until("everything is measured", async || {
        let text = scraped(&health);
        // One creates the key that signs records.
        let writes = world.cluster.requests().writes_by(CONTROLLER);
        let writes = writes.saturating_sub(1);
        let is_quiet = sum(&text, "working_key", &[]) == 0 && sum(&text, "pending_key", &[]) == 0;
        (is_quiet && sum(&text, "k8s_operation_latency_count", &[]) == writes).then_some(text)
    })
    .await;
    let driver = format!("driver_name=\"{SYSTEM}/{DRIVER}\"");
    for (webhook, calls) in world.calls() {
        let labels = [driver.as_str(), &format!("webhook_name=\"{webhook}\"")];
        for name in ["webhook_calls", "webhook_latency_count"] {
            assert_eq!(sum(&text, name, &labels), calls, "{name} {webhook}");
        }
    }
    assert_eq!(sum(&text, "webhook_errors", &[]), 0);
    for (kind, operation, count) in [
        ("BackendRecord", "Create", 3),
        ("BackendRecord", "UpdateStatus", 3),
        ("LoadBalancer", "Update", 1),
        ("LoadBalancerDriver", "UpdateStatus", 1),
    ] {
        let labels = [
            format!("k8s_op_obj=\"{kind}\""),
            format!("k8s_op_type=\"{operation}\""),
        ];
        let labels = [labels[0].as_str(), labels[1].as_str()];
        assert_eq!(
            sum(&text, "k8s_operation_latency_count", &labels),
            count,
            "{kind} {operation}"
        );
    }
    assert_eq!(sum(&text, "lbcf_time_to_registered_seconds_count", &[]), 3);
    assert_eq!(sum(&text, "lbcf_unregistered_backends", &[]), 0);
    assert_eq!(sum(&text, "lbcf_leader", &[]), 1, "it is the only replica");
    assert!(
        sum(
            &text,
            "key_process_latency_count",
            &["crd=\"BackendRecord\""]
        ) >= 3
    );

    // b145: an unreachable driver counts as an error, not as a latency.
    let latencies = sum(&text, "webhook_latency_count", &[]);
    world.stop_driver().await;
    world.create(&manifests::pod("web-3")).await;
    until("one is not registered", async || {
        let text = scraped(&health);
        (sum(&text, "lbcf_unregistered_backends", &[]) == 1).then_some(())
    })
    .await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    let text = until("calls fail", async || {
        let text = scraped(&health);
        (sum(
            &text,
            "webhook_errors",
            &["webhook_name=\"deregisterBackend\""],
        ) >= 3)
            .then_some(text)
    })
    .await;
    assert_eq!(sum(&text, "webhook_latency_count", &[]), latencies);
    world.start_driver().await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;

    // The driver's series end with it.
    assert_ne!(sum(&scraped(&health), "webhook_calls", &[&driver]), 0);
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    until("the metrics no longer name the driver", async || {
        (!scraped(&health).contains(&driver)).then_some(())
    })
    .await;
    running.abort();
}

/// The numbers and sums of the driver's times until backends were registered and deregistered.
fn times(health: &Health) -> [(u64, u64); 2] {
    let text = scraped(health);
    let driver = format!("driver_name=\"{SYSTEM}/{DRIVER}\"");
    ["registered", "deregistered"].map(|target| {
        let of = |part| {
            let name = format!("lbcf_time_to_{target}_seconds_{part}");
            sum(&text, &name, &[&driver])
        };
        (of("count"), of("sum"))
    })
}

async fn until_counted(health: &Health, registered: u64, deregistered: u64) {
    let counts = [registered, deregistered];
    until_is("times are measured", counts, async || {
        times(health).map(|(count, _)| count)
    })
    .await;
}

fn start(world: &World) -> (Health, JoinHandle<impl Sized + use<>>) {
    let controller = Controller::new(world.cluster.client_as(CONTROLLER), World::quick());
    (controller.health(), tokio::spawn(controller.run(pending())))
}

/// Sets since when a pod is ready, or is not.
async fn set_ready_since(world: &World, pod: &str, status: &str, since: SignedDuration) {
    let since = Timestamp::now() + since;
    let condition =
        json!({"type": "Ready", "status": status, "lastTransitionTime": format!("{since:.0}")});
    let conditions = json!({"conditions": [condition]});
    world.patch_status::<Pod>(NAMESPACE, pod, conditions).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_backend_is_measured_once_by_the_times_that_the_api_has_also_over_a_restart() {
    let mut world = World::bare().await;
    let (health, running) = start(&world);
    world.settle_basics(3).await;
    until_counted(&health, 3, 0).await;

    // Three are registered and fail, one fails before it is registered.
    world.stop_driver().await;
    world.set_weight::<BackendGroup>(GROUP, "7").await;
    world.create(&manifests::pod("web-3")).await;
    until("none is registered", async || {
        let text = scraped(&health);
        (sum(&text, "lbcf_unregistered_backends", &[]) == 4).then_some(())
    })
    .await;
    world.start_driver().await;
    world.until_registered(4).await;
    until_counted(&health, 4, 0).await;

    // Another process counts what it does. A pod that becomes ready later than now has not waited.
    kill(running).await;
    let (health, running) = start(&world);
    let ahead = SignedDuration::from_hours(1);
    let mut pod = manifests::pod("web-4");
    pod.metadata.labels = None;
    world.create(&pod).await;
    until("web-4 has an address", async || {
        world.get::<Pod>("web-4").await.status?.pod_ip
    })
    .await;
    set_ready_since(&world, "web-4", "True", ahead).await;
    let labels = json!({"metadata": {"labels": {"app": "web"}}});
    world.patch::<Pod>(NAMESPACE, "web-4", labels).await;
    world.until_registered(5).await;
    until_counted(&health, 1, 0).await;
    assert_eq!(times(&health)[0], (1, 0));

    // One that is unready for a while leaves since then; others since they are deleted, or their group is.
    let before = SignedDuration::from_secs(-100);
    set_ready_since(&world, "web-0", "False", before).await;
    until_counted(&health, 1, 1).await;
    assert!(times(&health)[1].1 >= 100, "{:?}", times(&health));
    world.delete::<Pod>(NAMESPACE, "web-1").await;
    until_counted(&health, 1, 2).await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    until_counted(&health, 1, 5).await;
    running.abort();
}
