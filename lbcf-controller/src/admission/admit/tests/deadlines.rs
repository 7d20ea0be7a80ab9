use super::*;
use tokio::time::Instant;

fn slow(seconds: u64) -> Arc<World> {
    let long = Behaviour::TakesLong(Duration::from_secs(seconds));
    let lb2 = with(load_balancer("lb-2"), [("/spec/lbDriver", json!("lbcf-e"))]);
    let world = World::usual().with_load_balancer(lb2);
    let world = ["lbcf-d", "lbcf-e"]
        .into_iter()
        .fold(world, |world, driver| {
            world.when(driver, "validateBackend", long.clone()).when(
                driver,
                "validateLoadBalancer",
                long.clone(),
            )
        });
    Arc::new(world)
}

fn of_two() -> Value {
    with(group(), [("/spec/loadBalancers", json!(["lb", "lb-2"]))])
}

#[tokio::test(start_paused = true)]
async fn u45_two_slow_drivers_take_as_long_as_one() {
    for object in [of_two(), bind()] {
        let begin = Instant::now();
        create(&slow(8), &object).await.unwrap();
        assert_eq!(begin.elapsed().as_secs(), 8);
    }
}

#[tokio::test(start_paused = true)]
async fn u45_when_the_time_is_over_the_slow_one_is_named() {
    for (object, says) in [
        (
            load_balancer("x"),
            &[
                "call webhook error, webhook: validateLoadBalancer, err: driver kube-system/lbcf-d: webhook validateLoadBalancer: ",
            ][..],
        ),
        (
            of_two(),
            &[
                "kube-system/lbcf-d: webhook validateBackend",
                "kube-system/lbcf-e: webhook validateBackend",
            ],
        ),
        (
            bind(),
            &[
                "kube-system/lbcf-e: webhook validateBackend",
                "kube-system/lbcf-d: webhook validateLoadBalancer",
            ],
        ),
    ] {
        let begin = Instant::now();
        let message = create(&slow(60), &object).await;
        // The API server waits for ten.
        assert_eq!(begin.elapsed().as_secs(), 9);
        assert_denied(message.clone(), says);
        assert_denied(message, &["no response within 9s"]);
    }
}

#[tokio::test(start_paused = true)]
async fn u28_a_lookup_that_hangs_ends_in_time() {
    let mut world = World::usual();
    world.lookups_hang = true;
    let begin = Instant::now();
    let message = create(&Arc::new(world), &group()).await;
    assert_eq!(begin.elapsed().as_secs(), 9);
    assert_denied(
        message,
        &[
            "LoadBalancer ns/lb",
            "cannot determine",
            "no response within 9s",
        ],
    );
}
