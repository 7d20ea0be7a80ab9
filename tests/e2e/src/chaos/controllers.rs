//! The controllers of a history: a single one, or two replicas of which one leads.

use crate::manifests::SYSTEM;
use crate::pausable::{PausableController, Paused};
use crate::wait::DEADLINE;
use crate::{World, faulty, leads};
use kube::Client;
use lbcf_controller::{LeaderElection, Options, RunError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The `User-Agent` of all controllers of a history.
pub(super) const USER_AGENT: &str = "lbcf-controller";
const REPLICAS: usize = 2;
/// The pause between two looks at who leads.
const POLL: Duration = Duration::from_millis(20);

pub(super) enum Controllers {
    /// Without leader election.
    Single(JoinHandle<()>),
    /// Each with a thread of its own, so that it can be paused.
    Replicas {
        replicas: Vec<Replica>,
        /// How many were started; each has an identity of its own.
        started: usize,
        /// Why the first one ended that did not only lose its lease.
        problem: Option<String>,
    },
}

pub(super) struct Replica {
    controller: PausableController,
    paused: Option<Paused>,
}

impl Controllers {
    pub(super) fn single(world: &World) -> Self {
        Self::Single(start(world, world.cluster.client_as(USER_AGENT)))
    }

    /// Starts the replicas and waits until one leads.
    pub(super) async fn replicas(world: &World) -> Self {
        let mut controllers = Self::Replicas {
            replicas: Vec::new(),
            started: 0,
            problem: None,
        };
        controllers.until_led(world).await;
        controllers
    }

    /// Kills the single one or the leader, and starts another one.
    pub(super) async fn kill(&mut self, world: &World) {
        match self {
            Self::Single(controller) => {
                controller.abort();
                *self = Self::single(world);
            }
            Self::Replicas { replicas, .. } => {
                if let Some(leader) = leader(replicas) {
                    replicas.remove(leader).controller.kill().await;
                }
                self.replace_ended(world).await;
            }
        }
    }

    /// Like [`Self::kill`]; about every third request of a new single one fails.
    pub(super) async fn restart_with_failing_requests(&mut self, world: &World, seed: u64) {
        match self {
            Self::Single(controller) => {
                controller.abort();
                let (client, _) = faulty(&world.cluster, seed);
                *self = Self::Single(start(world, client));
            }
            Self::Replicas { .. } => self.kill(world).await,
        }
    }

    /// Ends all faults of controllers.
    pub(super) async fn heal(&mut self, world: &World) {
        match self {
            Self::Single(_) => self.kill(world).await,
            // One that was paused now finds out by itself that it leads no more.
            Self::Replicas { .. } => self.resume(),
        }
    }

    /// Pauses the leader until [`Self::resume`], and waits until the other one leads.
    pub(super) async fn pause_leader(&mut self, world: &World) {
        self.resume();
        loop {
            self.until_led(world).await;
            let Self::Replicas { replicas, .. } = self else {
                return;
            };
            if let Some(leader) = leader(replicas) {
                let leader = &mut replicas[leader];
                leader.paused = leader.controller.pause().await;
                if leader.paused.is_some() {
                    return self.until_led(world).await;
                }
            }
            // On a busy machine it lost its lease at this moment, and ended.
            tokio::time::sleep(POLL).await;
        }
    }

    /// Lets a paused one go on.
    pub(super) fn resume(&mut self) {
        if let Self::Replicas { replicas, .. } = self {
            for replica in replicas {
                replica.paused = None;
            }
        }
    }

    /// Replaces what ended because it lost its lease, as a kubelet does. Returns why one ended that had no
    /// reason to.
    pub(super) async fn replace_ended(&mut self, world: &World) -> Option<String> {
        let (replicas, started, problem) = match self {
            Self::Single(controller) => {
                let ended = controller.is_finished();
                return ended.then(|| "the controller ended".to_owned());
            }
            Self::Replicas {
                replicas,
                started,
                problem,
            } => (replicas, started, problem),
        };
        replicas.retain_mut(|replica| match replica.controller.try_ended() {
            None => true,
            Some(Err(RunError::LostLease(_))) => false,
            Some(ended) => {
                problem.get_or_insert(format!("a controller ended: {ended:?}"));
                false
            }
        });
        while replicas.len() < REPLICAS {
            *started += 1;
            replicas.push(Replica {
                controller: start_replica(world, *started).await,
                paused: None,
            });
        }
        problem.clone()
    }

    /// Waits until one leads that is not paused.
    async fn until_led(&mut self, world: &World) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            self.replace_ended(world).await;
            match self {
                Self::Replicas { replicas, .. } if leader(replicas).is_none() => {}
                _ => return,
            }
            assert!(Instant::now() < deadline, "no controller leads");
            tokio::time::sleep(POLL).await;
        }
    }
}

impl Drop for Controllers {
    fn drop(&mut self) {
        if let Self::Single(controller) = self {
            controller.abort();
        }
    }
}

/// The index of the replica that leads and is not paused.
fn leader(replicas: &[Replica]) -> Option<usize> {
    replicas
        .iter()
        .position(|replica| replica.paused.is_none() && leads(&replica.controller.health))
}

fn start(world: &World, client: Client) -> JoinHandle<()> {
    world.start_controller_with(client, options())
}

async fn start_replica(world: &World, number: usize) -> PausableController {
    let election = LeaderElection {
        // Others take over soon, but not because the machine is busy.
        lease_duration: Duration::from_secs(3),
        renew_deadline: Duration::from_secs(2),
        retry_period: Duration::from_millis(100),
        ..LeaderElection::new(SYSTEM, format!("replica-{number}"))
    };
    let options = Options {
        leader_election: Some(election),
        ..options()
    };
    PausableController::start(&world.cluster, USER_AGENT, options).await
}

/// Records without an owner wait for less time than everything has to be at rest, and so does what is
/// reported only if it lasts long.
fn options() -> Options {
    Options {
        orphan_grace_period: Duration::from_millis(200),
        long_wait: Duration::from_millis(200),
        ..World::quick()
    }
}
