//! The cloud: CLB instances, their listeners, forwarding rules and targets, in memory. It replaces a
//! provider's API, and like one it outlives the drivers that call it.

mod amounts;
mod api;
mod by_hand;
mod changes;
mod clock;
mod creation;
mod endpoint;
mod error;
mod ids;
mod model;
mod observe;
mod outage;
mod profile;
mod quota;
mod restore;
mod start;
mod state;
mod state_file;

pub(crate) use amounts::Amounts;
pub use clock::Clock;
pub use creation::{Creation, CreationPace, CreationStage, NewLoadBalancer};
pub use endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
pub use error::{AddListenerError, BindError, CreateError, NotFound};
pub use ids::Ids;
pub use model::Target;
pub use observe::{Observation, ObservedBackend, ObservedLoadBalancer};
pub use outage::{CloudError, Unavailable};
pub use quota::{QuotaExceeded, Quotas};
pub use state::{
    CloudState, CreationState, Elapsed, ListenerState, LoadBalancerState, RuleState, StateVersion,
    TargetGroupState, TargetState,
};

use crate::WebhookCalls;
use crate::faults::FaultTable;
use crate::journal::{CallLog, CallQuery, JournalEntry};
pub(crate) use crate::traffic::Draining;
use crate::traffic::{DataPlane, LoadBalancerTraffic, TrafficTotal};
use changes::Scope;
use lbcf_driver_sdk::webhook::StringMap;
use model::Model;
use start::Start;
use state_file::StateFile;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A handle to a cloud; clones are handles to the same one.
///
/// The methods that return a [`Result`] are the provider's API, for drivers and for tests. They fail
/// with [`CloudError::Unavailable`] during an [outage](Self::set_outage).
#[derive(Debug, Clone)]
pub struct Cloud {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    model: Mutex<Model>,
    clock: Clock,
    start: Start,
    calls: CallLog,
    faults: FaultTable,
    /// Locked after the model.
    file: Mutex<Option<StateFile>>,
    /// Locked after the model, if both are.
    data_plane: Mutex<Option<Arc<DataPlane>>>,
}

impl Cloud {
    /// A cloud without any instance.
    #[must_use]
    pub fn empty() -> Self {
        Self::new(Start::Empty, Clock::system())
    }

    /// A cloud with the instances of the LBCF documents' samples: `lb-1234` with listener
    /// `lbl-2234`, `lb-foo` with `lsn-foo` and `lb-bar` with `lsn-bar`, all TCP on port 80.
    #[must_use]
    pub fn with_samples() -> Self {
        Self::new(Start::Samples, Clock::system())
    }

    /// A cloud with this state, to which [`reset`](Self::reset) returns.
    ///
    /// # Errors
    /// What is wrong with the state, and where.
    pub fn with_state(state: CloudState) -> Result<Self, String> {
        state.model(Duration::ZERO)?;
        Ok(Self::new(Start::State(state.into()), Clock::system()))
    }

    /// A cloud with the state of a file in YAML or JSON, in the format of [`CloudState`].
    ///
    /// # Errors
    /// Why the file cannot be read, or what is wrong with it.
    pub fn from_file(path: &Path) -> Result<Self, String> {
        let at = |problem| format!("{}: {problem}", path.display());
        let state =
            state_file::read(path)?.ok_or_else(|| at("there is no such file".to_owned()))?;
        Self::with_state(state).map_err(at)
    }

    /// Replaces everything that the cloud holds.
    ///
    /// # Errors
    /// What is wrong with the state, and where; nothing changes then.
    pub fn restore(&self, state: &CloudState) -> Result<(), String> {
        let now = self.shared.clock.now();
        let restored = state.model(now)?;
        self.with(|model, _| model.replace(restored));
        Ok(())
    }

    /// Restores the initial state of one instance, which does not exist if it was created later.
    /// Returns whether there was or is one.
    pub fn reset_load_balancer(&self, id: &str) -> bool {
        self.with(|model, now| {
            let initial = self.shared.start.model(now).load_balancers.remove(id);
            let was_there = model.load_balancers.remove(id).is_some();
            let is_there = initial.is_some();
            model
                .load_balancers
                .extend(initial.map(|it| (id.to_owned(), it)));
            was_there || is_there
        })
    }

    /// A new cloud with the initial state of this one and another clock.
    #[must_use]
    pub fn with_clock(&self, clock: Clock) -> Self {
        Self::new(self.shared.start.clone(), clock)
    }

    fn new(start: Start, clock: Clock) -> Self {
        Self {
            shared: Arc::new(Shared {
                model: Mutex::new(start.model(clock.now())),
                clock,
                start,
                calls: CallLog::default(),
                faults: FaultTable::default(),
                file: Mutex::default(),
                data_plane: Mutex::default(),
            }),
        }
    }

    /// Restores the initial state, with the ID counters and the fault rules of the start, clears the
    /// journal and ends an outage. The counters of webhook calls keep their values.
    pub fn reset(&self) {
        self.with(|model, now| {
            model.replace(self.shared.start.model(now));
            model.outage = false;
        });
        self.shared.calls.clear();
        self.shared.faults.reset();
    }

    /// An independent copy of this cloud: changes of it do not change this one.
    #[must_use]
    pub fn snapshot(&self) -> Self {
        let copy = self.read(|model, _| model.clone());
        Self {
            shared: Arc::new(Shared {
                model: Mutex::new(copy),
                clock: self.shared.clock.clone(),
                start: self.shared.start.clone(),
                calls: CallLog::default(),
                faults: FaultTable::default(),
                file: Mutex::default(),
                data_plane: Mutex::default(),
            }),
        }
    }

    /// Everything that the cloud holds.
    #[must_use]
    pub fn state(&self) -> CloudState {
        self.read(CloudState::of)
    }

    /// The cloud as LBCF sees it.
    #[must_use]
    pub fn observe(&self) -> Observation {
        self.read(|model, _| Observation::of(model))
    }

    /// The number of calls of each webhook, of all drivers of this cloud.
    #[must_use]
    pub fn calls(&self) -> WebhookCalls {
        self.shared.calls.snapshot()
    }

    /// The fault rules of the drivers of this cloud.
    #[must_use]
    pub fn faults(&self) -> &FaultTable {
        &self.shared.faults
    }

    /// The cloud's clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// The time of the cloud's clock.
    pub(crate) fn now(&self) -> Duration {
        self.shared.clock.now()
    }

    /// An endpoint's attributes, also during an outage; none if it does not exist.
    pub(crate) fn stored_attributes(&self, endpoint: &Endpoint) -> Option<StringMap> {
        self.with_scope(Scope::Nothing, |model, _| {
            Some(model.group_mut(endpoint).ok()?.attributes.clone())
        })
    }

    /// The last webhook calls, oldest first, of all drivers of this cloud.
    #[must_use]
    pub fn journal(&self) -> Vec<JournalEntry> {
        self.shared.calls.entries(&CallQuery::default())
    }

    pub(crate) fn call_log(&self) -> &CallLog {
        &self.shared.calls
    }

    /// What each load balancer has served, by ID; empty without [`Traffic`](crate::Traffic).
    #[must_use]
    pub fn traffic(&self) -> BTreeMap<String, LoadBalancerTraffic> {
        let plane = self.data_plane().clone();
        plane.map(|plane| plane.view()).unwrap_or_default()
    }

    /// What all listeners have served, in the order of [`ListenerProtocol::ALL`]; none without
    /// [`Traffic`](crate::Traffic).
    pub(crate) fn traffic_totals(&self) -> Option<[TrafficTotal; ListenerProtocol::ALL.len()]> {
        let plane = self.data_plane().clone();
        plane.map(|plane| plane.totals())
    }

    /// Waits for what is open on a target that is not bound any more, for at most `wait`. Returns
    /// what still is.
    pub(crate) async fn drained(
        &self,
        endpoint: &Endpoint,
        address: &str,
        wait: Duration,
    ) -> Option<Draining> {
        let plane = self.data_plane().clone();
        plane?.drained(endpoint, address, wait).await
    }
}

#[cfg(test)]
mod tests;
