//! The cloud: CLB instances, their listeners, forward rules and targets, in memory. It stands in
//! for a provider's API, and like one it outlives the drivers that talk to it.

mod by_hand;
mod clock;
mod creation;
mod endpoint;
mod error;
mod ids;
mod model;
mod observe;
mod outage;
mod state;
mod twice;

pub use clock::Clock;
pub use creation::{Creation, NewLoadBalancer, Stage};
pub use endpoint::{Endpoint, ListenerProtocol, LoadBalancerType, NoneOf, Rule};
pub use error::{AddListenerError, CreateError, NotFound};
pub use model::Target;
pub use observe::{Observation, ObservedBackend, ObservedLoadBalancer};
pub use outage::{CloudError, Unavailable};
pub use state::{
    CloudState, ListenerState, LoadBalancerState, RuleState, TargetGroupState, TargetState,
};

use crate::WebhookCalls;
use crate::journal::CallLog;
use creation::Origin;
use lbcf_driver_sdk::webhook::StringMap;
use model::Model;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A handle to a cloud; clones are handles to the same one.
///
/// The methods that can fail are the provider's API. A driver uses them, and so may a test that
/// plays somebody who changes things in the provider's console. Each of them is answered with
/// [`CloudError::Unavailable`] during an [outage](Self::set_outage).
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
}

/// What the cloud holds at first.
#[derive(Debug, Clone, Copy)]
enum Start {
    Empty,
    Samples,
}

impl Start {
    /// The instances that the LBCF documents' sample manifests name.
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
    /// A cloud with nothing in it.
    #[must_use]
    pub fn empty() -> Self {
        Self::new(Start::Empty, Clock::system())
    }

    /// A cloud with the instances that the LBCF documents' samples name: `lb-1234` with listener
    /// `lbl-2234`, `lb-foo` with `lsn-foo` and `lb-bar` with `lsn-bar`, all TCP on port 80.
    #[must_use]
    pub fn with_samples() -> Self {
        Self::new(Start::Samples, Clock::system())
    }

    /// A cloud that starts like this one, by another clock.
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
            }),
        }
    }

    /// Puts everything back to the start: resources, names, and the journal of calls; an outage is
    /// over. The counters of calls go on.
    pub fn reset(&self) {
        self.with(|model, _| *model = self.shared.start.model());
        self.shared.calls.clear();
    }

    /// A copy of this cloud to try something in: what is done there changes nothing here.
    #[must_use]
    pub fn rehearsal(&self) -> Self {
        let copy = self.with(|model, _| model.clone());
        Self {
            shared: Arc::new(Shared {
                model: Mutex::new(copy),
                clock: self.shared.clock.clone(),
                start: self.shared.start,
                calls: CallLog::default(),
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

    /// How often each webhook was called by now, by whichever driver of this cloud.
    #[must_use]
    pub fn calls(&self) -> WebhookCalls {
        self.shared.calls.snapshot()
    }

    pub(crate) fn call_log(&self) -> &CallLog {
        &self.shared.calls
    }

    /// Does this endpoint exist?
    ///
    /// # Errors
    /// [`NotFound`] when it does not.
    pub fn find(&self, endpoint: &Endpoint) -> Result<(), CloudError<NotFound>> {
        self.call(|model, _| model.group_mut(endpoint).map(drop))
    }

    /// Creates an instance with a listener, and for HTTP(S) a forward rule, each in a stage that
    /// takes as long as `pace`. The client token makes the call repeatable: the same token stands
    /// for the same instance for as long as that exists. Attributes are those of the last call.
    ///
    /// # Errors
    /// [`CreateError`], when the token is empty or has made something else.
    pub fn create(
        &self,
        client_token: &str,
        wanted: NewLoadBalancer,
        attributes: StringMap,
        pace: Duration,
    ) -> Result<Creation, CloudError<CreateError>> {
        self.call(|model, now| model.create(client_token, wanted, attributes, pace, now))
    }

    /// Tags an existing endpoint as used by LBCF under the identity `known_as`, and gives it the
    /// attributes.
    ///
    /// # Errors
    /// [`CreateError`], when it does not exist or the token has made something else.
    pub fn take_into_use(
        &self,
        client_token: &str,
        endpoint: &Endpoint,
        known_as: &StringMap,
        attributes: StringMap,
    ) -> Result<(), CloudError<CreateError>> {
        self.call(|model, _| model.take_into_use(client_token, endpoint, known_as, attributes))
    }

    /// Ends LBCF's use of an endpoint. An instance that [`create`](Self::create) made is deleted
    /// with all that belongs to it, bound targets too, unless another client token took it into
    /// use and has not ended that; one that was there before stays as it is.
    ///
    /// # Errors
    /// [`NotFound`], when there is no such endpoint.
    pub fn release(
        &self,
        client_token: &str,
        endpoint: &Endpoint,
        known_as: &StringMap,
    ) -> Result<(), CloudError<NotFound>> {
        self.call(|model, _| model.release(client_token, endpoint, known_as))
    }

    /// Takes back the creation with this client token, if nobody was told that it is done. Gives
    /// the name of the instance that went.
    ///
    /// # Errors
    /// [`Unavailable`], during an outage.
    pub fn cancel_by_token(&self, client_token: &str) -> Result<Option<String>, Unavailable> {
        self.cancel(&|_, origin| origin.token == client_token)
    }

    /// [`cancel_by_token`](Self::cancel_by_token) for one that is known by its instance's name.
    ///
    /// # Errors
    /// [`Unavailable`], during an outage.
    pub fn cancel_by_id(&self, load_balancer: &str) -> Result<Option<String>, Unavailable> {
        self.cancel(&|id, _| id == load_balancer)
    }

    fn cancel(&self, which: &dyn Fn(&str, &Origin) -> bool) -> Result<Option<String>, Unavailable> {
        self.with(|model, _| {
            model.reachable()?;
            Ok(model.cancel(which))
        })
    }

    /// Adds a listener to an instance, and for HTTP(S) a rule, as somebody does by hand.
    ///
    /// # Errors
    /// [`AddListenerError`], when the port is taken or there is no such instance.
    pub fn add_listener(
        &self,
        load_balancer: &str,
        protocol: ListenerProtocol,
        port: u16,
        rule: Option<Rule>,
    ) -> Result<Endpoint, CloudError<AddListenerError>> {
        self.call(|model, _| model.add_listener(load_balancer, protocol, port, rule))
    }

    /// Replaces an endpoint's attributes.
    ///
    /// # Errors
    /// [`NotFound`], when there is no such endpoint.
    pub fn set_attributes(
        &self,
        endpoint: &Endpoint,
        attributes: StringMap,
    ) -> Result<(), CloudError<NotFound>> {
        self.call(|model, _| model.set_attributes(endpoint, attributes))
    }

    /// Binds a target, or brings a bound one to this weight and these parameters. Other targets
    /// are not touched.
    ///
    /// # Errors
    /// [`NotFound`], when there is no such endpoint.
    pub fn bind(
        &self,
        endpoint: &Endpoint,
        address: &str,
        target: Target,
    ) -> Result<(), CloudError<NotFound>> {
        self.call(|model, _| model.bind(endpoint, address, target))
    }

    /// Unbinds a target, and says whether it was bound. Other targets are not touched.
    ///
    /// # Errors
    /// [`NotFound`], when there is no such endpoint.
    pub fn unbind(&self, endpoint: &Endpoint, address: &str) -> Result<bool, CloudError<NotFound>> {
        self.call(|model, _| model.unbind(endpoint, address))
    }

    /// One look or one change: whoever comes next sees all of it, and the time is the same
    /// throughout.
    fn with<R>(&self, work: impl FnOnce(&mut Model, Duration) -> R) -> R {
        let mut model = self
            .shared
            .model
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let now = self.shared.clock.now();
        model.advance(now);
        work(&mut model, now)
    }
}

#[cfg(test)]
mod tests;
