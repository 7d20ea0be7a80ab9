use serde_json::{Value, json};

use super::*;
use crate::object::object;
use crate::resources::Registry;

fn lines(errors: &[FieldError]) -> Vec<String> {
    let line = |error: &FieldError| format!("{}: {}", error.field, error.message);
    errors.iter().map(line).collect()
}

fn kind(plural: &str) -> std::sync::Arc<Kind> {
    let groups = [
        "",
        "apps",
        "apiextensions.k8s.io",
        "admissionregistration.k8s.io",
        SLICES.0,
    ];
    let registry = Registry::new();
    let mut kinds = groups
        .iter()
        .filter_map(|group| registry.builtin(group, plural));
    kinds.next().unwrap()
}

fn errors(plural: &str, whole: Value) -> Vec<String> {
    lines(&object_errors(&kind(plural), &object(whole)))
}

fn merged(mut whole: Value, change: &Value) -> Value {
    json_patch::merge(&mut whole, change);
    whole
}

/// Each change of a valid object has one error that starts so; an empty one stands for none.
fn assert_errors(plural: &str, valid: &Value, rows: &[(Value, &str)]) {
    for (change, expected) in rows {
        let found = errors(plural, merged(valid.clone(), change));
        let fits = match *expected {
            "" => found.is_empty(),
            expected => found.len() == 1 && found[0].starts_with(expected),
        };
        assert!(fits, "{plural} {change}: {found:?} instead of {expected}");
    }
}

fn changes(plural: &str, before: &Value, change: &Value) -> Vec<String> {
    let next = object(merged(before.clone(), change));
    lines(&change_errors(
        &kind(plural),
        &object(before.clone()),
        &next,
    ))
}

fn container(fields: Value) -> Value {
    let container = merged(json!({"name": "c", "image": "i"}), &fields);
    json!({"spec": {"containers": [container]}})
}

#[test]
fn pods_are_validated() {
    let pod = json!({"spec": {"containers": [{"name": "c", "image": "i"}]}});
    let spec = |change: Value| json!({"spec": change});
    assert_errors(
        "pods",
        &pod,
        &[
            (json!({}), ""),
            (json!({"spec": null}), "spec.containers: Required value"),
            (
                spec(json!({"containers": []})),
                "spec.containers: Required value",
            ),
            (
                container(json!({"name": null})),
                "spec.containers[0].name: Required value",
            ),
            (
                container(json!({"image": null})),
                "spec.containers[0].image: Required value",
            ),
            (
                container(json!({"name": "C"})),
                "spec.containers[0].name: Invalid value: \"C\": a lowercase RFC 1123 label must",
            ),
            (
                spec(json!({"initContainers": [{"name": "c", "image": "i"}]})),
                "spec.initContainers[0].name: Duplicate value: \"c\"",
            ),
            (
                container(json!({"ports": [{}]})),
                "spec.containers[0].ports[0].containerPort: Required value",
            ),
            (
                container(json!({"ports": [{"containerPort": 70000}]})),
                "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
            ),
            (
                container(
                    json!({"ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]}),
                ),
                "spec.containers[0].ports[1].name: Duplicate value: \"a\"",
            ),
            (
                container(json!({"ports": [{"containerPort": 1, "name": "80"}]})),
                "spec.containers[0].ports[0].name: Invalid value: \"80\": must be an IANA_SVC_NAME",
            ),
            (
                container(json!({"ports": [{"containerPort": 1, "protocol": "tcp"}]})),
                "spec.containers[0].ports[0].protocol: Unsupported value: \"tcp\"",
            ),
            (
                spec(json!({"volumes": [{"emptyDir": {}}]})),
                "spec.volumes[0].name: Required value",
            ),
        ],
    );
    // The same name may stand in different containers.
    let ports = json!([{"containerPort": 1, "name": "a"}]);
    let of = |name: &str| json!({"name": name, "image": "i", "ports": ports});
    assert_errors(
        "pods",
        &spec(json!({"containers": [of("a"), of("b")]})),
        &[(json!({}), "")],
    );
}

#[test]
fn few_fields_of_a_pod_can_change() {
    let before = json!({"spec": {
        "containers": [{"name": "c", "image": "i"}], "nodeName": "n",
        "tolerations": [{"key": "k"}], "activeDeadlineSeconds": 60,
        "terminationGracePeriodSeconds": -1,
    }});
    for fine in [
        json!({"containers": [{"name": "c", "image": "j"}]}),
        json!({"containers": [{"name": "c", "image": "i", "env": []}]}),
        json!({"tolerations": [{"key": "k"}, {"key": "l"}]}),
        json!({"activeDeadlineSeconds": 30}),
        json!({"terminationGracePeriodSeconds": 1}),
    ] {
        assert!(
            changes("pods", &before, &json!({"spec": fine})).is_empty(),
            "{fine}"
        );
    }
    for bad in [
        json!({"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]}),
        json!({"schedulingGates": [{"name": "g"}]}),
        json!({"nodeName": "m"}),
        json!({"terminationGracePeriodSeconds": 5}),
    ] {
        let found = changes("pods", &before, &json!({"spec": bad}));
        let expected = "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`";
        assert!(
            found.len() == 1 && found[0].starts_with(expected),
            "{bad}: {found:?}"
        );
    }
    let gated = merged(
        before,
        &json!({"spec": {"schedulingGates": [{"name": "g"}]}}),
    );
    let freed = json!({"spec": {"schedulingGates": null, "nodeSelector": {"a": "b"}}});
    assert!(changes("pods", &gated, &freed).is_empty());
}

#[test]
fn services_are_validated() {
    let service =
        json!({"spec": {"type": "ClusterIP", "ports": [{"port": 80, "protocol": "TCP"}]}});
    let rows = [
        (json!({}), ""),
        (json!({"ports": null, "clusterIP": "None"}), ""),
        (json!({"ports": null}), "spec.ports: Required value"),
        (
            json!({"ports": [{"port": 1}, {"port": 2, "name": "b"}]}),
            "spec.ports[0].name: Required value",
        ),
        (
            json!({"ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "a"}]}),
            "spec.ports[1].name: Duplicate value: \"a\"",
        ),
        (
            json!({"ports": [{"port": 1, "name": "a"}, {"port": 1, "name": "b"}]}),
            "spec.ports[1]: Duplicate value: {\"name\":\"b\",\"port\":1}",
        ),
        (
            json!({"ports": [{"port": 0}]}),
            "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        ),
        (
            json!({"ports": [{"port": 1, "targetPort": 70000}]}),
            "spec.ports[0].targetPort: Invalid value: 70000",
        ),
        (json!({"ports": [{"port": 1, "targetPort": "http"}]}), ""),
        (
            json!({"ports": [{"port": 1, "protocol": "tcp"}]}),
            "spec.ports[0].protocol: Unsupported value: \"tcp\": supported values: \"SCTP\", \"TCP\", \"UDP\"",
        ),
        (
            json!({"ports": [{"port": 1, "nodePort": 30000}]}),
            "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
        ),
        (
            json!({"type": "ExternalName"}),
            "spec.externalName: Invalid value: \"\"",
        ),
        (
            json!({"type": "NodePort", "clusterIP": "None"}),
            "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
        ),
    ];
    let rows = rows.map(|(spec, expected)| (json!({ "spec": spec }), expected));
    assert_errors("services", &service, &rows);
}

#[test]
fn the_cluster_ip_is_immutable() {
    let before = json!({"spec": {"type": "ClusterIP", "clusterIP": "10.96.0.9"}});
    let other = json!({"spec": {"clusterIP": "10.96.0.8"}});
    assert_eq!(
        changes("services", &before, &other),
        ["spec.clusterIPs[0]: Invalid value: [\"10.96.0.8\"]: may not change once set"]
    );
    let external = json!({"spec": {"type": "ExternalName", "clusterIP": null}});
    for fine in [json!({}), external] {
        assert!(changes("services", &before, &fine).is_empty(), "{fine}");
    }
}

#[test]
fn fields_that_a_type_does_not_have_are_dropped() {
    let before = object(
        json!({"spec": {"type": "NodePort", "externalTrafficPolicy": "Cluster",
        "clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"], "ports": [{"port": 80, "nodePort": 30000}]}}),
    );
    let mut next = before.clone();
    next["spec"]["type"] = json!("ClusterIP");
    drop_dependent_fields(&kind("services"), &before, &mut next);
    assert_eq!(next["spec"]["ports"], json!([{"port": 80}]));
    assert_eq!(next["spec"].get("externalTrafficPolicy"), None);
    next["spec"]["type"] = json!("ExternalName");
    drop_dependent_fields(&kind("services"), &before, &mut next);
    assert_eq!(next["spec"].get("clusterIP"), None);
}

#[test]
fn immutable_fields_keep_their_value() {
    let map = json!({"immutable": true, "data": {"a": "1"}});
    let why = "Forbidden: field is immutable when `immutable` is set";
    assert_eq!(
        changes(
            "configmaps",
            &map,
            &json!({"immutable": null, "data": {"a": "2"}})
        ),
        [format!("immutable: {why}"), format!("data: {why}")]
    );
    assert!(changes("configmaps", &map, &json!({})).is_empty());
    let open = json!({"data": {"a": "1"}});
    assert!(changes("configmaps", &open, &map).is_empty());
    let selector = |app: &str| json!({"spec": {"selector": {"matchLabels": {"app": app}}}});
    for (plural, before, change, field) in [
        (
            "secrets",
            json!({"type": "a"}),
            json!({"type": "b"}),
            "type",
        ),
        (
            "nodes",
            json!({"spec": {"providerID": "a"}}),
            json!({"spec": {"providerID": "b"}}),
            "spec.providerID",
        ),
        ("deployments", selector("a"), selector("b"), "spec.selector"),
        (
            "statefulsets",
            json!({"spec": {"serviceName": "a"}}),
            json!({"spec": {"serviceName": "b"}}),
            "spec.serviceName",
        ),
    ] {
        let found = changes(plural, &before, &change);
        assert!(
            found.len() == 1
                && found[0].starts_with(field)
                && found[0].ends_with(": field is immutable"),
            "{found:?}"
        );
        // It may be set once.
        assert!(changes(plural, &json!({}), &change).is_empty(), "{field}");
        assert!(
            changes(plural, &before, &json!({"status": {}})).is_empty(),
            "{field}"
        );
    }
}

#[test]
fn templates_must_match_their_selector() {
    let workload = json!({"spec": {
        "selector": {"matchLabels": {"app": "a"}}, "serviceName": "s",
        "template": {"metadata": {"labels": {"app": "a"}},
                     "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let rows = [
        (json!({}), ""),
        (json!({"selector": null}), "spec.selector: Required value"),
        (
            json!({"selector": {"matchLabels": null}}),
            "spec.selector: Required value",
        ),
        (
            json!({"template": {"metadata": {"labels": {"app": "b"}}}}),
            "spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: `selector` does not match template `labels`",
        ),
        (
            json!({"template": {"spec": {"containers": [{"name": "c"}]}}}),
            "spec.template.spec.containers[0].image: Required value",
        ),
        (
            json!({"replicas": -1}),
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        ),
    ];
    let rows = rows.map(|(spec, expected)| (json!({ "spec": spec }), expected));
    assert_errors("deployments", &workload, &rows);
    assert_errors("statefulsets", &workload, &rows);
}

fn slice() -> Value {
    json!({
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.2.3"]}],
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
    })
}

fn addressed(address_type: &str, address: &str) -> Value {
    json!({"addressType": address_type, "endpoints": [{"addresses": [address]}]})
}

/// A slice of one endpoint with these fields.
fn endpoint(fields: &Value) -> Value {
    json!({"endpoints": [merged(json!({"addresses": ["10.1.2.3"]}), fields)]})
}

#[test]
fn e3_addresses_are_of_the_type_of_their_slice() {
    let mut rows = vec![
        (json!({"addressType": null}), "addressType: Required value"),
        (
            json!({"addressType": "IP"}),
            "addressType: Unsupported value: \"IP\": supported values: \"FQDN\", \"IPv4\", \"IPv6\"",
        ),
        (addressed("IPv6", "FD00:0:0:0:0:0:0:1"), ""),
        (addressed("FQDN", "a-b.example.com."), ""),
    ];
    for (address_type, address) in [
        ("IPv4", "123.456.789.012"),
        ("IPv4", "10.1.2.03"),
        ("IPv4", "2001:db8::1"),
        ("IPv4", "0.0.0.0"),
        ("IPv4", "127.1.2.3"),
        ("IPv4", "169.254.169.254"),
        ("IPv4", "224.0.0.9"),
        ("IPv6", "::ffff:10.1.2.3"),
        ("IPv6", "10.1.2.3"),
        ("IPv6", "::"),
        ("IPv6", "::1"),
        ("IPv6", "fe80::1"),
        ("IPv6", "ff02::1"),
        ("FQDN", "localhost"),
        ("FQDN", "FOO.example.com"),
        ("FQDN", "a..com"),
    ] {
        let expected = "endpoints[0].addresses[0]: Invalid value: ";
        rows.push((addressed(address_type, address), expected));
    }
    assert_errors("endpointslices", &slice(), &rows);
    assert_eq!(
        changes("endpointslices", &slice(), &json!({"addressType": "IPv6"})),
        ["addressType: Invalid value: \"IPv6\": field is immutable"]
    );
}

#[test]
fn e4_e5_e14_the_number_of_endpoints_addresses_and_ports_is_limited() {
    let endpoints =
        |count: usize| json!({"endpoints": vec![json!({"addresses": ["10.1.2.3"]}); count]});
    let addresses = |count: usize| json!({"endpoints": [{"addresses": vec!["10.1.2.3"; count]}]});
    let port = |n: usize| json!({"name": format!("p{n}"), "protocol": "TCP"});
    let ports = |count: usize| json!({"ports": (0..count).map(port).collect::<Vec<Value>>()});
    assert_errors(
        "endpointslices",
        &slice(),
        &[
            (json!({"endpoints": null, "ports": null}), ""),
            (endpoints(1000), ""),
            (
                endpoints(1001),
                "endpoints: Too many: 1001: must have at most 1000 items",
            ),
            (addresses(0), "endpoints[0].addresses: Required value"),
            (addresses(100), ""),
            (
                addresses(101),
                "endpoints[0].addresses: Too many: 101: must have at most 100 items",
            ),
            (ports(20_000), ""),
            (
                ports(20_001),
                "ports: Too many: 20001: must have at most 20000 items",
            ),
        ],
    );
}

#[test]
fn e10_the_deprecated_topology_is_dropped() {
    let mut written = object(endpoint(
        &json!({"deprecatedTopology": {"a": "x"}, "zone": "z"}),
    ));
    drop_ignored_fields(&kind("endpointslices"), &mut written);
    assert_eq!(
        written["endpoints"],
        json!([{"addresses": ["10.1.2.3"], "zone": "z"}])
    );
}

#[test]
fn e11_e12_hints_hostnames_and_nodes_are_names() {
    let zones = |names: &[&str]| {
        let names: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
        endpoint(&json!({"hints": {"forZones": names}}))
    };
    let nodes = |name: &str| endpoint(&json!({"hints": {"forNodes": [{"name": name}]}}));
    assert_errors(
        "endpointslices",
        &slice(),
        &[
            (zones(&["a", "b", "c", "d", "e", "f", "g", "h"]), ""),
            (
                zones(&["a", "b", "c", "d", "e", "f", "g", "h", "i"]),
                "endpoints[0].hints.forZones: Too many: 9: must have at most 8 items",
            ),
            (
                zones(&["a", "b", "a"]),
                "endpoints[0].hints.forZones[2].name: Duplicate value: \"a\"",
            ),
            (
                zones(&["inv@lid"]),
                "endpoints[0].hints.forZones[0].name: Invalid value",
            ),
            (
                nodes("A"),
                "endpoints[0].hints.forNodes[0].name: Invalid value: \"A\"",
            ),
            (
                endpoint(&json!({"hostname": "--INVALID"})),
                "endpoints[0].hostname: Invalid value: \"--INVALID\": a lowercase RFC 1123 label must consist of",
            ),
            (
                endpoint(&json!({"nodeName": "INVALID foo"})),
                "endpoints[0].nodeName: Invalid value",
            ),
        ],
    );
}

#[test]
fn e15_e17_e18_ports_have_names_and_protocols() {
    let ports = |ports: Value| json!({ "ports": ports });
    let named = |name: &str| json!({"name": name, "protocol": "TCP"});
    assert_errors(
        "endpointslices",
        &slice(),
        &[
            (ports(json!([named(""), named("http")])), ""),
            (
                ports(json!([named(""), named("")])),
                "ports[1].name: Duplicate value: \"\"",
            ),
            (
                ports(json!([named("almost_valid")])),
                "ports[0].name: Invalid value: \"almost_valid\": a lowercase RFC 1123 label must",
            ),
            (
                ports(json!([named(&"a".repeat(64))])),
                "ports[0].name: Invalid value",
            ),
            (
                ports(json!([{"protocol": "tcp"}])),
                "ports[0].protocol: Unsupported value: \"tcp\": supported values: \"SCTP\", \"TCP\", \"UDP\"",
            ),
            (
                ports(json!([{"port": 1}])),
                "ports[0].protocol: Required value",
            ),
            (
                ports(json!([{"protocol": "TCP", "appProtocol": "example.com/custom"}])),
                "",
            ),
            (
                ports(json!([{"protocol": "TCP", "appProtocol": "a/b/c"}])),
                "ports[0].appProtocol: Invalid value: \"a/b/c\"",
            ),
        ],
    );
}

#[test]
fn domains_as_addresses_cause_a_warning() {
    let domains = object(json!({"addressType": "FQDN"}));
    let of = |is_new: bool| warnings(&kind("endpointslices"), &domains, is_new);
    assert_eq!(
        of(true),
        ["spec.addressType: FQDN endpoints are deprecated"]
    );
    assert!(of(false).is_empty());
}

#[test]
fn definitions_have_names_scales_and_columns() {
    let crd = json!({"spec": {
        "group": "x.io", "scope": "Namespaced",
        "names": {"kind": "Pet", "plural": "pets", "singular": "pet", "listKind": "PetList"},
        "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {"type": "object"}}}],
    }});
    let spec = |key: &str, value: Value| json!({"spec": {key: value}});
    let version = |change: Value| {
        let version = crd["spec"]["versions"][0].clone();
        json!({"spec": {"versions": [merged(version, &change)]}})
    };
    let scale = |path: &str| json!({"subresources": {"scale": {"specReplicasPath": path, "statusReplicasPath": ".status.n"}}});
    let label = "a DNS-1035 label must consist of";
    assert_errors(
        "customresourcedefinitions",
        &crd,
        &[
            (json!({}), ""),
            (spec("group", json!("")), "spec.group: Required value"),
            (
                spec("group", json!("x")),
                "spec.group: Invalid value: \"x\": should be a domain with at least one dot",
            ),
            (
                spec("scope", json!("Both")),
                "spec.scope: Unsupported value: \"Both\": supported values: \"Cluster\", \"Namespaced\"",
            ),
            (
                spec("names", json!({"kind": "9Pet"})),
                &format!("spec.names.kind: Invalid value: \"9Pet\": {label}"),
            ),
            (
                spec("names", json!({"shortNames": ["P"]})),
                &format!("spec.names.shortNames[0]: Invalid value: \"P\": {label}"),
            ),
            (
                spec("conversion", json!({"strategy": "Webhook"})),
                "spec.conversion.strategy: Unsupported value: \"Webhook\": supported values: \"None\"",
            ),
            (
                version(json!({"name": "V1"})),
                &format!("spec.versions[0].name: Invalid value: \"V1\": {label}"),
            ),
            (
                version(json!({"schema": null})),
                "spec.versions[0].schema.openAPIV3Schema: Required value",
            ),
            (version(scale(".spec.n")), ""),
            (
                version(scale("")),
                "spec.versions[0].subresources.scale.specReplicasPath: Required value",
            ),
            (
                version(json!({"additionalPrinterColumns": [{"name": "N", "type": "date"}]})),
                "spec.versions[0].additionalPrinterColumns[0].jsonPath: Required value",
            ),
        ],
    );
    let mut twice = crd;
    let version = twice["spec"]["versions"][0].clone();
    twice["spec"]["versions"]
        .as_array_mut()
        .unwrap()
        .push(version);
    let found = errors("customresourcedefinitions", twice);
    assert_eq!(found, ["spec.versions[1].name: Duplicate value: \"v1\""]);
}

#[test]
fn webhooks_are_validated() {
    let rule = json!({
        "operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"],
    });
    let webhook = json!({
        "name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://127.0.0.1:8443/validate"}, "rules": [rule],
    });
    let ruled = |change: Value| json!({"rules": [merged(rule.clone(), &change)]});
    let service = |change: Value| {
        let service = merged(json!({"name": "s", "namespace": "n", "port": 443}), &change);
        json!({"clientConfig": {"service": service}})
    };
    for (change, expected) in [
        (json!({}), ""),
        (json!({"name": ""}), "name: Required value"),
        (
            json!({"name": "a.b"}),
            "name: Invalid value: \"a.b\": should be a domain with at least three",
        ),
        (
            json!({"name": "A.b.c"}),
            "name: Invalid value: \"A.b.c\": a lowercase RFC 1123 subdomain",
        ),
        (json!({"sideEffects": null}), "sideEffects: Required value"),
        (
            json!({"sideEffects": "Some"}),
            "sideEffects: Unsupported value: \"Some\"",
        ),
        (
            json!({"admissionReviewVersions": null}),
            "admissionReviewVersions: Required value",
        ),
        (
            json!({"admissionReviewVersions": ["v1", "v1"]}),
            "admissionReviewVersions[1]: Duplicate",
        ),
        (
            json!({"admissionReviewVersions": ["v1", "1a"]}),
            "admissionReviewVersions[1]: Invalid value",
        ),
        (service(json!({})), ""),
        (
            service(json!({"name": ""})),
            "clientConfig.service.name: Required value",
        ),
        (
            service(json!({"name": "a/b"})),
            "clientConfig.service.name: Invalid value: \"a/b\"",
        ),
        (
            service(json!({"port": 0})),
            "clientConfig.service.port: Invalid value: 0",
        ),
        (ruled(json!({"resources": ["*", "pods/status"]})), ""),
        (
            ruled(json!({"operations": []})),
            "rules[0].operations: Required value",
        ),
        (
            ruled(json!({"apiGroups": null})),
            "rules[0].apiGroups: Required value",
        ),
    ] {
        let expected = match expected {
            "" => String::new(),
            expected => format!("webhooks[0].{expected}"),
        };
        let whole = json!({"webhooks": [merged(webhook.clone(), &change)]});
        assert_errors(
            "validatingwebhookconfigurations",
            &whole,
            &[(json!({}), &expected)],
        );
    }
    let twice = errors(
        "mutatingwebhookconfigurations",
        json!({"webhooks": [webhook, webhook]}),
    );
    assert_eq!(
        twice,
        ["webhooks[1].name: Duplicate value: \"a.example.com\""]
    );
}
