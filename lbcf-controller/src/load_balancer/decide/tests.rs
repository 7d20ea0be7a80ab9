use super::*;
use crate::api::{Condition, LoadBalancerSpec, LoadBalancerStatus};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

fn view() -> View {
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
    View {
        lb: Arc::new(lb),
        driver: Lookup::Found(Arc::default()),
        records: 0,
        due: Due::Never,
        unreadable_records: false,
    }
}

impl View {
    fn lb_mut(&mut self) -> &mut LoadBalancer {
        Arc::make_mut(&mut self.lb)
    }

    fn deleting(mut self) -> Self {
        self.lb_mut().metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        self
    }

    fn condition(mut self, condition: Condition) -> Self {
        let status = self.lb_mut().status.get_or_insert_default();
        status.conditions.push(condition);
        self
    }

    fn created(mut self) -> Self {
        self.lb_mut().status = Some(LoadBalancerStatus {
            lb_info: StringMap::from([("lbID", "lb-1")]),
            last_synced_attributes: Some(self.lb.spec.attributes.clone()),
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
    let mut view = view();
    view.lb_mut().metadata.finalizers = Some(vec!["somebody/else".into()]);
    assert_eq!(decide(&view), Step::AddFinalizer);
}

#[test]
fn b101_creating_is_noted_before_the_first_call() {
    assert_eq!(decide(&view()), Step::MarkCreating);
}

#[test]
fn one_whose_driver_was_missing_all_along_was_never_begun() {
    let waiting = || {
        let unknown = Condition::unmet(condition_types::CREATED, "DriverNotFound", "", None);
        view().condition(Condition {
            status: ConditionStatus::Unknown,
            ..unknown
        })
    };
    assert_eq!(decide(&waiting()), Step::MarkCreating);
    assert!(matches!(decide(&waiting().deleting()), Step::Delete(_)));
}

#[test]
fn b15_b102_create_sends_spec_and_attributes() {
    let Step::Create(request) = decide(&view().creating()) else {
        panic!()
    };
    assert_eq!(request.record_id, "createLoadBalancer(uid-1)");
    assert_eq!(request.lb_spec["lbVpcID"], "vpc-1");
    assert_eq!(request.attributes["chargeType"], "HOURLY");
}

#[test]
fn a_created_one_with_its_attributes_needs_nothing() {
    assert_eq!(decide(&view().created()), Step::Nothing);
}

#[test]
fn u1_d6_b16_b18_b103_changed_attributes_are_ensured_with_the_identity_d5() {
    let mut view = view().created();
    view.lb_mut().spec.attributes = StringMap::from([("chargeType", "MONTHLY")]);
    let Step::Ensure(request) = decide(&view) else {
        panic!()
    };
    assert_eq!(request.record_id, "ensureLoadBalancer(uid-1)");
    assert_eq!(request.lb_info["lbID"], "lb-1");
    assert_eq!(request.attributes["chargeType"], "MONTHLY");
}

#[test]
fn u1_attributes_of_unknown_age_are_ensured_once_after_a_takeover() {
    let mut view = view().created();
    view.lb_mut()
        .status
        .as_mut()
        .unwrap()
        .last_synced_attributes = None;
    assert!(matches!(decide(&view), Step::Ensure(_)));
}

#[test]
fn attributes_that_were_taken_back_after_a_failure_are_ensured_again() {
    let failed = Condition::unmet(
        condition_types::ATTRIBUTES_SYNCED,
        "OperationFailed",
        "",
        None,
    );
    assert!(matches!(
        decide(&view().created().condition(failed)),
        Step::Ensure(_)
    ));
}

#[test]
fn at_rest_nobody_asks_for_the_driver() {
    let mut view = view().created();
    view.driver = Lookup::Missing;
    assert_eq!(decide(&view), Step::Nothing);
}

#[test]
fn u34_a_missing_driver_is_reported_and_an_unreadable_one_waited_for() {
    let mut missing = view().creating();
    missing.driver = Lookup::Missing;
    assert_eq!(decide(&missing), Step::ReportDriverMissing);
    missing.driver = Lookup::Unreadable;
    assert_eq!(decide(&missing), Step::Nothing);
    let mut deleting = view().created().deleting();
    deleting.driver = Lookup::Missing;
    assert_eq!(decide(&deleting), Step::ReportDriverMissing);
}

#[test]
fn u18_b105_deleting_waits_for_its_records() {
    let mut view = view().created().deleting();
    view.records = 1;
    assert_eq!(decide(&view), Step::Nothing);
    view.records = 0;
    view.unreadable_records = true;
    assert_eq!(
        decide(&view),
        Step::AwaitUnreadable,
        "u9: nobody knows whose they are"
    );
    view.unreadable_records = false;
    let Step::Delete(request) = decide(&view) else {
        panic!()
    };
    assert_eq!(request.record_id, "deleteLoadBalancer(uid-1)");
    assert_eq!(request.lb_info["lbID"], "lb-1");
}

#[test]
fn u7_deleting_an_unfinished_one_finishes_creating_first() {
    assert!(matches!(
        decide(&view().creating().deleting()),
        Step::FinishCreating(_)
    ));
}

#[test]
fn b104_one_that_was_never_begun_is_deleted_with_an_empty_identity() {
    let Step::Delete(request) = decide(&view().deleting()) else {
        panic!()
    };
    assert!(request.lb_info.is_empty());
}

#[test]
fn without_its_finalizer_it_is_left_to_go() {
    let mut view = view().created().deleting();
    view.lb_mut().metadata.finalizers = None;
    assert_eq!(decide(&view), Step::Nothing);
}
