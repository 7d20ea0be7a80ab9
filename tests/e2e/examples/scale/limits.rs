//! Clouds that limit calls: how long it takes to register and deregister backends, beside what the cloud itself allows.

use crate::TIMEOUT;
use crate::driver_metrics::{DriverMetrics, client_of};
use crate::processes::Measurement;
use crate::table;
use crate::workload::Workload;
use kube::ResourceExt;
use lbcf_controller::Options;
use lbcf_controller::api::BackendGroup;
use lbcf_e2e::manifests::{self, LB, NAMESPACE};
use lbcf_e2e::{World, until_within};
use mock_driver::{Cloud, MockOptions, MockServer, Quotas};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Instant;

/// Tencent's CLB takes 20 calls a second, each about up to 20 targets; Azure's API takes writes of whole load balancers.
const CLB: &str = "--max-calls-per-second 20 --max-targets-per-call 20";
const AZURE: &str = "--profile azure --max-calls-per-second 10 --max-hooks-per-second 9";

/// The processes of a release build.
pub(super) async fn of_processes(lbcf: PathBuf, pods: usize) {
    let batches = format!("{CLB} --max-hooks-per-second 19");
    let single = format!("{batches} --batch-size 1");
    let mut columns = Vec::new();
    let columns_of = [
        ("clb", batches.clone(), Workload::Pods),
        ("20 clbs", batches, Workload::LoadBalancers),
        ("azure", AZURE.to_owned(), Workload::Pods),
        ("clb, single", single, Workload::Pods),
    ];
    for (name, flags, workload) in columns_of {
        let measurement = Measurement {
            workload,
            lbcf: lbcf.clone(),
            mock_flags: flags,
            controller_flags: String::new(),
            other_pods: 0,
            before: None,
            is_real: false,
        };
        columns.push((name.to_owned(), measurement.of_limits(pods).await));
    }
    table::print(&columns);
}

/// Two drivers on one account, each with half of the rate, in this process. Each has half of the pods.
pub(super) async fn of_two_drivers(pods: usize) {
    let world = World::new().await;
    let cloud = Cloud::empty();
    cloud.set_quotas(Quotas {
        calls_per_second: Some(20),
        targets_per_call: Some(20),
        ..Quotas::default()
    });
    let options = MockOptions {
        max_hooks_per_second: Some(9),
        ..MockOptions::default()
    };
    let mut servers = Vec::new();
    for name in ["one", "two"] {
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        let server = MockServer::start(cloud.clone(), address, options.clone()).await;
        let server = server.expect("a free port");
        let mut driver = manifests::driver(&server.url());
        driver.metadata.name = Some(format!("lbcf-{name}"));
        world.create(&driver).await;
        let mut lb = manifests::load_balancer(&format!("{LB}-{name}"));
        lb.spec.lb_driver = format!("lbcf-{name}");
        world.create(&lb).await;
        servers.push(server);
    }
    for number in 0..pods {
        let mut pod = Workload::pod(number);
        let half = ["one", "two"][number % 2].to_owned();
        pod.labels_mut().insert("half".to_owned(), half);
        world.create(&pod).await;
    }
    let client = world.cluster.client_as("lbcf-controller");
    let controller = world.start_controller_with(client, Options::default());
    let targets = || {
        let observed = cloud.observe().load_balancers.into_iter();
        observed.map(|it| it.backends.len()).sum::<usize>()
    };
    let began = Instant::now();
    for name in ["one", "two"] {
        let mut group = manifests::group(name, &[&format!("{LB}-{name}")]);
        let selection = group.spec.pods.as_mut().and_then(|it| it.by_label.as_mut());
        let selector = &mut selection.expect("by label").selector;
        selector.insert("half".to_owned(), name.to_owned());
        world.create(&group).await;
    }
    let arrived = until_within(TIMEOUT, "all are registered", async || {
        (targets() == pods).then(|| began.elapsed())
    });
    println!(
        "two drivers: registered in {:.1} s",
        arrived.await.as_secs_f64()
    );
    let began = Instant::now();
    for name in ["one", "two"] {
        world.delete::<BackendGroup>(NAMESPACE, name).await;
    }
    let gone = until_within(TIMEOUT, "all are deregistered", async || {
        (targets() == 0).then(|| began.elapsed())
    });
    println!(
        "two drivers: deregistered in {:.1} s",
        gone.await.as_secs_f64()
    );
    let mut failed = 0.0;
    let none = DriverMetrics::default();
    for server in &servers {
        let metrics = DriverMetrics::read(&client_of(&server.url())).await;
        failed += ["ensureBackend", "deregisterBackend"]
            .map(|webhook| metrics.failed(webhook, &none))
            .iter()
            .sum::<f64>();
    }
    println!("two drivers: {failed} calls refused");
    controller.abort();
}
