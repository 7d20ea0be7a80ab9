//! One request in three goes wrong, at the API server or at the driver: nothing is lost and
//! nothing is left.

use crate::whole_life::live;
use lbcf_e2e::{World, faulty};

const SEEDS: u64 = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_to_the_api_server_go_wrong_and_nothing_is_lost_or_left() {
    for seed in 0..SEEDS {
        println!("seed {seed}"); // A panic in here says with which.
        let world = World::new().await;
        let (client, faults) = faulty(&world.cluster, seed);
        let controller = world.start_controller_with(client, World::options());
        live(&world).await;
        controller.abort();
        assert!(faults.count() > 5, "{} faults", faults.count());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_of_the_driver_go_wrong_and_nothing_is_lost_or_left() {
    for seed in 0..SEEDS {
        println!("seed {seed}");
        let mut world = World::new().await;
        let faults = world.make_driver_flaky(seed).await;
        let controller = world.start_controller();
        live(&world).await;
        controller.abort();
        assert!(faults.count() > 1, "{} faults", faults.count());
    }
}
