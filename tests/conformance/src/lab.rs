//! What a check works with: calls to the driver, load balancers and backends of its own, a look
//! into the cloud. Whatever is called is recorded, and whatever is made is in the ledger.

mod acting;
mod answer;
mod backend;
mod call;
mod given;
mod kinds;
mod load_balancer;
mod looking;
mod other;
mod polling;
mod repeating;
pub(crate) mod sources;
mod unchanged;

pub(crate) use answer::{Answer, Status, in_any_case};
pub(crate) use backend::{Backend, Source, validate_backend, validate_backend_update};
pub(crate) use call::Call;
pub(crate) use load_balancer::LoadBalancer;
pub(crate) use other::healthz;

use crate::check::{Check, Feature};
use crate::exchange::{Exchange, Kind, NoAnswer};
use crate::fixture::Fixture;
use crate::record::About;
use crate::run::Run;
use crate::transport::{Request, Transport};
use crate::verdict::NotPassed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// What a check works with.
#[derive(Debug)]
pub struct Lab {
    run: Arc<Run>,
    check: &'static Check,
    /// The place of the check among all.
    place: u8,
    random: Mutex<fastrand::Rng>,
    /// How many names were given away.
    names: std::sync::atomic::AtomicU32,
    /// What a pass does not show.
    notes: Mutex<Vec<String>>,
}

impl Lab {
    pub(crate) fn new(run: Arc<Run>, check: &'static Check, place: u8) -> Self {
        let random = Mutex::new(run.random(check.id));
        Self {
            run,
            check,
            place,
            random,
            names: std::sync::atomic::AtomicU32::new(0),
            notes: Mutex::default(),
        }
    }

    /// What is known of the driver.
    pub(crate) fn fixture(&self) -> &Fixture {
        &self.run.fixture
    }

    /// Whether the fixture declares a feature.
    pub(crate) fn has(&self, feature: Feature) -> bool {
        self.run.features.contains(&feature)
    }

    /// Whether what a check of the basis is about can be had.
    ///
    /// # Errors
    /// [`NotPassed::Blocked`], when that check was made and did not pass.
    pub(crate) fn is_given(&self, basis: &'static str) -> Result<(), NotPassed> {
        self.run.is_given(basis)
    }

    /// How often "repeated" is: 10 by default.
    pub(crate) fn repeats(&self) -> usize {
        self.run.settings.repeat
    }

    /// How many calls "side by side" is: 50 by default.
    pub(crate) fn concurrency(&self) -> usize {
        self.run.settings.concurrency
    }

    /// The way to the driver, for what is no webhook call. What goes over it is neither recorded
    /// nor in the ledger: see [`Self::exchange`].
    pub(crate) fn transport(&self) -> &Transport {
        &self.run.transport
    }

    /// Everything that was asked and answered in the run so far.
    pub(crate) fn record(&self) -> Vec<Arc<Exchange>> {
        self.run.record.all()
    }

    /// How long a webhook's call may take.
    pub(crate) fn timeout(&self, webhook: &str) -> Duration {
        self.run.timeout(webhook)
    }

    /// A number from the seed.
    pub(crate) fn random(&self, range: std::ops::Range<u64>) -> u64 {
        self.rng().u64(range)
    }

    /// A uid from the seed.
    pub(crate) fn uid(&self) -> String {
        let mut bytes = [0; 16];
        self.rng().fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes)
            .into_uuid()
            .to_string()
    }

    /// A number that this check did not give away yet, from 0.
    pub(crate) fn next(&self) -> u32 {
        self.names
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }

    /// A name that nothing else has.
    pub(crate) fn unique(&self) -> String {
        let check = self.check.id.to_ascii_lowercase();
        format!("lbcf-conf-{}-{check}-{}", self.run.id, self.next())
    }

    /// Notes what a pass does not show, or what else people may want to know.
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text.into());
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Makes a call and reads the answer.
    pub(crate) async fn call(&self, call: &Call) -> Answer {
        let timeout = self.timeout(call.webhook());
        self.call_within(call, timeout).await
    }

    /// [`Self::call`] within another time.
    pub(crate) async fn call_within(&self, call: &Call, timeout: Duration) -> Answer {
        let request = self.request_of(call);
        self.run
            .call_as(Some(self.check.id), call, &request, timeout)
            .await
    }

    /// Makes a call and hangs up when `linger` has passed since it was sent, whatever the driver
    /// is doing.
    pub(crate) async fn call_and_hang_up(
        &self,
        call: &Call,
        linger: Duration,
    ) -> Result<(), NoAnswer> {
        self.run.ledger.before(self.check.id, call);
        let request = self.request_of(call);
        let began = Instant::now();
        let outcome = self.run.transport.send_and_hang_up(&request, linger).await;
        let shown = Err(outcome.clone().err().unwrap_or(NoAnswer::HungUp));
        let about = (Some(call.webhook()), Kind::Improper, began.elapsed());
        self.recorded(&request, about, shown);
        outcome
    }

    /// Sends another request in a call's place: a broken one, perhaps. Unless it is refused by its
    /// HTTP status, what the call makes is in the ledger.
    pub(crate) async fn call_by(&self, call: &Call, request: &Request, kind: Kind) -> Answer {
        let webhook = Some(call.webhook());
        let answer = Answer::new(self.exchange(request, webhook, kind).await);
        // Not before it is sent: nearly all are refused, and what may have been made is made whole
        // before it can be taken away.
        if !matches!(answer.http_status(), Some(300..600)) {
            self.run.ledger.before(self.check.id, call);
            self.run.ledger.after(call, &answer);
        }
        answer
    }

    /// Sends any request, and records what came of it.
    pub(crate) async fn exchange(
        &self,
        request: &Request,
        webhook: Option<&'static str>,
        kind: Kind,
    ) -> Arc<Exchange> {
        let timeout = self.timeout(webhook.unwrap_or_default());
        self.exchange_within(request, webhook, kind, timeout).await
    }

    /// [`Self::exchange`] within another time.
    pub(crate) async fn exchange_within(
        &self,
        request: &Request,
        webhook: Option<&'static str>,
        kind: Kind,
        timeout: Duration,
    ) -> Arc<Exchange> {
        self.run
            .exchange(Some(self.check.id), request, webhook, kind, timeout)
            .await
    }

    /// Records what came of a request that the check sent by itself.
    pub(crate) fn recorded(
        &self,
        request: &Request,
        about: (Option<&'static str>, Kind, Duration),
        outcome: Result<crate::exchange::Received, NoAnswer>,
    ) -> Arc<Exchange> {
        let (webhook, kind, took) = about;
        let about = About {
            check: Some(self.check.id),
            webhook,
            kind,
            took,
        };
        self.run.recorded(about, request, outcome)
    }

    /// The request of a call, with a retryID of its own.
    pub(crate) fn request_of(&self, call: &Call) -> Request {
        call.request(&self.uid())
    }

    fn rng(&self) -> std::sync::MutexGuard<'_, fastrand::Rng> {
        self.random.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
