use super::*;
use crate::api::{BindSpec, BindStatus, Condition, LoadBalancerDriver, StringMap};
use crate::index::Lookup;
use crate::kinds::load_balancer::lifecycle::{LoadBalancerAction, decide};
use crate::runtime::memory::Due;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use std::time::Duration;

const NOW: &str = "2026-01-01T00:00:00Z";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

struct Case {
    lb: BindLoadBalancer,
    driver: Lookup<Arc<LoadBalancerDriver>>,
    records: usize,
    unreadable_records: bool,
    due: Due,
    retry_in: Option<Duration>,
    now: Timestamp,
}

/// A Bind with load balancer `a`, without a status.
fn case() -> Case {
    let spec = BindSpec {
        load_balancers: vec![TargetLoadBalancer {
            name: "a".into(),
            driver: "driver".into(),
            spec: StringMap::from([("vpc", "vpc-1")]),
            attributes: StringMap::from([("payment", "by-hour")]),
        }],
        ..BindSpec::default()
    };
    let mut bind = Bind::new("test", spec);
    bind.metadata.namespace = Some("ns".into());
    bind.metadata.uid = Some("uid".into());
    bind.metadata.generation = Some(1);
    bind.metadata.finalizers = Some(vec![FINALIZER_LOAD_BALANCER.into()]);
    let mut driver = LoadBalancerDriver::default();
    driver.metadata.finalizers = Some(vec![names::FINALIZER_DRIVER.into()]);
    Case {
        lb: BindLoadBalancer {
            bind: Arc::new(bind),
            key: BindLoadBalancerKey {
                bind: ObjectKey::new("ns", "test"),
                name: "a".into(),
            },
        },
        driver: Lookup::Found(Arc::new(driver)),
        records: 0,
        unreadable_records: false,
        due: Due::Never,
        retry_in: None,
        now: at(NOW),
    }
}

impl Case {
    fn decide(&self) -> LoadBalancerAction {
        decide(&self.lb.state(Observations {
            is_paused: false,
            driver: self.driver.clone(),
            no_response: None,
            records: self.records,
            first_record: None,
            unreadable_records: self.unreadable_records,
            due: self.due,
            retry_in: self.retry_in,
            now: self.now,
            dry_run: false,
        }))
    }

    fn change(mut self, change: impl FnOnce(&mut Bind)) -> Self {
        change(Arc::make_mut(&mut self.lb.bind));
        self
    }

    fn with(self, entry: TargetLoadBalancerStatus) -> Self {
        self.change(|bind| {
            bind.status = Some(BindStatus {
                load_balancer_statuses: vec![entry],
                ..BindStatus::default()
            });
        })
    }

    fn deleting(self) -> Self {
        self.change(|bind| {
            bind.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        })
    }
}

fn entry(created: Condition) -> TargetLoadBalancerStatus {
    TargetLoadBalancerStatus {
        name: "a".into(),
        driver: "driver".into(),
        lb_info: StringMap::from([("vpc", "vpc-1")]),
        last_synced_attributes: Some(StringMap::from([("payment", "by-hour")])),
        conditions: vec![created],
        ..TargetLoadBalancerStatus::default()
    }
}

fn begun() -> TargetLoadBalancerStatus {
    entry(Condition::unmet(
        condition_types::CREATED,
        reasons::CREATING,
        "",
        Some(1),
    ))
}

fn created() -> TargetLoadBalancerStatus {
    TargetLoadBalancerStatus {
        lb_info: StringMap::from([("lbID", "lb-1")]),
        ..entry(Condition::met(condition_types::CREATED, Some(1)))
    }
}

#[test]
fn d30_nothing_is_done_before_the_finalizer_is_stored() {
    let case = case().change(|bind| bind.metadata.finalizers = None);
    assert_eq!(case.decide(), LoadBalancerAction::AwaitChange);
}

#[test]
fn u12_d28_what_creating_begins_from_is_stored_before_the_first_call() {
    assert_eq!(case().decide(), LoadBalancerAction::MarkCreating);
    let entry = case().lb.initial_status();
    assert_eq!(entry.lb_info["vpc"], "vpc-1");
    assert_eq!(entry.driver, "driver");
    let LoadBalancerAction::Create(request) = case().with(begun()).decide() else {
        panic!()
    };
    assert_eq!(request.record_id, "createLoadBalancer(uid-a)", "d28");
    assert_eq!(request.lb_spec["vpc"], "vpc-1");
    assert_eq!(request.attributes["payment"], "by-hour");
}

#[test]
fn b38_u4_changed_attributes_are_ensured_with_the_identity() {
    assert_eq!(
        case().with(created()).decide(),
        LoadBalancerAction::AwaitChange
    );
    let case = case().with(created()).change(|bind| {
        bind.spec.load_balancers[0].attributes = StringMap::from([("payment", "month")]);
    });
    let LoadBalancerAction::Ensure(request) = case.decide() else {
        panic!()
    };
    assert_eq!(request.record_id, "ensureLoadBalancer(uid-a)", "u12");
    assert_eq!(request.lb_info["lbID"], "lb-1");
    assert_eq!(request.attributes["payment"], "month");
}

#[test]
fn b139_what_is_due_is_ensured_again() {
    let due = Case {
        due: Due::Now,
        ..case().with(created())
    };
    assert!(matches!(due.decide(), LoadBalancerAction::Ensure(_)));
}

#[test]
fn d15_u8_a_load_balancer_removed_from_the_spec_is_deleted_after_its_backends() {
    let removed = case()
        .with(created())
        .change(|bind| bind.spec.load_balancers.clear());
    assert_eq!(removed.decide(), LoadBalancerAction::MarkDeleting);
    let deleting = TargetLoadBalancerStatus {
        deletion_timestamp: Some(NOW.into()),
        ..created()
    };
    let mut deleting = case()
        .with(deleting)
        .change(|bind| bind.spec.load_balancers.clear());
    deleting.records = 1;
    assert_eq!(deleting.decide(), LoadBalancerAction::AwaitRecords);
    deleting.records = 0;
    let LoadBalancerAction::Delete(request) = deleting.decide() else {
        panic!()
    };
    assert_eq!(request.record_id, "deleteLoadBalancer(uid-a)");
    assert_eq!(request.lb_info["lbID"], "lb-1", "u4");
}

#[test]
fn d13_with_another_driver_it_is_another_load_balancer() {
    let case = case()
        .with(created())
        .change(|bind| bind.spec.load_balancers[0].driver = "another".into());
    assert_eq!(case.decide(), LoadBalancerAction::MarkDeleting);
    assert_eq!(&*case.lb.driver().1.name, "driver", "it still has it");
}

#[test]
fn one_that_is_declared_again_while_it_is_deleted_is_deleted_first() {
    let deleting = TargetLoadBalancerStatus {
        deletion_timestamp: Some(NOW.into()),
        ..created()
    };
    assert!(matches!(
        case().with(deleting).decide(),
        LoadBalancerAction::Delete(_)
    ));
}

#[test]
fn u6_a_deleted_bind_deletes_its_load_balancers_after_their_backends() {
    let mut case = case().with(created()).deleting();
    case.records = 2;
    assert_eq!(case.decide(), LoadBalancerAction::AwaitRecords);
    case.records = 0;
    case.unreadable_records = true;
    assert_eq!(case.decide(), LoadBalancerAction::AwaitUnreadable);
    case.unreadable_records = false;
    assert!(matches!(case.decide(), LoadBalancerAction::Delete(_)));
}

#[test]
fn u7_one_that_was_never_begun_is_removed_and_one_that_was_begun_is_finished_first() {
    assert_eq!(case().deleting().decide(), LoadBalancerAction::AwaitChange);
    let unknown = Condition {
        status: ConditionStatus::Unknown,
        ..Condition::unmet(
            condition_types::CREATED,
            reasons::DRIVER_NOT_FOUND,
            "",
            Some(1),
        )
    };
    assert_eq!(
        case().with(entry(unknown)).deleting().decide(),
        LoadBalancerAction::Remove
    );
    let removed = case()
        .with(TargetLoadBalancerStatus {
            deletion_timestamp: Some(NOW.into()),
            ..begun()
        })
        .change(|bind| bind.spec.load_balancers.clear());
    let LoadBalancerAction::FinishCreating(request) = removed.decide() else {
        panic!()
    };
    assert_eq!(
        request.lb_spec["vpc"], "vpc-1",
        "the stored one, as the spec is removed"
    );
    assert_eq!(request.attributes["payment"], "by-hour");
    // The original controller stored nothing; then the spec is used as long as it exists.
    let original = TargetLoadBalancerStatus {
        lb_info: StringMap::default(),
        ..begun()
    };
    let LoadBalancerAction::FinishCreating(request) = case().with(original).deleting().decide()
    else {
        panic!()
    };
    assert_eq!(request.lb_spec["vpc"], "vpc-1");
}

#[test]
fn u29_a_stored_wait_applies_until_it_is_over_or_the_bind_changes() {
    let wait = Duration::from_secs(300);
    let with = |entry, retry_in, generation| {
        let case = Case { retry_in, ..case() }.with(entry);
        case.change(|bind| bind.metadata.generation = Some(generation))
            .decide()
    };
    assert_eq!(with(begun(), Some(wait), 1), LoadBalancerAction::Wait(wait));
    for (retry_in, generation) in [(None, 1), (Some(wait), 2)] {
        let action = with(begun(), retry_in, generation);
        assert!(matches!(action, LoadBalancerAction::Create(_)));
    }
    // Only the failure is of the present generation.
    let mut half = created();
    half.conditions.push(Condition::unmet(
        condition_types::READY,
        reasons::ENSURE_FAILED,
        "",
        Some(2),
    ));
    assert_eq!(with(half, Some(wait), 2), LoadBalancerAction::Wait(wait));
}

#[test]
fn u34_a_missing_driver_is_reported_and_an_unreadable_one_awaited() {
    let with =
        |driver: Lookup<Arc<LoadBalancerDriver>>, case: Case| Case { driver, ..case }.decide();
    let cases = || {
        [
            case(),
            case().with(begun()),
            case().with(created()).deleting(),
        ]
    };
    for case in cases() {
        assert_eq!(
            with(Lookup::Missing, case),
            LoadBalancerAction::ReportDriverMissing
        );
    }
    for case in cases() {
        assert_eq!(
            with(Lookup::Unreadable, case),
            LoadBalancerAction::AwaitDriver
        );
    }
}
