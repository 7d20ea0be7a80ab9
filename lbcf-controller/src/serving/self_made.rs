//! Certificates of the controller's own making, kept in a Secret and published to the API servers.
//!
//! Time and again a *round* looks at what is stored, does what has to be done, publishes, and
//! serves; in this order, so that nothing is served that is not stored, and a successor finds all
//! that anybody was told. At rest a round only reads.

use super::api_server::{ApiError, ApiServer};
use super::ca_bundle::{Configurations, PublishError, publish};
use super::certificates::{Bundle, Found, MakeError, Names, carry_out, decide};
use super::reload::CurrentCertificate;
use super::secret::{SecretStore, Stored};
use crate::key::ObjectKey;
use crate::queue::{Backoff, jitter};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// How long one round may take. It has to be over long before a new CA signs anything, as a round
/// that began before knows nothing of that CA.
const ROUND_TIMEOUT: Duration = Duration::from_secs(120);
/// Writes in one round: a CA, a server's certificate, a CA that goes, and lost races.
const ATTEMPTS: usize = 8;
/// When a round comes again that failed.
const RETRY: Backoff = Backoff {
    min: Duration::from_secs(1),
    step: Duration::from_secs(1),
    max: Duration::from_secs(60),
};

/// Why a round failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum RoundError {
    /// The Secret cannot be read.
    #[error("reading Secret {0}: {1}")]
    Read(ObjectKey, #[source] ApiError),
    /// The Secret cannot be written.
    #[error("writing Secret {0}: {1}")]
    Write(ObjectKey, #[source] ApiError),
    /// Certificates cannot be made.
    #[error(transparent)]
    Make(#[from] MakeError),
    /// The CA certificates cannot be published.
    #[error("publishing the CA certificates: {0}")]
    Publish(#[from] PublishError),
    /// Whatever was done, there is more to do.
    #[error("Secret {0}: it changes all the time")]
    NeverSettled(ObjectKey),
    /// It took too long.
    #[error("nothing came of it within {}s", ROUND_TIMEOUT.as_secs())]
    Timeout,
}

/// Certificates of the controller's own making.
#[derive(Debug)]
pub(super) struct SelfMade {
    api: ApiServer,
    secret: SecretStore,
    names: Names,
    configurations: Configurations,
    current: Arc<CurrentCertificate>,
    /// What is served.
    held: Option<Bundle>,
    published: Option<Published>,
}

/// The CA certificates that this replica has seen published without a break.
#[derive(Debug)]
struct Published {
    ca_bundle: String,
    since: Timestamp,
}

impl SelfMade {
    pub(super) fn new(
        api: ApiServer,
        secret: ObjectKey,
        names: Names,
        configurations: Configurations,
        current: Arc<CurrentCertificate>,
    ) -> Self {
        Self {
            secret: SecretStore::new(api.clone(), secret),
            api,
            names,
            configurations,
            current,
            held: None,
            published: None,
        }
    }

    /// Rounds for ever. `done` is called after each that succeeded.
    pub(super) async fn run(
        mut self,
        interval: Duration,
        clock: fn() -> Timestamp,
        mut done: impl FnMut() + Send,
    ) {
        let mut failures = 0;
        loop {
            let round = tokio::time::timeout(ROUND_TIMEOUT, self.round(clock()));
            let wait = match round.await.unwrap_or(Err(RoundError::Timeout)) {
                Ok(()) => {
                    failures = 0;
                    done();
                    interval.mul_f64(1.0 - 0.2 * jitter())
                }
                Err(error) => {
                    failures += 1;
                    let wait = RETRY.after(failures, jitter());
                    tracing::warn!(
                        error = crate::error_text::in_full(&error),
                        again_in = ?wait,
                        "the certificates could not be looked after"
                    );
                    wait
                }
            };
            tokio::time::sleep(wait).await;
        }
    }

    /// One look at everything. What is stored is served even where publishing fails: it was
    /// stored only after what it needs was published.
    pub(super) async fn round(&mut self, now: Timestamp) -> Result<(), RoundError> {
        let (bundle, found) = self.settle(now).await?;
        let published = publish(&self.api, &self.configurations, &found.ca_bundle()).await;
        self.note(found.ca_bundle(), &published, now);
        if self.held.as_ref() != Some(&bundle) {
            if let Some(certificate) = found.server() {
                self.current.replace(certificate);
                let until = certificate.validity().end();
                tracing::info!(secret = %self.secret.key(), %until, "serving this certificate");
            }
            self.held = Some(bundle);
        }
        published?;
        Ok(())
    }

    /// Stores what has to be, until nothing has to.
    async fn settle(&self, now: Timestamp) -> Result<(Bundle, Found), RoundError> {
        let key = self.secret.key();
        let held = self.held.as_ref().map(Found::read);
        let mut stored = self.read().await?;
        for _ in 0..ATTEMPTS {
            let bundle = stored.bundle();
            let mut found = bundle.as_ref().map_or(Found::nothing(), Found::read);
            if let Some(held) = &held {
                found = found.completed_by(held);
            }
            let published = self.published_for(&found.ca_bundle(), now);
            let Some(plan) = decide(&found, &self.names, published, now) else {
                return Ok((bundle.unwrap_or_default(), found));
            };
            let next = carry_out(&plan, &found, &self.names, now)?;
            match self.secret.write(stored, &next).await {
                Ok(written) => {
                    let reason = &plan.reason;
                    if found.problems().is_empty() {
                        tracing::info!(secret = %key, reason, "wrote the certificates");
                    } else {
                        let problems = found.problems().join("; ");
                        tracing::warn!(secret = %key, problems, reason, "repaired the certificates");
                    }
                    stored = written;
                }
                // Another replica was here first.
                Err(ApiError::Stale) => stored = self.read().await?,
                Err(error) => return Err(RoundError::Write(key.clone(), error)),
            }
        }
        Err(RoundError::NeverSettled(key.clone()))
    }

    async fn read(&self) -> Result<Stored, RoundError> {
        let read = self.secret.read().await;
        read.map_err(|error| RoundError::Read(self.secret.key().clone(), error))
    }

    /// How long these CA certificates have been seen published.
    fn published_for(&self, ca_bundle: &str, now: Timestamp) -> Option<SignedDuration> {
        let published = self.published.as_ref()?;
        (published.ca_bundle == ca_bundle).then(|| now.duration_since(published.since))
    }

    fn note(&mut self, ca_bundle: String, published: &Result<usize, PublishError>, now: Timestamp) {
        let goes_on = self.published_for(&ca_bundle, now).is_some();
        match published {
            // Nobody took them away since the last look.
            Ok(0) if goes_on => {}
            Ok(_) => {
                let since = now;
                self.published = Some(Published { ca_bundle, since });
            }
            Err(_) => self.published = None,
        }
    }
}
