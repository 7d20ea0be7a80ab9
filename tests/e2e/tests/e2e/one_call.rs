//! Drivers of clouds that accept one change of a load balancer at a time.

use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use lbcf_e2e::manifests::{self, DRIVER, GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, until};
use mock_driver::{ClbDriver, MockOptions};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::net::TcpListener;

#[derive(Default)]
struct InFlight {
    now: AtomicUsize,
    most: AtomicUsize,
}

async fn counted(State(in_flight): State<Arc<InFlight>>, request: Request, next: Next) -> Response {
    let now = in_flight.now.fetch_add(1, SeqCst) + 1;
    in_flight.most.fetch_max(now, SeqCst);
    // Long enough for calls to overlap where they may.
    tokio::time::sleep(Duration::from_millis(3)).await;
    let response = next.run(request).await;
    in_flight.now.fetch_sub(1, SeqCst);
    response
}

/// The largest number of concurrent calls while a group of 20 pods is registered and deregistered.
async fn max_concurrent_calls(annotations: BTreeMap<String, String>) -> usize {
    let world = World::new().await;
    let in_flight = Arc::<InFlight>::default();
    let driver = ClbDriver::new(world.cloud.clone(), MockOptions::default());
    let router = mock_driver::router(driver).layer(middleware::from_fn_with_state(
        Arc::clone(&in_flight),
        counted,
    ));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });

    let _controller = world.start_controller();
    let mut driver = manifests::driver(&url);
    assert_eq!(driver.metadata.name.as_deref(), Some(DRIVER));
    driver.metadata.annotations = Some(annotations);
    world.create(&driver).await;
    world.create(&manifests::load_balancer(LB)).await;
    for number in 0..20 {
        world
            .create(&manifests::pod(&format!("web-{number}")))
            .await;
    }
    world.create(&manifests::group(GROUP, &[LB])).await;
    until("all are registered", async || {
        (world.targets_count() == 20).then_some(())
    })
    .await;
    world
        .delete::<lbcf_controller::api::BackendGroup>(NAMESPACE, GROUP)
        .await;
    until("all are deregistered", async || {
        (world.targets_count() == 0).then_some(())
    })
    .await;
    in_flight.most.load(SeqCst)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b159_u38_with_the_annotation_one_call_at_a_time_for_each_load_balancer() {
    let annotation = "lbcf.tkestack.io/one-call-per-load-balancer".to_owned();
    let one_call = BTreeMap::from([(annotation, "true".to_owned())]);
    assert_eq!(max_concurrent_calls(one_call).await, 1);
    let most = max_concurrent_calls(BTreeMap::new()).await;
    assert!((2..=64).contains(&most), "{most}");
}
