use serde_json::{Value, json};

use super::*;
use crate::object::object;
use crate::resources::Registry;
use crate::tests::{json, rows};

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
    lines(&object_errors(&kind(plural), &object(whole), None))
}

fn merged(mut whole: Value, change: &Value) -> Value {
    json_patch::merge(&mut whole, change);
    whole
}

/// Each row is a change of a valid object at a JSON pointer, and how its only error starts, or `ok`.
fn assert_errors(plural: &str, valid: &Value, pointer: &str, table: &str) {
    for [change, expected] in rows(table) {
        let mut whole = valid.clone();
        let at = whole.pointer_mut(pointer).unwrap();
        json_patch::merge(at, &json(change));
        let found = errors(plural, whole);
        let fits = match expected {
            "ok" => found.is_empty(),
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

#[test]
fn pods_are_validated() {
    let pod = json!({"spec": {"containers": [{"name": "c", "image": "i"}]}});
    let table = r#"
        {} | ok
        {"spec": null} | spec.containers: Required value
        {"spec": {"containers": []}} | spec.containers: Required value
        {"spec": {"initContainers": [{"name": "c", "image": "i"}]}} | spec.initContainers[0].name: Duplicate value: "c"
        {"spec": {"volumes": [{"emptyDir": {}}]}} | spec.volumes[0].name: Required value
    "#;
    assert_errors("pods", &pod, "", table);
    let table = r#"
        {"name": null} | spec.containers[0].name: Required value
        {"image": null} | spec.containers[0].image: Required value
        {"name": "C"} | spec.containers[0].name: Invalid value: "C": a lowercase RFC 1123 label must
        {"ports": [{}]} | spec.containers[0].ports[0].containerPort: Required value
        {"ports": [{"containerPort": 70000}]} | spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive
        {"ports": [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]} | spec.containers[0].ports[1].name: Duplicate value: "a"
        {"ports": [{"containerPort": 1, "name": "80"}]} | spec.containers[0].ports[0].name: Invalid value: "80": must be an IANA_SVC_NAME
        {"ports": [{"containerPort": 1, "protocol": "tcp"}]} | spec.containers[0].ports[0].protocol: Unsupported value: "tcp"
    "#;
    assert_errors("pods", &pod, "/spec/containers/0", table);
    // The same name may stand in different containers.
    let ports = json!([{"containerPort": 1, "name": "a"}]);
    let of = |name: &str| json!({"name": name, "image": "i", "ports": ports});
    let two = json!({"spec": {"containers": [of("a"), of("b")]}});
    assert_eq!(errors("pods", two), [""; 0]);
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
    let more = json!({"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d"}]}});
    assert_eq!(
        changes("pods", &before, &more),
        ["spec.containers: Forbidden: pod updates may not add or remove containers"]
    );
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
    let table = r#"
        {} | ok
        {"ports": null, "clusterIP": "None"} | ok
        {"ports": null} | spec.ports: Required value
        {"ports": [{"port": 1}, {"port": 2, "name": "b"}]} | spec.ports[0].name: Required value
        {"ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "a"}]} | spec.ports[1].name: Duplicate value: "a"
        {"ports": [{"port": 1, "name": "a"}, {"port": 1, "name": "b"}]} | spec.ports[1]: Duplicate value: {"name":"b","port":1}
        {"ports": [{"port": 0}]} | spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive
        {"ports": [{"port": 1, "targetPort": 70000}]} | spec.ports[0].targetPort: Invalid value: 70000
        {"ports": [{"port": 1, "targetPort": "http"}]} | ok
        {"ports": [{"port": 1, "protocol": "tcp"}]} | spec.ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"
        {"ports": [{"port": 1, "nodePort": 30000}]} | spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'
        {"type": "ExternalName"} | spec.externalName: Invalid value: ""
        {"type": "NodePort", "clusterIP": "None"} | spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services
    "#;
    assert_errors("services", &service, "/spec", table);
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
                && [": field is immutable", "except from \"\" to valid"]
                    .iter()
                    .any(|why| found[0].ends_with(why)),
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
    let table = r#"
        {} | ok
        {"selector": {"matchLabels": null}} | spec.selector: Required value
        {"template": {"metadata": {"labels": {"app": "b"}}}} | spec.template.metadata.labels: Invalid value: {"app":"b"}: `selector` does not match template `labels`
        {"template": {"spec": {"containers": [{"name": "c"}]}}} | spec.template.spec.containers[0].image: Required value
        {"replicas": -1} | spec.replicas: Invalid value: -1: must be greater than or equal to 0
    "#;
    assert_errors("deployments", &workload, "/spec", table);
    assert_errors("statefulsets", &workload, "/spec", table);
}

fn slice() -> Value {
    json!({
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.2.3"]}],
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
    })
}

#[test]
fn e3_addresses_are_of_the_type_of_their_slice() {
    let table = r#"
        {"addressType": null} | addressType: Required value
        {"addressType": "IP"} | addressType: Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6"
    "#;
    assert_errors("endpointslices", &slice(), "", table);
    let addresses = "
        IPv6 | FD00:0:0:0:0:0:0:1 | ok
        FQDN | a-b.example.com. | ok
        IPv4 | 123.456.789.012 | refused
        IPv4 | 10.1.2.03 | refused
        IPv4 | 2001:db8::1 | endpoints[0].addresses: Invalid value: 
        IPv4 | 0.0.0.0 | refused
        IPv4 | 127.1.2.3 | refused
        IPv4 | 169.254.169.254 | refused
        IPv4 | 224.0.0.9 | refused
        IPv6 | ::ffff:10.1.2.3 | refused
        IPv6 | 10.1.2.3 | endpoints[0].addresses: Invalid value: 
        IPv6 | :: | refused
        IPv6 | ::1 | refused
        IPv6 | fe80::1 | refused
        IPv6 | ff02::1 | refused
        FQDN | localhost | refused
        FQDN | FOO.example.com | refused
        FQDN | a..com | refused
    ";
    for [address_type, address, expected] in rows(addresses) {
        let slice = json!({"addressType": address_type, "endpoints": [{"addresses": [address]}]});
        let expected = expected.replace("refused", "endpoints[0].addresses[0]: Invalid value: ");
        assert_errors("endpointslices", &slice, "", &format!("{{}} | {expected}"));
    }
    assert_eq!(
        changes("endpointslices", &slice(), &json!({"addressType": "IPv6"})),
        ["addressType: Invalid value: \"IPv6\": field is immutable"]
    );
}

#[test]
fn e4_e5_e14_the_number_of_endpoints_addresses_and_ports_is_limited() {
    let endpoint = json!({"addresses": ["10.1.2.3"]});
    let endpoints = |count: usize| json!({"endpoints": vec![&endpoint; count]});
    let addresses = |count: usize| json!({"endpoints": [{"addresses": vec!["10.1.2.3"; count]}]});
    let port = |n: usize| json!({"name": format!("p{n}"), "protocol": "TCP"});
    let ports = |count: usize| json!({"ports": (0..count).map(port).collect::<Vec<Value>>()});
    let too_many = |most: usize| format!("Too many: {}: must have at most {most} items", most + 1);
    for (change, expected) in [
        (json!({"endpoints": null, "ports": null}), "ok".to_owned()),
        (endpoints(1000), "ok".to_owned()),
        (endpoints(1001), format!("endpoints: {}", too_many(1000))),
        (
            addresses(0),
            "endpoints[0].addresses: Required value".to_owned(),
        ),
        (addresses(100), "ok".to_owned()),
        (
            addresses(101),
            format!("endpoints[0].addresses: {}", too_many(100)),
        ),
        (ports(20_000), "ok".to_owned()),
        (ports(20_001), format!("ports: {}", too_many(20_000))),
    ] {
        let row = format!("{change} | {expected}");
        assert_errors("endpointslices", &slice(), "", &row);
    }
}

#[test]
fn e10_the_deprecated_topology_is_dropped() {
    let endpoint =
        json!({"addresses": ["10.1.2.3"], "deprecatedTopology": {"a": "x"}, "zone": "z"});
    let mut written = object(json!({"endpoints": [endpoint]}));
    drop_ignored_fields(&kind("endpointslices"), &mut written);
    assert_eq!(
        written["endpoints"],
        json!([{"addresses": ["10.1.2.3"], "zone": "z"}])
    );
}

#[test]
fn e11_e12_hints_hostnames_and_nodes_are_names() {
    let zones = |names: &str| {
        let names = names.chars().map(|name| json!({"name": name.to_string()}));
        json!({"hints": {"forZones": names.collect::<Vec<_>>()}})
    };
    let table = r#"
        EIGHT | ok
        NINE | endpoints[0].hints.forZones: Too many: 9: must have at most 8 items
        TWICE | endpoints[0].hints.forZones[2].name: Duplicate value: "a"
        {"hints": {"forZones": [{"name": "inv@lid"}]}} | endpoints[0].hints.forZones[0].name: Invalid value
        {"hints": {"forNodes": [{"name": "A"}]}} | endpoints[0].hints.forNodes[0].name: Invalid value: "A"
        {"hostname": "--INVALID"} | endpoints[0].hostname: Invalid value: "--INVALID": a lowercase RFC 1123 label must consist of
        {"nodeName": "INVALID foo"} | endpoints[0].nodeName: Invalid value
    "#;
    let table = table.replace("EIGHT", &zones("abcdefgh").to_string());
    let table = table.replace("NINE", &zones("abcdefghi").to_string());
    let table = table.replace("TWICE", &zones("aba").to_string());
    assert_errors("endpointslices", &slice(), "/endpoints/0", &table);
}

#[test]
fn e15_e17_e18_ports_have_names_and_protocols() {
    let table = r#"
        {"ports": [{"name": "", "protocol": "TCP"}, {"name": "http", "protocol": "TCP"}]} | ok
        {"ports": [{"name": "", "protocol": "TCP"}, {"name": "", "protocol": "TCP"}]} | ports[1].name: Duplicate value: ""
        {"ports": [{"name": "almost_valid", "protocol": "TCP"}]} | ports[0].name: Invalid value: "almost_valid": a lowercase RFC 1123 label must
        {"ports": [{"name": "LONG", "protocol": "TCP"}]} | ports[0].name: Invalid value
        {"ports": [{"protocol": "tcp"}]} | ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"
        {"ports": [{"port": 1}]} | ports[0].protocol: Required value
        {"ports": [{"protocol": "TCP", "appProtocol": "example.com/custom"}]} | ok
        {"ports": [{"protocol": "TCP", "appProtocol": "a/b/c"}]} | ports[0].appProtocol: Invalid value: "a/b/c"
    "#;
    let table = table.replace("LONG", &"a".repeat(64));
    assert_errors("endpointslices", &slice(), "", &table);
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
    let table = r#"
        {} | ok
        {"group": ""} | spec.group: Required value
        {"group": "x"} | spec.group: Invalid value: "x": should be a domain with at least one dot
        {"scope": "Both"} | spec.scope: Unsupported value: "Both": supported values: "Cluster", "Namespaced"
        {"names": {"kind": "9Pet"}} | spec.names.kind: Invalid value: "9Pet": may have mixed case, but should otherwise match: a DNS-1035 label
        {"names": {"shortNames": ["P"]}} | spec.names.shortNames[0]: Invalid value: "P": a DNS-1035 label must consist of
        {"conversion": {"strategy": "Webhook"}} | spec.conversion.strategy: Invalid value: "Webhook": no webhooks are called here
    "#;
    assert_errors("customresourcedefinitions", &crd, "/spec", table);
    let table = r#"
        {"name": "V1"} | spec.versions[0].name: Invalid value: "V1": a DNS-1035 label must consist of
        {"subresources": {"scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}}} | ok
        {"subresources": {"scale": {"specReplicasPath": "", "statusReplicasPath": ".status.n"}}} | spec.versions[0].subresources.scale.specReplicasPath: Required value
        {"additionalPrinterColumns": [{"name": "N", "type": "date"}]} | spec.versions[0].additionalPrinterColumns[0].jsonPath: Required value
        {"additionalPrinterColumns": [{"name": "N", "type": "other", "jsonPath": ".spec"}]} | spec.versions[0].additionalPrinterColumns[0].type: Invalid value: "other": must be one of boolean,date
    "#;
    assert_errors("customresourcedefinitions", &crd, "/spec/versions/0", table);
    let version = &crd["spec"]["versions"][0];
    let twice = merged(
        crd.clone(),
        &json!({"spec": {"versions": [version, version]}}),
    );
    let found = errors("customresourcedefinitions", twice);
    assert_eq!(found, ["spec.versions[1].name: Duplicate value: \"v1\""]);
}

#[test]
fn webhooks_are_validated() {
    let webhook = json!({
        "name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://127.0.0.1:8443/validate"},
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
    });
    let of_service = json!({"clientConfig": {"url": null, "service": {"name": "s", "namespace": "n", "port": 443}}});
    let of_service = json!({"webhooks": [merged(webhook.clone(), &of_service)]});
    let plural = "validatingwebhookconfigurations";
    let table = r#"
        {} | ok
        {"name": ""} | webhooks[0].name: Required value
        {"name": "a.b"} | webhooks[0].name: Invalid value: "a.b": should be a domain with at least three
        {"name": "A.b.c"} | webhooks[0].name: Invalid value: "A.b.c": a lowercase RFC 1123 subdomain
        {"sideEffects": null} | webhooks[0].sideEffects: Required value
        {"sideEffects": "Some"} | webhooks[0].sideEffects: Unsupported value: "Some"
        {"admissionReviewVersions": null} | webhooks[0].admissionReviewVersions: Required value
        {"admissionReviewVersions": ["v1", "v1"]} | webhooks[0].admissionReviewVersions[1]: Duplicate
        {"admissionReviewVersions": ["v1", "1a"]} | webhooks[0].admissionReviewVersions[1]: Invalid value
    "#;
    let whole = json!({ "webhooks": [webhook] });
    assert_errors(plural, &whole, "/webhooks/0", table);
    let table = r#"
        {} | ok
        {"name": ""} | webhooks[0].clientConfig.service.name: Required value
        {"name": "a/b"} | webhooks[0].clientConfig.service.name: Invalid value: "a/b"
        {"port": 0} | webhooks[0].clientConfig.service.port: Invalid value: 0
    "#;
    assert_errors(
        plural,
        &of_service,
        "/webhooks/0/clientConfig/service",
        table,
    );
    let table = r#"
        {"resources": ["*", "pods/status"]} | ok
        {"operations": []} | webhooks[0].rules[0].operations: Required value
        {"apiGroups": null} | webhooks[0].rules[0].apiGroups: Required value
    "#;
    assert_errors(plural, &whole, "/webhooks/0/rules/0", table);
    let twice = json!({"webhooks": [webhook, webhook]});
    assert_eq!(
        errors("mutatingwebhookconfigurations", twice),
        ["webhooks[1].name: Duplicate value: \"a.example.com\""]
    );
}
