use super::*;
use crate::api::names::FINALIZER_DRIVER;
use crate::api::{
    Condition, ConditionStatus, LoadBalancerDriver, LoadBalancerSpec, LoadBalancerStatus, StringMap,
};
use crate::index::Lookup;
use crate::kinds::load_balancer::lifecycle::{LoadBalancerAction, decide};
use crate::runtime::memory::Due;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use std::sync::Arc;

struct Case {
    lb: LoadBalancer,
    driver: Lookup<Arc<LoadBalancerDriver>>,
    records: usize,
    unreadable_records: bool,
}

fn protected_driver() -> Arc<LoadBalancerDriver> {
    let mut driver = LoadBalancerDriver::default();
    driver.metadata.finalizers = Some(vec![FINALIZER_DRIVER.into()]);
    Arc::new(driver)
}

fn case() -> Case {
    let mut lb = LoadBalancer::new(
        "lb",
        LoadBalancerSpec {
            lb_driver: "driver".into(),
            lb_spec: StringMap::from([("lbVpcID", "vpc-1")]),
            attributes: StringMap::from([("chargeType", "HOURLY")]),
            ..LoadBalancerSpec::default()
        },
    );
    lb.metadata.uid = Some("uid-1".into());
    lb.metadata.finalizers = Some(vec![FINALIZER_LOAD_BALANCER.into()]);
    Case {
        lb,
        driver: Lookup::Found(protected_driver()),
        records: 0,
        unreadable_records: false,
    }
}

impl Case {
    fn decide(&self) -> LoadBalancerAction {
        decide(&self.lb.state(Observations {
            driver: self.driver.clone(),
            records: self.records,
            first_record: None,
            unreadable_records: self.unreadable_records,
            due: Due::Never,
            retry_in: None,
            now: Timestamp::UNIX_EPOCH,
            dry_run: false,
        }))
    }

    fn deleting(mut self) -> Self {
        self.lb.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        self
    }

    fn condition(mut self, condition: Condition) -> Self {
        let status = self.lb.status.get_or_insert_default();
        status.conditions.push(condition);
        self
    }

    fn created(mut self) -> Self {
        self.lb.status = Some(LoadBalancerStatus {
            lb_info: StringMap::from([("lbID", "lb-1")]),
            last_synced_digest: Some(self.lb.spec.attributes.digest()),
            ..LoadBalancerStatus::default()
        });
        self.condition(Condition::met(condition_types::CREATED, None))
    }

    fn creating(self) -> Self {
        self.condition(Condition::unmet(
            condition_types::CREATED,
            "Creating",
            "",
            None,
        ))
    }
}

#[test]
fn d30_the_finalizer_comes_before_everything() {
    let mut case = case();
    case.lb.metadata.finalizers = Some(vec!["example.com/other".into()]);
    assert_eq!(case.decide(), LoadBalancerAction::AddFinalizer);
}

#[test]
fn b101_creating_is_stored_before_the_first_call() {
    assert_eq!(case().decide(), LoadBalancerAction::MarkCreating);
}

#[test]
fn one_whose_driver_was_always_missing_was_never_begun() {
    let waiting = || {
        let unknown = Condition::unmet(condition_types::CREATED, "DriverNotFound", "", None);
        case().condition(Condition {
            status: ConditionStatus::Unknown,
            ..unknown
        })
    };
    assert_eq!(waiting().decide(), LoadBalancerAction::MarkCreating);
    assert!(matches!(
        waiting().deleting().decide(),
        LoadBalancerAction::Delete(_)
    ));
    let mut without_driver = waiting().deleting();
    without_driver.driver = Lookup::Missing;
    assert_eq!(without_driver.decide(), LoadBalancerAction::Remove, "d32");
}

#[test]
fn b15_b102_create_sends_spec_and_attributes() {
    let LoadBalancerAction::Create(request) = case().creating().decide() else {
        panic!()
    };
    assert_eq!(request.record_id, "createLoadBalancer(uid-1)");
    assert_eq!(request.lb_spec["lbVpcID"], "vpc-1");
    assert_eq!(request.attributes["chargeType"], "HOURLY");
}

#[test]
fn a_created_one_with_its_attributes_needs_nothing() {
    assert_eq!(case().created().decide(), LoadBalancerAction::AwaitChange);
}

#[test]
fn u1_d6_b16_b18_b103_changed_attributes_are_ensured_with_the_identity_d5() {
    let mut case = case().created();
    case.lb.spec.attributes = StringMap::from([("chargeType", "MONTHLY")]);
    let LoadBalancerAction::Ensure(request) = case.decide() else {
        panic!()
    };
    assert_eq!(request.record_id, "ensureLoadBalancer(uid-1)");
    assert_eq!(request.lb_info["lbID"], "lb-1");
    assert_eq!(request.attributes["chargeType"], "MONTHLY");
}

#[test]
fn u1_attributes_of_unknown_age_are_ensured_once_after_a_takeover() {
    let mut case = case().created();
    case.lb.status.as_mut().unwrap().last_synced_digest = None;
    assert!(matches!(case.decide(), LoadBalancerAction::Ensure(_)));
}

#[test]
fn attributes_that_were_reverted_after_a_failure_are_ensured_again() {
    let failed = Condition::unmet(
        condition_types::ATTRIBUTES_SYNCED,
        "OperationFailed",
        "",
        None,
    );
    assert!(matches!(
        case().created().condition(failed).decide(),
        LoadBalancerAction::Ensure(_)
    ));
}

#[test]
fn at_rest_the_driver_is_not_needed() {
    let mut case = case().created();
    case.driver = Lookup::Missing;
    assert_eq!(case.decide(), LoadBalancerAction::AwaitChange);
}

#[test]
fn u34_a_missing_driver_is_reported_and_an_unreadable_one_awaited() {
    let mut missing = case().creating();
    missing.driver = Lookup::Missing;
    assert_eq!(missing.decide(), LoadBalancerAction::ReportDriverMissing);
    missing.driver = Lookup::Unreadable;
    assert_eq!(missing.decide(), LoadBalancerAction::AwaitDriver);
    let mut deleting = case().created().deleting();
    deleting.driver = Lookup::Missing;
    assert_eq!(deleting.decide(), LoadBalancerAction::ReportDriverMissing);
}

#[test]
fn u18_b105_deleting_waits_for_its_records() {
    let mut case = case().created().deleting();
    case.records = 1;
    assert_eq!(case.decide(), LoadBalancerAction::AwaitRecords);
    case.records = 0;
    case.unreadable_records = true;
    assert_eq!(
        case.decide(),
        LoadBalancerAction::AwaitUnreadable,
        "u9: they may be its own"
    );
    case.unreadable_records = false;
    let LoadBalancerAction::Delete(request) = case.decide() else {
        panic!()
    };
    assert_eq!(request.record_id, "deleteLoadBalancer(uid-1)");
    assert_eq!(request.lb_info["lbID"], "lb-1");
}

#[test]
fn u7_deleting_an_unfinished_one_finishes_creating_first() {
    assert!(matches!(
        case().creating().deleting().decide(),
        LoadBalancerAction::FinishCreating(_)
    ));
}

#[test]
fn b104_one_that_was_never_begun_is_deleted_with_an_empty_identity() {
    let LoadBalancerAction::Delete(request) = case().deleting().decide() else {
        panic!()
    };
    assert!(request.lb_info.is_empty());
}

#[test]
fn without_its_finalizer_its_deletion_needs_nothing() {
    let mut case = case().created().deleting();
    case.lb.metadata.finalizers = None;
    assert_eq!(case.decide(), LoadBalancerAction::AwaitChange);
}

#[test]
fn d32_creating_begins_only_with_a_driver_that_outlives_it() {
    let unprotected = LoadBalancerDriver::default();
    let mut deleting = (*protected_driver()).clone();
    deleting.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    let with = |driver: &LoadBalancerDriver, case: Case| {
        let driver = Lookup::Found(Arc::new(driver.clone()));
        Case { driver, ..case }.decide()
    };
    assert_eq!(
        with(&unprotected, case()),
        LoadBalancerAction::ProtectDriver
    );
    assert_eq!(
        with(&deleting, case()),
        LoadBalancerAction::ReportDriverDeleting
    );
    // What has begun is finished, changed and undone.
    for driver in [&unprotected, &deleting] {
        let creating = with(driver, case().creating());
        assert!(matches!(creating, LoadBalancerAction::Create(_)));
        let mut changed = case().created();
        changed.lb.spec.attributes = StringMap::from([("chargeType", "MONTHLY")]);
        assert!(matches!(
            with(driver, changed),
            LoadBalancerAction::Ensure(_)
        ));
        let finishing = with(driver, case().creating().deleting());
        assert!(matches!(finishing, LoadBalancerAction::FinishCreating(_)));
        let deletion = with(driver, case().created().deleting());
        assert!(matches!(deletion, LoadBalancerAction::Delete(_)));
    }
}

#[test]
fn d47_attributes_that_an_earlier_version_stored_are_compared() {
    let mut case = case().created();
    let status = case.lb.status.as_mut().unwrap();
    status.last_synced_digest = None;
    status.last_synced_attributes = Some(case.lb.spec.attributes.clone());
    assert_eq!(case.decide(), LoadBalancerAction::AwaitChange);
    case.lb.spec.attributes = StringMap::from([("chargeType", "MONTHLY")]);
    assert!(matches!(case.decide(), LoadBalancerAction::Ensure(_)));
}
