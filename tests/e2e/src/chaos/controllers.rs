//! The controllers of a history: a single one, or two replicas of which one leads.

use super::history::History;
use crate::manifests::SYSTEM;
use crate::pausable::{PausableController, Paused};
use crate::wait::DEADLINE;
use crate::{World, faulty, leads};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use lbcf_controller::{LeaderElection, Options, RunError, WallClock};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The `User-Agent` of all controllers of a history.
pub(super) const USER_AGENT: &str = "lbcf-controller";
const REPLICAS: usize = 2;
/// The pause between two looks at who leads.
const POLL: Duration = Duration::from_millis(20);
/// A backend that is left over is removed by the second audit that finds it.
const AUDIT_PERIOD: Duration = Duration::from_millis(500);

pub(super) struct Controllers {
    options: Options,
    /// How far the wall clock of the controllers is from the system's, in seconds.
    shift: Arc<AtomicI64>,
    running: Running,
    /// Whether requests of a single one fail as long as it runs.
    has_failing_requests: bool,
}

enum Running {
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

struct Replica {
    controller: PausableController,
    paused: Option<Paused>,
}

impl Controllers {
    /// Starts a single one, or replicas, and waits until one of them leads.
    pub(super) async fn start(world: &World, history: &History) -> Self {
        let shift = Arc::new(AtomicI64::new(0));
        let shifted = Arc::clone(&shift);
        let wall_clock = WallClock::new(move || {
            let shift = SignedDuration::from_secs(shifted.load(Ordering::Relaxed));
            Timestamp::now().saturating_add(shift).unwrap_or_default()
        });
        let mut options = Options {
            wall_clock,
            ..options()
        };
        if history.has_audits {
            options.audit_period = AUDIT_PERIOD;
        }
        let running = match history.has_replicas {
            true => Running::Replicas {
                replicas: Vec::new(),
                started: 0,
                problem: None,
            },
            false => Running::Single(start(world, &options)),
        };
        let mut controllers = Self {
            options,
            shift,
            running,
            has_failing_requests: false,
        };
        controllers.until_led(world).await;
        controllers
    }

    /// Lets the wall clock of all controllers jump.
    pub(super) fn shift_wall_clock(&self, hours: i64) {
        self.shift.fetch_add(hours * 3600, Ordering::Relaxed);
    }

    /// Ends a single controller.
    pub(super) async fn stop_single(&mut self) {
        if let Running::Single(controller) = &mut self.running {
            controller.abort();
            let _ = controller.await;
        }
    }

    /// Starts a single controller again, which ensures everything once, as do those after it: it may be
    /// killed before it is done.
    pub(super) fn start_single_ensuring(&mut self, world: &World) {
        if matches!(self.running, Running::Single(_)) {
            self.options.ensure_at_start = true;
            self.has_failing_requests = false;
            self.running = Running::Single(start(world, &self.options));
        }
    }

    /// Kills the single one or the leader, and starts another one.
    pub(super) async fn kill(&mut self, world: &World) {
        self.has_failing_requests = false;
        match &mut self.running {
            Running::Single(controller) => {
                controller.abort();
                self.running = Running::Single(start(world, &self.options));
            }
            Running::Replicas { replicas, .. } => {
                if let Some(leader) = leader(replicas) {
                    replicas.remove(leader).controller.kill().await;
                }
                self.replace_ended(world).await;
            }
        }
    }

    /// Like [`Self::kill`]; about every third request of a new single one fails.
    pub(super) async fn restart_with_failing_requests(&mut self, world: &World, seed: u64) {
        match &mut self.running {
            Running::Single(controller) => {
                controller.abort();
                let (client, _) = faulty(&world.cluster, seed);
                let controller = world.start_controller_with(client, self.options.clone());
                self.running = Running::Single(controller);
                self.has_failing_requests = true;
            }
            Running::Replicas { .. } => self.kill(world).await,
        }
    }

    /// Ends all faults of controllers. They go on: another process would know what they have missed.
    pub(super) async fn heal(&mut self, world: &World) {
        if self.has_failing_requests {
            self.kill(world).await;
        }
        // One that was paused now finds out by itself that it leads no more.
        self.resume();
    }

    /// Pauses the leader until [`Self::resume`], and waits until the other one leads.
    pub(super) async fn pause_leader(&mut self, world: &World) {
        self.resume();
        loop {
            self.until_led(world).await;
            let Running::Replicas { replicas, .. } = &mut self.running else {
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
        if let Running::Replicas { replicas, .. } = &mut self.running {
            for replica in replicas {
                replica.paused = None;
            }
        }
    }

    /// Replaces what ended because it lost its lease, as a kubelet does. Returns why one ended that had no
    /// reason to.
    pub(super) async fn replace_ended(&mut self, world: &World) -> Option<String> {
        let (replicas, started, problem) = match &mut self.running {
            Running::Single(controller) => {
                let ended = controller.is_finished();
                return ended.then(|| "the controller ended".to_owned());
            }
            Running::Replicas {
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
                controller: start_replica(world, &self.options, *started).await,
                paused: None,
            });
        }
        problem.clone()
    }

    /// Which replicas lead, are paused or are not ready.
    pub(super) fn describe(&self) -> String {
        let Running::Replicas { replicas, .. } = &self.running else {
            return "a single controller".to_owned();
        };
        let describe = |replica: &Replica| {
            let health = &replica.controller.health;
            let (leads, ready) = (leads(health), health.ready());
            format!(
                "leads: {leads}, paused: {}, {ready:?}",
                replica.paused.is_some()
            )
        };
        let replicas: Vec<String> = replicas.iter().map(describe).collect();
        replicas.join("; ")
    }

    /// Waits until one leads that is not paused.
    async fn until_led(&mut self, world: &World) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            self.replace_ended(world).await;
            match &mut self.running {
                Running::Replicas { replicas, .. } if leader(replicas).is_none() => {}
                _ => return,
            }
            assert!(Instant::now() < deadline, "no controller leads");
            tokio::time::sleep(POLL).await;
        }
    }
}

impl Drop for Controllers {
    fn drop(&mut self) {
        if let Running::Single(controller) = &mut self.running {
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

fn start(world: &World, options: &Options) -> JoinHandle<()> {
    world.start_controller_with(world.client_as(USER_AGENT), options.clone())
}

async fn start_replica(world: &World, options: &Options, number: usize) -> PausableController {
    let election = LeaderElection {
        // Others take over soon, but not because the machine is busy.
        lease_duration: Duration::from_secs(3),
        renew_deadline: Duration::from_secs(2),
        retry_period: Duration::from_millis(100),
        ..LeaderElection::new(SYSTEM, format!("replica-{number}"))
    };
    let options = Options {
        leader_election: Some(election),
        ..options.clone()
    };
    PausableController::start_with(world.service_as(USER_AGENT), options).await
}

/// Records without an owner wait for less time than everything has to be at rest, and so does what is
/// reported only if it lasts long.
fn options() -> Options {
    Options {
        orphan_grace_period: Duration::from_millis(200),
        // Some of the pods that replace others never become Ready.
        replacement_timeout: Duration::from_millis(200),
        long_wait: Duration::from_millis(200),
        ..World::quick()
    }
}
