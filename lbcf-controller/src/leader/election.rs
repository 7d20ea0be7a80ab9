//! Carrying the election out against the API server.

use super::config::{InvalidLeaderElection, LeaderElection};
use super::decide::{Next, Seen, View, decide};
use super::record::{held, new_lease, released};
use crate::error_text::in_full;
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::api::{Api, PostParams};
use std::fmt;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};

/// How long letting go waits after a failure before it tries again.
const RELEASE_PAUSE: Duration = Duration::from_millis(100);

/// Who leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leadership {
    /// This process does.
    Leader,
    /// Another does, or nobody.
    Follower {
        /// The name of the one that does, as far as it is known.
        holder: Option<String>,
    },
}

impl Leadership {
    /// Whether this process leads.
    #[must_use]
    pub const fn is_leader(&self) -> bool {
        matches!(self, Self::Leader)
    }
}

/// This process led, and may do so no more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the lead is lost: lease {lease}: {why}")]
pub struct LostLease {
    lease: String,
    why: String,
}

impl LostLease {
    /// The election itself broke.
    pub(super) fn of_defect(why: String) -> Self {
        let lease = "(unknown)".into();
        Self { lease, why }
    }
}

/// One process's part in the election.
pub struct Election {
    api: Api<Lease>,
    config: LeaderElection,
    leadership: watch::Sender<Leadership>,
    view: View,
    /// What `view` saw before the Lease had to be read anew.
    last: Seen,
    /// The object that `view` speaks of, with the version that writes are bound to.
    lease: Option<Lease>,
    /// Whether a write was tried that made this the holder.
    may_hold: bool,
    /// Whether the last write met another's.
    is_contested: bool,
    /// The failure that was told last.
    failure: Option<String>,
}

impl fmt::Debug for Election {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Election")
            .field("config", &self.config)
            .field("view", &self.view)
            .finish_non_exhaustive()
    }
}

/// A call to the API server that brought nothing.
enum Failure {
    /// The Lease changed since it was read.
    Contested,
    /// Anything else.
    Other(String),
}

impl Election {
    /// A candidate. It does nothing until it runs.
    ///
    /// The client had better be one that does not make renewals wait behind other requests.
    ///
    /// # Errors
    /// [`InvalidLeaderElection`], see [`LeaderElection::check`].
    pub fn new(client: Client, config: LeaderElection) -> Result<Self, InvalidLeaderElection> {
        config.check()?;
        let now = Instant::now();
        Ok(Self {
            api: Api::namespaced(client, &config.namespace),
            config,
            leadership: watch::Sender::new(Leadership::Follower { holder: None }),
            view: View {
                seen: Seen::Unknown,
                read_at: now,
                changed_at: now,
                renewed_at: None,
                retry_at: None,
            },
            last: Seen::Unknown,
            lease: None,
            may_hold: false,
            is_contested: false,
            failure: None,
        })
    }

    /// Who leads, now and from now on. It ends when the election does.
    #[must_use]
    pub fn leadership(&self) -> watch::Receiver<Leadership> {
        self.leadership.subscribe()
    }

    /// Takes part until `stop` is done; then it lets the Lease go, so that the next one need not
    /// wait. Dropping the future leaves the Lease to run out.
    ///
    /// # Errors
    /// [`LostLease`], as soon as this process may lead no more.
    pub async fn run(mut self, stop: impl Future<Output = ()> + Send) -> Result<(), LostLease> {
        let mut stop = pin!(stop);
        loop {
            let next = decide(&self.view, &self.config, Instant::now());
            if next == Next::StepDown {
                let holder = self.holder();
                let why = self.why_lost();
                self.tell(Leadership::Follower { holder });
                let lease = self.lease_name();
                return Err(LostLease { lease, why });
            }
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = self.take(next) => {}
            }
        }
        self.release().await;
        self.tell(Leadership::Follower { holder: None });
        Ok(())
    }

    async fn take(&mut self, next: Next) {
        let began = Instant::now();
        let done = match next {
            Next::Read => self.read().await,
            Next::Acquire | Next::Renew => self.write().await,
            Next::Wait(until) => {
                sleep_until(until).await;
                Ok(())
            }
            Next::StepDown => Ok(()),
        };
        let Err(failure) = done else { return };
        self.view.seen = Seen::Unknown;
        let retry_at = began + self.config.retry_period;
        match failure {
            // The first time somebody was faster, it is enough to look again.
            Failure::Contested if !self.is_contested => self.is_contested = true,
            Failure::Contested => self.view.retry_at = Some(retry_at),
            Failure::Other(error) => {
                self.view.retry_at = Some(retry_at);
                let lease = self.lease_name();
                if self.failure.as_ref() == Some(&error) {
                    tracing::debug!(lease, error, "the election still fails; trying again");
                } else {
                    tracing::warn!(lease, error, "the election fails; trying again");
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
        self.learn(lease, asked_at);
        Ok(())
    }

    async fn write(&mut self) -> Result<(), Failure> {
        self.may_hold = true;
        let sent_at = Instant::now();
        let params = PostParams::default();
        let old = self.lease.as_ref().and_then(|lease| lease.spec.as_ref());
        let spec = held(old, &self.config, Timestamp::now());
        let written = match &self.lease {
            Some(lease) => {
                // With the version that was read: whoever was faster wins.
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
                self.learn(Some(lease), sent_at);
                self.view.renewed_at = Some(sent_at);
                self.is_contested = false;
                self.tell(Leadership::Leader);
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

    /// Takes in the Lease as the API server has it.
    fn learn(&mut self, lease: Option<Lease>, asked_at: Instant) {
        let seen = match &lease {
            None => Seen::Absent,
            Some(lease) => Seen::Present(lease.spec.clone().unwrap_or_default()),
        };
        if seen != self.last {
            self.last = seen.clone();
            // Not `asked_at`: it may have changed only after that.
            self.view.changed_at = Instant::now();
        }
        self.lease = lease;
        self.view.seen = seen;
        self.view.read_at = asked_at;
        self.view.retry_at = None;
        self.failure = None;
        if self.view.renewed_at.is_none() {
            let holder = self.holder();
            self.tell(Leadership::Follower { holder });
        }
    }

    /// Waits for an answer, but not so long that it could make this process miss its deadline.
    async fn within<T>(&self, call: impl Future<Output = T> + Send) -> Result<T, Failure> {
        let now = Instant::now();
        let until = now + self.config.call_timeout();
        let until = match self.view.renewed_at {
            Some(renewed_at) => until.min(renewed_at + self.config.renew_deadline),
            None => until,
        };
        timeout_at(until, call).await.map_err(|_| {
            let waited = crate::go_duration::display(until.duration_since(now));
            Failure::Other(format!("the API server did not answer within {waited}"))
        })
    }

    /// Lets the Lease go, if it is ours.
    async fn release(&self) {
        if !self.may_hold {
            return;
        }
        let mut failure = None;
        let let_go = async {
            loop {
                match self.try_release().await {
                    Ok(was_ours) => return was_ours,
                    Err(error) => failure = Some(in_full(&error)),
                }
                sleep(RELEASE_PAUSE).await;
            }
        };
        let lease = self.lease_name();
        match timeout(self.config.call_timeout(), let_go).await {
            Ok(true) => tracing::info!(lease, "the lease is free for the next"),
            Ok(false) => {}
            Err(_) => {
                tracing::warn!(
                    lease,
                    error = failure,
                    "the lease was not let go; it runs out"
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

    fn tell(&self, leadership: Leadership) {
        let lease = self.lease_name();
        self.leadership.send_if_modified(|told| {
            if *told == leadership {
                return false;
            }
            match &leadership {
                Leadership::Leader => tracing::info!(lease, "this process leads"),
                Leadership::Follower {
                    holder: Some(holder),
                } => {
                    tracing::info!(lease, holder, "another process leads");
                }
                Leadership::Follower { holder: None } => {}
            }
            *told = leadership;
            true
        });
    }

    /// The other one that holds the Lease, as it was last seen.
    fn holder(&self) -> Option<String> {
        let Seen::Present(lease) = &self.last else {
            return None;
        };
        lease
            .holder_identity
            .clone()
            .filter(|holder| !holder.is_empty() && *holder != self.config.identity)
    }

    fn why_lost(&self) -> String {
        match (self.holder(), &self.failure) {
            (Some(holder), _) => format!("{holder} holds it"),
            (None, Some(error)) => format!(
                "not renewed within {}: {error}",
                crate::go_duration::display(self.config.renew_deadline)
            ),
            (None, None) => format!(
                "not renewed within {}",
                crate::go_duration::display(self.config.renew_deadline)
            ),
        }
    }

    fn lease_name(&self) -> String {
        format!("{}/{}", self.config.namespace, self.config.name)
    }
}
