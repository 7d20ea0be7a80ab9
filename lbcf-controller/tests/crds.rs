//! The CRDs in `deploy/crds/` are what the types say, and what clusters and Go clients need.

// Tests say what they expect by unwrapping, their helpers too.
#![allow(clippy::unwrap_used)]

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use lbcf_controller::api::{StringMap, crds};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Rewrites the files instead of comparing them.
const UPDATE: &str = "UPDATE_CRDS";

#[test]
fn deploy_crds_are_generated_from_the_types() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../deploy/crds");
    let mut stale = Vec::new();
    for crd in crds() {
        let file = format!("{}_{}.yaml", crd.spec.group, crd.spec.names.plural);
        let yaml = serde_saphyr::to_string(&crd).unwrap();
        let path = folder.join(&file);
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&path, &yaml).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != yaml {
            stale.push(file);
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} in deploy/crds differ from the types; rewrite them with\n  {UPDATE}=1 cargo test -p lbcf-controller --test crds"
    );
}

#[test]
fn the_printed_stream_holds_every_crd() {
    let yaml = lbcf_controller::api::crds_yaml().unwrap();
    let read: Vec<CustomResourceDefinition> = yaml
        .split("---\n")
        .filter(|document| !document.is_empty())
        .map(|document| serde_saphyr::from_str(document).unwrap())
        .collect();
    assert_eq!(read, crds());
}

fn schema(kind: &str) -> Value {
    let crd = crds()
        .into_iter()
        .find(|crd| crd.spec.names.kind == kind)
        .unwrap();
    serde_json::to_value(&crd.spec.versions[0]).unwrap()["schema"]["openAPIV3Schema"].take()
}

#[test]
fn b1_b2_d29_kinds_are_named_as_documented() {
    let named: Vec<_> = crds()
        .into_iter()
        .map(|crd| {
            assert_eq!(crd.spec.scope, "Namespaced");
            assert_eq!(crd.spec.names.categories, Some(vec!["lbcf".to_owned()]));
            assert!(
                crd.spec.versions[0]
                    .subresources
                    .as_ref()
                    .unwrap()
                    .status
                    .is_some()
            );
            (
                crd.metadata.name.unwrap(),
                crd.spec.names.short_names.unwrap_or_default().join(","),
            )
        })
        .collect();
    let expected = [
        ("loadbalancerdrivers.lbcf.tkestack.io", "lbd,driver"),
        ("loadbalancers.lbcf.tkestack.io", "lb"),
        ("backendgroups.lbcf.tkestack.io", "bg"),
        ("backendrecords.lbcf.tkestack.io", "br"),
        ("binds.lbcf.tkestack.io", ""),
    ];
    assert_eq!(
        named,
        expected.map(|(name, short)| (name.to_owned(), short.to_owned()))
    );
}

#[test]
fn b5_where_go_clients_write_null_null_is_allowed() {
    let nullable = |kind: &str, path: &str| {
        let schema = schema(kind);
        let at = path
            .split('.')
            .fold(&schema, |at, field| &at["properties"][field]);
        assert_eq!(at["nullable"], json!(true), "{kind} {path}: {at}");
    };
    nullable("LoadBalancer", "spec.scope");
    nullable("LoadBalancer", "spec.attributes");
    nullable("LoadBalancer", "status.lbInfo");
    nullable("LoadBalancer", "status.conditions");
    nullable("BackendGroup", "spec.lbName");
    nullable("BackendGroup", "spec.loadBalancers");
    nullable("BackendGroup", "spec.deregisterPolicy");
    nullable("BackendGroup", "spec.deregisterWebhook");
    nullable("BackendGroup", "spec.pods.port");
    nullable("Bind", "spec.pods");
    nullable("Bind", "spec.service");
    nullable("BackendRecord", "spec.lbInfo");
    nullable("BackendRecord", "spec.lbAttributes");
    nullable("BackendRecord", "spec.parameters");
    nullable("BackendRecord", "status.injectedInfo");
    nullable("BackendRecord", "status.conditions");
    nullable("LoadBalancerDriver", "status.conditions");
}

#[test]
fn d20_numbers_in_string_maps_are_allowed_and_read_as_strings() {
    let schema = schema("BackendGroup");
    let values = &schema["properties"]["spec"]["properties"]["parameters"]["additionalProperties"];
    assert_eq!(values["x-kubernetes-int-or-string"], json!(true));
    let map: StringMap = serde_json::from_value(json!({"weight": 50, "a": "b"})).unwrap();
    assert_eq!(map["weight"], "50");
    assert_eq!(
        serde_json::from_value::<StringMap>(Value::Null).unwrap(),
        StringMap::default()
    );
    assert!(serde_json::from_value::<StringMap>(json!({"weight": []})).is_err());
}

#[test]
fn b5_what_the_original_wrote_is_read() {
    // A record of the original controller, as the documents show it.
    let record = json!({
        "apiVersion": "lbcf.tkestack.io/v1beta1",
        "kind": "BackendRecord",
        "metadata": {"name": "341953d53e36218d40b22ad9a0f67e9b", "namespace": "kube-system"},
        "spec": {
            "lbAttributes": null,
            "lbDriver": "lbcf-god-driver",
            "lbInfo": {"lbID": "lb-7wf394rv"},
            "lbName": "test-load-balancer",
            "parameters": {"weight": "100"},
            "podBackend": {"name": "web-0", "port": {"portNumber": 80, "protocol": "TCP"}},
        },
        "status": {
            "backendAddr": "{\"eniIP\":\"10.0.3.244\",\"backendPort\":80}",
            "conditions": [{"lastTransitionTime": "2019-05-30T10:45:28Z", "message": "",
                            "status": "True", "type": "Registered"}],
            "injectedInfo": null,
        },
    });
    let record: lbcf_controller::api::BackendRecord = serde_json::from_value(record).unwrap();
    assert_eq!(record.spec.pod_backend.unwrap().port.number(), 80);
}

/// Where a schema has rules, by path.
fn rules(schema: &Value, at: &str, found: &mut Vec<(String, String)>) {
    for rule in schema["x-kubernetes-validations"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let text = |field: &str| rule[field].as_str().unwrap().to_owned();
        assert!(!text("message").is_empty());
        found.push((at.to_owned(), text("rule")));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        rules(property, &format!("{at}.{name}"), found);
    }
    for inside in ["items", "additionalProperties"] {
        if schema[inside].is_object() {
            rules(&schema[inside], &format!("{at}[]"), found);
        }
    }
}

#[test]
fn d48_the_api_server_checks_what_needs_nothing_but_the_object() {
    let mut found = Vec::new();
    for kind in [
        "LoadBalancerDriver",
        "LoadBalancer",
        "BackendGroup",
        "BackendRecord",
        "Bind",
    ] {
        rules(&schema(kind), kind, &mut found);
    }
    let places: BTreeSet<_> = found.iter().map(|(at, _)| at.as_str()).collect();
    for place in [
        "LoadBalancer",
        "LoadBalancer.spec",
        "LoadBalancer.spec.attributes",
        "LoadBalancer.spec.ensurePolicy.minPeriod",
        "LoadBalancer.spec.lbDriver",
        "LoadBalancer.spec.lbSpec",
        "LoadBalancer.spec.scope[]",
        "LoadBalancerDriver.spec",
        "LoadBalancerDriver.spec.serviceClass",
        "LoadBalancerDriver.spec.serviceClass.lbSpec",
        "LoadBalancerDriver.spec.serviceClass.name",
        "LoadBalancerDriver.spec.serviceClass.parameters",
        "LoadBalancerDriver.spec.serviceClass.serviceFields",
        "LoadBalancerDriver.spec.webhooks[].name",
        "LoadBalancerDriver.spec.webhooks[].timeout",
        "BackendGroup.spec.loadBalancers[]",
        "BackendGroup.spec.parameters",
        "BackendGroup.spec.pods.byLabel.except[]",
        "BackendGroup.spec.pods.byLabel.selector",
        "BackendGroup.spec.pods.byName[]",
        "BackendGroup.spec.pods.port.port",
        "BackendGroup.spec.pods.ports[].protocol",
        "BackendGroup.spec.service.nodeSelector",
        "BackendGroup.spec.service.port.portNumber",
        "BackendGroup.spec.static[]",
        "Bind.spec",
        "Bind.spec.ensurePolicy.minPeriod",
        "Bind.spec.ensurePolicy.resyncPeriodInSeconds",
        "Bind.spec.loadBalancers[].attributes",
        "Bind.spec.loadBalancers[].driver",
        "Bind.spec.loadBalancers[].name",
        "Bind.spec.loadBalancers[].spec",
        "Bind.spec.pods.ports[].port",
        "Bind.spec.service",
        "Bind.spec.service.nodeSelector",
        "Bind.spec.service.port.portNumber",
        "Bind.spec.service.zones[]",
    ] {
        assert!(places.contains(place), "{place}: {places:?}");
    }
    for (at, rule) in found {
        // To the API server a null is absent, and nothing of a type can be compared with one.
        assert!(!rule.contains("null"), "{at}: {rule}");
        // Records of objects that were stored before the rules are written too (d48).
        assert!(
            !at.starts_with("BackendRecord") || rule.contains("oldSelf"),
            "{at}: {rule}"
        );
        // What is larger than the schema allows may be stored, and takes too long to visit.
        let visits = [".all(", ".exists(", ".map(", ".matches("];
        let is_bounded = rule.contains("size(self");
        assert!(
            is_bounded || !visits.iter().any(|visit| rule.contains(visit)),
            "{at}: {rule}"
        );
    }
}

#[test]
fn d21_labels_beside_the_selector_reach_admission() {
    for kind in ["BackendGroup", "Bind"] {
        let schema = schema(kind);
        let by_label = schema.pointer("/properties/spec/properties/pods/properties/byLabel");
        assert_eq!(
            by_label.unwrap()["x-kubernetes-preserve-unknown-fields"],
            json!(true)
        );
    }
}

#[test]
fn d47_d102_the_openapi_document_limits_what_the_kinds_limit() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../openapi/lbcf-webhooks.json");
    let document: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let schemas = &document["components"]["schemas"];
    let of_user = &schema("LoadBalancer")["properties"]["spec"]["properties"]["attributes"];
    let parameters = &schemas["EnsureBackendRequest"]["properties"]["parameters"];
    assert_eq!(parameters["maxProperties"], of_user["maxProperties"]);
    let described = parameters["description"].to_string();
    let value = of_user["additionalProperties"]["maxLength"].to_string();
    assert!(described.contains("253 characters") && described.contains(&value));
    let address = &schema("BackendGroup")["properties"]["spec"]["properties"]["static"]["items"];
    for of in ["EnsureBackendRequest", "GenerateBackendAddrResponse"] {
        let documented = &schemas[of]["properties"]["backendAddr"];
        assert_eq!(documented["maxLength"], address["maxLength"], "{of}");
    }
}
