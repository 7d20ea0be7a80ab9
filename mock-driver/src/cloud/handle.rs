//! The handle to a cloud: what it starts with, and what it holds.

use super::clock::Clock;
use super::state_file::{self, StateFile};
use crate::faults::FaultTable;
use crate::journal::{CallLog, CallQuery, JournalEntry, WebhookCalls};
use crate::resources::azure::AzureState;
use crate::resources::{CloudState, Endpoint, Model, QuotaUse, Quotas};
use crate::traffic::DataPlane;
use lbcf_driver_sdk::webhook::StringMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A handle to a cloud; clones are handles to the same one.
///
/// The methods that return a [`Result`] are the provider's API, for drivers and for tests. They fail
/// with [`CloudError::Unavailable`](crate::CloudError::Unavailable) during an [outage](Self::set_outage).
#[derive(Debug, Clone)]
pub struct Cloud {
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) model: Mutex<Model>,
    pub(super) clock: Clock,
    start: Start,
    calls: Arc<CallLog>,
    faults: FaultTable,
    /// Locked after the model.
    pub(super) file: Mutex<Option<StateFile>>,
    /// Locked after the model, if both are.
    pub(super) data_plane: Mutex<Option<Arc<DataPlane>>>,
}

/// The resources of a cloud at its start, and again after a reset.
#[derive(Debug, Clone)]
enum Start {
    Empty,
    Samples,
    Azure,
    State(Arc<CloudState>),
}

/// The instances in the sample manifests of the LBCF documents, with their listeners.
const SAMPLES: [(&str, &str); 3] = [
    ("lb-1234", "lbl-2234"),
    ("lb-foo", "lsn-foo"),
    ("lb-bar", "lsn-bar"),
];

impl Start {
    fn model(&self, now: Duration) -> Model {
        let mut model = Model::default();
        match self {
            Self::Empty => {}
            Self::Samples => {
                for (load_balancer, listener) in SAMPLES {
                    model.add_existing(load_balancer, listener, 80);
                }
            }
            Self::Azure => model.azure = Some(AzureState::default()),
            // It was checked when it was read.
            Self::State(state) => return state.model(now).unwrap_or_default(),
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

    /// A cloud with the profile `azure`, whose cluster has three availability sets.
    #[must_use]
    pub fn azure() -> Self {
        Self::new(Start::Azure, Clock::system())
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
        Self::with_model(start.model(clock.now()), start, clock)
    }

    fn with_model(model: Model, start: Start, clock: Clock) -> Self {
        Self {
            shared: Arc::new(Shared {
                model: Mutex::new(model),
                clock,
                start,
                calls: Arc::default(),
                faults: FaultTable::default(),
                file: Mutex::default(),
                data_plane: Mutex::default(),
            }),
        }
    }

    /// Restores the initial state, with the ID counters and the fault rules of the start, clears the
    /// journal, and ends an outage and the requests that the mock sends. The counters of webhook calls keep their values.
    pub fn reset(&self) {
        self.with(|model, now| {
            model.replace(self.shared.start.model(now));
            model.outage = false;
        });
        self.shared.calls.clear();
        self.shared.faults.reset();
        if let Some(plane) = &*self.data_plane() {
            plane.set_load(0);
        }
    }

    /// An independent copy of this cloud: changes of it do not change this one.
    #[must_use]
    pub fn snapshot(&self) -> Self {
        let shared = &self.shared;
        let copy = self.read(|model, _| model.clone());
        Self::with_model(copy, shared.start.clone(), shared.clock.clone())
    }

    /// The cloud, or for a dry run a copy: the reply is the same, and nothing changes.
    pub(crate) fn for_call(&self, dry_run: bool) -> Self {
        match dry_run {
            true => self.snapshot(),
            false => self.clone(),
        }
    }

    /// True for a cloud with the profile `azure`.
    #[must_use]
    pub fn is_azure(&self) -> bool {
        self.read(|model, _| model.azure.is_some())
    }

    /// Starts or ends an outage. During one, every call of the API fails with
    /// [`Unavailable`](crate::Unavailable); [`observe`](Self::observe) and [`state`](Self::state) keep
    /// working. [`reset`](Self::reset) ends it.
    ///
    /// ```
    /// use mock_driver::{Cloud, CloudError, Endpoint};
    ///
    /// let cloud = Cloud::with_samples();
    /// let endpoint = Endpoint {
    ///     load_balancer: "lb-1234".into(),
    ///     listener: "lbl-2234".into(),
    ///     domain: None,
    ///     url: None,
    /// };
    /// cloud.set_outage(true);
    /// assert!(matches!(cloud.find(&endpoint), Err(CloudError::Unavailable(_))));
    /// cloud.set_outage(false);
    /// assert_eq!(cloud.find(&endpoint), Ok(()));
    /// ```
    pub fn set_outage(&self, on: bool) {
        self.with(|model, _| model.outage = on);
    }

    /// True during an [outage](Self::set_outage).
    #[must_use]
    pub fn has_outage(&self) -> bool {
        self.read(|model, _| model.outage)
    }

    /// Sets the quotas. What exists already stays, and [`reset`](Self::reset) keeps them.
    pub fn set_quotas(&self, quotas: Quotas) {
        self.with(|model, _| model.quotas = quotas);
    }

    pub(crate) fn quota_use(&self) -> [QuotaUse; 3] {
        self.read(Model::quota_use)
    }

    /// Everything that the cloud holds.
    #[must_use]
    pub fn state(&self) -> CloudState {
        self.read(CloudState::of)
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
        let (mut model, _) = self.model();
        Some(model.group_mut(endpoint).ok()?.attributes.clone())
    }

    /// The last webhook calls, oldest first, of all drivers of this cloud.
    #[must_use]
    pub fn journal(&self) -> Vec<JournalEntry> {
        self.shared.calls.entries(&CallQuery::default())
    }

    pub(crate) fn call_log(&self) -> &Arc<CallLog> {
        &self.shared.calls
    }
}
