use super::*;
use crate::api::{BindSpec, BindStatus, Condition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

const NOW: &str = "2026-01-01T00:00:00Z";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A Bind with load balancer `a`, of which nothing is known yet.
fn view() -> View {
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
    View {
        bind: Arc::new(bind),
        name: "a".into(),
        driver: Lookup::Found(Arc::default()),
        records: 0,
        unreadable_records: false,
        due: Due::Never,
        now: at(NOW),
    }
}

impl View {
    fn change(mut self, change: impl FnOnce(&mut Bind)) -> Self {
        change(Arc::make_mut(&mut self.bind));
        self
    }

    fn with(self, entry: TargetLoadBalancerStatus) -> Self {
        self.change(|bind| {
            bind.status = Some(BindStatus {
                load_balancer_statuses: vec![entry],
            });
        })
    }

    fn going(self) -> Self {
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
        "Creating",
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
    let view = view().change(|bind| bind.metadata.finalizers = None);
    assert_eq!(decide(&view), Step::Nothing);
}

#[test]
fn u12_d28_what_creating_begins_from_is_stored_before_anybody_is_called() {
    let Step::MarkCreating(entry) = decide(&view()) else {
        panic!()
    };
    assert_eq!(entry.lb_info["vpc"], "vpc-1");
    assert_eq!(entry.driver, "driver");
    let Step::Create(request) = decide(&view().with(begun())) else {
        panic!()
    };
    assert_eq!(request.record_id, "createLoadBalancer(uid-a)", "d28");
    assert_eq!(request.lb_spec["vpc"], "vpc-1");
    assert_eq!(request.attributes["payment"], "by-hour");
}

#[test]
fn b38_u4_changed_attributes_are_ensured_with_the_identity() {
    assert_eq!(decide(&view().with(created())), Step::Nothing);
    let view = view().with(created()).change(|bind| {
        bind.spec.load_balancers[0].attributes = StringMap::from([("payment", "month")]);
    });
    let Step::Ensure(request) = decide(&view) else {
        panic!()
    };
    assert_eq!(request.record_id, "ensureLoadBalancer(uid-a)", "u12");
    assert_eq!(request.lb_info["lbID"], "lb-1");
    assert_eq!(request.attributes["payment"], "month");
}

#[test]
fn b139_what_is_due_is_ensured_again() {
    let due = View {
        due: Due::Now,
        ..view().with(created())
    };
    assert!(matches!(decide(&due), Step::Ensure(_)));
}

#[test]
fn d15_u8_a_load_balancer_taken_out_of_the_spec_leaves_after_its_backends() {
    let removed = view()
        .with(created())
        .change(|bind| bind.spec.load_balancers.clear());
    assert_eq!(decide(&removed), Step::MarkLeaving);
    let leaving = TargetLoadBalancerStatus {
        deletion_timestamp: Some(NOW.into()),
        ..created()
    };
    let mut leaving = view()
        .with(leaving)
        .change(|bind| bind.spec.load_balancers.clear());
    leaving.records = 1;
    assert_eq!(decide(&leaving), Step::Nothing);
    leaving.records = 0;
    let Step::Delete(request) = decide(&leaving) else {
        panic!()
    };
    assert_eq!(request.record_id, "deleteLoadBalancer(uid-a)");
    assert_eq!(request.lb_info["lbID"], "lb-1", "u4");
}

#[test]
fn d13_another_driver_makes_another_load_balancer() {
    let view = view()
        .with(created())
        .change(|bind| bind.spec.load_balancers[0].driver = "another".into());
    assert_eq!(decide(&view), Step::MarkLeaving);
    assert_eq!(
        driver_name(&view.bind, "a"),
        Some("driver"),
        "it has it still"
    );
}

#[test]
fn one_that_is_wanted_again_while_it_leaves_leaves_first() {
    let leaving = TargetLoadBalancerStatus {
        deletion_timestamp: Some(NOW.into()),
        ..created()
    };
    assert!(matches!(decide(&view().with(leaving)), Step::Delete(_)));
}

#[test]
fn u6_a_bind_that_goes_deletes_its_load_balancers_after_their_backends() {
    let mut view = view().with(created()).going();
    view.records = 2;
    assert_eq!(decide(&view), Step::Nothing);
    view.records = 0;
    view.unreadable_records = true;
    assert_eq!(decide(&view), Step::AwaitUnreadable);
    view.unreadable_records = false;
    assert!(matches!(decide(&view), Step::Delete(_)));
}

#[test]
fn u7_what_was_never_begun_is_dropped_and_what_was_begun_is_finished_first() {
    assert_eq!(decide(&view().going()), Step::Nothing);
    let unknown = Condition {
        status: ConditionStatus::Unknown,
        ..Condition::unmet(condition_types::CREATED, "DriverNotFound", "", Some(1))
    };
    assert_eq!(decide(&view().with(entry(unknown)).going()), Step::Drop);
    let removed = view()
        .with(TargetLoadBalancerStatus {
            deletion_timestamp: Some(NOW.into()),
            ..begun()
        })
        .change(|bind| bind.spec.load_balancers.clear());
    let Step::FinishCreating(request) = decide(&removed) else {
        panic!()
    };
    assert_eq!(
        request.lb_spec["vpc"], "vpc-1",
        "the spec is gone; this was stored"
    );
    assert_eq!(request.attributes["payment"], "by-hour");
    // The original stored nothing; as long as the spec is there, it says what was begun.
    let original = TargetLoadBalancerStatus {
        lb_info: StringMap::default(),
        ..begun()
    };
    let Step::FinishCreating(request) = decide(&view().with(original).going()) else {
        panic!()
    };
    assert_eq!(request.lb_spec["vpc"], "vpc-1");
}

#[test]
fn u29_a_stored_wait_holds_until_it_is_over_or_the_bind_changes() {
    let failed = TargetLoadBalancerStatus {
        retry_after: Some("2026-01-01T00:05:00Z".into()),
        ..begun()
    };
    let waiting = view().with(failed);
    assert_eq!(decide(&waiting), Step::Wait(Duration::from_secs(300)));
    let later = View {
        now: at("2026-01-01T00:05:00Z"),
        ..waiting
    };
    assert!(matches!(decide(&later), Step::Create(_)));
    let changed = View {
        now: at(NOW),
        ..later
    }
    .change(|bind| bind.metadata.generation = Some(2));
    assert!(matches!(decide(&changed), Step::Create(_)));
    // Only what failed knows of the present spec; what was done before it does not matter.
    let mut half = created();
    half.retry_after = Some("2026-01-01T00:05:00Z".into());
    half.conditions.push(Condition::unmet(
        condition_types::READY,
        "EnsureFailed",
        "",
        Some(2),
    ));
    let half = view()
        .with(half)
        .change(|bind| bind.metadata.generation = Some(2));
    assert_eq!(decide(&half), Step::Wait(Duration::from_secs(300)));
    let nonsense = TargetLoadBalancerStatus {
        retry_after: Some("soon".into()),
        ..begun()
    };
    assert!(matches!(decide(&view().with(nonsense)), Step::Create(_)));
}

#[test]
fn u34_a_missing_driver_is_told_of_and_an_unreadable_one_waited_for() {
    let with =
        |driver: Lookup<Arc<LoadBalancerDriver>>, view: View| decide(&View { driver, ..view });
    let views = || [view(), view().with(begun()), view().with(created()).going()];
    for view in views() {
        assert_eq!(with(Lookup::Missing, view), Step::ReportDriverMissing);
    }
    for view in views() {
        assert_eq!(with(Lookup::Unreadable, view), Step::Nothing);
    }
}
