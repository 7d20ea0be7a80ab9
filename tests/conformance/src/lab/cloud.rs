//! The state of the driver's cloud, as the observer shows it, or else of one load balancer's backends as listBackends
//! does. Without both nothing is verified.

use super::Lab;
use crate::call::{Backend, LoadBalancer};
use crate::observer::{Observation, ObservedBackend, ObservedLoadBalancer};
use crate::outcome::{Blame as _, CheckError, CheckOutcome, Failure};
use lbcf_driver_sdk::webhook::StringMap;
use serde::Serialize;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// The time that a load balancer which is one too many may take to go again, as those of others do: where none was seen
/// before, and where some were.
const STRANGER_STAYS: Duration = Duration::from_secs(1);
pub(crate) const STRANGERS_STAY: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(100);

/// Why a load balancer has to be in the cloud.
pub(crate) const CREATED: &str = "since it was created";
pub(crate) const BOUND: &str = "since backends were registered to it";

/// A load balancer in the cloud; `None` without an observer and listBackends.
type Seen = Option<ObservedLoadBalancer>;

impl Lab {
    /// The state of the cloud; `None` without an observer.
    ///
    /// # Errors
    /// [`CheckError::Skipped`], when the observer does not work.
    pub(crate) async fn observe(&self) -> CheckOutcome<Option<Observation>> {
        match &self.run.observer {
            None => Ok(None),
            Some(observer) => match observer.observe().await {
                Ok(seen) => {
                    self.run.strangers().note(&seen);
                    Ok(Some(seen))
                }
                Err(error) => {
                    self.run.observer_failed(self.check, &error);
                    Err(CheckError::Skipped(error.to_string()))
                }
            },
        }
    }

    /// A load balancer in the cloud, if it exists.
    async fn seen(&self, lb_info: &StringMap) -> CheckOutcome<Seen> {
        match self.observe().await? {
            Some(seen) => Ok(seen.load_balancer(lb_info).cloned()),
            None => Ok(self.seen_in_list(lb_info).await),
        }
    }

    /// A load balancer in the cloud; `None` without an observer and listBackends.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when it does not exist, although it should for the reason `since`.
    pub(crate) async fn observed(&self, lb_info: &StringMap, since: &str) -> CheckOutcome<Seen> {
        let seen = self.seen(lb_info).await?;
        if seen.is_none() && self.run.observer.is_some() {
            let got = format!("the observer shows none with lbInfo {}", json(lb_info));
            let expected = format!("the load balancer in the cloud, {since}");
            return Err(Failure::new(expected, got).into());
        }
        Ok(seen)
    }

    /// [`observed`](Self::observed) after its creation.
    ///
    /// # Errors
    /// [`CheckError::Blocked`] by CLB-01, when it does not exist.
    pub(crate) async fn given_observed(&self, lb_info: &StringMap) -> CheckOutcome<Seen> {
        let seen = self.observed(lb_info, CREATED).await;
        seen.blocked_by("CLB-01")
    }

    /// Fails unless exactly `count` load balancers were created since `before`.
    pub(crate) async fn created_since(
        &self,
        before: Option<&Observation>,
        count: usize,
        expected: impl Into<String>,
    ) -> CheckOutcome {
        let (Some(before), Some(mut seen)) = (before, self.observe().await?) else {
            return Ok(());
        };
        let began = Instant::now();
        let strangers = || self.run.strangers().were_seen();
        while seen.since(before).len() > count
            && began.elapsed()
                < if strangers() {
                    STRANGERS_STAY
                } else {
                    STRANGER_STAYS
                }
        {
            tokio::time::sleep(PAUSE).await;
            let now = self.observe().await?.unwrap_or_default();
            // One of the kit's own had to be right at once.
            let strangers = self.run.strangers();
            let is_left = |lb_info: &StringMap| {
                now.load_balancer(lb_info).is_some() || !strangers.is_unnamed(lb_info)
            };
            seen.load_balancers.retain(|it| is_left(&it.lb_info));
        }
        let new = seen.since(before);
        let names: Vec<String> = new.iter().map(|new| json(&new.lb_info)).collect();
        let got = format!("{} new, with lbInfo {}", new.len(), names.join(", "));
        self.miscounted.store(new.len() != count, Ordering::Relaxed);
        Failure::unless(new.len() == count, expected, got)
    }

    /// Fails unless the load balancer is unchanged since `before`, for the reason `since`. Load
    /// balancers that checks share are not compared.
    pub(crate) async fn is_unchanged(
        &self,
        lb_info: &StringMap,
        before: Option<&ObservedLoadBalancer>,
        since: &str,
    ) -> CheckOutcome {
        let Some(before) = before.filter(|_| !self.run.fixture.load_balancer.reuse) else {
            return Ok(());
        };
        let Some(now) = self.observed(lb_info, since).await? else {
            return Ok(());
        };
        let expected = format!("the load balancer in the cloud unchanged, {since}");
        match difference(before, &now) {
            Some(difference) => Err(Failure::new(expected, difference).into()),
            None => Ok(()),
        }
    }

    /// Verifies a load balancer to which backends were registered.
    pub(crate) async fn shown(
        &self,
        lb_info: &StringMap,
        verify: impl FnOnce(&ObservedLoadBalancer) -> CheckOutcome,
    ) -> CheckOutcome {
        match self.observed(lb_info, BOUND).await? {
            Some(seen) => verify(&seen),
            None => Ok(()),
        }
    }

    /// Fails unless the load balancer has these attributes.
    pub(crate) async fn has_attributes(
        &self,
        lb_info: &StringMap,
        attributes: &StringMap,
    ) -> CheckOutcome {
        match self.observed(lb_info, CREATED).await? {
            // A list has none.
            Some(seen) if self.run.observer.is_some() => {
                has_all(attributes, &seen.attributes, "attributes", "")
            }
            _ => Ok(()),
        }
    }

    /// Fails if the load balancer still exists after its deletion.
    pub(crate) async fn is_deleted(&self, lb: &LoadBalancer) -> CheckOutcome {
        let seen = self.observe().await?.unwrap_or_default();
        let expected = "no such load balancer, since deleteLoadBalancer returned Succ";
        match seen.load_balancer(&lb.lb_info) {
            Some(left) => {
                Err(Failure::new(expected, format!("it still exists: {}", json(left))).into())
            }
            None => Ok(()),
        }
    }

    /// Fails unless the backend is registered, once, with its parameters.
    pub(crate) async fn is_registered(&self, backend: &Backend) -> CheckOutcome {
        let addr = &backend.addr;
        self.shown(&backend.lb_info, |seen| {
            let Some(registered) = seen.backend(addr) else {
                let expected =
                    format!("backend {addr} in the cloud, since ensureBackend returned Succ");
                let addresses: Vec<_> = seen.backends.iter().map(|other| &other.addr).collect();
                let got = format!("the registered addresses are {addresses:?}");
                return Err(Failure::new(expected, got).into());
            };
            let of = format!(" of {addr}");
            let (own, seen_there) = (&backend.parameters, &registered.parameters);
            // A list need not have any.
            let is_listed = seen.backends.iter().any(|it| !it.parameters.is_empty());
            if self.run.observer.is_some() || is_listed {
                has_all(own, seen_there, "parameters", &of)?;
            }
            bound_once(seen, addr)
        })
        .await
    }

    /// Fails unless the backend is registered exactly once.
    pub(crate) async fn is_bound_once(&self, backend: &Backend) -> CheckOutcome {
        self.shown(&backend.lb_info, |seen| bound_once(seen, &backend.addr))
            .await
    }

    /// Fails unless the backend is registered, for the reason `how`.
    pub(crate) async fn has_backend(&self, backend: &Backend, how: &str) -> CheckOutcome {
        let seen = self.seen(&backend.lb_info).await?;
        let is_missing = match &seen {
            Some(seen) => seen.backend(&backend.addr).is_none(),
            None => self.run.observer.is_some(),
        };
        let expected = format!("backend {} {how}", backend.addr);
        Failure::unless(!is_missing, expected, "it is not registered")
    }

    /// Fails if the backend is still registered after its deregistration.
    pub(crate) async fn is_deregistered(&self, backend: &Backend) -> CheckOutcome {
        let seen = self.seen(&backend.lb_info).await?.unwrap_or_default();
        let addr = &backend.addr;
        let expected =
            format!("backend {addr} deregistered, since deregisterBackend returned Succ");
        match seen.backend(addr) {
            Some(left) => {
                Err(Failure::new(expected, format!("it is still registered: {left:?}")).into())
            }
            None => Ok(()),
        }
    }

    /// Fails unless each of these backends of the load balancer is registered once.
    pub(crate) async fn are_registered(
        &self,
        lb: &LoadBalancer,
        backends: &[Backend],
    ) -> CheckOutcome {
        self.shown(&lb.lb_info, |seen| {
            let missing = |one: &&Backend| seen.backend(&one.addr).is_none();
            if let Some(first) = backends.iter().find(missing) {
                let (all, count) = (backends.len(), backends.iter().filter(missing).count());
                let expected =
                    format!("{all} backends in the cloud, since each ensureBackend returned Succ");
                let got = format!("{count} are missing, such as {}", first.addr);
                return Err(Failure::new(expected, got).into());
            }
            let mut backends = backends.iter();
            backends.try_for_each(|one| bound_once(seen, &one.addr))
        })
        .await
    }

    /// Fails if one of these backends of the load balancer is still registered.
    pub(crate) async fn are_deregistered(
        &self,
        lb: &LoadBalancer,
        backends: &[Backend],
    ) -> CheckOutcome {
        self.shown(&lb.lb_info, |seen| {
            let remaining = |one: &&Backend| seen.backend(&one.addr).is_some();
            let Some(Backend { addr, .. }) = backends.iter().find(remaining) else {
                return Ok(());
            };
            let (all, count) = (backends.len(), backends.iter().filter(remaining).count());
            let got = format!("{count} of {all} are still registered, such as {addr}");
            Err(Failure::new("no backend left whose deregisterBackend returned Succ", got).into())
        })
        .await
    }

    /// Changes a backend in the cloud without the driver, by a POST below the observer's URL.
    ///
    /// # Errors
    /// [`CheckError::Skipped`], when the observer does not support it.
    pub(crate) async fn modify_backend(&self, what: &str, backend: &Backend) -> CheckOutcome {
        let change = serde_json::json!({"lbInfo": backend.lb_info, "addr": backend.addr});
        self.modify(what, &change).await?;
        let seen = self
            .observed(&backend.lb_info, BOUND)
            .await?
            .unwrap_or_default();
        match seen.backend(&backend.addr).is_some() == (what == "foreign") {
            true => Ok(()),
            false => Err(nothing_changed(what)),
        }
    }

    /// [`modify_backend`](Self::modify_backend) for other changes.
    ///
    /// # Errors
    /// As it.
    pub(crate) async fn modify(&self, what: &str, change: &serde_json::Value) -> CheckOutcome {
        let Some(observer) = &self.run.observer else {
            return Err(CheckError::Skipped("no observer".to_owned()));
        };
        let done = observer.modify(what, change).await;
        done.map_err(|error| {
            if !error.is_unsupported() {
                self.run.observer_failed(self.check, &error);
            }
            CheckError::Skipped(error.to_string())
        })
    }
}

/// An observer that responds and does nothing would let each driver pass.
pub(crate) fn nothing_changed(what: &str) -> CheckError {
    CheckError::Skipped(format!(
        "POST to /{what} of the observer changes nothing that it shows"
    ))
}

/// Fails unless the map has all of these entries.
fn has_all(expected: &StringMap, got: &StringMap, name: &str, of: &str) -> CheckOutcome {
    expected.iter().try_for_each(|(key, value)| {
        let got = got.get(key);
        let expected = format!("{name}.{key} {value:?}{of} in the cloud");
        let shown = got.map_or_else(|| "none".to_owned(), |got| format!("{got:?}"));
        Failure::unless(got == Some(value), expected, shown)
    })
}

/// Fails unless the address is registered exactly once.
fn bound_once(seen: &ObservedLoadBalancer, addr: &str) -> CheckOutcome {
    let bindings = seen.bindings(addr);
    let expected = format!("one binding of {addr} in the cloud");
    Failure::unless(bindings == 1, expected, bindings.to_string())
}

/// The difference, without regard to the order of backends.
fn difference(before: &ObservedLoadBalancer, now: &ObservedLoadBalancer) -> Option<String> {
    if before.attributes != now.attributes {
        let (now, before) = (json(&now.attributes), json(&before.attributes));
        return Some(format!("attributes {now} instead of {before}"));
    }
    let [before, now] = [before, now].map(|seen| sorted(&seen.backends));
    (before != now).then(|| format!("backends {} instead of {}", json(&now), json(&before)))
}

fn sorted(backends: &[ObservedBackend]) -> Vec<ObservedBackend> {
    let mut backends = backends.to_vec();
    backends.sort();
    backends
}

pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(value: serde_json::Value) -> ObservedLoadBalancer {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn the_order_of_backends_does_not_matter() {
        let one = seen(serde_json::json!({"backends": [{"addr": "a"}, {"addr": "b"}]}));
        let other = seen(serde_json::json!({"backends": [{"addr": "b"}, {"addr": "a"}]}));
        assert_eq!(difference(&one, &other), None);
    }

    #[test]
    fn differences_are_described() {
        let empty = seen(serde_json::json!({}));
        let other = seen(serde_json::json!({"attributes": {"a": "1"}}));
        let described = difference(&empty, &other).unwrap();
        assert_eq!(described, r#"attributes {"a":"1"} instead of {}"#);

        let other = seen(serde_json::json!({"backends": [{"addr": "x"}]}));
        let described = difference(&empty, &other).unwrap();
        assert_eq!(
            described,
            r#"backends [{"addr":"x","parameters":{}}] instead of []"#
        );
    }
}
