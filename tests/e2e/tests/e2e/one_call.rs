//! Drivers of clouds that accept one change of a load balancer at a time.

use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use lbcf_controller::api::{BackendGroup, LoadBalancer};
use lbcf_e2e::manifests::{self, DRIVER, GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, until};
use mock_driver::{
    ClbDriver, Creation, ListenerProtocol, LoadBalancerType, MockOptions, NewLoadBalancer,
};
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
    // Admission waits for no other call: it changes nothing, and a user waits for it.
    if request.uri().path().starts_with("/validate") {
        return next.run(request).await;
    }
    let now = in_flight.now.fetch_add(1, SeqCst) + 1;
    in_flight.most.fetch_max(now, SeqCst);
    // Long enough for calls to overlap where they may.
    tokio::time::sleep(Duration::from_millis(3)).await;
    let response = next.run(request).await;
    in_flight.now.fetch_sub(1, SeqCst);
    response
}

/// Creates one load balancer with two listeners in the cloud; returns a LoadBalancer object for each.
fn two_listeners(world: &World) -> [LoadBalancer; 2] {
    let first = NewLoadBalancer {
        vpc: "vpc-12345678".to_owned(),
        kind: LoadBalancerType::Open,
        protocol: ListenerProtocol::Tcp,
        port: 80,
        rule: None,
    };
    let created = world
        .cloud
        .create("by hand", first, BTreeMap::new(), Duration::ZERO);
    let Creation::Done(first) = created.unwrap() else {
        panic!("it takes no time")
    };
    let second = world
        .cloud
        .add_listener(&first.load_balancer, ListenerProtocol::Tcp, 8080, None);
    [(LB, first), ("other-listener", second.unwrap())].map(|(name, endpoint)| {
        let mut lb = manifests::load_balancer(name);
        let ids = [
            ("lbID", &*endpoint.load_balancer),
            ("lblID", &*endpoint.listener),
        ];
        lb.spec.lb_spec = ids.into();
        lb
    })
}

/// The largest number of concurrent calls while a group of 20 pods is registered and deregistered with two
/// load balancers, which are listeners of one in the cloud.
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
    let [first, second] = two_listeners(&world);
    world.create(&first).await;
    world.create(&second).await;
    world.create_pods(20).await;
    world
        .create(&manifests::group(GROUP, &[LB, "other-listener"]))
        .await;
    until("all are registered", async || {
        (world.targets_count() == 2 * 20).then_some(())
    })
    .await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    until("all are deregistered", async || {
        (world.targets_count() == 0).then_some(())
    })
    .await;
    in_flight.most.load(SeqCst)
}

/// [`max_concurrent_calls`] with an annotation of the driver.
async fn with_annotation(name: &str, value: &str) -> usize {
    let name = format!("lbcf.tkestack.io/{name}");
    max_concurrent_calls(BTreeMap::from([(name, value.to_owned())])).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b159_u38_with_the_annotation_one_call_at_a_time_for_each_load_balancer() {
    let most = with_annotation("one-call-per-load-balancer", "true").await;
    assert!((1..=2).contains(&most), "{most} calls about two listeners");
    let most = max_concurrent_calls(BTreeMap::new()).await;
    assert!((3..=64).contains(&most), "{most}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b159_d88_or_for_all_with_the_same_value_of_a_field() {
    assert_eq!(with_annotation("one-call-per-field", "lbID").await, 1);
}
