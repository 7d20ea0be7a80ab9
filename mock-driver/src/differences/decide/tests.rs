use super::*;
use serde_json::{Value, json};

const LB: [(&str, &str); 2] = [("lbID", "lb-1"), ("lblID", "lsn-1")];

fn map(entries: &[(&str, &str)]) -> StringMap {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    entries.iter().map(owned).collect()
}

fn object(kind: &str, name: &str) -> ObjectReference {
    ObjectReference {
        kind: kind.to_owned(),
        namespace: "shop".to_owned(),
        name: name.to_owned(),
    }
}

fn load_balancer(name: &str, lb_info: &[(&str, &str)]) -> ClusterLoadBalancer {
    ClusterLoadBalancer {
        object: object("LoadBalancer", name),
        id: format!("uid-of-{name}"),
        lb_info: map(lb_info),
        ..ClusterLoadBalancer::default()
    }
}

fn backend(name: &str, address: &str) -> ClusterBackend {
    ClusterBackend {
        object: object("BackendRecord", name),
        lb_info: map(&LB),
        address: address.to_owned(),
        is_registered: true,
        ..ClusterBackend::default()
    }
}

fn view(load_balancers: Vec<ClusterLoadBalancer>, backends: Vec<ClusterBackend>) -> ClusterView {
    ClusterView {
        load_balancers,
        backends,
    }
}

/// One TCP listener, `LB`, used by the LoadBalancer `web`.
fn cloud(targets: Value) -> CloudState {
    let listener = json!({
        "id": "lsn-1", "protocol": "TCP", "port": 80,
        "usedBy": ["createLoadBalancer(uid-of-web)"], "targets": targets,
    });
    state(json!({"id": "lb-1", "listeners": [listener]}))
}

fn state(load_balancer: Value) -> CloudState {
    serde_json::from_value(json!({ "loadBalancers": [load_balancer] })).unwrap()
}

/// The kinds, with the object's name and the address.
fn found(cluster: &ClusterView, cloud: &CloudState) -> Vec<(DifferenceKind, String, String)> {
    let short = |it: Difference| {
        let object = it.object.map(|object| object.name);
        (
            it.kind,
            object.unwrap_or_default(),
            it.address.unwrap_or_default(),
        )
    };
    let all = differences(cluster, cloud);
    all.into_iter().map(short).collect()
}

fn one(kind: DifferenceKind, object: &str, address: &str) -> Vec<(DifferenceKind, String, String)> {
    vec![(kind, object.to_owned(), address.to_owned())]
}

#[test]
fn d81_equal_sides_have_no_difference() {
    let empty = CloudState::default();
    assert_eq!(found(&ClusterView::default(), &empty), []);
    let cluster = view(
        vec![load_balancer("web", &LB)],
        vec![backend("r1", "10.0.0.1:80"), backend("r2", "10.0.0.2:80")],
    );
    let cloud = cloud(json!([{"addr": "10.0.0.1:80"}, {"addr": "10.0.0.2:80", "weight": 100}]));
    assert_eq!(found(&cluster, &cloud), []);
}

#[test]
fn d81_a_registered_backend_that_is_gone_is_named_by_its_record() {
    let mut cluster = view(
        vec![load_balancer("web", &LB)],
        vec![backend("r1", "10.0.0.1:80")],
    );
    let gone = one(DifferenceKind::BackendNotInCloud, "r1", "10.0.0.1:80");
    assert_eq!(found(&cluster, &cloud(json!([]))), gone);
    // A backend that is not registered yet, or is being deregistered, is no difference.
    cluster.backends[0].is_registered = false;
    assert_eq!(found(&cluster, &cloud(json!([]))), []);
    cluster.backends[0].is_registered = true;
    cluster.backends[0].is_deleting = true;
    assert_eq!(found(&cluster, &cloud(json!([]))), []);
}

#[test]
fn d81_a_backend_that_no_record_names_is_named_by_its_load_balancer() {
    let cloud = cloud(json!([{"addr": "10.0.0.9:80", "recordID": "ensureBackend(lost)"}]));
    let cluster = view(vec![load_balancer("web", &LB)], Vec::new());
    let lost = one(DifferenceKind::BackendNotInCluster, "web", "10.0.0.9:80");
    assert_eq!(found(&cluster, &cloud), lost);
    let record_id = &differences(&cluster, &cloud)[0].record_id;
    assert_eq!(record_id.as_deref(), Some("ensureBackend(lost)"));
    // A record names it from before the registration until after the deregistration.
    for (is_registered, is_deleting) in [(false, false), (true, true)] {
        let record = ClusterBackend {
            is_registered,
            is_deleting,
            ..backend("r9", "10.0.0.9:80")
        };
        let cluster = view(vec![load_balancer("web", &LB)], vec![record]);
        assert_eq!(found(&cluster, &cloud), []);
    }
    // An address at another load balancer is another backend.
    let elsewhere = ClusterBackend {
        lb_info: map(&[("lbID", "lb-2"), ("lblID", "lsn-2")]),
        is_registered: false,
        ..backend("r9", "10.0.0.9:80")
    };
    let cluster = view(vec![load_balancer("web", &LB)], vec![elsewhere]);
    assert_eq!(found(&cluster, &cloud), lost);
}

#[test]
fn d81_weights_and_parameters_are_compared_by_their_meaning() {
    for (declared, target, differing) in [
        (map(&[("weight", "050")]), json!({"weight": 50}), vec![]),
        (map(&[]), json!({"weight": 100}), vec![]),
        (map(&[]), json!({"weight": 7}), vec!["weight: 100, 7"]),
        (
            map(&[("weight", "heavy")]),
            json!({"weight": 7}),
            vec!["weight: heavy, 7"],
        ),
        (
            map(&[("weight", "50"), ("a", "1"), ("b", "2")]),
            json!({"weight": 60, "parameters": {"weight": "60", "b": "3", "c": "4"}}),
            vec!["a: 1, -", "b: 2, 3", "c: -, 4", "weight: 50, 60"],
        ),
    ] {
        let record = ClusterBackend {
            parameters: declared,
            ..backend("r1", "10.0.0.1:80")
        };
        let cluster = view(vec![load_balancer("web", &LB)], vec![record]);
        let mut bound = target;
        bound["addr"] = json!("10.0.0.1:80");
        let all = differences(&cluster, &cloud(json!([bound])));
        let shown = |it: &FieldDifference| {
            let [cluster, cloud] = [&it.cluster, &it.cloud].map(|it| it.as_deref().unwrap_or("-"));
            format!("{}: {cluster}, {cloud}", it.name)
        };
        let fields: Vec<_> = all.iter().flat_map(|it| &it.fields).map(shown).collect();
        assert_eq!(fields, differing);
        assert!(
            all.iter()
                .all(|it| it.kind == DifferenceKind::ParametersDiffer)
        );
    }
}

#[test]
fn d41_of_several_records_of_an_address_one_has_to_agree() {
    let weight = |name: &str, weight: &str| ClusterBackend {
        parameters: map(&[("weight", weight)]),
        ..backend(name, "10.0.0.1:80")
    };
    let cluster = |of_second: &str| {
        view(
            vec![load_balancer("web", &LB)],
            vec![weight("r1", "10"), weight("r2", of_second)],
        )
    };
    let cloud = cloud(json!([{"addr": "10.0.0.1:80", "weight": 20}]));
    assert_eq!(found(&cluster("20"), &cloud), []);
    let differing = one(DifferenceKind::ParametersDiffer, "r1", "10.0.0.1:80");
    assert_eq!(found(&cluster("30"), &cloud), differing);
}

#[test]
fn d81_load_balancers_of_either_side_only_are_named() {
    let other = [("lbID", "lb-2"), ("lblID", "lsn-2")];
    let mut cluster = view(vec![load_balancer("other", &other)], Vec::new());
    let [missing, unknown] = [
        DifferenceKind::LoadBalancerNotInCloud,
        DifferenceKind::LoadBalancerNotInCluster,
    ];
    let cloud = cloud(json!([]));
    let both = [one(missing, "other", ""), one(unknown, "", "")].concat();
    assert_eq!(found(&cluster, &cloud), both);
    cluster.load_balancers[0].is_deleting = true;
    assert_eq!(found(&cluster, &cloud), one(unknown, "", ""));
    // Its creation is complete, and the cluster does not know the result yet.
    cluster.load_balancers = vec![load_balancer("web", &[])];
    assert_eq!(found(&cluster, &cloud), []);
    // An endpoint that no LoadBalancer names is no difference.
    let unused = json!({"id": "lsn-1", "protocol": "TCP", "port": 80});
    let unused = state(json!({"id": "lb-1", "listeners": [unused]}));
    assert_eq!(found(&ClusterView::default(), &unused), []);
}

#[test]
fn d81_a_creation_is_known_by_its_token() {
    let creating = state(json!({
        "id": "lb-7", "clientToken": "createLoadBalancer(uid-of-web)",
        "creating": "creating CLB instance",
    }));
    let cluster = view(vec![load_balancer("web", &[])], Vec::new());
    assert_eq!(found(&cluster, &creating), []);
    let unknown = one(DifferenceKind::LoadBalancerNotInCluster, "", "");
    assert_eq!(found(&ClusterView::default(), &creating), unknown);
}

#[test]
fn d81_attributes_that_differ_are_listed() {
    let mut declared = load_balancer("web", &LB);
    declared.attributes = map(&[("bandwidth", "10")]);
    let differing = differences(&view(vec![declared], Vec::new()), &cloud(json!([])));
    assert_eq!(differing[0].kind, DifferenceKind::AttributesDiffer);
    let expected = json!([{"name": "bandwidth", "cluster": "10"}]);
    assert_eq!(
        serde_json::to_value(&differing[0].fields).unwrap(),
        expected
    );
}

#[test]
fn d81_identities_are_found_however_they_are_spelled() {
    let rule = json!({"domain": "*", "url": "/", "targets": [{"addr": "10.0.0.1:80"}]});
    let listener = json!({"id": "lsn-1", "protocol": "HTTP", "port": 80, "rules": [rule]});
    let cloud = state(json!({"id": "lb-1", "listeners": [listener]}));
    for lb_info in [
        vec![("lbID", "lb-1"), ("lblID", "lsn-1")],
        vec![("loadBalancerID", "lb-1"), ("listenerID", "lsn-1")],
        vec![
            ("lbID", "lb-1"),
            ("lblID", "lsn-1"),
            ("domain", "*"),
            ("url", "/"),
        ],
    ] {
        let record = ClusterBackend {
            lb_info: map(&lb_info),
            ..backend("r1", "10.0.0.1:80")
        };
        let cluster = view(vec![load_balancer("web", &lb_info)], vec![record]);
        assert_eq!(found(&cluster, &cloud), [], "{lb_info:?}");
    }
}

#[test]
fn d81_identities_that_cannot_be_read_are_not_in_the_cloud() {
    let nonsense = [("name", "web")];
    let record = ClusterBackend {
        lb_info: map(&nonsense),
        ..backend("r1", "10.0.0.1:80")
    };
    let cluster = view(vec![load_balancer("web", &nonsense)], vec![record]);
    let kinds: Vec<_> = found(&cluster, &CloudState::default())
        .into_iter()
        .map(|(kind, ..)| kind)
        .collect();
    let [load_balancer, backend] = [
        DifferenceKind::LoadBalancerNotInCloud,
        DifferenceKind::BackendNotInCloud,
    ];
    assert_eq!(kinds, [load_balancer, backend]);
}
