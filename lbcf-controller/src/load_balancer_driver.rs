//! LoadBalancerDriver: taking a driver (b100).

use crate::api::{
    Condition, Conditions, LoadBalancerDriver, LoadBalancerDriverStatus, condition_types,
};
use jiff::Timestamp;

/// The status that a driver shall have; none where it has it already. A driver is taken without
/// being asked anything: it may well start after its object.
#[must_use]
pub(crate) fn decide(
    driver: &LoadBalancerDriver,
    now: Timestamp,
) -> Option<LoadBalancerDriverStatus> {
    if driver.metadata.deletion_timestamp.is_some() {
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
    fn b100_a_driver_is_taken_once() {
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
    fn a_driver_that_goes_is_left_alone() {
        let mut driver = LoadBalancerDriver::default();
        driver.metadata.deletion_timestamp = Some(
            k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(Timestamp::UNIX_EPOCH),
        );
        assert_eq!(decide(&driver, Timestamp::UNIX_EPOCH), None);
    }
}
