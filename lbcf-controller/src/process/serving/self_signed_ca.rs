//! A CA of the controller's own, and the server's certificate that it signs. Both are kept in a
//! Secret, and the CA is published in the webhook configurations.
//!
//! A *rotation* runs every two minutes, and when a webhook configuration comes without the CA or loses
//! it. It reads the Secret, writes what has to change, publishes, and serves; in this order, so
//! that nothing is served that is not stored, and another replica finds everything that was published.
//! Where nothing has to change, it only reads. What is published is what the Secret has, never what this
//! replica knows: a replica that continues after a pause may know an old CA.

use super::certificates::{Bundle, Found, Names, SignError, carry_out, decide};
use super::secret::{SecretStore, bundle_of};
use super::webhook_configurations::{ConfigurationName, ConfigurationWatch, PublishError, publish};
use crate::api::ObjectKey;
use crate::process::api_server::{ApiError, ApiServer};
use crate::process::backoff::{Backoff, jitter};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;
use lbcf_serving::tls::ServerTls;
use std::sync::Arc;
use std::time::Duration;

/// One rotation may take this long. It must end long before a new CA signs anything, as a rotation
/// that began earlier does not know that CA.
const ROTATION_TIMEOUT: Duration = Duration::from_secs(120);
/// Writes in one rotation: a CA, a server's certificate, the removal of a CA, and conflicts.
const ATTEMPTS: usize = 8;
/// The delay after a rotation that failed.
const RETRY: Backoff = Backoff {
    min: Duration::from_secs(1),
    step: Duration::from_secs(1),
    max: Duration::from_secs(60),
};

/// The delay before each further rotation for a webhook configuration since the last regular one, as a
/// client that keeps removing the CA must not keep the controller busy.
const REPUBLISH: Backoff = Backoff {
    min: Duration::from_millis(100),
    step: Duration::from_millis(100),
    max: Duration::from_secs(5),
};

#[derive(Debug, thiserror::Error)]
pub(super) enum RotationError {
    #[error("reading Secret {0}: {1}")]
    Read(ObjectKey, #[source] ApiError),
    #[error("writing Secret {0}: {1}")]
    Write(ObjectKey, #[source] ApiError),
    #[error(transparent)]
    Sign(#[from] SignError),
    #[error("publishing the CA certificates: {0}")]
    Publish(#[from] PublishError),
    /// Every write had to be followed by another.
    #[error("Secret {0}: it still has to change after {ATTEMPTS} writes")]
    NeverSettled(ObjectKey),
    #[error("not done within {}s", ROTATION_TIMEOUT.as_secs())]
    Timeout,
}

pub(super) struct SelfSignedCa {
    api: ApiServer,
    secret: SecretStore,
    names: Names,
    configurations: Vec<ConfigurationName>,
    tls: Arc<ServerTls>,
    /// The bundle whose certificate is served.
    held: Option<Bundle>,
    published: Option<Published>,
    /// The CA certificates of the Secret; empty before it was read.
    ca_bundle: String,
    /// True once a rotation has succeeded.
    has_rotated: bool,
}

/// The CA certificates that every rotation of this replica since then found published.
struct Published {
    ca_bundle: String,
    since: Timestamp,
}

impl SelfSignedCa {
    pub(super) fn new(
        api: ApiServer,
        secret: ObjectKey,
        names: Names,
        configurations: Vec<ConfigurationName>,
        tls: Arc<ServerTls>,
    ) -> Self {
        Self {
            secret: SecretStore::new(api.clone(), secret),
            api,
            names,
            configurations,
            tls,
            held: None,
            published: None,
            ca_bundle: String::new(),
            has_rotated: false,
        }
    }

    /// Rotates without end. Calls `report` with whether API servers trust the certificate that is
    /// served, whenever that may have changed.
    pub(super) async fn run(
        mut self,
        interval: Duration,
        clock: fn() -> Timestamp,
        report: impl Fn(Result<(), String>) + Send + Sync,
    ) {
        let mut watch = ConfigurationWatch::start(&self.api.0, &self.configurations);
        let (mut failures, mut republished) = (0, 0);
        loop {
            watch.mark_seen();
            let rotation = tokio::time::timeout(ROTATION_TIMEOUT, self.rotate(clock()));
            let rotated = rotation.await.unwrap_or(Err(RotationError::Timeout));
            let (wait, error) = match rotated {
                Ok(()) => {
                    failures = 0;
                    self.has_rotated = true;
                    (interval.mul_f64(1.0 - 0.2 * jitter()), None)
                }
                Err(error) => {
                    failures += 1;
                    let wait = RETRY.after(failures, jitter());
                    let error = crate::process::text::in_full(&error);
                    tracing::warn!(error, again_in = ?wait, "cannot rotate the certificates");
                    (wait, Some(error))
                }
            };
            // A rotation that succeeded has read all configurations since the last change of the watch, which
            // may be behind.
            let is_read_live = error.is_none() && !watch.has_changed();
            report(match is_read_live {
                true => Ok(()),
                false => self.readiness(&watch, error.as_deref()),
            });
            let next = tokio::time::sleep(wait);
            tokio::select! {
                () = next => republished = 0,
                () = self.until_republished(&mut watch, error.as_deref(), &report) => {
                    if republished > 0 {
                        tokio::time::sleep(REPUBLISH.after(republished, jitter())).await;
                    }
                    republished += 1;
                }
            }
        }
    }

    /// Waits until a webhook configuration has to get the CA certificates.
    async fn until_republished(
        &self,
        watch: &mut ConfigurationWatch,
        error: Option<&str>,
        report: &(impl Fn(Result<(), String>) + Sync),
    ) {
        loop {
            watch.changed().await;
            report(self.readiness(watch, error));
            if watch.known().differ_from(&self.ca_bundle) {
                return;
            }
        }
    }

    /// An error where API servers do not trust the certificate that is served. `error` is that of the last
    /// rotation.
    fn readiness(&self, watch: &ConfigurationWatch, error: Option<&str>) -> Result<(), String> {
        let trusted = if self.has_rotated {
            watch.known().trust(&self.ca_bundle)
        } else {
            Err("the certificates are not stored and published yet".to_owned())
        };
        trusted.map_err(|problem| match error {
            Some(error) => format!(
                "{problem}; the controller tries again: {error} (the permissions that it needs are in deploy/controller/rbac.yaml)"
            ),
            None => format!("{problem}; the controller is about to change that"),
        })
    }

    /// One rotation. The stored certificate is served even where publishing fails: it was stored only
    /// after its CA was published.
    pub(super) async fn rotate(&mut self, now: Timestamp) -> Result<(), RotationError> {
        let (bundle, found) = self.settle(now).await?;
        self.ca_bundle = found.ca_bundle();
        let published = publish(&self.api, &self.configurations, &found.ca_bundle()).await;
        self.note_published(found.ca_bundle(), &published, now);
        if self.held.as_ref() != Some(&bundle) {
            if let Some(certificate) = found.server {
                let until = certificate.validity.end;
                tracing::info!(secret = %self.secret.key, %until, "serving this certificate");
                self.tls.set_certificate(certificate.key);
            }
            self.held = Some(bundle);
        }
        published?;
        Ok(())
    }

    /// Writes the Secret until nothing has to change.
    async fn settle(&self, now: Timestamp) -> Result<(Bundle, Found), RotationError> {
        let key = &self.secret.key;
        let mut stored = self.read().await?;
        for _ in 0..ATTEMPTS {
            let bundle = stored.as_ref().and_then(bundle_of);
            let found = bundle.as_ref().map(Found::read).unwrap_or_default();
            let found = found.or_held(self.held.as_ref());
            let published = self.published_for(&found.ca_bundle(), now);
            let Some(plan) = decide(&found, &self.names, published, now) else {
                return Ok((bundle.unwrap_or_default(), found));
            };
            let next = carry_out(&plan, &found, &self.names, now)?;
            match self.secret.write(stored, &next).await {
                Ok(written) => {
                    let reason = &plan.reason;
                    match &found.problem {
                        None => tracing::info!(secret = %key, reason, "wrote the certificates"),
                        Some(problem) => {
                            tracing::warn!(secret = %key, problem, reason, "repaired the certificates");
                        }
                    }
                    stored = Some(written);
                }
                // Another replica wrote first.
                Err(ApiError::Stale) => stored = self.read().await?,
                Err(error) => return Err(RotationError::Write(key.clone(), error)),
            }
        }
        Err(RotationError::NeverSettled(key.clone()))
    }

    async fn read(&self) -> Result<Option<Secret>, RotationError> {
        let read = self.secret.read().await;
        read.map_err(|error| RotationError::Read(self.secret.key.clone(), error))
    }

    /// The time for which these CA certificates have been published.
    fn published_for(&self, ca_bundle: &str, now: Timestamp) -> Option<SignedDuration> {
        let published = self.published.as_ref()?;
        (published.ca_bundle == ca_bundle).then(|| now.duration_since(published.since))
    }

    fn note_published(
        &mut self,
        ca_bundle: String,
        published: &Result<usize, PublishError>,
        now: Timestamp,
    ) {
        let goes_on = self.published_for(&ca_bundle, now).is_some();
        match published {
            // Nothing removed them since the last rotation.
            Ok(0) if goes_on => {}
            Ok(_) => {
                let since = now;
                self.published = Some(Published { ca_bundle, since });
            }
            Err(_) => self.published = None,
        }
    }
}
