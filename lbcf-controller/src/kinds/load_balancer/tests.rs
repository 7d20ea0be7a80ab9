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
    no_response: Option<String>,
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
        no_response: None,
        records: 0,
        unreadable_records: false,
    }
}

impl Case {
    fn decide(&self) -> LoadBalancerAction {
        decide(&self.lb.state(Observations {
            is_paused: names::is_paused(&self.lb.metadata),
            driver: self.driver.clone(),
            no_response: self.no_response.clone(),
            records: self.records,
            first_record: None,
            unreadable_records: self.unreadable_records,
            due: Due::Never,
            retry_in: None,
            now: Timestamp::UNIX_EPOCH,
            dry_run: false,
        }))
    }

    /// The name of the action that is decided.
    fn action(&self) -> String {
        let action = format!("{:?}", self.decide());
        action.split('(').next().unwrap_or_default().to_owned()
    }

    fn driver(self, driver: Lookup<Arc<LoadBalancerDriver>>) -> Self {
        Self { driver, ..self }
    }

    fn without_driver(self) -> Self {
        self.driver(Lookup::Missing)
    }

    fn finalizer(mut self, finalizer: &str) -> Self {
        self.lb.metadata.finalizers = Some(vec![finalizer.into()]);
        self
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

    fn unmet(self, condition: &str, reason: &ReportReason) -> Self {
        self.condition(Condition::unmet(condition, reason, "", None))
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
        self.unmet(condition_types::CREATED, reasons::CREATING)
    }

    fn paused(mut self) -> Self {
        let paused = (names::ANNOTATION_PAUSED.to_owned(), "True".to_owned());
        self.lb.metadata.annotations = Some([paused].into());
        self
    }

    /// With attributes that differ from those that the driver got last.
    fn changed(mut self) -> Self {
        self.lb.spec.attributes = StringMap::from([("chargeType", "MONTHLY")]);
        self
    }
}

#[test]
fn d30_b101_u1_d32_u34_u7_each_state_has_its_action() {
    let waiting = || {
        let unknown = Condition::unmet(
            condition_types::CREATED,
            reasons::DRIVER_NOT_FOUND,
            "",
            None,
        );
        case().condition(Condition {
            status: ConditionStatus::Unknown,
            ..unknown
        })
    };
    let mut taken_over = case().created();
    taken_over.lb.status.as_mut().unwrap().last_synced_digest = None;
    let failed = |case: Case| {
        case.unmet(
            condition_types::ATTRIBUTES_SYNCED,
            reasons::OPERATION_FAILED,
        )
    };
    let other = "example.com/other";
    for (name, case, action) in [
        ("d30", case().finalizer(other), "AddFinalizer"),
        ("d121", case().paused(), "AwaitResume"),
        ("d121", case().paused().created(), "AwaitChange"),
        ("d121", case().paused().created().changed(), "AwaitResume"),
        ("d121", case().paused().created().deleting(), "AwaitResume"),
        ("b101", case(), "MarkCreating"),
        ("was never begun", waiting(), "MarkCreating"),
        ("d122", waiting().deleting(), "Remove"),
        ("d32", waiting().deleting().without_driver(), "Remove"),
        ("at rest", case().created(), "AwaitChange"),
        ("u1, of unknown age", taken_over, "Ensure"),
        ("reverted", failed(case().created()), "Ensure"),
        (
            "needs none",
            case().created().without_driver(),
            "AwaitChange",
        ),
        ("u7", case().creating().deleting(), "FinishCreating"),
        (
            "gone",
            case().created().deleting().finalizer(other),
            "AwaitChange",
        ),
    ] {
        assert_eq!(case.action(), action, "{name}");
    }
    for case in [case().creating(), case().created().deleting()] {
        let missing = case.without_driver();
        assert_eq!(missing.action(), "ReportDriverMissing", "u34");
        let unreadable = missing.driver(Lookup::Unreadable);
        assert_eq!(unreadable.action(), "AwaitDriver", "u34");
    }
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
fn u1_d6_b16_b18_b103_changed_attributes_are_ensured_with_the_identity_d5() {
    let LoadBalancerAction::Ensure(request) = case().created().changed().decide() else {
        panic!()
    };
    assert_eq!(request.record_id, "ensureLoadBalancer(uid-1)");
    assert_eq!(request.lb_info["lbID"], "lb-1");
    assert_eq!(request.attributes["chargeType"], "MONTHLY");
}

#[test]
fn u18_b105_deleting_waits_for_its_records() {
    let mut case = case().created().deleting();
    case.records = 1;
    assert_eq!(case.action(), "AwaitRecords");
    case.records = 0;
    case.unreadable_records = true;
    assert_eq!(case.action(), "AwaitUnreadable", "u9: they may be its own");
    case.unreadable_records = false;
    let LoadBalancerAction::Delete(request) = case.decide() else {
        panic!()
    };
    assert_eq!(request.record_id, "deleteLoadBalancer(uid-1)");
    assert_eq!(request.lb_info["lbID"], "lb-1");
}

#[test]
fn b104_one_that_was_never_begun_is_deleted_with_an_empty_identity() {
    let LoadBalancerAction::Delete(request) = case().deleting().decide() else {
        panic!()
    };
    assert!(request.lb_info.is_empty());
}

#[test]
fn d32_creating_begins_only_with_a_driver_that_outlives_it() {
    let unprotected = Lookup::Found(Arc::new(LoadBalancerDriver::default()));
    let mut deleting = (*protected_driver()).clone();
    deleting.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    let deleting = Lookup::Found(Arc::new(deleting));
    for (driver, action) in [
        (unprotected, "ProtectDriver"),
        (deleting, "ReportDriverDeleting"),
    ] {
        // What has begun is finished, changed and undone.
        for (case, action) in [
            (case(), action),
            (case().creating(), "Create"),
            (case().created().changed(), "Ensure"),
            (case().creating().deleting(), "FinishCreating"),
            (case().created().deleting(), "Delete"),
        ] {
            assert_eq!(case.driver(driver.clone()).action(), action);
        }
    }
}

#[test]
fn d122_nothing_is_begun_with_a_driver_that_does_not_respond() {
    let silent = |mut case: Case| {
        case.no_response = Some("refused".into());
        case.action()
    };
    for (case, action) in [
        (case(), "ReportNoResponse"),
        // What a driver may know is finished, changed and undone by calls.
        (case().creating(), "Create"),
        (case().created().changed(), "Ensure"),
        (case().creating().deleting(), "FinishCreating"),
        (case().created().deleting(), "Delete"),
        // The original controller may have begun it.
        (case().deleting(), "Delete"),
    ] {
        assert_eq!(silent(case), action);
    }
}

#[test]
fn d47_attributes_that_an_earlier_version_stored_are_compared() {
    let mut case = case().created();
    let status = case.lb.status.as_mut().unwrap();
    status.last_synced_digest = None;
    status.last_synced_attributes = Some(case.lb.spec.attributes.clone());
    assert_eq!(case.action(), "AwaitChange");
    assert_eq!(case.changed().action(), "Ensure");
}
