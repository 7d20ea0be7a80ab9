use super::*;
use crate::api::{ConditionStatus, LoadBalancerDriverStatus};
use crate::key::ObjectKey;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

fn state(driver_use: DriverUse) -> DriverState {
    let mut driver = LoadBalancerDriver::default();
    driver.metadata.generation = Some(1);
    DriverState {
        driver: Arc::new(driver),
        driver_use,
        now: Timestamp::UNIX_EPOCH,
    }
}

fn used() -> DriverUse {
    DriverUse::Used(vec![RequestKey::LoadBalancer(ObjectKey::new("ns", "lb"))])
}

impl DriverState {
    fn driver(&mut self) -> &mut LoadBalancerDriver {
        Arc::make_mut(&mut self.driver)
    }

    fn protected(mut self) -> Self {
        let finalizers = vec!["example.com/other".to_owned(), FINALIZER_DRIVER.to_owned()];
        self.driver().metadata.finalizers = Some(finalizers);
        self
    }

    fn deleting(mut self) -> Self {
        self.driver().metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        self
    }

    /// Sets the conditions that it decides to set; returns the `Accepted` one.
    fn accept(&mut self) -> Condition {
        let DriverAction::SetConditions(conditions) = decide(self) else {
            panic!("{:?}", decide(self))
        };
        let accepted = conditions.find("Accepted").unwrap().clone();
        self.driver().status = Some(LoadBalancerDriverStatus { conditions });
        accepted
    }
}

#[test]
fn b100_a_driver_is_accepted_once() {
    for mut state in [state(DriverUse::Unused), state(used()).protected()] {
        assert_eq!(state.accept().status, ConditionStatus::True);
        assert_eq!(decide(&state), DriverAction::AwaitChange);
    }
}

#[test]
fn d32_the_finalizer_is_there_while_the_driver_is_in_use() {
    assert_eq!(decide(&state(used())), DriverAction::AddFinalizer);
    let unused = || state(DriverUse::Unused).protected();
    assert_eq!(decide(&unused()), DriverAction::RemoveFinalizer);
    assert_eq!(decide(&unused().deleting()), DriverAction::RemoveFinalizer);
}

#[test]
fn d32_a_driver_that_is_being_deleted_gets_no_finalizer_and_waits_for_its_users() {
    for mut state in [
        state(used()).deleting(),
        state(used()).protected().deleting(),
    ] {
        let accepted = state.accept();
        assert_eq!(accepted.status, ConditionStatus::False);
        assert_eq!(accepted.reason, "DriverInUse");
        assert!(accepted.message.contains("LoadBalancer ns/lb"));
        assert_eq!(decide(&state), DriverAction::AwaitUsers(accepted.message));
    }
    // Another finalizer keeps it.
    let other = state(DriverUse::Unused).deleting();
    assert_eq!(decide(&other), DriverAction::AwaitChange);
}

#[test]
fn d32_u9_a_driver_that_something_unreadable_might_use_is_kept() {
    let unknown = || state(DriverUse::Unknown);
    let deleting = unknown().protected().deleting();
    assert_eq!(decide(&deleting), DriverAction::AwaitReadable);
    // Neither with nor without it is the finalizer touched.
    assert_eq!(unknown().accept().status, ConditionStatus::True);
    assert_eq!(unknown().protected().accept().status, ConditionStatus::True);
}
