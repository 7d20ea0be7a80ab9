//! The controller is killed at every write in turn, before and after it: the next one ends with
//! the same cloud, and nothing is left behind.

use crate::whole_life::live;
use lbcf_e2e::{Moment, World, interrupt_at};
use tokio::task::JoinHandle;

/// Lives through it with a controller that dies at write number `at`, and the next one after it.
/// Gives whether it got that far.
async fn live_and_die(at: usize, moment: Moment) -> bool {
    let world = World::new().await;
    let (client, interrupted) = interrupt_at(&world.cluster, Some(at), moment);
    let first = world.start_controller_with(client, World::options());
    let mut successor: Option<JoinHandle<()>> = None;
    let mut life = std::pin::pin!(live(&world));
    let mut reached = std::pin::pin!(interrupted.reached());
    loop {
        tokio::select! {
            () = &mut life => break,
            () = &mut reached, if successor.is_none() => {
                first.abort();
                successor = Some(world.start_controller());
            }
        }
    }
    // `live` has seen to it: cloud and cluster are empty, and each phase reached its state.
    successor.inspect(JoinHandle::abort).is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_every_write_in_turn_nothing_is_lost_or_left() {
    let world = World::new().await;
    let (client, counted) = interrupt_at(&world.cluster, None, Moment::Before);
    let controller = world.start_controller_with(client, World::options());
    live(&world).await;
    controller.abort();
    let writes = counted.writes();
    assert!(
        writes >= 20,
        "the scenario has writes to be killed at: {writes}"
    );
    let mut killed = 0;
    for at in 0..writes {
        for moment in [Moment::Before, Moment::After] {
            let scene = format!("killed {moment:?} write {at} of {writes}");
            // A panic in here says at which write.
            println!("{scene}");
            killed += usize::from(live_and_die(at, moment).await);
        }
    }
    println!("killed {killed} times at {writes} writes");
    // How many writes there are varies by a status write or two.
    assert!(
        killed >= 2 * (writes - 3),
        "killed {killed} times, {writes} writes"
    );
}
