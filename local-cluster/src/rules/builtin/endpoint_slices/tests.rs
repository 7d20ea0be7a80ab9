//! The messages are those of Kubernetes.

use serde_json::{Value, json};

use super::super::tests::lines;
use super::*;
use crate::object::object;

const LABEL_FORM: &str = "a lowercase RFC 1123 label must consist of";

fn slice(change: Value) -> Object {
    let mut whole = json!({
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.2.3"]}],
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
    });
    json_patch::merge(&mut whole, &change);
    object(whole)
}

fn errors(change: Value) -> Vec<String> {
    lines(&object_errors(&slice(change)))
}

fn addresses(address_type: &str, addresses: &[&str]) -> Vec<String> {
    errors(json!({"addressType": address_type, "endpoints": [{"addresses": addresses}]}))
}

fn endpoint(fields: Value) -> Vec<String> {
    let mut endpoint = json!({"addresses": ["10.1.2.3"]});
    json_patch::merge(&mut endpoint, &fields);
    errors(json!({"endpoints": [endpoint]}))
}

fn named(names: impl IntoIterator<Item = String>) -> Vec<Value> {
    let names = names.into_iter();
    names.map(|name| json!({"name": name})).collect()
}

fn assert_one(found: &[String], expected: &str) {
    assert!(
        found.len() == 1 && found[0].starts_with(expected),
        "{found:?} is not {expected}"
    );
}

#[test]
fn valid_slices_have_no_errors() {
    for change in [
        json!({}),
        json!({"endpoints": null, "ports": null}),
        json!({"endpoints": [], "ports": []}),
        json!({"endpoints": [{"addresses": ["10.1.2.3"], "hostname": "valid-123", "nodeName": "n.example"}]}),
        json!({"addressType": "IPv6", "endpoints": [{"addresses": ["a00:100::4", "FD00:0:0:0:0:0:0:1"]}]}),
        json!({"addressType": "FQDN", "endpoints": [{"addresses": ["example.com", "a-b.example.com."]}]}),
        json!({"ports": [
            {"name": "", "protocol": "UDP"},
            {"name": "a".repeat(63), "protocol": "SCTP", "appProtocol": "HTTP"},
            {"name": "b", "protocol": "TCP", "appProtocol": "example.com/custom", "port": 0},
        ]}),
    ] {
        let found = errors(change.clone());
        assert!(found.is_empty(), "{change}: {found:?}");
    }
}

#[test]
fn e3_the_address_type_is_required_and_one_of_three() {
    assert_eq!(
        errors(json!({"addressType": null})),
        ["addressType: Required value"]
    );
    assert_eq!(
        errors(json!({"addressType": "IP"})),
        ["addressType: Unsupported value: \"IP\": supported values: \"FQDN\", \"IPv4\", \"IPv6\""]
    );
    let six = slice(json!({"addressType": "IPv6"}));
    assert_eq!(
        lines(&change_errors(&slice(json!({})), &six)),
        ["addressType: Invalid value: \"IPv6\": field is immutable"]
    );
    assert!(change_errors(&six, &six).is_empty());
}

#[test]
fn e3_addresses_are_of_the_type_of_their_slice() {
    let first = "endpoints[0].addresses[0]: Invalid value:";
    for (address_type, address, expected) in [
        (
            "IPv4",
            "123.456.789.012",
            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        ),
        ("IPv4", "10.1.2.03", "must not have leading 0s"),
        ("IPv4", "2001:db8::1", "must be an IPv4 address"),
        (
            "IPv6",
            "::ffff:10.1.2.3",
            "must not be an IPv4-mapped IPv6 address",
        ),
        ("IPv6", "10.1.2.3", "must be an IPv6 address"),
        ("IPv4", "0.0.0.0", "may not be unspecified (0.0.0.0)"),
        ("IPv6", "::", "may not be unspecified (::)"),
        (
            "IPv4",
            "127.1.2.3",
            "may not be in the loopback range (127.0.0.0/8, ::1/128)",
        ),
        (
            "IPv6",
            "::1",
            "may not be in the loopback range (127.0.0.0/8, ::1/128)",
        ),
        (
            "IPv4",
            "169.254.169.254",
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
        ),
        (
            "IPv6",
            "fe80::1",
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
        ),
        (
            "IPv4",
            "224.0.0.9",
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        ),
        (
            "IPv6",
            "ff02::1",
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        ),
        (
            "FQDN",
            "localhost",
            "should be a domain with at least two segments separated by dots",
        ),
    ] {
        assert_eq!(
            addresses(address_type, &[address]),
            [format!("{first} {address:?}: {expected}")]
        );
    }
    for name in [
        "foo.*",
        "FOO.example.com",
        "under_score.example.com",
        "a..com",
    ] {
        let expected = format!("{first} {name:?}: a lowercase RFC 1123 subdomain must consist of");
        assert_one(&addresses("FQDN", &[name]), &expected);
    }
    let long = "a".repeat(64);
    assert_eq!(
        addresses("FQDN", &[&format!("{long}.com")]),
        [format!(
            "{first} {long:?}: must be no more than 63 characters"
        )]
    );
    assert_eq!(
        addresses("FQDN", &["example.com", ""]),
        ["endpoints[0].addresses[1]: Required value"]
    );
    // Another family is reported besides a special range.
    assert_eq!(addresses("IPv4", &["::1"]).len(), 2);
    // Nothing is known of addresses of another type.
    assert_eq!(addresses("other", &["?"]).len(), 1);
}

#[test]
fn e4_a_slice_has_up_to_1000_endpoints() {
    let of = |count: usize| errors(json!({"endpoints": vec![json!({"addresses": ["?"]}); count]}));
    assert_eq!(of(1000).len(), 1000);
    assert_eq!(
        of(1001),
        ["endpoints: Too many: 1001: must have at most 1000 items"]
    );
}

#[test]
fn e5_an_endpoint_has_1_to_100_addresses() {
    assert_eq!(
        addresses("IPv4", &[]),
        ["endpoints[0].addresses: Required value: must contain at least 1 address"]
    );
    assert!(addresses("IPv4", &["10.1.2.3"; 100]).is_empty());
    assert_eq!(
        addresses("IPv4", &["10.1.2.3"; 101]),
        ["endpoints[0].addresses: Too many: 101: must have at most 100 items"]
    );
}

#[test]
fn e10_the_deprecated_topology_is_dropped() {
    let mut written = slice(json!({"endpoints": [
        {"addresses": ["10.1.2.3"], "deprecatedTopology": {"--INVALID": "x"}, "zone": "z"},
    ]}));
    drop_ignored_fields(&mut written);
    assert_eq!(
        written["endpoints"],
        json!([{"addresses": ["10.1.2.3"], "zone": "z"}])
    );
}

#[test]
fn e11_hints_name_up_to_8_zones_and_nodes() {
    let zones = |zones: Vec<Value>| endpoint(json!({"hints": {"forZones": zones}}));
    let numbered = |count: usize| named((0..count).map(|n| format!("zone-{n}")));
    assert!(zones(numbered(8)).is_empty());
    assert_eq!(
        zones(numbered(9)),
        ["endpoints[0].hints.forZones: Too many: 9: must have at most 8 items"]
    );
    assert_eq!(
        zones(named(["a".to_owned(), "b".to_owned(), "a".to_owned()])),
        ["endpoints[0].hints.forZones[2].name: Duplicate value: \"a\""]
    );
    assert_one(
        &zones(named(["inv@lid".to_owned()])),
        "endpoints[0].hints.forZones[0].name: Invalid value: \"inv@lid\": a valid label must be an empty string",
    );
    let nodes = |nodes: Vec<Value>| endpoint(json!({"hints": {"forNodes": nodes}}));
    assert!(nodes(numbered(8)).is_empty());
    assert_one(
        &nodes(numbered(9)),
        "endpoints[0].hints.forNodes: Too many: 9",
    );
    assert_one(
        &nodes(named(["A".to_owned()])),
        "endpoints[0].hints.forNodes[0].name: Invalid value: \"A\": a lowercase RFC 1123 subdomain",
    );
}

#[test]
fn e12_hostnames_are_labels_and_nodes_have_names() {
    assert_one(
        &endpoint(json!({"hostname": "--INVALID"})),
        &format!("endpoints[0].hostname: Invalid value: \"--INVALID\": {LABEL_FORM}"),
    );
    assert_one(&endpoint(json!({"hostname": ""})), "endpoints[0].hostname");
    let both = endpoint(json!({"hostname": "A".repeat(64)}));
    assert_eq!(both.len(), 2);
    assert!(
        both[0].ends_with(": must be no more than 63 characters"),
        "{both:?}"
    );
    assert_one(
        &endpoint(json!({"nodeName": "INVALID foo"})),
        "endpoints[0].nodeName: Invalid value: \"INVALID foo\": a lowercase RFC 1123 subdomain",
    );
}

#[test]
fn e14_a_slice_has_up_to_20000_ports() {
    let of = |count: usize| {
        let port = |n: usize| json!({"name": format!("p{n}"), "protocol": "TCP"});
        errors(json!({"ports": (0..count).map(port).collect::<Vec<Value>>()}))
    };
    assert!(of(101).is_empty());
    assert!(of(20_000).is_empty());
    assert_eq!(
        of(20_001),
        ["ports: Too many: 20001: must have at most 20000 items"]
    );
}

#[test]
fn e15_port_names_are_labels_and_unique() {
    let ports = |names: &[&str]| {
        let port = |name: &&str| json!({"name": name, "protocol": "TCP"});
        errors(json!({"ports": names.iter().map(port).collect::<Vec<Value>>()}))
    };
    assert!(ports(&["", "http"]).is_empty());
    assert_eq!(ports(&["", ""]), ["ports[1].name: Duplicate value: \"\""]);
    for name in ["aCapital", "almost_valid"] {
        let expected = format!("ports[0].name: Invalid value: {name:?}: {LABEL_FORM}");
        assert_one(&ports(&[name]), &expected);
    }
    let long = "a".repeat(64);
    assert_eq!(
        ports(&[&long]),
        [format!(
            "ports[0].name: Invalid value: {long:?}: must be no more than 63 characters"
        )]
    );
}

#[test]
fn e17_protocols_are_tcp_udp_or_sctp() {
    for protocol in ["foo", "tcp", ""] {
        assert_eq!(
            errors(json!({"ports": [{"protocol": protocol}]})),
            [format!(
                "ports[0].protocol: Unsupported value: {protocol:?}: supported values: \"SCTP\", \"TCP\", \"UDP\""
            )]
        );
    }
}

#[test]
fn e18_app_protocols_are_qualified_names() {
    let of = |name: &str| errors(json!({"ports": [{"protocol": "TCP", "appProtocol": name}]}));
    let field = "ports[0].appProtocol: Invalid value:";
    let form = "name part must consist of alphanumeric characters";
    assert_one(&of("--"), &format!("{field} \"--\": {form}"));
    assert_one(
        &of("a/b/c"),
        &format!("{field} \"a/b/c\": a qualified name must consist of"),
    );
    assert_one(
        &of("/a"),
        &format!("{field} \"/a\": prefix part must be non-empty"),
    );
    assert_one(
        &of("A.com/a"),
        &format!("{field} \"A.com/a\": prefix part a lowercase RFC 1123 subdomain"),
    );
    let empty = of("a.com/");
    assert_eq!(empty.len(), 2);
    assert_eq!(
        empty[0],
        format!("{field} \"a.com/\": name part must be non-empty")
    );
    let long = of(&"a".repeat(64));
    assert_one(&long, field);
    assert!(long[0].ends_with("name part must be no more than 63 characters"));
}

#[test]
fn odd_slices_cause_warnings() {
    let six = slice(json!({"addressType": "IPv6",
        "endpoints": [{"addresses": ["2001:db8::1", "FD00:0:0:0:0:0:0:1"]}]}));
    let expected = "endpoints[0].addresses[1]: IPv6 address \"FD00:0:0:0:0:0:0:1\" should be in RFC 5952 canonical format (\"fd00::1\")";
    assert_eq!(warnings(&six, true), [expected]);
    assert_eq!(warnings(&six, false), [expected]);
    let mut own = six;
    own.insert(
        "metadata".into(),
        json!({"labels": {MANAGED_BY: CONTROLLERS[0]}}),
    );
    assert!(warnings(&own, true).is_empty());
    let domains = slice(json!({"addressType": "FQDN", "endpoints": null}));
    assert_eq!(
        warnings(&domains, true),
        ["spec.addressType: FQDN endpoints are deprecated"]
    );
    assert!(warnings(&domains, false).is_empty());
    assert!(warnings(&slice(json!({})), true).is_empty());
}
