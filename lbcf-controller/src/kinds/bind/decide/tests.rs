mod service;

use super::*;
use crate::api::{
    BindEnsurePolicy, BindSpec, BindStatus, Condition, DeregisterPolicy, EnsurePolicyType,
    ObjectKey, PodSelection, PortSelector, StringMap, TargetLoadBalancer, names,
};
use crate::runtime::verdicts::VerdictOutcome;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

fn port(port: i32, protocol: &str) -> PortSelector {
    PortSelector {
        port: Some(port),
        port_number: None,
        protocol: Some(protocol.into()),
    }
}

fn target(name: &str) -> TargetLoadBalancer {
    TargetLoadBalancer {
        name: name.into(),
        driver: "driver".into(),
        spec: StringMap::from([("lbID", name)]),
        attributes: StringMap::default(),
    }
}

fn created(name: &str) -> TargetLoadBalancerStatus {
    TargetLoadBalancerStatus {
        name: name.into(),
        driver: "driver".into(),
        lb_info: StringMap::from([("lbID", name)]),
        last_synced_attributes: Some(StringMap::from([("payment", "by-hour")])),
        conditions: vec![Condition::met(condition_types::CREATED, Some(1))],
        ..TargetLoadBalancerStatus::default()
    }
}

fn bind() -> Bind {
    let spec = BindSpec {
        load_balancers: vec![target("a"), target("b")],
        pods: Some(PodSelection {
            ports: vec![port(8000, "tcp"), port(8000, "UDP"), port(8000, "TCP")],
            by_name: vec!["p0".into()],
            ..PodSelection::default()
        }),
        parameters: StringMap::from([("weight", "100")]),
        ..BindSpec::default()
    };
    let mut bind = Bind::new("test", spec);
    bind.metadata.namespace = Some("ns".into());
    bind.metadata.uid = Some("bind-uid".into());
    bind.status = Some(BindStatus {
        load_balancer_statuses: vec![created("a"), created("b")],
        ..BindStatus::default()
    });
    bind
}

fn pod(name: &str) -> PodView {
    PodView {
        key: ObjectKey::new("ns", name),
        uid: format!("uid-{name}"),
        ip: "10.0.0.1".into(),
        ready: true,
        running: true,
        ..PodView::default()
    }
}

fn state(bind: Bind, pods: Vec<PodView>, records: Vec<BackendRecord>) -> BindState {
    BindState {
        bind: Arc::new(bind),
        candidates: BindCandidates::Pods(pods.into_iter().map(Arc::new).collect(), Arc::default()),
        records: records.into_iter().map(Arc::new).collect(),
    }
}

fn counts(plan: &RecordPlan) -> (usize, usize, usize) {
    (plan.create.len(), plan.update.len(), plan.delete.len())
}

fn entry(bind: &mut Bind, number: usize) -> &mut TargetLoadBalancerStatus {
    &mut bind.status.as_mut().unwrap().load_balancer_statuses[number]
}

#[test]
fn b35_each_port_is_registered_to_each_load_balancer_once() {
    let plan = decide(&state(bind(), vec![pod("p0")], vec![]));
    assert_eq!(counts(&plan), (4, 0, 0), "tcp and TCP are one");
    let records = plan.create;
    let plan = decide(&state(bind(), vec![pod("p0")], records));
    assert_eq!(counts(&plan), (0, 0, 0));
}

#[test]
fn b34_b41_b48_b49_b52_a_record_is_named_labelled_and_owned_as_documented() {
    let plan = decide(&state(bind(), vec![pod("p0")], vec![]));
    let [name, _] = names::bind_record_names("test", "a", "p0", "10.0.0.1", "tcp", 8000);
    let is_it = |record: &&BackendRecord| record.metadata.name.as_ref() == Some(&name);
    let record = plan.create.iter().find(is_it).unwrap();
    let labels = record.metadata.labels.as_ref().unwrap();
    for (label, value) in [
        ("lbcf.tkestack.io/driver", "driver"),
        ("lbcf.tkestack.io/lb", "a"),
        ("lbcf.tkestack.io/bind", "test"),
        ("lbcf.tkestack.io/pod", "p0"),
    ] {
        assert_eq!(labels[label], value);
    }
    let owner = &record.metadata.owner_references.as_ref().unwrap()[0];
    assert_eq!(
        (owner.kind.as_str(), owner.api_version.as_str()),
        ("Bind", "lbcf.tkestack.io/v1")
    );
    assert_eq!(owner.controller, Some(true));
    assert_eq!(record.spec.lb_attributes["payment"], "by-hour");
    assert_eq!(record.spec.parameters["weight"], "100");
    let pod = record.spec.pod_backend.as_ref().unwrap();
    assert_eq!(
        pod.port.protocol.as_deref(),
        Some("tcp"),
        "as it is written"
    );
}

#[test]
fn b132_only_load_balancers_that_are_created_and_kept_have_records() {
    let records = decide(&state(bind(), vec![pod("p0")], vec![])).create;
    let after = |change: fn(&mut Bind)| {
        let mut bind = bind();
        change(&mut bind);
        counts(&decide(&state(bind, vec![pod("p0")], records.clone())))
    };
    assert_eq!(after(|bind| entry(bind, 0).conditions.clear()), (0, 0, 2));
    assert_eq!(
        after(|bind| entry(bind, 0).deletion_timestamp = Some("2026-01-01T00:00:00Z".into())),
        (0, 0, 2)
    );
    assert_eq!(
        after(|bind| drop(bind.spec.load_balancers.remove(0))),
        (0, 0, 2)
    );
    assert_eq!(
        after(|bind| bind.spec.load_balancers[0].driver = "another".into()),
        (0, 0, 2),
        "it is another load balancer"
    );
    assert_eq!(after(|bind| bind.status = None), (0, 0, 4));
}

#[test]
fn u6_b133_a_deleted_bind_deletes_its_records() {
    let records = decide(&state(bind(), vec![pod("p0")], vec![])).create;
    let mut bind = bind();
    bind.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    let plan = decide(&state(bind, vec![pod("p0")], records));
    assert_eq!(counts(&plan), (0, 0, 4));
}

#[test]
fn d16_the_policies_are_those_of_a_group() {
    let records = decide(&state(bind(), vec![pod("p0")], vec![])).create;
    let not_ready = PodView {
        ready: false,
        ..pod("p0")
    };
    let deletions = |policy, verdict: &DeregisterVerdict| {
        let mut bind = bind();
        bind.spec.deregister_policy = policy;
        let mut state = state(bind, vec![not_ready.clone()], records.clone());
        if let BindCandidates::Pods(_, known) = &mut state.candidates {
            *known = Arc::new(verdict.clone());
        }
        decide(&state).delete.len()
    };
    let unasked = DeregisterVerdict::default();
    assert_eq!(deletions(None, &unasked), 4);
    assert_eq!(deletions(Some(DeregisterPolicy::IfNotRunning), &unasked), 0);
    assert_eq!(deletions(Some(DeregisterPolicy::Webhook), &unasked), 0);
    let rejected = DeregisterVerdict::new([&not_ready], VerdictOutcome::Kept([].into()));
    assert_eq!(deletions(Some(DeregisterPolicy::Webhook), &rejected), 4);
}

#[test]
fn u21_a_record_under_its_other_name_is_the_same() {
    let records = decide(&state(bind(), vec![pod("p0")], vec![])).create;
    let renamed: Vec<_> = records
        .iter()
        .map(|record| {
            let mut other = record.clone();
            other.metadata.name = records::renamed(record, "test", "10.0.0.1");
            other
        })
        .collect();
    assert_ne!(renamed[0].metadata.name, records[0].metadata.name);
    let plan = decide(&state(bind(), vec![pod("p0")], renamed));
    assert_eq!(counts(&plan), (0, 0, 0));
}

#[test]
fn b36_d14_the_period_is_read_from_either_field() {
    let period = |min_period: Option<&str>, seconds| {
        let mut bind = bind();
        bind.spec.ensure_policy = Some(BindEnsurePolicy {
            policy: EnsurePolicyType::Always,
            min_period: min_period.map(str::to_owned),
            resync_period_in_seconds: seconds,
        });
        let plan = decide(&state(bind, vec![pod("p0")], vec![]));
        let policy = plan.create[0].spec.ensure_policy.clone().unwrap();
        assert_eq!(policy.policy, EnsurePolicyType::Always);
        policy.min_period
    };
    assert_eq!(period(None, Some(10)).as_deref(), Some("10s"));
    assert_eq!(period(Some("1m"), Some(10)).as_deref(), Some("1m"));
    assert_eq!(period(None, None), None);
}
