//! Looking into the cloud.

use super::Lab;
use crate::observer::{Observation, ObservedLoadBalancer};
use crate::verdict::{Failure, NotPassed};
use lbcf_driver_sdk::webhook::StringMap;

impl Lab {
    /// What is in the cloud; nothing without an observer.
    ///
    /// # Errors
    /// [`NotPassed::Skipped`], when the observer does not work.
    pub(crate) async fn look(&self) -> Result<Option<Observation>, NotPassed> {
        let Some(observer) = &self.run.observer else {
            return Ok(None);
        };
        let seen = observer.look().await;
        seen.map(Some)
            .map_err(|error| NotPassed::Skipped(error.to_string()))
    }

    /// One load balancer in the cloud, which has to be there; nothing without an observer.
    ///
    /// # Errors
    /// [`NotPassed::Failed`], when it is not there; `since` says why it should.
    pub(crate) async fn look_at(
        &self,
        lb_info: &StringMap,
        since: &str,
    ) -> Result<Option<ObservedLoadBalancer>, NotPassed> {
        let Some(seen) = self.look().await? else {
            return Ok(None);
        };
        match seen.load_balancer(lb_info) {
            Some(load_balancer) => Ok(Some(load_balancer.clone())),
            None => {
                let expected = format!("the load balancer in the cloud, {since}");
                let got = format!(
                    "the observer shows none with lbInfo {}",
                    serde_json::to_string(lb_info).unwrap_or_default()
                );
                Err(Failure::new(expected, got).into())
            }
        }
    }

    /// Changes something in the cloud behind the driver's back: a POST below the observer's URL.
    ///
    /// # Errors
    /// [`NotPassed::Skipped`], when the observer cannot.
    pub(crate) async fn meddle(
        &self,
        what: &str,
        change: &serde_json::Value,
    ) -> Result<(), NotPassed> {
        let Some(observer) = &self.run.observer else {
            return Err(NotPassed::Skipped("no observer".to_owned()));
        };
        let done = observer.meddle(what, change).await;
        done.map_err(|error| NotPassed::Skipped(error.to_string()))
    }
}
