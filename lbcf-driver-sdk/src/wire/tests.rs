//! The tolerance of reading, and the exact form of writing.

use super::*;
use crate::webhook::*;
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;

fn read<T: DeserializeOwned>(value: &Value) -> T {
    from_slice(value.to_string().as_bytes()).unwrap()
}

fn complaint<T: DeserializeOwned + std::fmt::Debug>(value: &Value) -> String {
    from_slice::<T>(value.to_string().as_bytes())
        .unwrap_err()
        .to_string()
}

#[track_caller]
fn is_on_the_wire<T>(value: &T, wire: &Value)
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    assert_eq!(serde_json::to_value(value).unwrap(), *wire);
    assert_eq!(read::<T>(wire), *value);
}

fn map(key: &str, value: &str) -> StringMap {
    [(key.to_owned(), value.to_owned())].into()
}

fn delay_of(delay: Value) -> Result<i32, String> {
    let mut body = json!({"status": "Running"});
    body["minRetryDelayInSeconds"] = delay;
    from_slice::<DeleteLoadBalancerResponse>(body.to_string().as_bytes())
        .map(|response| response.min_retry_delay_in_seconds)
        .map_err(|error| error.to_string())
}

#[test]
fn d1_a_delay_is_a_number_or_a_numeric_string() {
    for (wire, seconds) in [
        (json!(5), 5),
        (json!("5"), 5),
        (json!(" 5 "), 5),
        (json!(0), 0),
        (json!(-1), -1),
        (json!(i32::MAX), i32::MAX),
        (Value::Null, 0),
    ] {
        assert_eq!(delay_of(wire.clone()), Ok(seconds), "{wire}");
    }
    for wire in [
        json!(1.5),
        json!("1.5"),
        json!("soon"),
        json!(""),
        json!(true),
        json!([5]),
        json!({}),
        json!(2_147_483_648_i64),
        json!(u64::MAX),
        json!(1e300),
        json!("99999999999"),
    ] {
        let error = delay_of(wire.clone()).unwrap_err();
        assert!(error.starts_with("minRetryDelayInSeconds: "), "{error}");
        assert!(error.contains(&wire.to_string()), "{error}");
    }
    let long = delay_of(json!("9".repeat(5000))).unwrap_err();
    assert!(long.len() < 300, "{long}");
}

#[test]
fn d1_the_documented_spelling_is_read_and_the_real_one_written() {
    let documented = json!({"status": "Fail", "minRetryDelayinSeconds": "3"});
    let response: EnsureBackendResponse = read(&documented);
    assert_eq!(response.min_retry_delay(), Some(Duration::from_secs(3)));
    assert_eq!(
        serde_json::to_value(response).unwrap(),
        json!({"status": "Fail", "msg": "", "minRetryDelayInSeconds": 3})
    );
}

#[test]
fn d1_fractions_of_a_second_are_rounded_up() {
    for (delay, seconds) in [(0, 0), (1, 1), (1000, 1), (1001, 2)] {
        let delay = Some(Duration::from_millis(delay));
        let response = EnsureBackendResponse::running(String::new(), delay);
        assert_eq!(response.min_retry_delay_in_seconds, seconds);
    }
    let response = EnsureBackendResponse::fail(String::new(), Some(Duration::MAX));
    assert_eq!(response.min_retry_delay_in_seconds, i32::MAX);
}

#[test]
fn b150_field_names_are_read_in_any_case_at_every_depth() {
    let request: GenerateBackendAddr = read(&json!({
        "RecordId": "r", "RETRYID": "t", "DryRun": true, "LBINFO": {"Key": "Value"},
        "PodBackend": {"POD": {"metadata": {"name": "p"}}, "Port": {"PortNumber": 80, "Protocol": "udp"}},
    }));
    assert_eq!(request.record_id, "r");
    assert_eq!(request.retry_id, "t");
    assert!(request.dry_run);
    // A map's keys are data.
    assert_eq!(request.lb_info, map("Key", "Value"));
    let backend = request.pod_backend.unwrap();
    assert_eq!(backend.pod.name, "p");
    assert_eq!(
        (backend.port.port, backend.port.protocol),
        (80, Protocol::Udp)
    );
}

#[test]
fn b150_unknown_fields_are_skipped_and_missing_ones_empty() {
    let request: EnsureBackend = read(&json!({"later": {"edition": [1, null]}}));
    assert_eq!(request, EnsureBackend::default());
    let response: ValidateBackendResponse = read(&json!({"succ": true, "x": 1}));
    assert!(response.succ);
}

#[test]
fn b150_an_unknown_or_missing_status_is_no_answer() {
    let unknown = complaint::<EnsureBackendResponse>(&json!({"status": "SUCCESS"}));
    assert!(unknown.starts_with("status: "), "{unknown}");
    assert!(
        unknown.contains("`SUCCESS`") && unknown.contains("`Succ`"),
        "{unknown}"
    );
    let missing = complaint::<EnsureBackendResponse>(&json!({}));
    assert_eq!(missing, "the body: missing field `status`");
    complaint::<EnsureBackendResponse>(&json!({"status": null}));
    complaint::<ValidateBackendResponse>(&json!({"msg": ""}));
}

#[test]
fn b152_null_is_empty() {
    let request: EnsureBackend = read(&json!({
        "recordID": null, "retryID": null, "dryRun": null, "lbInfo": null, "backendAddr": null,
        "parameters": null, "injectedInfo": null,
    }));
    assert_eq!(request, EnsureBackend::default());
    let request: GenerateBackendAddr = read(&json!({
        "lbInfo": null, "lbAttributes": null, "parameters": null, "podBackend": null,
        "serviceBackend": null,
    }));
    assert_eq!(request, GenerateBackendAddr::default());
    let request: ValidateBackend = read(&json!({
        "dryRun": null, "backendType": null, "lbInfo": null, "operation": null,
        "parameters": null, "oldParameters": null,
    }));
    assert_eq!(request, ValidateBackend::default());
    let request: JudgePodDeregister = read(&json!({"notReadyPods": null}));
    assert!(request.not_ready_pods.is_empty());
    let response: CreateLoadBalancerResponse =
        read(&json!({"status": "Succ", "msg": null, "lbInfo": null}));
    assert!(response.lb_info.is_empty());
}

#[test]
fn d2_old_parameters_have_two_names() {
    let request = ValidateBackend {
        backend_type: BackendType::Service,
        operation: Operation::Update,
        parameters: map("weight", "2"),
        old_parameters: map("weight", "1"),
        ..Default::default()
    };
    let mut wire = json!({
        "dryRun": false, "backendType": "Service", "lbInfo": null, "operation": "Update",
        "parameters": {"weight": "2"},
        "oldParameters": {"weight": "1"}, "OldParameters": {"weight": "1"},
    });
    is_on_the_wire(&request, &wire);
    let fields = wire.as_object_mut().unwrap();
    fields.remove("oldParameters");
    assert_eq!(read::<ValidateBackend>(&wire), request);
    wire["oldParameters"] = Value::Null;
    assert_eq!(read::<ValidateBackend>(&wire), request);
    // The specification's spelling wins.
    wire["oldParameters"] = json!({"weight": "0"});
    let read = read::<ValidateBackend>(&wire);
    assert_eq!(read.old_parameters, map("weight", "0"));
}

#[test]
fn d3_node_addresses_have_two_names() {
    let addresses = json!([{"type": "InternalIP", "address": "10.0.0.1"}]);
    let other = json!([{"type": "InternalIP", "address": "10.0.0.2"}]);
    for names in [
        json!({"nodeAddresses": addresses}),
        json!({"nodeAddress": addresses}),
        json!({"nodeAddresses": addresses, "nodeAddress": other}),
        json!({"nodeAddresses": null, "nodeaddress": addresses}),
    ] {
        let mut wire = json!({"service": {}, "port": {"port": 1}, "nodeName": "n"});
        wire.as_object_mut()
            .unwrap()
            .extend(names.as_object().unwrap().clone());
        let backend: ServiceBackend = read(&wire);
        assert_eq!(
            backend.node_addresses,
            [NodeAddress {
                kind: "InternalIP".into(),
                address: "10.0.0.1".into()
            }],
            "{wire}"
        );
    }
}

#[test]
fn d7_b153_pods_are_objects_or_strings_that_hold_them() {
    let pod = json!({"metadata": {"name": "p", "creationTimestamp": null}});
    for wire in [pod.clone(), Value::String(pod.to_string())] {
        let request: GenerateBackendAddr =
            read(&json!({"podBackend": {"pod": wire, "port": {"port": 80}}}));
        let backend = request.pod_backend.unwrap();
        assert_eq!(backend.pod.name, "p");
        let judged: JudgePodDeregister = read(&json!({"notReadyPods": [wire]}));
        assert_eq!(judged.not_ready_pods, [backend.pod]);
    }
    for wire in [
        json!("{"),
        json!("[]"),
        json!(1),
        json!([]),
        json!({"metadata": 1}),
    ] {
        let body = json!({"podBackend": {"pod": wire, "port": {"port": 80}}});
        let error = complaint::<GenerateBackendAddr>(&body);
        assert!(error.starts_with("podBackend.pod: "), "{error}");
    }
}

#[test]
fn b154_a_port_is_written_under_both_names_and_read_under_either() {
    let port = BackendPort {
        port: 80,
        protocol: Protocol::Tcp,
    };
    is_on_the_wire(
        &port,
        &json!({"port": 80, "portNumber": 80, "protocol": "TCP"}),
    );
    for wire in [
        json!({"port": 80}),
        json!({"portNumber": 80, "protocol": null}),
        json!({"port": 0, "portNumber": 80, "protocol": ""}),
        json!({"port": 80.0, "portNumber": 8e1}),
        json!({"port": 80, "portNumber": 81, "protocol": "tcp"}),
    ] {
        assert_eq!(read::<BackendPort>(&wire), port, "{wire}");
    }
    let error = complaint::<BackendPort>(&json!({"port": 80, "protocol": "ICMP"}));
    assert!(
        error.contains("\"ICMP\": not a protocol (TCP, UDP, SCTP)"),
        "{error}"
    );
}

#[test]
fn d114_limits_and_ports_of_services_are_whole_numbers() {
    for wire in [json!({"limit": 500}), json!({"limit": 500.0})] {
        assert_eq!(read::<ListBackends>(&wire).limit, 500, "{wire}");
    }
    assert_eq!(read::<ListBackends>(&json!({"limit": null})).limit, 0);
    let ports = json!([{"port": 80.0, "nodePort": 30080.0}]);
    let service: KubernetesObject = read(&json!({"spec": {"ports": ports}}));
    assert_eq!(
        (service.ports[0].port, service.ports[0].node_port),
        (80, 30080)
    );
}

#[test]
fn b155_an_unknown_word_is_kept_for_the_refusal() {
    let request: ValidateBackend = read(&json!({"operation": "Move", "backendType": "Vm"}));
    assert_eq!(request.operation, Operation::Other("Move".into()));
    assert_eq!(request.backend_type, BackendType::Other("Vm".into()));
    for body in [json!({"operation": ""}), json!({"operation": "update"})] {
        let request: ValidateLoadBalancer = read(&body);
        assert!(request.operation.unknown().is_some(), "{body}");
    }
}

#[test]
fn b151_requests_about_load_balancers() {
    is_on_the_wire::<ValidateLoadBalancer>(
        &ValidateLoadBalancer::default(),
        &json!({"dryRun": false, "lbSpec": null, "operation": "Create", "attributes": null}),
    );
    is_on_the_wire::<ValidateLoadBalancer>(
        &ValidateLoadBalancer {
            dry_run: true,
            lb_spec: map("id", "1"),
            operation: Operation::Update,
            attributes: map("a", "2"),
            old_attributes: map("a", "1"),
            namespace: "web".into(),
            name: "lb".into(),
        },
        &json!({
            "dryRun": true, "namespace": "web", "name": "lb", "lbSpec": {"id": "1"}, "operation": "Update",
            "attributes": {"a": "2"}, "oldAttributes": {"a": "1"},
        }),
    );
    is_on_the_wire::<CreateLoadBalancer>(
        &CreateLoadBalancer {
            record_id: "createLoadBalancer(u)".into(),
            retry_id: "r".into(),
            lb_spec: map("id", "1"),
            ..Default::default()
        },
        &json!({
            "recordID": "createLoadBalancer(u)", "retryID": "r", "dryRun": false,
            "lbSpec": {"id": "1"}, "attributes": null,
        }),
    );
    let wire = json!({
        "recordID": "", "retryID": "", "dryRun": false, "lbInfo": null, "attributes": null,
    });
    is_on_the_wire::<EnsureLoadBalancer>(&EnsureLoadBalancer::default(), &wire);
    is_on_the_wire::<DeleteLoadBalancer>(&DeleteLoadBalancer::default(), &wire);
    is_on_the_wire::<Healthz>(&Healthz {}, &json!({}));
}

#[test]
fn b151_requests_about_backends() {
    is_on_the_wire::<ValidateBackend>(
        &ValidateBackend::default(),
        &json!({
            "dryRun": false, "backendType": "Pod", "lbInfo": null, "operation": "Create",
            "parameters": null,
        }),
    );
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}});
    is_on_the_wire::<GenerateBackendAddr>(
        &GenerateBackendAddr {
            pod_backend: Some(PodBackend {
                pod: KubernetesObject::of(&pod).unwrap(),
                ..PodBackend::default()
            }),
            ..Default::default()
        },
        &json!({
            "recordID": "", "retryID": "", "dryRun": false, "lbInfo": null,
            "lbAttributes": null, "parameters": null,
            "podBackend": {
                "pod": pod,
                "port": {"port": 0, "portNumber": 0, "protocol": "TCP"},
            },
            "serviceBackend": null,
        }),
    );
    let wire = json!({
        "recordID": "", "retryID": "", "dryRun": false, "lbInfo": null, "backendAddr": "",
        "parameters": null, "injectedInfo": null,
    });
    is_on_the_wire::<EnsureBackend>(&EnsureBackend::default(), &wire);
    is_on_the_wire::<DeregisterBackend>(&DeregisterBackend::default(), &wire);
    is_on_the_wire::<JudgePodDeregister>(
        &JudgePodDeregister::default(),
        &json!({"dryRun": false, "notReadyPods": []}),
    );
    is_on_the_wire::<ListBackends>(
        &ListBackends::default(),
        &json!({"recordID": "", "retryID": "", "dryRun": false, "lbInfo": null}),
    );
}

#[test]
fn features_are_none_by_default_and_unknown_ones_are_ignored() {
    for (features, cancels) in [
        (json!(null), false),
        (json!([]), false),
        (json!(["other"]), false),
        (json!(["other", "cancel"]), true),
    ] {
        let response: HealthzResponse = read(&json!({"healthy": true, "features": features}));
        assert!(response.healthy);
        assert_eq!(
            response.has_feature(HealthzResponse::CANCEL),
            cancels,
            "{features}"
        );
    }
}

#[test]
fn b151_d115_responses() {
    let mut health = HealthzResponse {
        healthy: true,
        ..HealthzResponse::default()
    };
    is_on_the_wire(&health, &json!({"healthy": true}));
    health.features.push(HealthzResponse::CANCEL.into());
    is_on_the_wire(&health, &json!({"healthy": true, "features": ["cancel"]}));
    health.specification = "1".into();
    let whole = json!({"healthy": true, "specification": "1", "features": ["cancel"]});
    is_on_the_wire(&health, &whole);
    is_on_the_wire(
        &ValidateLoadBalancerResponse::from(Ok(())),
        &json!({"succ": true, "msg": ""}),
    );
    is_on_the_wire(
        &ValidateBackendResponse::refused("no".into()),
        &json!({"succ": false, "msg": "no"}),
    );
    is_on_the_wire(
        &JudgePodDeregisterResponse::refused("no".into()),
        &json!({"succ": false, "msg": "no", "doNotDeregister": []}),
    );
    is_on_the_wire(
        &CreateLoadBalancerResponse::from(Ok(map("id", "1"))),
        &json!({"status": "Succ", "msg": "", "lbInfo": {"id": "1"}}),
    );
    is_on_the_wire(
        &GenerateBackendAddrResponse::from(Ok("a".into())),
        &json!({"status": "Succ", "msg": "", "backendAddr": "a"}),
    );
    is_on_the_wire(
        &EnsureBackendResponse::from(Ok(StringMap::new())),
        &json!({"status": "Succ", "msg": ""}),
    );
    let by_hand = ListedBackend {
        backend_addr: "a".into(),
        ..ListedBackend::default()
    };
    is_on_the_wire(
        &ListBackendsResponse::from(Ok((vec![by_hand], String::new()))),
        &json!({"status": "Succ", "msg": "", "backends": [{"backendAddr": "a", "parameters": null}]}),
    );
    let running = crate::HookError::running("wait").retry_after(Duration::from_millis(2500));
    is_on_the_wire(
        &DeregisterBackendResponse::from(Err(running)),
        &json!({"status": "Running", "msg": "wait", "minRetryDelayInSeconds": 3}),
    );
    let invalid = crate::HookError::new(Reason::InvalidArgument, "port: 0");
    is_on_the_wire(
        &DeregisterBackendResponse::from(Err(invalid)),
        &json!({"status": "Fail", "msg": "port: 0", "reason": "InvalidArgument"}),
    );
}

#[test]
fn what_is_no_object_is_called_by_its_name() {
    for (body, expected) in [
        ("null", "the body must be a JSON object, it is null"),
        ("[1]", "the body must be a JSON object, it is an array"),
        ("\"{}\"", "the body must be a JSON object, it is a string"),
    ] {
        let error = from_slice::<Healthz>(body.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let error = from_slice::<Healthz>(b"{").unwrap_err();
    assert!(matches!(error, DecodeError::NotJson(_)));
}
