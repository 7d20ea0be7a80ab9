//! Quotas, as providers have them: of resources, and of calls.

use super::Cloud;
use super::amounts::QuotaUse;
use super::endpoint::Endpoint;
use super::error::BindError;
use super::model::Model;
use super::outage::Unavailable;
use std::time::Duration;

const LOAD_BALANCERS: &str = "max-load-balancers";
const BACKENDS: &str = "max-backends";
const CALLS: &str = "max-calls-per-second";

/// How much a cloud allows; nothing is limited by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quotas {
    /// The number of instances, those from the start included.
    pub load_balancers: Option<usize>,
    /// The number of targets of one listener or rule.
    pub backends: Option<usize>,
    /// The number of calls of the cloud's API in a second of its clock.
    pub calls_per_second: Option<u32>,
}

/// Something would exceed a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the quota {name} of {limit} is used up")]
pub struct QuotaExceeded {
    /// The name, which is that of the flag.
    pub name: &'static str,
    /// The limit.
    pub limit: usize,
}

/// The calls in one second.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallRate {
    second: u64,
    calls: u32,
}

impl Cloud {
    /// Sets the quotas. What exists already stays, and [`reset`](Self::reset) keeps them.
    pub fn set_quotas(&self, quotas: Quotas) {
        self.with(|model, _| model.quotas = quotas);
    }
}

impl Model {
    /// Fails if there can be no further instance.
    pub(super) fn check_load_balancers(&self) -> Result<(), QuotaExceeded> {
        check(
            LOAD_BALANCERS,
            self.quotas.load_balancers,
            self.load_balancers.len(),
        )
    }

    /// Fails if the endpoint can have no further target, unless it has this one.
    pub(super) fn check_targets(
        &mut self,
        endpoint: &Endpoint,
        address: &str,
    ) -> Result<(), BindError> {
        let limit = self.quotas.backends;
        let targets = &self.group_mut(endpoint)?.targets;
        if !targets.contains_key(address) {
            check(BACKENDS, limit, targets.len())?;
        }
        Ok(())
    }

    /// Counts a call, and fails if there are too many in this second.
    pub(super) fn check_rate(&mut self, now: Duration) -> Result<(), Unavailable> {
        if self.rate.second != now.as_secs() {
            self.rate = CallRate {
                second: now.as_secs(),
                calls: 0,
            };
        }
        match self.quotas.calls_per_second {
            Some(limit) if self.rate.calls >= limit => Err(Unavailable::throttled(limit)),
            _ => {
                self.rate.calls = self.rate.calls.saturating_add(1);
                Ok(())
            }
        }
    }
}

impl Model {
    /// How much of each quota is used, where the fullest endpoint has so many targets.
    pub(super) fn quota_use(&self, most_targets: usize, now: Duration) -> Vec<QuotaUse> {
        let calls = match self.rate.second == now.as_secs() {
            true => self.rate.calls,
            false => 0,
        };
        let in_usize = |calls| usize::try_from(calls).unwrap_or(usize::MAX);
        let quotas = self.quotas;
        [
            (
                LOAD_BALANCERS,
                self.load_balancers.len(),
                quotas.load_balancers,
            ),
            (BACKENDS, most_targets, quotas.backends),
            (
                CALLS,
                in_usize(calls),
                quotas.calls_per_second.map(in_usize),
            ),
        ]
        .map(|(name, used, limit)| QuotaUse { name, used, limit })
        .into()
    }
}

fn check(name: &'static str, limit: Option<usize>, used: usize) -> Result<(), QuotaExceeded> {
    match limit {
        Some(limit) if used >= limit => Err(QuotaExceeded { name, limit }),
        _ => Ok(()),
    }
}
