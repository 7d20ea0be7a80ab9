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
mod quota;
mod state;

pub use clock::Clock;
pub use creation::{Creation, CreationPace, CreationStage, NewLoadBalancer};
pub use endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, Rule};
pub use error::{AddListenerError, BindError, CreateError, NotFound};
pub use model::Target;
pub use observe::{Observation, ObservedBackend, ObservedLoadBalancer};
pub use outage::{CloudError, Unavailable};
pub use quota::{QuotaExceeded, Quotas};
pub use state::{
    CloudState, ListenerState, LoadBalancerState, RuleState, TargetGroupState, TargetState,
};

use crate::WebhookCalls;
use crate::faults::FaultTable;
use crate::journal::CallLog;
use lbcf_driver_sdk::webhook::StringMap;
use model::Model;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
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
}

#[derive(Debug, Clone, Copy)]
enum Start {
    Empty,
    Samples,
}

impl Start {
    /// The instances in the sample manifests of the LBCF documents, with their listeners.
    const SAMPLES: [(&'static str, &'static str); 3] = [
        ("lb-1234", "lbl-2234"),
        ("lb-foo", "lsn-foo"),
        ("lb-bar", "lsn-bar"),
    ];

    fn model(self) -> Model {
        let mut model = Model::default();
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

    /// A new cloud with the initial state of this one and another clock.
    #[must_use]
    pub fn with_clock(&self, clock: Clock) -> Self {
        Self::new(self.shared.start, clock)
    }

    fn new(start: Start, clock: Clock) -> Self {
        Self {
            shared: Arc::new(Shared {
                model: Mutex::new(start.model()),
                clock,
                start,
                calls: CallLog::default(),
                faults: FaultTable::default(),
            }),
        }
    }

    /// Restores the initial state, with the ID counters and the fault rules of the start, clears the
    /// journal and ends an outage. The counters of webhook calls keep their values.
    pub fn reset(&self) {
        self.with(|model, _| {
            let quotas = model.quotas;
            *model = self.shared.start.model();
            model.quotas = quotas;
        });
        self.shared.calls.clear();
        self.shared.faults.reset();
    }

    /// An independent copy of this cloud: changes of it do not change this one.
    #[must_use]
    pub fn snapshot(&self) -> Self {
        let copy = self.with(|model, _| model.clone());
        Self {
            shared: Arc::new(Shared {
                model: Mutex::new(copy),
                clock: self.shared.clock.clone(),
                start: self.shared.start,
                calls: CallLog::default(),
                faults: FaultTable::default(),
            }),
        }
    }

    /// Everything that the cloud holds.
    #[must_use]
    pub fn state(&self) -> CloudState {
        self.with(|model, now| CloudState::of(model, now))
    }

    /// The cloud as LBCF sees it.
    #[must_use]
    pub fn observe(&self) -> Observation {
        self.with(|model, _| Observation::of(model))
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

    /// Reads or changes the state atomically, at one point in time.
    fn with<R>(&self, operation: impl FnOnce(&mut Model, Duration) -> R) -> R {
        let mut model = self
            .shared
            .model
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let now = self.shared.clock.now();
        model.advance(now);
        operation(&mut model, now)
    }
}

#[cfg(test)]
mod tests;
