use super::*;
use kube::api::ObjectMeta;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// A slice of the service `ns/svc` as JSON, with these fields.
fn read(fields: &Value) -> SliceView {
    let labels = json!({"kubernetes.io/service-name": "svc"});
    read_labelled(&labels, fields)
}

fn read_labelled(labels: &Value, fields: &Value) -> SliceView {
    let metadata: ObjectMeta = serde_json::from_value(json!({
        "namespace": "ns", "name": "svc-1", "resourceVersion": "7", "labels": labels,
    }))
    .unwrap();
    // A field that is null is none when a watch event is decoded.
    let part = |name: &str| -> Option<Box<RawValue>> {
        let value = fields.get(name).filter(|value| !value.is_null())?;
        Some(to_raw_value(value).unwrap())
    };
    let parts = ["addressType", "endpoints", "ports"].map(part);
    SliceView::read(
        &metadata,
        SliceParts {
            address_type: parts[0].as_deref(),
            endpoints: parts[1].as_deref(),
            ports: parts[2].as_deref(),
        },
    )
}

fn with_endpoints(endpoints: &Value) -> SliceView {
    read(&json!({"addressType": "IPv4", "endpoints": endpoints, "ports": [{"port": 80}]}))
}

fn with_ports(ports: &Value) -> SliceView {
    read(&json!({"addressType": "IPv4", "endpoints": [], "ports": ports}))
}

fn addresses(slice: &SliceView) -> Vec<&str> {
    slice.endpoints.iter().map(|it| &*it.address).collect()
}

#[test]
fn e1_a_slice_belongs_to_the_service_that_its_label_names() {
    let fields = json!({"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}]});
    let slice = read(&fields);
    assert_eq!(slice.service, Some(ObjectKey::new("ns", "svc")));
    assert_eq!((addresses(&slice), slice.version), (vec!["10.0.0.1"], 7));
    for none in [json!({}), json!({"kubernetes.io/service-name": ""})] {
        let slice = read_labelled(&none, &fields);
        assert_eq!((slice.service, slice.endpoints), (None, Vec::new()));
    }
}

#[test]
fn e2_e3_a_slice_without_a_known_type_has_nothing_that_counts() {
    let endpoints = json!([{"addresses": ["10.0.0.1"]}]);
    for (given, says) in [
        (
            json!(null),
            "addressType: required; must be IPv4, IPv6 or FQDN",
        ),
        (
            json!("IP"),
            "addressType: unknown variant `IP`, expected one of `IPv4`, `IPv6`, `FQDN`",
        ),
        (json!(4), "addressType: "),
    ] {
        let slice = read(&json!({"addressType": given, "endpoints": endpoints}));
        assert!(slice.endpoints.is_empty() && slice.is_unknown);
        assert!(slice.problems[0].starts_with(says), "{:?}", slice.problems);
    }
    let slice = read(&json!({"addressType": "IPv4", "endpoints": {"a": 1}}));
    assert!(slice.is_unknown);
    assert!(
        slice.problems[0].starts_with("endpoints: "),
        "{:?}",
        slice.problems
    );
    // An API server writes null for a slice without endpoints.
    let slice = read(&json!({"addressType": "IPv4", "endpoints": null, "ports": null}));
    assert_eq!((slice.problems, slice.is_unknown), (Vec::new(), false));
}

#[test]
fn e3_all_addresses_are_of_the_slices_type() {
    let of = |family: &str, address: &str| {
        let endpoints = json!([{"addresses": ["127.1"]}, {"addresses": [address]}]);
        let slice = read(&json!({"addressType": family, "endpoints": endpoints}));
        let read = slice.endpoints.iter().map(|it| it.address.to_string());
        (read.collect::<Vec<_>>(), slice.problems)
    };
    for (family, address, read) in [
        ("IPv4", "10.0.0.1", "10.0.0.1"),
        ("IPv6", "2001:DB8:0::1", "2001:db8::1"),
    ] {
        let (found, problems) = of(family, address);
        assert_eq!(found, [read]);
        let says = format!("endpoints[0].addresses[0]: \"127.1\": not a valid {family} address");
        assert_eq!(problems, [says], "the rest counts");
    }
    assert_eq!(of("FQDN", "db.example.com.").0, ["127.1", "db.example.com"]);
    for (family, address) in [
        ("IPv4", "fd00::1"),
        ("IPv6", "10.0.0.1"),
        ("IPv4", "example.com"),
        ("FQDN", "Example.com"),
        ("FQDN", "a..b"),
        ("FQDN", ""),
    ] {
        let (found, problems) = of(family, address);
        assert!(!found.contains(&address.to_owned()), "{family} {address}");
        assert!(problems.last().unwrap().contains(address), "{problems:?}");
    }
}

#[test]
fn e4_a_slice_has_up_to_1000_endpoints() {
    let endpoints = |count: u32| {
        let endpoints =
            (0..count).map(|n| json!({"addresses": [format!("10.0.{}.{}", n / 250, n % 250)]}));
        with_endpoints(&endpoints.collect())
    };
    assert_eq!(endpoints(1000).endpoints.len(), 1000);
    let more = endpoints(1001);
    assert!(more.endpoints.is_empty() && more.is_unknown);
    assert_eq!(
        more.problems,
        ["endpoints: 1001 entries; at most 1000 are allowed"]
    );
}

#[test]
fn e5_only_the_first_of_up_to_100_addresses_counts() {
    let many = |count: u32| {
        (0..count)
            .map(|n| format!("10.0.1.{n}"))
            .collect::<Vec<_>>()
    };
    let slice = with_endpoints(&json!([
        {"addresses": ["10.0.0.9", "10.0.0.8"]},
        {"addresses": many(100)},
        {"addresses": many(101)},
        {"addresses": []},
        {},
    ]));
    assert_eq!(addresses(&slice), ["10.0.0.9", "10.0.1.0"]);
    assert_eq!(
        slice.problems,
        [
            "endpoints[2].addresses: 101 entries; 1 to 100 are allowed",
            "endpoints[3].addresses: 0 entries; 1 to 100 are allowed",
            "endpoints[4].addresses: 0 entries; 1 to 100 are allowed",
        ]
    );
}

#[test]
fn e10_e12_what_is_not_needed_is_ignored_and_a_hostname_is_a_label() {
    let slice = with_endpoints(&json!([
        {"addresses": ["10.0.0.1"], "hostname": "web-0",
         "deprecatedTopology": {"topology.kubernetes.io/zone": "a"}, "unknown": 7},
        {"addresses": ["10.0.0.2"], "hostname": "web-0"},
        {"addresses": ["10.0.0.3"], "hostname": "Web"},
        {"addresses": ["10.0.0.4"], "hostname": "a.b"},
    ]));
    let hostnames: Vec<_> = slice
        .endpoints
        .iter()
        .map(|it| it.hostname.as_deref())
        .collect();
    assert_eq!(hostnames, [Some("web-0"), Some("web-0"), None, None]);
    assert_eq!(slice.endpoints[0].zone, None);
    assert_eq!(
        slice.problems,
        [
            "endpoints[2].hostname: \"Web\": must be a DNS label",
            "endpoints[3].hostname: \"a.b\": must be a DNS label",
        ]
    );
}

#[test]
fn e11_e13_node_zone_hints_and_the_pod_are_kept() {
    let target = |kind: &str, namespace: &str, uid: &str| json!({"kind": kind, "namespace": namespace, "name": "web-0", "uid": uid});
    let slice = with_endpoints(&json!([
        {"addresses": ["10.0.0.1"], "nodeName": "n1", "zone": "a", "targetRef": target("Pod", "ns", "u"),
         "hints": {"forZones": [{"name": "a"}, {"name": "b"}], "forNodes": [{"name": "n1"}]}},
        {"addresses": ["10.0.0.2"], "zone": "a", "targetRef": target("Node", "", "u")},
        {"addresses": ["10.0.0.3"], "targetRef": target("Pod", "other", "u"), "hints": {"forZones": null}},
        {"addresses": ["10.0.0.4"], "targetRef": target("Pod", "", "")},
    ]));
    let [first, others @ ..] = slice.endpoints.as_slice() else {
        panic!("{slice:?}")
    };
    assert_eq!(first.node_name.as_deref(), Some("n1"));
    let pod = first.pod.as_ref().unwrap();
    assert_eq!((&*pod.name, &*pod.uid), ("web-0", "u"));
    assert!(others.iter().all(|it| it.pod.is_none()));
    let for_zone =
        |endpoint: &Endpoint| ["a", "b", "c"].map(|zone| endpoint.is_for_zone(&[zone.to_owned()]));
    assert_eq!(for_zone(first), [true, true, false], "the hints");
    assert_eq!(for_zone(&others[0]), [true, false, false], "its own zone");
    assert_eq!(for_zone(&others[1]), [false, false, false]);
    let zones = [&first.zone, &others[0].zone].map(|zone| zone.clone().unwrap());
    assert!(Arc::ptr_eq(&zones[0], &zones[1]), "one copy is kept");
}

#[test]
fn e14_e15_ports_may_be_more_than_100_and_their_names_are_unique() {
    let many: Vec<_> = (1..=150)
        .map(|n| json!({"name": format!("p{n}"), "port": n}))
        .collect();
    assert_eq!(with_ports(&json!(many)).ports.len(), 150);
    for none in [json!(null), json!([])] {
        let slice = with_ports(&none);
        assert_eq!((slice.ports, slice.problems), (Vec::new(), Vec::new()));
    }
    let slice =
        with_ports(&json!([{"port": 1}, {"name": "", "port": 2}, {"name": "b", "port": 3}]));
    let names: Vec<_> = slice
        .ports
        .iter()
        .map(|port| (port.name.as_str(), port.port))
        .collect();
    assert_eq!(names, [("", Some(1)), ("b", Some(3))]);
    assert_eq!(
        slice.problems,
        ["ports[1].name: \"\": duplicate; the first port of this name counts"]
    );
}

#[test]
fn e16_e17_e18_number_protocol_and_application_protocol_of_a_port() {
    let slice = with_ports(&json!([
        {"name": "a"},
        {"name": "b", "port": null, "protocol": "UDP"},
        {"name": "c", "port": 65535, "protocol": "SCTP", "appProtocol": "example.com/custom"},
        {"name": "d", "port": 65536},
        {"name": "e", "port": 1, "protocol": "ICMP"},
        {"name": 7},
    ]));
    let ports: Vec<_> = slice
        .ports
        .iter()
        .map(|port| (port.port, port.protocol, port.app_protocol.as_deref()))
        .collect();
    assert_eq!(
        ports,
        [
            (None, Protocol::Tcp, None),
            (None, Protocol::Udp, None),
            (Some(65535), Protocol::Sctp, Some("example.com/custom")),
        ]
    );
    assert_eq!(slice.problems.len(), 3);
    assert!(
        slice.problems[0].starts_with("ports[5]: "),
        "{:?}",
        slice.problems
    );
    assert_eq!(
        slice.problems[1..],
        [
            "ports[3].port: 65536: must be a number from 1 to 65535",
            "ports[4].protocol: \"ICMP\": must be TCP, UDP or SCTP",
        ]
    );
}

#[test]
fn d64_the_problems_of_a_slice_are_limited() {
    let none: Vec<_> = (0..10).map(|_| json!({"addresses": []})).collect();
    let slice = with_endpoints(&json!(none));
    assert_eq!((slice.problems.len(), slice.is_unknown), (4, false));
    assert_eq!(slice.problems[3], "and 7 more");
}

#[test]
fn d60_a_change_names_the_addresses_that_it_is_about() {
    let slice = |ready: &[(&str, bool)]| {
        let endpoints = ready.iter().map(
            |(address, ready)| json!({"addresses": [address], "conditions": {"ready": ready}}),
        );
        with_endpoints(&endpoints.collect())
    };
    let old = slice(&[("10.0.0.3", true), ("10.0.0.1", true), ("10.0.0.2", true)]);
    let changes = |old: Option<&SliceView>, new: Option<&SliceView>| {
        let changes = SliceView::changes(old, new).into_iter();
        changes
            .map(|(address, may_deregister)| (address.to_string(), may_deregister))
            .collect::<Vec<_>>()
    };
    let new = slice(&[("10.0.0.2", false), ("10.0.0.3", true), ("10.0.0.4", true)]);
    let change = |address: &str, may_deregister| (address.to_owned(), may_deregister);
    assert_eq!(
        changes(Some(&old), Some(&new)),
        [
            change("10.0.0.1", true),
            change("10.0.0.2", true),
            change("10.0.0.4", false),
        ]
    );
    assert_eq!(changes(Some(&old), Some(&old)), []);
    assert_eq!(changes(Some(&old), None).len(), 3);
    let mut other = old.clone();
    other.ports[0].port = Some(81);
    assert_eq!(changes(Some(&old), Some(&other)).len(), 3);
    assert_eq!(old.at("10.0.0.2").len(), 1);
    assert_eq!(old.at("10.0.0.20").len(), 0);
}
