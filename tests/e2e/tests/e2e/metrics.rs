//! The controller's metrics compared with what the cluster and the cloud received.

use lbcf_controller::api::{BackendGroup, LoadBalancer, LoadBalancerDriver};
use lbcf_controller::{Controller, Health};
use lbcf_e2e::manifests::{self, DRIVER, GROUP, LB, NAMESPACE, SYSTEM};
use lbcf_e2e::{CONTROLLER, World, until};
use std::future::pending;

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
