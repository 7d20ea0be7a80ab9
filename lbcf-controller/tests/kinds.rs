//! The kinds have the documented fields, names and words, to the letter: what Go clients wrote reads
//! here, and what is written here reads there.

// Tests say what they expect by unwrapping, their helpers too.
#![allow(clippy::unwrap_used)]

use lbcf_controller::api::{
    BackendGroupStatus, Condition, DeregisterPolicy, EnsurePolicyType, FailurePolicy, PortSelector,
    condition_types, crds, reasons,
};
use lbcf_controller::names;
use lbcf_driver_sdk::webhook::Reason;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn schema(kind: &str) -> Value {
    let crd = crds()
        .into_iter()
        .find(|crd| crd.spec.names.kind == kind)
        .unwrap();
    serde_json::to_value(&crd.spec.versions[0]).unwrap()["schema"]["openAPIV3Schema"].take()
}

/// The names of an object's fields, by the path to it.
fn fields(kind: &str, path: &[&str]) -> BTreeSet<String> {
    let schema = schema(kind);
    let mut at = &schema;
    for step in path {
        at = match *step {
            "[]" => &at["items"],
            field => &at["properties"][field],
        };
    }
    let properties = at["properties"].as_object().unwrap();
    properties.keys().cloned().collect()
}

fn required(kind: &str) -> Vec<String> {
    let schema = schema(kind);
    let required = &schema["properties"]["spec"]["required"];
    serde_json::from_value(required.clone()).unwrap_or_default()
}

#[test]
fn b3_b4_d25_each_kind_has_one_version_in_one_group() {
    for crd in crds() {
        assert_eq!(crd.spec.group, "lbcf.tkestack.io");
        let versions: Vec<_> = crd.spec.versions.iter().map(|v| v.name.as_str()).collect();
        let kind = crd.spec.names.kind.as_str();
        let expected = if kind == "Bind" { "v1" } else { "v1beta1" };
        assert_eq!(versions, [expected], "{kind}");
        assert!(crd.spec.conversion.is_none(), "{kind}");
        let written = serde_json::to_value(&crd).unwrap();
        assert_eq!(written["apiVersion"], "apiextensions.k8s.io/v1");
    }
}

#[test]
fn b8_to_b44_d18_the_fields_are_the_documented_ones() {
    let table = "
        LoadBalancerDriver.spec: acceptDryRunCall driverType serviceClass url webhooks
        LoadBalancerDriver.spec.webhooks.[]: name timeout
        LoadBalancerDriver.status: conditions features specification
        LoadBalancer.spec: attributes ensurePolicy lbDriver lbSpec scope
        LoadBalancer.spec.ensurePolicy: minPeriod policy
        LoadBalancer.status: conditions lastSyncedAttributes lastSyncedDigest lbInfo
        BackendGroup.spec: deregisterPolicy deregisterWebhook ensurePolicy lbName loadBalancers minRegistered parameters pods service static
        BackendGroup.spec.pods: byLabel byName port ports
        BackendGroup.spec.pods.byLabel: except selector
        BackendGroup.spec.pods.ports.[]: port portNumber protocol
        BackendGroup.spec.service: addressFamilies mode name nodeSelector port zones
        BackendGroup.spec.service.port: name port portNumber protocol
        BackendGroup.spec.deregisterWebhook: driverName failurePolicy
        BackendRecord.spec: endpointBackend ensurePolicy lbAttributes lbDriver lbInfo lbName parameters podBackend serviceBackend staticAddr
        BackendRecord.spec.podBackend: name port
        BackendRecord.spec.endpointBackend: address addressType port service
        BackendRecord.spec.serviceBackend: name nodeName nodePort port
        BackendRecord.status: backendAddr conditions injectedInfo
        Bind.spec: deregisterPolicy deregisterWebhook ensurePolicy loadBalancers parameters pods service
        Bind.spec.loadBalancers.[]: attributes driver name spec
        Bind.spec.pods: byLabel byName port ports
        Bind.spec.service: addressFamilies mode name nodeSelector port zones
        Bind.spec.ensurePolicy: minPeriod policy resyncPeriodInSeconds
        Bind.status.loadBalancerStatuses.[]: conditions deletionTimestamp driver lastSyncedAttributes lbInfo name retryAfter
    ";
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        let (place, expected) = line.trim().split_once(": ").unwrap();
        let (kind, path) = place.split_once('.').unwrap();
        let path = Vec::from_iter(path.split('.'));
        let found = Vec::from_iter(fields(kind, &path));
        assert_eq!(found.join(" "), expected, "{place}");
    }
}

#[test]
fn b14_b27_d19_what_must_be_given() {
    assert_eq!(required("LoadBalancerDriver"), ["driverType", "url"]);
    assert_eq!(required("LoadBalancer"), ["lbDriver", "lbSpec"]);
    assert_eq!(
        required("BackendGroup"),
        [""; 0],
        "parameters too are optional"
    );
    assert_eq!(required("Bind"), ["loadBalancers"]);
}

#[test]
fn b7_a_condition_always_has_a_message() {
    let met = serde_json::to_value(Condition::met("Created", Some(3))).unwrap();
    assert_eq!(
        met,
        json!({"type": "Created", "status": "True", "message": "", "observedGeneration": 3})
    );
}

#[test]
fn b11_b19_b37_b39_b44_conditions_and_reasons_have_the_originals_names() {
    let types = [
        condition_types::ACCEPTED,
        condition_types::CREATED,
        condition_types::ATTRIBUTES_SYNCED,
        condition_types::REGISTERED,
        condition_types::READY,
    ];
    let expected = "Accepted Created AttributesSynced Registered Ready";
    assert_eq!(types.join(" "), expected);
    let reasons = [
        reasons::CREATING,
        reasons::CREATE_FAILED,
        reasons::ENSURING,
        reasons::ENSURE_FAILED,
        reasons::WEBHOOK_ERROR,
        reasons::INVALID_RESPONSE,
        reasons::OPERATION_FAILED,
    ];
    let expected =
        "Creating CreateFailed Ensuring EnsureFailed WebhookError InvalidResponse OperationFailed";
    assert_eq!(reasons.map(|it| &**it).join(" "), expected);
    let of_drivers = [
        reasons::INVALID_ARGUMENT,
        reasons::NOT_FOUND,
        reasons::QUOTA_EXCEEDED,
        reasons::THROTTLED,
        reasons::CONFLICT,
        reasons::UNAVAILABLE,
        reasons::PERMISSION_DENIED,
        reasons::INTERNAL,
    ];
    assert_eq!(of_drivers, Reason::ALL.map(Reason::name));
}

#[test]
fn b17_b28_policies_are_spelled_as_documented() {
    let words = [
        json!(DeregisterPolicy::IfNotReady),
        json!(DeregisterPolicy::IfNotRunning),
        json!(DeregisterPolicy::Webhook),
        json!(FailurePolicy::DoNothing),
        json!(FailurePolicy::IfNotReady),
        json!(FailurePolicy::IfNotRunning),
        json!(EnsurePolicyType::IfNotSucc),
        json!(EnsurePolicyType::Always),
    ];
    let expected = r#"["IfNotReady","IfNotRunning","Webhook","DoNothing","IfNotReady","IfNotRunning","IfNotSucc","Always"]"#;
    assert_eq!(json!(words).to_string(), expected);
    assert_eq!(DeregisterPolicy::default(), DeregisterPolicy::IfNotReady);
    assert_eq!(FailurePolicy::default(), FailurePolicy::DoNothing);
    assert_eq!(EnsurePolicyType::default(), EnsurePolicyType::IfNotSucc);
}

#[test]
fn b24_a_port_wins_over_the_earlier_editions_and_tcp_is_the_default() {
    let number = |port: Option<i32>, port_number: Option<i32>| {
        PortSelector {
            port,
            port_number,
            protocol: None,
        }
        .number()
    };
    assert_eq!(number(Some(80), Some(8080)), 80);
    assert_eq!(number(Some(0), Some(8080)), 8080);
    assert_eq!(number(None, Some(8080)), 8080);
    assert_eq!(number(None, None), 0);
    assert_eq!(PortSelector::default().protocol().as_str(), "TCP");
}

#[test]
fn b29_the_count_is_spelled_as_in_the_sample() {
    let status = BackendGroupStatus {
        backends: 3,
        registered_backends: 2,
        ..BackendGroupStatus::default()
    };
    let status = serde_json::to_value(status).unwrap();
    assert_eq!(
        (&status["backends"], &status["registeredBackends"]),
        (&json!(3), &json!(2))
    );
}

#[test]
fn b49_b50_b59_b60_b61_labels_finalizers_and_annotations_are_the_originals() {
    for (name, expected) in [
        (names::LABEL_DRIVER_DRAINING, "driver-draining"),
        (names::LABEL_LB_DRIVER, "lb-driver"),
        (names::LABEL_LB_NAME, "lb-name"),
        (names::LABEL_BACKEND_GROUP, "backend-group"),
        (names::LABEL_BACKEND_POD, "backend-pod"),
        (names::LABEL_BACKEND_SERVICE, "backend-service"),
        (names::LABEL_BACKEND_STATIC_ADDR, "backend-static-addr"),
        (names::LABEL_DO_NOT_DELETE, "do-not-delete"),
        (names::LABEL_BIND_DRIVER, "driver"),
        (names::LABEL_BIND_LB, "lb"),
        (names::LABEL_BIND, "bind"),
        (names::LABEL_BIND_POD, "pod"),
        (names::FINALIZER_LOAD_BALANCER, "delete-load-loadbalancer"),
        (names::FINALIZER_BACKEND_RECORD, "deregister-backend"),
        (names::ANNOTATION_VALIDATION_POLICY, "validation-policy"),
    ] {
        assert_eq!(name, format!("lbcf.tkestack.io/{expected}"));
    }
    assert_eq!(names::LABEL_LB_NAME_PREFIX, "name.lb.lbcf.tkestack.io/");
}
