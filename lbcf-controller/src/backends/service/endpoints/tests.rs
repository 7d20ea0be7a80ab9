use super::*;
use crate::api::{AddressFamily, ObjectKey, ServiceMode, ServicePortSelector};
use crate::index::{Endpoint, EndpointConditions, PodTarget, SlicePort};
use crate::runtime::verdicts::VerdictOutcome;

fn service() -> ServiceView {
    let port = |name: &str, port, target_port| ServicePortView {
        name: name.into(),
        port,
        protocol: "TCP".into(),
        node_port: 0,
        target_port,
    };
    ServiceView {
        key: ObjectKey::new("ns", "svc"),
        version: 1,
        is_external_name: false,
        has_node_ports: false,
        ports: vec![port("http", 80, Some(8080)), port("admin", 81, None)],
        selector: BTreeMap::new(),
        is_local: false,
        deleting: false,
        addresses: Vec::new(),
        load_balancer: None,
    }
}

fn selection() -> ServiceSelection {
    ServiceSelection {
        name: "svc".into(),
        mode: Some(ServiceMode::Endpoints),
        port: ServicePortSelector::new(80, Protocol::Tcp),
        ..ServiceSelection::default()
    }
}

fn slice_port(name: &str, port: Option<i32>) -> SlicePort {
    SlicePort {
        name: name.into(),
        port,
        protocol: Protocol::Tcp,
        app_protocol: None,
    }
}

fn slice(name: &str) -> SliceView {
    SliceView {
        key: ObjectKey::new("ns", name),
        version: 1,
        service: Some(ObjectKey::new("ns", "svc")),
        family: AddressFamily::IPv4,
        ports: vec![slice_port("http", Some(8080))],
        endpoints: Vec::new(),
        problems: Vec::new(),
        is_unknown: false,
    }
}

fn endpoint(address: &str, uid: Option<&str>) -> Endpoint {
    Endpoint {
        address: address.into(),
        conditions: EndpointConditions::default(),
        pod: uid.map(|uid| PodTarget {
            name: format!("pod-{uid}").into(),
            uid: uid.into(),
        }),
        node_name: None,
        zone: None,
        hostname: None,
        for_zones: Box::default(),
    }
}

fn found(slice: &SliceView, endpoint: Endpoint) -> SliceEndpoint {
    SliceEndpoint {
        awaits_gate: false,
        slice: Arc::new(slice.clone()),
        endpoint,
    }
}

fn terminating(mut endpoint: Endpoint) -> Endpoint {
    endpoint.conditions.terminating = Some(true);
    endpoint
}

fn unready(mut endpoint: Endpoint) -> Endpoint {
    endpoint.conditions.ready = Some(false);
    endpoint
}

fn candidates(endpoints: Vec<SliceEndpoint>) -> EndpointCandidates {
    EndpointCandidates {
        service: Some(Arc::new(service())),
        endpoints,
        ..EndpointCandidates::default()
    }
}

/// The addresses, ports and eligibilities.
fn backends(
    endpoints: Vec<SliceEndpoint>,
    selection: &ServiceSelection,
) -> Vec<(String, i32, Eligibility)> {
    let backends = candidates(endpoints).backends(selection, None).into_iter();
    backends
        .map(|it| {
            let address = it.found.endpoint.address.to_string();
            (address, it.port.0, it.eligibility)
        })
        .collect()
}

#[test]
fn e6_e7_e8_the_truth_table_of_ready_serving_and_terminating() {
    use EndpointState::{Draining, NotReady, Ready, Terminated};
    let (nil, no, yes) = (None, Some(false), Some(true));
    let table = [
        // ready, serving, terminating: state
        ((nil, nil, nil), Ready),
        ((nil, nil, no), Ready),
        ((nil, nil, yes), Draining),
        ((nil, no, nil), Ready),
        ((nil, no, no), Ready),
        ((nil, no, yes), Terminated),
        ((nil, yes, nil), Ready),
        ((nil, yes, no), Ready),
        ((nil, yes, yes), Draining),
        ((no, nil, nil), NotReady),
        ((no, nil, no), NotReady),
        ((no, nil, yes), Terminated),
        ((no, no, nil), NotReady),
        ((no, no, no), NotReady),
        ((no, no, yes), Terminated),
        ((no, yes, nil), NotReady),
        ((no, yes, no), NotReady),
        ((no, yes, yes), Draining),
        ((yes, nil, nil), Ready),
        ((yes, nil, no), Ready),
        ((yes, nil, yes), Draining),
        ((yes, no, nil), Ready),
        ((yes, no, no), Ready),
        ((yes, no, yes), Terminated),
        ((yes, yes, nil), Ready),
        ((yes, yes, no), Ready),
        // Published though it is not ready (publishNotReadyAddresses), and all the same going away.
        ((yes, yes, yes), Draining),
    ];
    let combinations: BTreeSet<_> = table.iter().map(|(conditions, _)| conditions).collect();
    assert_eq!(combinations.len(), 27);
    for ((ready, serving, terminating), state) in table {
        let mut endpoint = endpoint("10.0.0.1", None);
        endpoint.conditions = EndpointConditions {
            ready,
            serving,
            terminating,
        };
        let found = found(&slice("a"), endpoint);
        let case = format!("{ready:?} {serving:?} {terminating:?}");
        assert_eq!(EndpointState::of(&found), state, "{case}");
        let expected = match state {
            Ready => Eligibility::Registered,
            NotReady => Eligibility::Unready,
            Draining | Terminated => Eligibility::Deregistered,
        };
        let backends = backends(vec![found], &selection());
        assert_eq!(backends, [("10.0.0.1".into(), 8080, expected)], "{case}");
    }
}

#[test]
fn e1_slices_are_joined_and_an_endpoint_that_is_in_several_is_one_backend() {
    let (a, b) = (slice("a"), slice("b"));
    let twice = vec![
        found(&a, endpoint("10.0.0.1", Some("u1"))),
        found(&b, endpoint("10.0.0.1", Some("u1"))),
        found(&b, endpoint("10.0.0.2", Some("u2"))),
    ];
    let joined = backends(twice, &selection());
    let addresses: Vec<_> = joined
        .iter()
        .map(|(address, ..)| address.as_str())
        .collect();
    assert_eq!(addresses, ["10.0.0.1", "10.0.0.2"]);
    // The same address with another port is another backend.
    let mut other_port = slice("c");
    other_port.ports = vec![slice_port("http", Some(9090))];
    let two = vec![
        found(&a, endpoint("10.0.0.1", Some("u1"))),
        found(&other_port, endpoint("10.0.0.1", Some("u2"))),
    ];
    let two = backends(two, &selection());
    assert_eq!(two.iter().map(|it| it.1).collect::<Vec<_>>(), [8080, 9090]);
}

#[test]
fn e1_e9_of_equal_endpoints_the_latest_state_of_a_pod_counts_and_the_better_pod() {
    let (a, b) = (slice("a"), slice("b"));
    let pod = |uid| endpoint("10.0.0.1", Some(uid));
    let eligibility = |endpoints: [Endpoint; 2]| {
        let [one, two] = endpoints;
        let either = vec![found(&a, one.clone()), found(&b, two.clone())];
        let other = vec![found(&a, two), found(&b, one)];
        let [either, other] = [either, other].map(|it| backends(it, &selection()));
        assert_eq!(either.len(), 1);
        assert_eq!(either, other, "the order of the slices does not matter");
        either[0].2
    };
    // One slice is outdated: a pod that terminates stays so.
    let same = [pod("u1"), terminating(pod("u1"))];
    assert_eq!(eligibility(same), Eligibility::Deregistered);
    // The address passed on to another pod.
    let other = [pod("u2"), terminating(pod("u1"))];
    assert_eq!(eligibility(other), Eligibility::Registered);
    let unready = [pod("u2"), unready(pod("u1"))];
    assert_eq!(eligibility(unready), Eligibility::Registered);
}

#[test]
fn e3_address_families_are_selected() {
    let of = |family: AddressFamily, address: &str| {
        let mut slice = slice("a");
        slice.family = family;
        found(&slice, endpoint(address, None))
    };
    let all = || {
        vec![
            of(AddressFamily::IPv4, "10.0.0.1"),
            of(AddressFamily::IPv6, "fd00::1"),
            of(AddressFamily::Fqdn, "db.example.com"),
        ]
    };
    let addresses = |families: &[AddressFamily]| {
        let selection = ServiceSelection {
            address_families: families.to_vec(),
            ..selection()
        };
        let backends = backends(all(), &selection).into_iter();
        backends.map(|(address, ..)| address).collect::<Vec<_>>()
    };
    assert_eq!(addresses(&[]), ["10.0.0.1", "fd00::1"]);
    assert_eq!(addresses(&[AddressFamily::Fqdn]), ["db.example.com"]);
    assert_eq!(addresses(&[AddressFamily::IPv6]), ["fd00::1"]);
}

#[test]
fn e11_d65_zones_are_those_of_the_hints_or_the_endpoints_own() {
    let mut hinted = endpoint("10.0.0.1", None);
    hinted.zone = Some("a".into());
    hinted.for_zones = Box::new(["b".into()]);
    let mut in_a = endpoint("10.0.0.2", None);
    in_a.zone = Some("a".into());
    let nowhere = endpoint("10.0.0.3", None);
    let addresses = |zones: &[&str]| {
        let endpoints = [&hinted, &in_a, &nowhere];
        let found = endpoints.map(|it| found(&slice("s"), it.clone())).to_vec();
        let selection = ServiceSelection {
            zones: zones.iter().map(|&zone| zone.to_owned()).collect(),
            ..selection()
        };
        backends(found, &selection).len()
    };
    assert_eq!(addresses(&[]), 3);
    assert_eq!(addresses(&["a"]), 1);
    assert_eq!(addresses(&["a", "b"]), 2);
    assert_eq!(addresses(&["c"]), 0);
}

#[test]
fn e14_e15_e16_d63_a_services_port_is_a_slices_port_of_the_same_name() {
    let port_of = |name: &str, selector: ServicePortSelector, ports: Vec<SlicePort>| {
        let mut service = service();
        name.clone_into(&mut service.ports[0].name);
        let mut slice = slice("a");
        slice.ports = ports;
        let candidates = EndpointCandidates {
            service: Some(Arc::new(service)),
            ..candidates(vec![found(&slice, endpoint("10.0.0.1", None))])
        };
        let selection = ServiceSelection {
            port: selector,
            ..selection()
        };
        let backends = candidates.backends(&selection, None);
        backends.first().map(|backend| backend.port.0)
    };
    let number = || ServicePortSelector::new(80, Protocol::Tcp);
    let named = |name: &str| ServicePortSelector::named(name);
    let both = || {
        vec![
            slice_port("admin", Some(9000)),
            slice_port("http", Some(7070)),
        ]
    };
    assert_eq!(port_of("http", number(), both()), Some(7070));
    assert_eq!(port_of("http", named("http"), both()), Some(7070));
    assert_eq!(port_of("http", named("admin"), both()), Some(9000));
    // The only port of a service may have no name.
    assert_eq!(
        port_of("", number(), vec![slice_port("", Some(7))]),
        Some(7)
    );
    // No number stands for all ports: it is the targetPort of the service, unless that is a name.
    assert_eq!(
        port_of("http", number(), vec![slice_port("http", None)]),
        Some(8080)
    );
    assert_eq!(
        port_of("http", named("admin"), vec![slice_port("admin", None)]),
        None
    );
    // No port is defined, the service does not have it, or the slice does not.
    assert_eq!(port_of("http", number(), Vec::new()), None);
    assert_eq!(port_of("http", named("https"), both()), None);
    assert_eq!(port_of("web", number(), both()), None);
}

#[test]
fn e17_the_protocol_is_a_part_of_the_port() {
    let mut service = service();
    service.ports[0].protocol = "SCTP".into();
    let mut slice = slice("a");
    slice.ports[0].protocol = Protocol::Sctp;
    let candidates = EndpointCandidates {
        service: Some(Arc::new(service)),
        ..candidates(vec![found(&slice, endpoint("10.0.0.1", None))])
    };
    let ports = |protocol| {
        let selection = ServiceSelection {
            port: ServicePortSelector::new(80, protocol),
            ..selection()
        };
        let backends = candidates.backends(&selection, None);
        backends.iter().map(|it| it.port).collect::<Vec<_>>()
    };
    assert_eq!(ports(Protocol::Sctp), [(8080, Protocol::Sctp)]);
    assert_eq!(ports(Protocol::Tcp), []);
}

#[test]
fn d62_the_deregister_policy_decides_about_pods_and_other_endpoints_only_have_ready() {
    use DeregisterPolicy::{IfNotReady, IfNotRunning, Webhook};
    let pod = |running: bool| PodView {
        key: ObjectKey::new("ns", "pod-u1"),
        uid: "u1".into(),
        ip: "10.0.0.1".into(),
        running,
        ..PodView::default()
    };
    let eligibility = |policy, pod: Option<PodView>, uid, outcome: VerdictOutcome| {
        let endpoint = unready(endpoint("10.0.0.1", uid));
        let asked: Vec<PodView> = pod.iter().cloned().collect();
        let candidates = EndpointCandidates {
            pods: pod
                .into_iter()
                .map(|pod| (pod.uid.clone(), Arc::new(pod)))
                .collect(),
            verdict: Arc::new(DeregisterVerdict::new(&asked, outcome)),
            ..candidates(vec![found(&slice("a"), endpoint)])
        };
        candidates.backends(&selection(), Some(policy))[0].eligibility
    };
    let kept = || VerdictOutcome::Kept(["pod-u1".to_owned()].into());
    let none = VerdictOutcome::default;
    let (running, ended) = (|| Some(pod(true)), || Some(pod(false)));
    for (policy, pod, uid, outcome, expected) in [
        (
            IfNotReady,
            running(),
            Some("u1"),
            kept(),
            Eligibility::Unready,
        ),
        (
            IfNotRunning,
            running(),
            Some("u1"),
            none(),
            Eligibility::Kept,
        ),
        (
            IfNotRunning,
            ended(),
            Some("u1"),
            none(),
            Eligibility::Deregistered,
        ),
        (Webhook, running(), Some("u1"), kept(), Eligibility::Kept),
        (
            Webhook,
            running(),
            Some("u1"),
            none(),
            Eligibility::Deregistered,
        ),
        // No pod, or none that is known.
        (IfNotRunning, None, None, none(), Eligibility::Deregistered),
        (Webhook, None, None, kept(), Eligibility::Deregistered),
        (
            IfNotRunning,
            None,
            Some("u1"),
            none(),
            Eligibility::Deregistered,
        ),
    ] {
        let case = format!("{policy:?} {pod:?} {uid:?}");
        assert_eq!(eligibility(policy, pod, uid, outcome), expected, "{case}");
    }
    let mut deleting = pod(true);
    deleting.deleting = true;
    let eligibility = eligibility(IfNotRunning, Some(deleting), Some("u1"), none());
    assert_eq!(eligibility, Eligibility::Deregistered);
}

#[test]
fn d60_endpoints_that_are_terminating_do_not_count() {
    let a = slice("a");
    let mut other_port = slice("b");
    other_port.ports = vec![slice_port("http", Some(9090))];
    let candidates = candidates(vec![
        found(&a, endpoint("10.0.0.1", None)),
        found(&other_port, unready(endpoint("10.0.0.1", None))),
        found(&a, terminating(endpoint("10.0.0.2", None))),
    ]);
    let tallies = tallies(&candidates.backends(&selection(), None));
    let tally = UnitTally {
        endpoints: 2,
        unready: 1,
    };
    assert_eq!(tallies, BTreeMap::from([("10.0.0.1".into(), tally)]));
}

#[test]
fn d76_an_endpoint_whose_pod_waits_only_for_its_registration_is_registered() {
    let with = |awaits_gate, endpoint| SliceEndpoint {
        awaits_gate,
        ..found(&slice("a"), endpoint)
    };
    let unready = || unready(endpoint("10.0.0.1", Some("u1")));
    for (awaits_gate, endpoint, state, eligibility) in [
        (
            true,
            unready(),
            EndpointState::Ready,
            Eligibility::Registered,
        ),
        (
            false,
            unready(),
            EndpointState::NotReady,
            Eligibility::Unready,
        ),
        (
            true,
            terminating(unready()),
            EndpointState::Terminated,
            Eligibility::Deregistered,
        ),
    ] {
        let found = with(awaits_gate, endpoint);
        assert_eq!(EndpointState::of(&found), state);
        let backends = backends(vec![found], &selection());
        assert_eq!(backends, [("10.0.0.1".into(), 8080, eligibility)]);
    }
    // It is no worse than another pod that gave up the address.
    let other = found(&slice("b"), terminating(endpoint("10.0.0.1", Some("u0"))));
    let both = candidates(vec![other, with(true, unready())]);
    let backends = both.backends(&selection(), None);
    let target = backends[0].found.endpoint.pod.as_ref().unwrap();
    assert_eq!((backends.len(), &*target.uid), (1, "u1"));
    assert_eq!(tallies(&backends)["10.0.0.1"].unready, 0);
}
