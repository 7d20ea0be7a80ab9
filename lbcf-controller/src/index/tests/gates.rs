use super::*;

const WEB: &[(&str, &str)] = &[("app", "web")];

fn gated(version: u64, gate: GateStatus) -> PodView {
    PodView {
        gate: Some(gate),
        ..pod("p0", WEB, version)
    }
}

fn apply<K: Indexed>(index: &mut Index, object: K) -> Vec<String> {
    keys(Indexed::apply(index, StoreEvent::Apply(object)))
}

fn registered(version: u64) -> BackendRecord {
    let mut record = with_address(record("r", version));
    let condition = Condition::met(condition_types::REGISTERED, None);
    record.status.as_mut().unwrap().conditions = vec![condition];
    record
}

#[test]
fn d67_pods_without_the_gate_are_not_reconciled() {
    let mut index = Index::default();
    assert_eq!(
        apply(&mut index, group("web", WEB, 1)),
        ["BackendGroup ns/web"]
    );
    assert_eq!(
        apply(&mut index, pod("p0", WEB, 2)),
        ["BackendGroup ns/web"]
    );
    let requests = apply(&mut index, registered(3));
    assert!(
        !requests.iter().any(|key| key.starts_with("Pod")),
        "{requests:?}"
    );
    assert!(!index.contains_key(&RequestKey::Pod(key("p0"))));
}

#[test]
fn d67_a_pod_is_reconciled_when_its_gate_or_a_record_changes() {
    let mut index = Index::default();
    let with_pod = |requests: &[String]| requests.contains(&"Pod ns/p0".to_owned());
    apply(&mut index, group("web", WEB, 1));
    assert!(with_pod(&apply(&mut index, gated(2, GateStatus::Unset))));
    assert!(index.contains_key(&RequestKey::Pod(key("p0"))));
    // The group does not depend on the gate.
    assert_eq!(
        apply(&mut index, gated(3, GateStatus::False)),
        ["Pod ns/p0"]
    );
    assert!(!with_pod(&apply(&mut index, record("r", 4))));
    assert!(with_pod(&apply(&mut index, registered(5))));
    let owner = Owner::Group(key("web"));
    assert!(index.is_registered_by(&owner, "r"));
    assert!(!index.is_registered_by(&Owner::Bind(key("web")), "r"));
    assert!(with_pod(&apply(&mut index, deleting(registered(6)))));
    assert!(!index.is_registered_by(&owner, "r"));
}

#[test]
fn d67_pods_that_wait_are_reconciled_with_their_owner() {
    let mut index = Index::default();
    apply(&mut index, gated(1, GateStatus::False));
    let both = ["BackendGroup ns/web", "Pod ns/p0"];
    assert_eq!(apply(&mut index, group("web", WEB, 2)), both);
    assert_eq!(index.owners_of_pod(&key("p0")), [of_group("web")]);
    // A change that no longer selects it.
    assert_eq!(apply(&mut index, group("web", &[("app", "db")], 3)), both);
    assert!(index.owners_of_pod(&key("p0")).is_empty());
    assert_eq!(apply(&mut index, group("web", WEB, 4)), both);
    let lb = placed(LoadBalancer::new("lb", LoadBalancerSpec::default()), 5);
    let requests = apply(&mut index, lb);
    assert!(requests.contains(&"Pod ns/p0".to_owned()), "{requests:?}");
    apply(&mut index, gated(6, GateStatus::True));
    assert_eq!(
        apply(&mut index, group("web", &[("tier", "a")], 7)),
        ["BackendGroup ns/web"],
        "a pod with its gate open does not wait"
    );
    let mut bind = placed(Bind::new("bind", BindSpec::default()), 8);
    bind.spec.pods.get_or_insert_default().by_name = vec!["p0".into()];
    assert_eq!(apply(&mut index, bind.clone()), ["Bind ns/bind"]);
    apply(&mut index, gated(9, GateStatus::Unset));
    let deleted = keys(Indexed::apply(
        &mut index,
        StoreEvent::Delete(placed(bind, 10)),
    ));
    assert_eq!(deleted, ["Bind ns/bind", "Pod ns/p0"]);
}
