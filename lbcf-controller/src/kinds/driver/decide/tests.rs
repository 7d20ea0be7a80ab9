use super::*;
use crate::api::{ConditionStatus, ObjectKey};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

fn state(driver_use: DriverUse) -> DriverState {
    let mut driver = LoadBalancerDriver::default();
    driver.metadata.generation = Some(1);
    DriverState {
        driver: Arc::new(driver),
        driver_use,
        health: KnownHealth::Pending,
        class_taken_by: None,
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
        self.set().find("Accepted").unwrap().clone()
    }

    fn set(&mut self) -> Vec<Condition> {
        let DriverAction::SetStatus(status) = decide(self) else {
            panic!("{:?}", decide(self))
        };
        self.driver().status = Some(status.clone());
        status.conditions
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

#[test]
fn d50_the_condition_is_written_when_the_health_differs() {
    let mut state = state(used()).protected();
    state.accept();
    assert_eq!(decide(&state), DriverAction::AwaitChange, "not asked yet");
    let mut last = Vec::new();
    for (health, expected) in [
        (DriverHealth::healthy(), ConditionStatus::True),
        (DriverHealth::unreachable(), ConditionStatus::False),
        (DriverHealth::healthy(), ConditionStatus::True),
    ] {
        state.health = KnownHealth::Known(health);
        last = state.set();
        let healthy = last.find("Healthy").unwrap();
        assert_eq!(healthy.status, expected);
        assert_eq!(healthy.observed_generation, Some(1));
        assert!(last.is_true("Accepted"));
        assert_eq!(decide(&state), DriverAction::AwaitChange);
    }
    // The next process leaves it as it is until it has asked.
    state.health = KnownHealth::Pending;
    assert_eq!(decide(&state), DriverAction::AwaitChange);
    assert!(last.find("Healthy").is_some());
    state.health = KnownHealth::NeverAsked;
    assert_eq!(state.set().find("Healthy"), None);
    assert_eq!(decide(&state), DriverAction::AwaitChange);
}

#[test]
fn d50_a_driver_that_is_being_deleted_and_in_use_has_the_condition() {
    let mut state = state(used()).protected().deleting();
    state.health = KnownHealth::Known(DriverHealth::unreachable());
    let conditions = state.set();
    assert!(!conditions.is_true("Accepted") && !conditions.is_true("Healthy"));
    assert!(matches!(decide(&state), DriverAction::AwaitUsers(_)));
}

#[test]
fn d50_events_report_a_driver_that_fails_and_one_that_recovers() {
    let conditions = |health: Option<DriverHealth>| {
        let healthy = health.map(|health| health.condition(None));
        healthy.into_iter().collect::<Vec<_>>()
    };
    let healthy = || Some(DriverHealth::healthy());
    let unreachable = || Some(DriverHealth::unreachable());
    let failed = || Some(HealthChange::Failed("unreachable".to_owned()));
    for (old, new, expected) in [
        (None, healthy(), None),
        (None, unreachable(), failed()),
        (healthy(), unreachable(), failed()),
        (unreachable(), unreachable(), None),
        (unreachable(), healthy(), Some(HealthChange::Recovered)),
        (unreachable(), None, None),
        (healthy(), healthy(), None),
    ] {
        let (old, new) = (conditions(old), conditions(new));
        assert_eq!(health_change(&old, &new), expected, "{old:?} {new:?}");
    }
}

#[test]
fn d72_a_driver_says_whether_it_has_its_class() {
    let mut state = state(DriverUse::Unused);
    state.driver().spec.service_class = Some(crate::api::ServiceClass {
        name: "example.com/lb".into(),
        ..Default::default()
    });
    let first = state.set();
    assert!(first.is_true(condition_types::SERVICE_CLASS));
    assert_eq!(decide(&state), DriverAction::AwaitChange);
    state.class_taken_by = Some(ObjectKey::new("ns", "other"));
    let taken = state.set();
    let problem = class_problem(&first, &taken).unwrap();
    assert_eq!(
        problem,
        "spec.serviceClass.name: LoadBalancerDriver ns/other serves the class example.com/lb"
    );
    assert_eq!(class_problem(&taken, &taken), None);
    state.driver().spec.service_class = None;
    let without = state.set();
    assert_eq!(without.find(condition_types::SERVICE_CLASS), None);
    assert_eq!(decide(&state), DriverAction::AwaitChange);
}

#[test]
fn d96_d118_the_abilities_of_the_last_response_are_stored() {
    let mut state = state(DriverUse::Unused);
    let mut stored = |health| {
        state.health = health;
        let is_written = decide(&state) != DriverAction::AwaitChange;
        if is_written {
            state.set();
        }
        let status = state.driver.status.clone().unwrap();
        (is_written, status.specification, status.features)
    };
    let announces = |specification: &str, features: &[&str]| {
        KnownHealth::Known(DriverHealth::healthy().with_abilities(specification, features))
    };
    let expected = |is_written, specification: &str, features: &[&str]| {
        let features = features.iter().copied().map(str::to_owned).collect();
        (is_written, specification.to_owned(), features)
    };
    let before = announces("", &[]);
    assert_eq!(stored(before), expected(true, "", &[]));
    let cancels = || announces("1", &["cancel", "pages"]);
    assert_eq!(stored(cancels()), expected(true, "1", &["cancel", "pages"]));
    assert_eq!(
        stored(cancels()),
        expected(false, "1", &["cancel", "pages"])
    );
    // It did not say otherwise.
    let unreachable = KnownHealth::Known(DriverHealth::unreachable());
    assert_eq!(
        stored(unreachable),
        expected(true, "1", &["cancel", "pages"])
    );
    assert_eq!(stored(announces("", &[])), expected(true, "", &[]));
}

#[test]
fn d118_a_driver_of_before_shows_neither_features_nor_a_specification() {
    let mut state = state(DriverUse::Unused);
    state.health = KnownHealth::Known(DriverHealth::healthy().with_abilities("", &[]));
    state.set();
    let status = serde_json::to_value(&state.driver.status).unwrap();
    let members: Vec<_> = status.as_object().unwrap().keys().collect();
    assert_eq!(members, ["conditions"]);
}
