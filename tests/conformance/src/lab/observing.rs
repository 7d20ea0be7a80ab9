//! The state of the driver's cloud, as the observer shows it. Without an observer nothing is verified.

use super::Lab;
use crate::observer::{Observation, ObservedBackend, ObservedLoadBalancer};
use crate::outcome::{CheckError, CheckOutcome, Failure};
use lbcf_driver_sdk::webhook::StringMap;
use serde::Serialize;

impl Lab {
    /// The state of the cloud; `None` without an observer.
    ///
    /// # Errors
    /// [`CheckError::Skipped`], when the observer does not work.
    pub(crate) async fn observe(&self) -> Result<Option<Observation>, CheckError> {
        match &self.run.observer {
            None => Ok(None),
            Some(observer) => observer.observe().await.map(Some).map_err(|error| {
                self.run.observer_failed(self.check.id, &error);
                CheckError::Skipped(error.to_string())
            }),
        }
    }

    /// A load balancer in the cloud; `None` without an observer.
    ///
    /// # Errors
    /// [`CheckError::Failed`], when it does not exist, although it should for the reason `since`.
    pub(crate) async fn observed(
        &self,
        lb_info: &StringMap,
        since: &str,
    ) -> Result<Option<ObservedLoadBalancer>, CheckError> {
        let Some(seen) = self.observe().await? else {
            return Ok(None);
        };
        match seen.load_balancer(lb_info) {
            Some(load_balancer) => Ok(Some(load_balancer.clone())),
            None => {
                let expected = format!("the load balancer in the cloud, {since}");
                let got = format!("the observer shows none with lbInfo {}", json(lb_info));
                Err(Failure::new(expected, got).into())
            }
        }
    }

    /// [`observed`](Self::observed) after backends were registered to it.
    pub(crate) async fn observed_backends(
        &self,
        lb_info: &StringMap,
    ) -> Result<Option<ObservedLoadBalancer>, CheckError> {
        let since = "since backends were registered to it";
        self.observed(lb_info, since).await
    }

    /// [`observed`](Self::observed) after its creation.
    ///
    /// # Errors
    /// [`CheckError::Blocked`] by CLB-01, when it does not exist.
    pub(crate) async fn observed_created(
        &self,
        lb_info: &StringMap,
    ) -> Result<Option<ObservedLoadBalancer>, CheckError> {
        let seen = self.observed(lb_info, "since it was created").await;
        seen.map_err(|e| e.blocked_by("CLB-01"))
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
        if new.len() == count {
            return Ok(());
        }
        let names: Vec<String> = new.iter().map(|new| json(&new.lb_info)).collect();
        let got = format!("{} new, with lbInfo {}", new.len(), names.join(", "));
        Err(Failure::new(expected, got).into())
    }

    /// Fails unless the load balancer is unchanged since `before`, for the reason `since`. Load
    /// balancers that checks share are not compared.
    pub(crate) async fn is_unchanged(
        &self,
        lb_info: &StringMap,
        before: Option<&ObservedLoadBalancer>,
        since: &str,
    ) -> CheckOutcome {
        let Some(before) = before.filter(|_| !self.fixture().load_balancer.reuse) else {
            return Ok(());
        };
        let Some(now) = self.observed(lb_info, since).await? else {
            return Ok(());
        };
        match difference(before, &now) {
            None => Ok(()),
            Some(got) => {
                let expected = format!("the load balancer in the cloud unchanged, {since}");
                Err(Failure::new(expected, got).into())
            }
        }
    }

    /// Changes the cloud without the driver, by a POST below the observer's URL.
    ///
    /// # Errors
    /// [`CheckError::Skipped`], when the observer does not support it.
    pub(crate) async fn modify(&self, what: &str, change: &serde_json::Value) -> CheckOutcome {
        let Some(observer) = &self.run.observer else {
            return Err(CheckError::Skipped("no observer".to_owned()));
        };
        let done = observer.modify(what, change).await;
        done.map_err(|error| {
            if !error.is_unsupported() {
                self.run.observer_failed(self.check.id, &error);
            }
            CheckError::Skipped(error.to_string())
        })
    }
}

/// The difference, without regard to the order of backends.
fn difference(before: &ObservedLoadBalancer, now: &ObservedLoadBalancer) -> Option<String> {
    if before.attributes != now.attributes {
        return Some(format!(
            "attributes {} instead of {}",
            json(&now.attributes),
            json(&before.attributes)
        ));
    }
    let [before, now] = [before, now].map(|seen| sorted(&seen.backends));
    (before != now).then(|| format!("backends {} instead of {}", json(&now), json(&before)))
}

fn sorted(backends: &[ObservedBackend]) -> Vec<ObservedBackend> {
    let mut backends = backends.to_vec();
    backends
        .sort_by(|one, other| (&one.addr, &one.parameters).cmp(&(&other.addr, &other.parameters)));
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
