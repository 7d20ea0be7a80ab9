//! The cloud: CLB instances, their listeners, forwarding rules and targets, in memory. It replaces a
//! provider's API, and like one it outlives the drivers that call it.

mod by_hand;
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
mod state;
mod state_file;

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
use crate::azure::AzureState;
use crate::faults::FaultTable;
use crate::journal::{CallLog, CallQuery, JournalEntry};
pub(crate) use crate::traffic::Draining;
use crate::traffic::{DataPlane, LoadBalancerTraffic};
use lbcf_driver_sdk::webhook::StringMap;
use model::Model;
use state_file::StateFile;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

#[derive(Debug, Clone)]
enum Start {
    Empty,
    Samples,
    Azure,
    State(Arc<CloudState>),
}

impl Start {
    /// The instances in the sample manifests of the LBCF documents, with their listeners.
    const SAMPLES: [(&'static str, &'static str); 3] = [
        ("lb-1234", "lbl-2234"),
        ("lb-foo", "lsn-foo"),
        ("lb-bar", "lsn-bar"),
    ];

    fn model(&self, now: Duration) -> Model {
        let mut model = Model::default();
        if let Self::State(state) = self {
            // It was checked when it was read.
            return state.model(now).unwrap_or_default();
        }
        if matches!(self, Self::Azure) {
            model.azure = Some(AzureState::default());
        }
        if matches!(self, Self::Samples) {
            for (load_balancer, listener) in Self::SAMPLES {
                model.add_existing(load_balancer, listener, 80);
            }
        }
        model
    }
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

    /// Continues with the state of a file if there is one, and saves every change to it before any
    /// caller sees it.
    ///
    /// # Errors
    /// What is wrong with the file, which then stays as it is, or why it cannot be written.
    pub fn keep_in_file(&self, path: &Path) -> Result<(), String> {
        if let Some(state) = state_file::read(path)? {
            let restored = self.restore(&state);
            restored.map_err(|problem| format!("{}: {problem}", path.display()))?;
        }
        *self.file() = Some(StateFile::new(path.to_owned()));
        self.with(|_, _| ());
        match self.unsaved() {
            None => Ok(()),
            Some(problem) => {
                *self.file() = None;
                Err(problem)
            }
        }
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

    /// Why the last change is not in the state file.
    pub(crate) fn unsaved(&self) -> Option<String> {
        self.file().as_ref()?.problem().map(str::to_owned)
    }

    fn file(&self) -> MutexGuard<'_, Option<StateFile>> {
        self.shared
            .file
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
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
        self.with(|model, _| Some(model.group_mut(endpoint).ok()?.attributes.clone()))
    }

    /// The last webhook calls, oldest first, of all drivers of this cloud.
    #[must_use]
    pub fn journal(&self) -> Vec<JournalEntry> {
        self.shared.calls.entries(&CallQuery::default())
    }

    pub(crate) fn call_log(&self) -> &CallLog {
        &self.shared.calls
    }

    /// Checks that an endpoint exists.
    ///
    /// # Errors
    /// [`NotFound`] when it does not.
    pub fn find(&self, endpoint: &Endpoint) -> Result<(), CloudError<NotFound>> {
        self.call(|model, _| model.group_mut(endpoint).map(drop))
    }

    /// Creates an instance with a listener and, for HTTP and HTTPS, a forwarding rule, each in a
    /// stage of its own. The client token makes the call idempotent: the same token returns the same
    /// instance as long as that exists. The attributes of the last call are used.
    ///
    /// # Errors
    /// [`CreateError`], when the token is empty or was used for another specification.
    pub fn create(
        &self,
        client_token: &str,
        desired: NewLoadBalancer,
        attributes: StringMap,
        pace: impl Into<CreationPace>,
    ) -> Result<Creation, CloudError<CreateError>> {
        let pace = pace.into();
        self.call(|model, now| model.create(client_token, desired, attributes, pace, now))
    }

    /// Marks an existing endpoint as used by LBCF and sets its attributes. Returns its complete
    /// identity: for HTTP and HTTPS, with domain and path.
    ///
    /// # Errors
    /// [`CreateError`], when it does not exist or the token was used for another specification.
    pub fn take_into_use(
        &self,
        client_token: &str,
        endpoint: &Endpoint,
        attributes: StringMap,
    ) -> Result<Endpoint, CloudError<CreateError>> {
        self.call(|model, _| model.take_into_use(client_token, endpoint, attributes))
    }

    /// Ends LBCF's use of an endpoint. An instance that [`create`](Self::create) created is deleted
    /// with its targets, unless another client token uses it; one that existed before stays.
    ///
    /// # Errors
    /// [`NotFound`], when the endpoint does not exist.
    pub fn release(
        &self,
        client_token: &str,
        endpoint: &Endpoint,
    ) -> Result<(), CloudError<NotFound>> {
        self.call(|model, _| model.release(client_token, endpoint))
    }

    /// Undoes the creation with this client token, unless its result was returned already. Returns
    /// the ID of the deleted instance.
    ///
    /// # Errors
    /// [`Unavailable`], during an outage.
    pub fn cancel(&self, client_token: &str) -> Result<Option<String>, Unavailable> {
        self.with(|model, now| {
            model.reachable(now)?;
            Ok(model.cancel(|_, origin| origin.token == client_token))
        })
    }

    /// Adds a listener to an instance and, for HTTP and HTTPS, a forwarding rule.
    ///
    /// # Errors
    /// [`AddListenerError`], when the port is in use or the instance does not exist.
    pub fn add_listener(
        &self,
        load_balancer: &str,
        protocol: ListenerProtocol,
        port: u16,
        rule: Option<Rule>,
    ) -> Result<Endpoint, CloudError<AddListenerError>> {
        self.call(|model, _| model.add_listener(load_balancer, protocol, port, rule))
    }

    /// Replaces all attributes of an endpoint.
    ///
    /// # Errors
    /// [`NotFound`], when the endpoint does not exist.
    pub fn set_attributes(
        &self,
        endpoint: &Endpoint,
        attributes: StringMap,
    ) -> Result<(), CloudError<NotFound>> {
        self.call(|model, _| model.set_attributes(endpoint, attributes))
    }

    /// Binds a target, or updates weight and parameters of a bound one. Other targets do not
    /// change.
    ///
    /// # Errors
    /// [`BindError`], when the endpoint does not exist or has too many targets.
    pub fn bind(
        &self,
        endpoint: &Endpoint,
        address: &str,
        target: Target,
    ) -> Result<(), CloudError<BindError>> {
        self.call(|model, _| {
            model.check_targets(endpoint, address)?;
            Ok(model.bind(endpoint, address, target)?)
        })
    }

    /// The targets of an endpoint by address, also those that were bound by hand.
    ///
    /// # Errors
    /// [`NotFound`], when the endpoint does not exist.
    pub fn targets(
        &self,
        endpoint: &Endpoint,
    ) -> Result<BTreeMap<String, Target>, CloudError<NotFound>> {
        self.call(|model, _| model.targets(endpoint))
    }

    /// Unbinds a target, and returns whether it was bound. Other targets do not change.
    ///
    /// # Errors
    /// [`NotFound`], when the endpoint does not exist.
    pub fn unbind(&self, endpoint: &Endpoint, address: &str) -> Result<bool, CloudError<NotFound>> {
        self.call(|model, _| model.unbind(endpoint, address))
    }

    /// What each load balancer has served, by ID; empty without [`Traffic`](crate::Traffic).
    #[must_use]
    pub fn traffic(&self) -> BTreeMap<String, LoadBalancerTraffic> {
        let plane = self.data_plane().clone();
        plane.map(|plane| plane.view()).unwrap_or_default()
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

    /// Changes the data plane, and returns the one before.
    pub(crate) fn set_data_plane(&self, plane: Option<Arc<DataPlane>>) -> Option<Arc<DataPlane>> {
        std::mem::replace(&mut self.data_plane(), plane)
    }

    /// Forgets this data plane.
    pub(crate) fn unset_data_plane(&self, plane: &Arc<DataPlane>) {
        self.data_plane().take_if(|it| Arc::ptr_eq(it, plane));
    }

    /// Makes the data plane what the state declares.
    pub(crate) fn apply_to_data_plane(&self) {
        self.with(|_, _| ());
    }

    fn data_plane(&self) -> MutexGuard<'_, Option<Arc<DataPlane>>> {
        let plane = self.shared.data_plane.lock();
        plane.unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads or changes the state atomically, at one point in time. The data plane has followed
    /// when it returns.
    fn with<R>(&self, operation: impl FnOnce(&mut Model, Duration) -> R) -> R {
        let (mut model, now) = self.model();
        let result = operation(&mut model, now);
        self.follow(&model, now);
        result
    }

    fn read<R>(&self, operation: impl FnOnce(&Model, Duration) -> R) -> R {
        let (model, now) = self.model();
        operation(&model, now)
    }

    /// The model, with the results of what has completed until now.
    fn model(&self) -> (MutexGuard<'_, Model>, Duration) {
        let model = self.shared.model.lock();
        let mut model = model.unwrap_or_else(PoisonError::into_inner);
        let now = self.shared.clock.now();
        if model.advance(now) {
            self.follow(&model, now);
        }
        (model, now)
    }

    /// Stores what the model declares, and has the data plane do it. The model stays locked meanwhile, so
    /// that changes arrive in their order.
    fn follow(&self, model: &Model, now: Duration) {
        if let Some(file) = &mut *self.file() {
            // The problem is shown by `/readyz`, and the next change tries again.
            let _ = file.save(&CloudState::of(model, now));
        }
        if let Some(plane) = &*self.data_plane() {
            plane.apply(&CloudState::of(model, now));
        }
    }
}

#[cfg(test)]
mod tests;
