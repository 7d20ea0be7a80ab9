use super::*;
use crate::api::{BindEnsurePolicy, BindSpec, EnsurePolicyType, StringMap, TargetLoadBalancer};

const BOTH: &[&str] = &["Created", "Ready"];

fn bind() -> Bind {
    let declared = |name: &str| TargetLoadBalancer {
        name: name.to_owned(),
        driver: "driver".to_owned(),
        ..TargetLoadBalancer::default()
    };
    let spec = BindSpec {
        load_balancers: vec![declared("a"), declared("b")],
        ..BindSpec::default()
    };
    Bind::new("bind", spec)
}

/// A load balancer with these conditions.
fn entry(name: &str, conditions: &[&str]) -> TargetLoadBalancerStatus {
    let conditions = conditions.iter().map(|it| Condition::met(it, None));
    TargetLoadBalancerStatus {
        name: name.to_owned(),
        driver: "driver".to_owned(),
        lb_info: StringMap::from([("lbID", name)]),
        last_synced_attributes: Some(StringMap::from([("payment", "by-hour")])),
        conditions: conditions.collect(),
        ..TargetLoadBalancerStatus::default()
    }
}

fn leaving(name: &str) -> TargetLoadBalancerStatus {
    TargetLoadBalancerStatus {
        deletion_timestamp: Some("2026-01-01T00:00:00Z".to_owned()),
        ..entry(name, BOTH)
    }
}

fn status(entries: Vec<TargetLoadBalancerStatus>) -> BindStatus {
    BindStatus {
        load_balancer_statuses: entries,
        ..BindStatus::default()
    }
}

/// The names of the load balancers that have backends, and of those that may come to have some.
fn uses(bind: &Bind, entries: Vec<TargetLoadBalancerStatus>) -> [String; 2] {
    let (mut usable, mut awaited) = (String::new(), String::new());
    for (name, lb) in bind.load_balancers(&Index::default(), &status(entries)) {
        match lb {
            LoadBalancerUse::Usable(lb) => {
                assert_eq!(lb.driver, "driver");
                assert_eq!(lb.lb_info["lbID"], name);
                assert_eq!(lb.attributes["payment"], "by-hour");
                usable.push_str(&name);
            }
            LoadBalancerUse::Unusable(UnusableLoadBalancer::NotCreated(_)) => {
                awaited.push_str(&name);
            }
            other => panic!("{other:?}"),
        }
    }
    [usable, awaited]
}

#[test]
fn b132_only_load_balancers_that_are_created_and_kept_have_records() {
    let created = || vec![entry("a", &["Created"]), entry("b", BOTH)];
    assert_eq!(uses(&bind(), created()), ["ab", ""]);
    assert_eq!(uses(&bind(), Vec::new()), ["", "ab"]);
    assert_eq!(
        uses(&bind(), vec![entry("a", &[]), entry("b", BOTH)]),
        ["b", "a"]
    );
    assert_eq!(
        uses(&bind(), vec![leaving("a"), entry("b", BOTH)]),
        ["b", "a"]
    );
    let mut removed = bind();
    removed.spec.load_balancers.remove(0);
    assert_eq!(uses(&removed, created()), ["b", ""]);
    let mut another = bind();
    another.spec.load_balancers[0].driver = "another".into();
    assert_eq!(
        uses(&another, created()),
        ["b", "a"],
        "it is another load balancer"
    );
}

#[test]
fn d8_d15_load_balancers_count_that_are_declared_and_ready() {
    let unmarked = TargetLoadBalancerStatus {
        deletion_timestamp: None,
        ..leaving("gone")
    };
    for (entries, ready) in [
        (Vec::new(), 0),
        (vec![entry("a", &[])], 0),
        (vec![entry("a", &["Created"])], 0),
        (vec![entry("a", BOTH)], 1),
        (vec![entry("a", BOTH), entry("b", BOTH)], 2),
        (
            vec![entry("a", BOTH), leaving("b"), leaving("gone"), unmarked],
            1,
        ),
    ] {
        let mut status = status(entries);
        let counts = BackendCounts {
            backends: 3,
            registered: 2,
            ..BackendCounts::default()
        };
        bind().set_counts(&mut status, &counts);
        let load_balancers = [status.load_balancers, status.ready_load_balancers];
        assert_eq!(load_balancers, [2, ready]);
        assert_eq!([status.backends, status.registered_backends], [3, 2]);
    }
}

#[test]
fn d44_a_bind_names_the_load_balancers_that_are_not_ready() {
    let unmet = |type_, message| Condition::unmet(type_, reasons::CREATE_FAILED, message, None);
    let with = |name, conditions| TargetLoadBalancerStatus {
        conditions,
        ..entry(name, &[])
    };
    let failed = with("b", vec![unmet("Created", "the quota is used up")]);
    let created = Condition::met("Created", None);
    let ensuring = with("b", vec![created, unmet("Ready", "not today")]);
    let not_ready = reasons::LOAD_BALANCERS_NOT_READY;
    for (entries, message) in [
        (
            vec![failed],
            Some("a: is not created yet, b: the quota is used up"),
        ),
        (
            vec![leaving("a"), ensuring],
            Some("a: is being deleted, b: not today"),
        ),
        (
            vec![entry("a", BOTH), entry("b", &[])],
            Some("b: is not ready"),
        ),
        (vec![entry("a", BOTH), entry("b", BOTH)], None),
    ] {
        let wait = bind().load_balancer_wait(&status(entries), &BTreeMap::new());
        let wait = wait.map(|wait| (wait.reason, wait.message));
        assert_eq!(wait, message.map(|message| (not_ready, message.to_owned())));
    }
}

#[test]
fn b36_d14_the_period_is_read_from_either_field() {
    for (min_period, seconds, expected) in [
        (None, Some(10), Some("10s")),
        (Some("1m"), Some(10), Some("1m")),
        (None, None, None),
    ] {
        let mut bind = bind();
        bind.spec.ensure_policy = Some(BindEnsurePolicy {
            policy: EnsurePolicyType::Always,
            min_period: min_period.map(str::to_owned),
            resync_period_in_seconds: seconds,
        });
        let policy = bind.spec.ensure_policy().unwrap();
        assert_eq!(policy.policy, EnsurePolicyType::Always);
        assert_eq!(policy.min_period.as_deref(), expected);
    }
}
