//! The controller is killed at every write in turn, before and after it, and at every webhook, when
//! it was received and when it was answered: the next one ends with the same cloud, and nothing is
//! left behind, also where everything was deleted before it came.

use crate::side_by_side::side_by_side;
use crate::whole_life::{Life, end_at_once};
use lbcf_controller::api::Bind;
use lbcf_e2e::manifests::{BIND, NAMESPACE};
use lbcf_e2e::{Front, Interrupted, Moment, Reaction, World, interrupt_at};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::JoinHandle;

/// When the controller dies.
#[derive(Debug, Clone, Copy)]
enum Death {
    /// It does not.
    Never,
    /// At the write of this number.
    AtWrite(usize, Moment),
    /// When the driver has got the webhook of this number: it does its work, nobody hears of it.
    AtReceipt(usize),
    /// When the driver has answered the webhook of this number: the answer may be heard, but
    /// nothing comes of it any more.
    AtAnswer(usize),
}

/// What happens before the next controller starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meanwhile {
    /// Nothing: life goes on.
    Nothing,
    /// Everything is deleted, pods too.
    TheEnd,
}

/// What came of a life.
struct Lived {
    has_died: bool,
    writes: usize,
    webhooks: usize,
}

/// Lives through it with a controller that dies then, and the next one after it.
async fn live_and_die(life: Life, death: Death, meanwhile: Meanwhile) -> Lived {
    let mut world = World::bare().await;
    let front = world.put_front().await;
    let (at, moment) = match death {
        Death::AtWrite(at, moment) => (Some(at), moment),
        _ => (None, Moment::Before),
    };
    let (client, interrupted) = interrupt_at(&world.cluster, at, moment);
    let is_succeeded = Arc::new(AtomicBool::new(false));
    die_at_webhook(&front, &interrupted, &is_succeeded, death);
    let first = world.start_controller_with(client, World::quick());
    let start_next = || {
        is_succeeded.store(true, Ordering::SeqCst);
        let client = world.cluster.client_as("lbcf-controller");
        world.start_controller_with(client, World::quick())
    };
    let mut successor: Option<JoinHandle<()>> = None;
    {
        let mut life = std::pin::pin!(life.live(&world));
        let mut reached = std::pin::pin!(interrupted.reached());
        loop {
            tokio::select! {
                () = &mut life => break,
                () = &mut reached, if successor.is_none() => {
                    first.abort();
                    if meanwhile == Meanwhile::TheEnd {
                        break;
                    }
                    successor = Some(start_next());
                }
            }
        }
    }
    if interrupted.is_dead() && meanwhile == Meanwhile::TheEnd {
        end_at_once(&world).await;
        successor = Some(start_next());
        world.until_gone::<Bind>(NAMESPACE, BIND).await;
        world.delete_basics().await;
    }
    // The life, or its end, has seen to it that cloud and cluster are empty.
    let has_died = successor.inspect(JoinHandle::abort).is_some();
    first.abort();
    Lived {
        has_died,
        writes: interrupted.writes(),
        webhooks: front.count(),
    }
}

fn die_at_webhook(
    front: &Front,
    interrupted: &Interrupted,
    is_succeeded: &Arc<AtomicBool>,
    death: Death,
) {
    let (dying, is_succeeded) = (interrupted.clone(), Arc::clone(is_succeeded));
    front.rule(move |call| {
        if matches!(death, Death::AtReceipt(at) if at == call.number) {
            dying.die();
            Reaction::DoneInSilence
        } else if dying.is_dead() && !is_succeeded.load(Ordering::SeqCst) {
            Reaction::Lost // The dead call nobody.
        } else {
            Reaction::Pass
        }
    });
    let dying = interrupted.clone();
    front.on_answer(move |call| {
        if matches!(death, Death::AtAnswer(at) if at == call.number) {
            dying.die();
        }
    });
}

async fn killed_everywhere(life: Life, least_writes: usize, least_webhooks: usize) {
    let Lived {
        writes, webhooks, ..
    } = live_and_die(life, Death::Never, Meanwhile::Nothing).await;
    assert!(
        writes >= least_writes && webhooks >= least_webhooks,
        "the life has points to be killed at: {writes} writes, {webhooks} webhooks"
    );
    let at_receipts = || (0..webhooks).map(Death::AtReceipt);
    let at_writes = |moment| (0..writes).map(move |at| Death::AtWrite(at, moment));
    let live_on = at_writes(Moment::Before)
        .chain(at_writes(Moment::After))
        .chain(at_receipts())
        .chain((0..webhooks).map(Death::AtAnswer))
        .map(|death| (death, Meanwhile::Nothing));
    let end = at_writes(Moment::After)
        .chain(at_receipts())
        .map(|death| (death, Meanwhile::TheEnd));
    let deaths: Vec<_> = live_on.chain(end).collect();
    let points = deaths.len();
    let lived = side_by_side(deaths, |(death, meanwhile)| {
        live_and_die(life, death, meanwhile)
    })
    .await;
    let killed = lived.iter().filter(|lived| lived.has_died).count();
    println!("{life:?}: killed {killed} times at {writes} writes and {webhooks} webhooks");
    // How many points there are varies by a status write or two.
    assert!(
        killed + points / 5 >= points,
        "killed {killed} times, {points} points"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_anywhere_in_the_life_of_a_group_of_pods_nothing_is_lost_or_left() {
    killed_everywhere(Life::Pods, 20, 10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_anywhere_in_the_life_of_a_group_on_a_service_nothing_is_lost_or_left() {
    killed_everywhere(Life::Service, 30, 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_anywhere_in_the_life_of_a_group_of_addresses_nothing_is_lost_or_left() {
    killed_everywhere(Life::Static, 18, 8).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_anywhere_in_the_life_of_a_bind_nothing_is_lost_or_left() {
    killed_everywhere(Life::Bind, 50, 30).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_anywhere_in_the_life_of_a_judged_group_nothing_is_lost_or_left() {
    killed_everywhere(Life::Judged, 20, 12).await;
}
