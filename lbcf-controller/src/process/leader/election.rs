//! Performs the election at the API server.

use super::boot_time::boot_time;
use super::config::{InvalidLeaderElection, LeaderElection, held, new_lease, released};
use super::decide::{ElectionAction, ElectionState, ObservedLease, decide};
use super::guard::LeaseGuard;
use crate::process::text::in_full;
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::api::{Api, PostParams};
use lbcf_serving::duration;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

const RELEASE_PAUSE: Duration = Duration::from_millis(100);

/// The state of this process in the election.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leadership {
    /// This process holds the Lease.
    Leader,
    /// Another process holds it, or none does.
    Follower {
        /// The identity of the leader, if it is known.
        holder: Option<String>,
    },
}

impl Leadership {
    /// Reports whether this process is the leader.
    #[must_use]
    pub const fn is_leader(&self) -> bool {
        matches!(self, Self::Leader)
    }
}

/// This process was the leader and no longer is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("leadership lost: lease {lease}: {why}")]
pub struct LostLease {
    lease: String,
    why: String,
}

impl LostLease {
    /// The election task ended unexpectedly.
    pub(super) fn of_defect(why: String) -> Self {
        let lease = "(unknown)".into();
        Self { lease, why }
    }
}

/// One candidate of the election.
#[derive(Debug)]
pub struct Election {
    api: Api<Lease>,
    config: LeaderElection,
    leadership: watch::Sender<Leadership>,
    guard: LeaseGuard,
    state: ElectionState,
    /// The state that was observed last, whatever happened since.
    last: ObservedLease,
    /// The object that was observed last, with the version that writes are bound to.
    lease: Option<Lease>,
    /// The newest version of the Lease that was observed.
    newest_version: u64,
    /// A write was tried that would make this process the holder.
    may_hold: bool,
    /// The last write was a conflict.
    is_contested: bool,
    /// The failure that was logged last.
    failure: Option<String>,
}

enum Failure {
    /// The Lease changed since it was read.
    Contested,
    Other(String),
}

impl Election {
    /// Creates a candidate, which does nothing until it runs.
    ///
    /// Use a client whose requests do not wait behind others, so that renewals are not delayed.
    ///
    /// # Errors
    /// [`InvalidLeaderElection`], see [`LeaderElection::check`].
    pub fn new(client: Client, config: LeaderElection) -> Result<Self, InvalidLeaderElection> {
        config.check()?;
        let now = Instant::now();
        Ok(Self {
            api: Api::namespaced(client, &config.namespace),
            guard: LeaseGuard::new(config.renew_deadline),
            config,
            leadership: watch::Sender::new(Leadership::Follower { holder: None }),
            state: ElectionState {
                observed: ObservedLease::Unknown,
                read_at: now,
                changed_at: now,
                renewed_at: None,
                retry_at: None,
                is_restored: false,
            },
            last: ObservedLease::Unknown,
            lease: None,
            newest_version: 0,
            may_hold: false,
            is_contested: false,
            failure: None,
        })
    }

    pub(super) fn with_guard(self, guard: LeaseGuard) -> Self {
        Self { guard, ..self }
    }

    /// The current leadership and its changes, until the election ends.
    #[must_use]
    pub fn leadership(&self) -> watch::Receiver<Leadership> {
        self.leadership.subscribe()
    }

    /// Runs until `stop` completes, then releases the Lease, so that the next leader need not wait.
    /// If the future is dropped, the Lease expires instead.
    ///
    /// # Errors
    /// [`LostLease`], as soon as this process must stop leading.
    pub async fn run(mut self, stop: impl Future<Output = ()> + Send) -> Result<(), LostLease> {
        let mut stop = pin!(stop);
        let guard = self.guard.clone();
        loop {
            let next = if guard.has_ended() {
                ElectionAction::StepDown
            } else {
                decide(&self.state, &self.config, Instant::now())
            };
            if next == ElectionAction::StepDown {
                guard.end();
                let holder = self.holder();
                let why = self.loss_reason();
                self.publish(Leadership::Follower { holder });
                let lease = self.lease_name();
                return Err(LostLease { lease, why });
            }
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = guard.ended() => {}
                () = self.perform(next) => {}
            }
        }
        guard.end();
        self.release().await;
        self.publish(Leadership::Follower { holder: None });
        Ok(())
    }

    async fn perform(&mut self, next: ElectionAction) {
        let began = Instant::now();
        let done = match next {
            ElectionAction::Read => self.read().await,
            ElectionAction::Acquire | ElectionAction::Renew => self.write().await,
            ElectionAction::Wait(until) => {
                sleep_until(until).await;
                Ok(())
            }
            ElectionAction::StepDown => Ok(()),
        };
        let Err(failure) = done else { return };
        self.state.observed = ObservedLease::Unknown;
        let retry_at = began + self.config.retry_period;
        match failure {
            // After the first conflict it is enough to read again.
            Failure::Contested if !self.is_contested => self.is_contested = true,
            Failure::Contested => self.state.retry_at = Some(retry_at),
            Failure::Other(error) => {
                self.state.retry_at = Some(retry_at);
                let lease = self.lease_name();
                if self.failure.as_ref() == Some(&error) {
                    tracing::debug!(lease, error, "leader election still fails; retrying");
                } else {
                    tracing::warn!(lease, error, "leader election failed; retrying");
                    self.failure = Some(error);
                }
            }
        }
    }

    async fn read(&mut self) -> Result<(), Failure> {
        let asked_at = Instant::now();
        let lease = self
            .within(self.api.get_opt(&self.config.name))
            .await?
            .map_err(|error| Failure::Other(in_full(&error)))?;
        self.observe(lease, asked_at);
        Ok(())
    }

    async fn write(&mut self) -> Result<(), Failure> {
        self.may_hold = true;
        let (sent_at, sent_at_boot_time) = (Instant::now(), boot_time());
        let params = PostParams::default();
        let old = self.lease.as_ref().and_then(|lease| lease.spec.as_ref());
        let spec = held(old, &self.config, Timestamp::now());
        let written = match &self.lease {
            Some(lease) => {
                // With the resourceVersion that was read, so that only one writer succeeds.
                let lease = Lease {
                    metadata: lease.metadata.clone(),
                    spec: Some(spec),
                };
                self.within(self.api.replace(&self.config.name, &params, &lease))
                    .await?
            }
            None => {
                let lease = new_lease(&self.config, spec);
                self.within(self.api.create(&params, &lease)).await?
            }
        };
        let is_new = self.lease.is_none();
        match written {
            Ok(lease) => {
                self.observe(Some(lease), sent_at);
                self.state.renewed_at = Some(sent_at);
                self.guard.renewed(sent_at_boot_time);
                self.is_contested = false;
                self.publish(Leadership::Leader);
                Ok(())
            }
            Err(kube::Error::Api(status))
                if status.is_conflict()
                    || status.is_already_exists()
                    || (status.is_not_found() && !is_new) =>
            {
                Err(Failure::Contested)
            }
            Err(error) => Err(Failure::Other(in_full(&error))),
        }
    }

    /// Records the Lease as the API server returned it.
    fn observe(&mut self, lease: Option<Lease>, asked_at: Instant) {
        let seen = match &lease {
            None => ObservedLease::Absent,
            Some(lease) => ObservedLease::Present(lease.spec.clone().unwrap_or_default()),
        };
        if seen != self.last {
            self.last = seen.clone();
            // Not `asked_at`: the change may have happened after that.
            self.state.changed_at = Instant::now();
        }
        let version = lease.as_ref().map_or(self.newest_version, version_of);
        // Reads and writes are answered in order by what is stored, never by a cache.
        self.state.is_restored |= self.state.renewed_at.is_some() && version < self.newest_version;
        self.newest_version = version;
        self.lease = lease;
        self.state.observed = seen;
        self.state.read_at = asked_at;
        self.state.retry_at = None;
        self.failure = None;
        if self.state.renewed_at.is_none() {
            let holder = self.holder();
            self.publish(Leadership::Follower { holder });
        }
    }

    /// Limits a request so that it cannot make this process miss its renew deadline.
    async fn within<T>(&self, call: impl Future<Output = T> + Send) -> Result<T, Failure> {
        let now = Instant::now();
        let until = now + self.config.call_timeout();
        let deadline = self
            .state
            .renewed_at
            .map(|at| at + self.config.renew_deadline);
        let until = deadline.map_or(until, |deadline| until.min(deadline));
        timeout_at(until, call).await.map_err(|_| {
            let waited = duration::display(until.duration_since(now));
            Failure::Other(format!("the API server did not respond within {waited}"))
        })
    }

    async fn release(&self) {
        if !self.may_hold {
            return;
        }
        let mut failure = None;
        let release = async {
            loop {
                match self.try_release().await {
                    Ok(released) => return released,
                    Err(error) => failure = Some(in_full(&error)),
                }
                sleep(RELEASE_PAUSE).await;
            }
        };
        let lease = self.lease_name();
        match timeout(self.config.call_timeout(), release).await {
            Ok(true) => tracing::info!(lease, "released the lease"),
            Ok(false) => {}
            Err(_) => {
                tracing::warn!(
                    lease,
                    error = failure,
                    "could not release the lease; it expires instead"
                );
            }
        }
    }

    async fn try_release(&self) -> kube::Result<bool> {
        let Some(mut lease) = self.api.get_opt(&self.config.name).await? else {
            return Ok(false);
        };
        let Some(spec) = &lease.spec else {
            return Ok(false);
        };
        if spec.holder_identity.as_deref() != Some(&self.config.identity) {
            return Ok(false);
        }
        lease.spec = Some(released(spec, Timestamp::now()));
        self.api
            .replace(&self.config.name, &PostParams::default(), &lease)
            .await?;
        Ok(true)
    }

    fn publish(&self, leadership: Leadership) {
        let lease = self.lease_name();
        self.leadership.send_if_modified(|current| {
            if *current == leadership {
                return false;
            }
            match &leadership {
                Leadership::Leader => tracing::info!(lease, "this process is the leader"),
                Leadership::Follower {
                    holder: Some(holder),
                } => {
                    tracing::info!(lease, holder, "another process is the leader");
                }
                Leadership::Follower { holder: None } => {}
            }
            *current = leadership;
            true
        });
    }

    /// The other process that held the Lease when it was last observed.
    fn holder(&self) -> Option<String> {
        let ObservedLease::Present(lease) = &self.last else {
            return None;
        };
        lease
            .holder_identity
            .clone()
            .filter(|holder| !holder.is_empty() && *holder != self.config.identity)
    }

    fn loss_reason(&self) -> String {
        if let Some(holder) = self.holder() {
            return format!("{holder} holds the lease");
        }
        if self.state.is_restored {
            return "it is back at an earlier version: the cluster was restored".to_owned();
        }
        let deadline = duration::display(self.config.renew_deadline);
        match &self.failure {
            Some(error) => format!("not renewed within {deadline}: {error}"),
            None => format!("not renewed within {deadline}"),
        }
    }

    fn lease_name(&self) -> String {
        format!("{}/{}", self.config.namespace, self.config.name)
    }
}

/// The version of an object; 0 if the API server's is not a number.
fn version_of(lease: &Lease) -> u64 {
    let version = lease.metadata.resource_version.as_deref();
    version
        .and_then(|version| version.parse().ok())
        .unwrap_or_default()
}
