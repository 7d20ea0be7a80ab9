//! Faults of the API server, which only controllers notice: users and admission get what they ask for.

use super::controllers::USER_AGENT;
use crate::World;
use local_cluster::{ErrorResponse, Fault, FaultGuard, RequestFilter, Verb, WatchEnd};
use std::time::Duration;
use tokio::task::JoinSet;

/// So long an API server restarts. Watches are repeated later the more often they failed.
const RESTART: Duration = Duration::from_millis(500);

/// So late the responses of a slow API server come.
const LATE: Duration = Duration::from_millis(150);
/// The longest that a slow API server waits for a write.
const LONGEST: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct ApiFaults {
    slow: Option<FaultGuard>,
    guards: Vec<FaultGuard>,
    restarts: JoinSet<()>,
}

impl ApiFaults {
    /// Breaks all watches, and disconnects clients that send a request within a moment.
    pub(super) fn restart(&mut self, world: &World) {
        let faults = world.cluster.faults();
        let down = faults.inject(Fault::disconnect().of(controllers()));
        faults.end_watches(WatchEnd::Broken, &controllers());
        self.restarts.spawn(async move {
            tokio::time::sleep(RESTART).await;
            drop(down);
        });
    }

    pub(super) fn expire_watches(&mut self, world: &World, seed: u64) {
        world
            .cluster
            .faults()
            .end_watches(WatchEnd::Expired, &controllers());
        let watches = controllers().verbs([Verb::Watch]);
        let at_start = Fault::abort(ErrorResponse::expired()).times(3);
        let later = Fault::end_watch(WatchEnd::Expired, seed % 4).times(3);
        self.inject(world, at_start.chance(0.3, seed), watches.clone());
        self.inject(world, later, watches);
    }

    /// Fails some of the next requests in the ways in which they fail at a busy API server.
    pub(super) fn overload(&mut self, world: &World, seed: u64) {
        let changes = [Verb::Update, Verb::Patch];
        let conflict = Fault::abort(ErrorResponse::conflict()).chance(0.3, seed);
        self.inject(world, conflict.times(6), controllers().verbs(changes));
        let busy = Fault::abort(ErrorResponse::too_many_requests(1)).chance(0.2, seed + 1);
        self.inject(world, busy.times(4), controllers());
        let writes = || controllers().verbs(Verb::WRITES);
        let failed = Fault::replace_response(ErrorResponse::internal_error());
        self.inject(world, failed.chance(0.2, seed + 2).times(4), writes());
        let lost = Fault::drop_response().chance(0.2, seed + 3).times(4);
        self.inject(world, lost, writes());
    }

    /// Delays the responses to writes of records' status.
    pub(super) fn slow_down(&mut self, world: &World) {
        let writes = controllers()
            .verbs([Verb::Patch])
            .resource("lbcf.tkestack.io/backendrecords")
            .subresource("status");
        let late = Fault::delay_response(LATE).of(writes);
        self.slow = Some(world.cluster.faults().inject(late));
    }

    /// Waits until a response is late, if the API server is slow and a controller writes. The API server is
    /// slow as long as the result lives.
    pub(super) async fn until_late(&mut self) -> Option<FaultGuard> {
        let slow = self.slow.take()?;
        let _ = tokio::time::timeout(LONGEST, slow.reached(1)).await;
        Some(slow)
    }

    /// Ends all faults.
    pub(super) async fn end(&mut self) {
        self.slow = None;
        self.guards.clear();
        while self.restarts.join_next().await.is_some() {}
    }

    fn inject(&mut self, world: &World, fault: Fault, of: RequestFilter) {
        self.guards
            .push(world.cluster.faults().inject(fault.of(of)));
    }
}

fn controllers() -> RequestFilter {
    RequestFilter::default().user_agent(USER_AGENT)
}
