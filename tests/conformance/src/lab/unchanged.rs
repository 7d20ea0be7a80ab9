//! Whether a load balancer in the cloud is still what it was.

use super::Lab;
use crate::observer::{ObservedBackend, ObservedLoadBalancer};
use crate::verdict::{Failure, NotPassed};
use lbcf_driver_sdk::webhook::StringMap;
use serde::Serialize;

impl Lab {
    /// A load balancer as the cloud has it now; nothing without an observer.
    ///
    /// # Errors
    /// [`NotPassed::Blocked`] by CLB-01, when it is not there.
    pub(crate) async fn seen(
        &self,
        lb_info: &StringMap,
    ) -> Result<Option<ObservedLoadBalancer>, NotPassed> {
        let seen = self.look_at(lb_info, "since it was created").await;
        seen.map_err(|e| e.blocked_by("CLB-01"))
    }

    /// Has to be as it was when [`seen`](Self::seen) gave `before`; `since` says why. Load
    /// balancers that checks share are not compared, as others may be working on them.
    ///
    /// # Errors
    /// [`NotPassed::Failed`], when it is not.
    pub(crate) async fn is_as_before(
        &self,
        lb_info: &StringMap,
        before: Option<&ObservedLoadBalancer>,
        since: &str,
    ) -> Result<(), NotPassed> {
        let Some(before) = before else {
            return Ok(());
        };
        if self.fixture().load_balancer.reuse {
            return Ok(());
        }
        let Some(now) = self.look_at(lb_info, since).await? else {
            return Ok(());
        };
        match difference(before, &now) {
            None => Ok(()),
            Some(got) => {
                let expected = format!("the load balancer in the cloud as it was, {since}");
                Err(Failure::new(expected, got).into())
            }
        }
    }
}

/// What differs; nothing when they are alike. The order of backends says nothing.
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
    fn the_order_of_backends_says_nothing() {
        let one = seen(serde_json::json!({"backends": [{"addr": "a"}, {"addr": "b"}]}));
        let other = seen(serde_json::json!({"backends": [{"addr": "b"}, {"addr": "a"}]}));
        assert_eq!(difference(&one, &other), None);
    }

    #[test]
    fn differences_are_told() {
        let empty = seen(serde_json::json!({}));
        let other = seen(serde_json::json!({"attributes": {"a": "1"}}));
        let told = difference(&empty, &other).unwrap();
        assert_eq!(told, r#"attributes {"a":"1"} instead of {}"#);

        let other = seen(serde_json::json!({"backends": [{"addr": "x"}]}));
        let told = difference(&empty, &other).unwrap();
        assert_eq!(
            told,
            r#"backends [{"addr":"x","parameters":{}}] instead of []"#
        );
    }
}
