//! Cluster, cloud, driver and controller in this process; the driver is called over HTTP. Memory is that
//! of the whole process. The last column is its growth since before the controller started, which
//! includes the records that the cluster stores.

use crate::TIMEOUT;
use crate::process::resident;
use crate::workload::Workload;
use lbcf_controller::Options;
use lbcf_controller::api::BackendGroup;
use lbcf_e2e::manifests::{self, LB, NAMESPACE};
use lbcf_e2e::{World, until_within};
use std::time::{Duration, Instant};

pub(super) async fn measure_all(sizes: &[usize], workload: Workload) {
    println!(
        "  pods  registered  backends/s  deregistered  backends/s  writes/pod  webhooks/pod  memory  grown by"
    );
    let mut first: Option<(usize, f64)> = None;
    for &pods in sizes {
        let took = measure(pods, workload).await;
        match first {
            None => first = Some((pods, took.as_secs_f64())),
            Some((few, before)) => println!(
                "        {:.1} times the pods took {:.1} times as long to register",
                pods as f64 / few as f64,
                took.as_secs_f64() / before,
            ),
        }
    }
}

async fn measure(pods: usize, workload: Workload) -> Duration {
    let world = World::new().await;
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::load_balancer(LB)).await;
    for number in 0..pods {
        world.create(&Workload::pod(number)).await;
    }
    for service in workload.services() {
        world.create(&service).await;
    }
    let groups = workload.groups();
    let memory = resident(std::process::id()) >> 20;
    let writes = world.cluster.requests();
    let controller = world.start_controller_with(
        world.cluster.client_as("lbcf-controller"),
        Options {
            poll_interval: Duration::from_millis(20),
            ..Options::default()
        },
    );
    let began = Instant::now();
    for group in &groups {
        world.create(group).await;
    }
    until_within(TIMEOUT, "all are registered", async || {
        // Observing the cloud takes time proportional to its size; counting calls does not.
        let is_near = world.cloud.calls().get("ensureBackend") >= pods as u64;
        (is_near && world.targets_count() == pods).then_some(())
    })
    .await;
    let registered = began.elapsed();
    let grown = resident(std::process::id()) >> 20;
    until_within(TIMEOUT, "the group counts them", async || {
        let groups: Vec<BackendGroup> = world.all().await;
        let counts = groups.into_iter().filter_map(|group| group.status);
        let count: i32 = counts.map(|status| status.registered_backends).sum();
        (usize::try_from(count) == Ok(pods)).then_some(())
    })
    .await;
    let per_pod = |count: u64| count as f64 / pods as f64;
    let written = world.cluster.requests().since(&writes);
    let written = written.count(|key| {
        key.user_agent == "lbcf-controller" && key.is_write() && !key.resource.contains("events")
    });
    let calls = world.cloud.calls().total();

    let began = Instant::now();
    for group in &groups {
        let name = group.metadata.name.as_deref().unwrap_or_default();
        world.delete::<BackendGroup>(NAMESPACE, name).await;
    }
    until_within(TIMEOUT, "all are deregistered", async || {
        let is_near = world.cloud.calls().get("deregisterBackend") >= pods as u64;
        (is_near && world.targets_count() == 0).then_some(())
    })
    .await;
    let deregistered = began.elapsed();
    let rate = |took: Duration| pods as f64 / took.as_secs_f64();
    println!(
        "{pods:>6}  {:>9.2}s  {:>10.0}  {:>11.2}s  {:>10.0}  {:>10.2}  {:>12.2}  {grown:>3} MiB  {:>4} MiB",
        registered.as_secs_f64(),
        rate(registered),
        deregistered.as_secs_f64(),
        rate(deregistered),
        per_pod(written),
        per_pod(calls),
        grown.saturating_sub(memory),
    );
    controller.abort();
    registered
}
