//! LoadBalancerDriver: accepting a driver (b100).

use crate::api::{
    Condition, Conditions, LoadBalancerDriver, LoadBalancerDriverStatus, condition_types,
};
use crate::context::Context;
use crate::key::ObjectKey;
use crate::object::ObjectExt;
use crate::reconcile::{Action, Error};
use jiff::Timestamp;

pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    context.confirm::<LoadBalancerDriver>(key).await?;
    let driver = context.index().find::<LoadBalancerDriver>(key);
    if let Some(driver) = driver
        && let Some(status) = decide(&driver, Timestamp::now())
    {
        context.write_status(&*driver, &status).await?;
    }
    Ok(Action::AwaitChange)
}

/// The desired status of a driver, if it differs. A driver is accepted without a call, because it
/// may start later than its object is created.
fn decide(driver: &LoadBalancerDriver, now: Timestamp) -> Option<LoadBalancerDriverStatus> {
    if driver.is_deleting() {
        return None;
    }
    let status = driver.status.clone().unwrap_or_default();
    let accepted = Condition::met(condition_types::ACCEPTED, driver.metadata.generation);
    let conditions = status.conditions.with(accepted, now);
    (conditions != status.conditions).then_some(LoadBalancerDriverStatus { conditions })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b100_a_driver_is_accepted_once() {
        let mut driver = LoadBalancerDriver::default();
        driver.metadata.generation = Some(1);
        let now = Timestamp::UNIX_EPOCH;
        driver.status = decide(&driver, now);
        assert!(
            driver
                .status
                .as_ref()
                .unwrap()
                .conditions
                .is_true("Accepted")
        );
        assert_eq!(decide(&driver, now), None);
    }

    #[test]
    fn a_driver_that_is_being_deleted_is_not_changed() {
        let mut driver = LoadBalancerDriver::default();
        driver.metadata.deletion_timestamp = Some(
            k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(Timestamp::UNIX_EPOCH),
        );
        assert_eq!(decide(&driver, Timestamp::UNIX_EPOCH), None);
    }
}
