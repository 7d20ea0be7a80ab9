//! The state of the driver's cloud, as the observer shows it. Without an observer nothing is verified.

use super::Lab;
use crate::call::{Backend, LoadBalancer};
use crate::observer::{Observation, ObservedBackend, ObservedLoadBalancer};
use crate::outcome::{Blame as _, CheckError, CheckOutcome, Failure};
use lbcf_driver_sdk::webhook::StringMap;
use serde::Serialize;

/// Why a load balancer has to be in the cloud.
pub(crate) const CREATED: &str = "since it was created";
pub(crate) const BOUND: &str = "since backends were registered to it";

/// A load balancer in the cloud; `None` without an observer.
type Seen = Option<ObservedLoadBalancer>;

impl Lab {
    /// The state of the cloud; `None` without an observer.
    ///
    /// # Errors
    /// [`CheckError::Skipped`], when the observer does not work.
    pub(crate) async fn observe(&self) -> CheckOutcome<Option<Observation>> {
        match &self.run.observer {
            None => Ok(None),
            Some(observer) => observer.observe().await.map(Some).map_err(|error| {
                self.run.observer_failed(self.check, &error);
                CheckError::Skipped(error.to_string())
            }),
        }
    }

    /// A load balancer in the cloud; `None` without an observer.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when it does not exist, although it should for the reason `since`.
    pub(crate) async fn observed(&self, lb_info: &StringMap, since: &str) -> CheckOutcome<Seen> {
        let Some(seen) = self.observe().await? else {
            return Ok(None);
        };
        match seen.load_balancer(lb_info) {
            Some(lb) => Ok(Some(lb.clone())),
            None => {
                let got = format!("the observer shows none with lbInfo {}", json(lb_info));
                Err(Failure::new(format!("the load balancer in the cloud, {since}"), got).into())
            }
        }
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
        let (Some(before), Some(seen)) = (before, self.observe().await?) else {
            return Ok(());
        };
        let new = seen.since(before);
        let names: Vec<String> = new.iter().map(|new| json(&new.lb_info)).collect();
        let got = format!("{} new, with lbInfo {}", new.len(), names.join(", "));
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
            Some(seen) => has_all(attributes, &seen.attributes, "attributes", ""),
            None => Ok(()),
        }
    }

    /// Fails if the load balancer still exists after its deletion.
    pub(crate) async fn is_deleted(&self, lb: &LoadBalancer) -> CheckOutcome {
        let seen = self.observe().await?.unwrap_or_default();
        let expected = "no such load balancer, since deleteLoadBalancer returned Succ";
        match seen.load_balancer(&lb.lb_info) {
            Some(left) => Err(Failure::new(expected, format!("it still exists: {left:?}")).into()),
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
            has_all(own, seen_there, "parameters", &of)?;
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
        let seen = self.observe().await?;
        let is_missing =
            seen.is_some_and(|seen| seen.backend(&backend.lb_info, &backend.addr).is_none());
        let expected = format!("backend {} {how}", backend.addr);
        Failure::unless(!is_missing, expected, "it is not registered")
    }

    /// Fails if the backend is still registered after its deregistration.
    pub(crate) async fn is_deregistered(&self, backend: &Backend) -> CheckOutcome {
        let seen = self.observe().await?.unwrap_or_default();
        let addr = &backend.addr;
        let expected =
            format!("backend {addr} deregistered, since deregisterBackend returned Succ");
        match seen.backend(&backend.lb_info, addr) {
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
        self.modify(what, &change).await
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

/// Fails unless the map has all of these entries.
fn has_all(expected: &StringMap, got: &StringMap, name: &str, of: &str) -> CheckOutcome {
    expected.iter().try_for_each(|(key, value)| {
        let got = got.get(key);
        let expected = format!("{name}.{key} {value:?}{of} in the cloud");
        Failure::unless(got == Some(value), expected, format!("{got:?}"))
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

fn json(value: &impl Serialize) -> String {
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
