//! Written values are read back as equal values, and either of two spellings is read.

use crate::near_misses::pod;
use crate::support::cases;
use lbcf_driver_sdk::webhook::*;
use lbcf_driver_sdk::wire::from_slice;
use proptest::option;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::time::{Duration, SystemTime};

fn map() -> impl Strategy<Value = StringMap> {
    prop::collection::btree_map(any::<String>(), any::<String>(), 0..4)
}

/// Names, and any other text.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9.-]{0,12}", any::<String>()]
}

fn protocol() -> impl Strategy<Value = Protocol> {
    prop::sample::select(vec![Protocol::Tcp, Protocol::Udp, Protocol::Sctp])
}

fn operation() -> impl Strategy<Value = Operation> {
    let known = prop::sample::select(vec![Operation::Create, Operation::Update]);
    prop_oneof![known, text().prop_map(Operation::from)]
}

fn backend_type() -> impl Strategy<Value = BackendType> {
    use BackendType::{Pod, Service, Static};
    let known = prop::sample::select(vec![Pod, Service, Static]);
    prop_oneof![known, text().prop_map(BackendType::from)]
}

prop_compose! {
    fn port()(port in any::<i32>(), protocol in protocol()) -> BackendPort {
        BackendPort { port, protocol }
    }
}

fn a_pod() -> impl Strategy<Value = KubernetesObject> {
    let small = (
        text(),
        option::of(map()),
        option::of(text()),
        option::of(0..70_000),
    )
        .prop_map(|(name, labels, ip, port)| {
            let port = port.map(|port| json!([{"name": "c", "ports": [{"containerPort": port}]}]));
            let containers = port.unwrap_or_else(|| json!([]));
            serde_json::from_value(json!({
                "metadata": {"name": name, "labels": labels},
                "spec": {"containers": containers, "nodeSelector": labels},
                "status": {"podIP": ip, "startTime": "2026-03-02T08:15:30Z"},
            }))
            .unwrap()
        });
    let whole: KubernetesObject = serde_json::from_value(pod()).unwrap();
    prop_oneof![Just(KubernetesObject::default()), Just(whole), small]
}

fn a_service() -> impl Strategy<Value = KubernetesObject> {
    (text(), 0..70_000).prop_map(|(name, port)| {
        let ports = json!([{"port": port, "targetPort": port}, {"port": 1, "targetPort": name}]);
        serde_json::from_value(json!({"metadata": {"name": name}, "spec": {"ports": ports}}))
            .unwrap()
    })
}

fn node_addresses() -> impl Strategy<Value = Vec<NodeAddress>> {
    let address = (text(), text()).prop_map(|(kind, address)| NodeAddress { kind, address });
    prop::collection::vec(address, 0..3)
}

prop_compose! {
    fn pod_backend()(pod in a_pod(), port in port()) -> PodBackend {
        PodBackend { pod, port }
    }
}

fn endpoint_backend() -> impl Strategy<Value = EndpointBackend> {
    let texts = (text(), text(), text(), prop::collection::vec(text(), 0..3));
    let optional = [(); 4].map(|()| option::of(text()));
    (texts, 0..=65535_i32, any::<(bool, bool)>(), optional).prop_map(
        |((address, name, port_name, for_zones), port, (serving, terminating), optional)| {
            let [node_name, zone, hostname, app_protocol] = optional;
            EndpointBackend {
                address_type: AddressType::from(name.clone()),
                address,
                port,
                protocol: Protocol::Sctp,
                node_name,
                zone,
                hostname,
                for_zones,
                app_protocol,
                serving,
                terminating,
                service: EndpointService {
                    namespace: String::new(),
                    name,
                    port: BackendPort {
                        port,
                        protocol: Protocol::Udp,
                    },
                    port_name,
                },
            }
        },
    )
}

prop_compose! {
    fn service_backend()(
        service in a_service(), port in port(), node_name in text(),
        node_addresses in node_addresses(),
    ) -> ServiceBackend {
        ServiceBackend { service, port, node_name, node_addresses }
    }
}

prop_compose! {
    fn listed_backend()(
        backend_addr in text(), parameters in map(), record_id in text(),
    ) -> ListedBackend {
        ListedBackend { backend_addr, parameters, record_id }
    }
}

/// The fields `recordID`, `retryID` and `dryRun`.
fn call() -> impl Strategy<Value = (String, String, bool)> {
    (text(), text(), any::<bool>())
}

/// The fields `status`, `msg` and `minRetryDelayInSeconds`.
fn end() -> impl Strategy<Value = (Status, String, i32)> {
    let status = prop::sample::select(vec![Status::Succ, Status::Fail, Status::Running]);
    (status, any::<String>(), any::<i32>())
}

fn round_trips<T>(value: &T) -> Result<(), TestCaseError>
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let wire = serde_json::to_vec(value).unwrap();
    let read = from_slice::<T>(&wire).map_err(|error| TestCaseError::fail(error.to_string()))?;
    prop_assert_eq!(&read, value);
    Ok(())
}

fn reads_as<T>(wire: &Value, value: &T) -> Result<(), TestCaseError>
where
    T: DeserializeOwned + PartialEq + Debug,
{
    let read = from_slice::<T>(wire.to_string().as_bytes());
    let read = read.map_err(|error| TestCaseError::fail(format!("{error}: {wire}")))?;
    prop_assert_eq!(&read, value, "{}", wire);
    Ok(())
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn requests_about_load_balancers(
        (record_id, retry_id, dry_run) in call(), operation in operation(), identity in map(),
        attributes in map(), old_attributes in map(),
        namespace in text(), name in text(),
    ) {
        round_trips(&Healthz {})?;
        round_trips(&ValidateLoadBalancer {
            dry_run, lb_spec: identity.clone(), operation, attributes: attributes.clone(),
            old_attributes, namespace: namespace.clone(), name: name.clone(),
        })?;
        round_trips(&CreateLoadBalancer {
            record_id: record_id.clone(), retry_id: retry_id.clone(), dry_run,
            lb_spec: identity.clone(), attributes: attributes.clone(),
            namespace: namespace.clone(), name: name.clone(),
        })?;
        round_trips(&EnsureLoadBalancer {
            record_id: record_id.clone(), retry_id: retry_id.clone(), dry_run,
            lb_info: identity.clone(), attributes: attributes.clone(),
            namespace: namespace.clone(), name: name.clone(),
        })?;
        round_trips(&ListBackends {
            record_id: record_id.clone(), retry_id: retry_id.clone(), dry_run,
            lb_info: identity.clone(), namespace: namespace.clone(), name: name.clone(),
            limit: 7, continue_token: name.clone(),
        })?;
        round_trips(&DeleteLoadBalancer {
            record_id, retry_id, dry_run, lb_info: identity, attributes, namespace, name,
        })?;
    }

    #[test]
    fn requests_about_backends(
        (record_id, retry_id, dry_run) in call(), lb_info in map(), backend_addr in text(),
        parameters in map(), injected_info in map(), seconds in option::of(0..4_102_444_800_u64),
        namespace in text(), name in text(),
    ) {
        let since = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let first_requested_at = seconds.map(since);
        round_trips(&EnsureBackend {
            record_id: record_id.clone(), retry_id: retry_id.clone(), dry_run,
            lb_info: lb_info.clone(), backend_addr: backend_addr.clone(),
            parameters: parameters.clone(), injected_info: injected_info.clone(),
            namespace: namespace.clone(), name: name.clone(),
        })?;
        round_trips(&DeregisterBackend {
            record_id, retry_id, dry_run, lb_info, backend_addr, parameters, injected_info,
            first_requested_at, namespace, name,
        })?;
    }

    #[test]
    fn questions_about_backends(
        dry_run in any::<bool>(), backend_type in backend_type(), lb_info in map(),
        operation in operation(), parameters in map(), old_parameters in map(),
        not_ready_pods in prop::collection::vec(a_pod(), 0..3),
        namespace in text(), name in text(),
    ) {
        round_trips(&ValidateBackend {
            dry_run, backend_type, lb_info, operation, parameters, old_parameters,
            namespace: namespace.clone(), name: name.clone(),
        })?;
        round_trips(&JudgePodDeregister { dry_run, not_ready_pods, namespace, name })?;
    }

    #[test]
    fn questions_for_an_address(
        (record_id, retry_id, dry_run) in call(), lb_info in map(), lb_attributes in map(),
        parameters in map(), pod_backend in option::of(pod_backend()),
        service_backend in option::of(service_backend()),
        endpoint_backend in option::of(endpoint_backend()),
        namespace in text(), name in text(),
    ) {
        round_trips(&GenerateBackendAddr {
            record_id, retry_id, dry_run, lb_info, lb_attributes, parameters, pod_backend,
            service_backend, endpoint_backend, namespace, name,
        })?;
    }

    #[test]
    fn responses(
        yes in any::<bool>(), (status, msg, min_retry_delay_in_seconds) in end(), map in map(),
        backend_addr in text(), do_not_deregister in prop::collection::vec(a_pod(), 0..3),
        backends in prop::collection::vec(listed_backend(), 0..3),
    ) {
        let (succ, text) = (yes, || msg.clone());
        round_trips(&HealthzResponse { healthy: yes, specification: text(), features: vec![text()] })?;
        round_trips(&ValidateLoadBalancerResponse { succ, msg: text() })?;
        round_trips(&ValidateBackendResponse { succ, msg: text() })?;
        round_trips(&JudgePodDeregisterResponse { succ, msg: text(), do_not_deregister })?;
        round_trips(&CreateLoadBalancerResponse {
            status, msg: text(), min_retry_delay_in_seconds, reason: text(), lb_info: map.clone(),
        })?;
        round_trips(&EnsureLoadBalancerResponse {
            status, msg: text(), min_retry_delay_in_seconds, reason: text(),
        })?;
        round_trips(&DeleteLoadBalancerResponse {
            status, msg: text(), min_retry_delay_in_seconds, reason: text(),
        })?;
        round_trips(&GenerateBackendAddrResponse {
            status, msg: text(), min_retry_delay_in_seconds, reason: text(), backend_addr,
        })?;
        round_trips(&EnsureBackendResponse {
            status, msg: text(), min_retry_delay_in_seconds, reason: text(), injected_info: map,
        })?;
        round_trips(&ListBackendsResponse {
            status, msg: text(), min_retry_delay_in_seconds, reason: text(), backends,
            continue_token: text(),
        })?;
        round_trips(&DeregisterBackendResponse {
            status, msg: text(), min_retry_delay_in_seconds, reason: text(),
        })?;
    }

    #[test]
    fn d1_delays_have_two_types_and_two_names(seconds in any::<i32>()) {
        let expected = DeleteLoadBalancerResponse {
            status: Status::Running, msg: String::new(), min_retry_delay_in_seconds: seconds,
            reason: String::new(),
        };
        for name in ["minRetryDelayInSeconds", "minRetryDelayinSeconds"] {
            for delay in [json!(seconds), json!(seconds.to_string())] {
                reads_as(&json!({"status": "Running", name: delay}), &expected)?;
            }
        }
    }

    #[test]
    fn d2_old_parameters_have_two_names(old_parameters in map()) {
        for name in ["oldParameters", "OldParameters"] {
            let wire = json!({name: old_parameters});
            let old_parameters = old_parameters.clone();
            let expected: ValidateBackend = ValidateBackend { old_parameters, ..Default::default() };
            reads_as(&wire, &expected)?;
        }
    }

    #[test]
    fn d3_b154_ports_and_addresses_of_nodes_have_two_names(
        backend in service_backend(), number in 1..=65535_i32,
    ) {
        let backend = ServiceBackend { port: BackendPort { port: number, ..backend.port }, ..backend };
        for (addresses, port) in [("nodeAddresses", "port"), ("nodeAddress", "portNumber")] {
            let wire = json!({
                "service": backend.service, "nodeName": backend.node_name,
                addresses: backend.node_addresses,
                "port": {port: number, "protocol": backend.port.protocol},
            });
            reads_as(&wire, &backend)?;
        }
    }

    #[test]
    fn d7_pods_are_objects_or_strings_that_hold_them(pods in prop::collection::vec(a_pod(), 1..3)) {
        let expected = JudgePodDeregister { not_ready_pods: pods.clone(), ..Default::default() };
        let as_text = |pod: &KubernetesObject| Value::from(serde_json::to_string(pod).unwrap());
        reads_as(&json!({"notReadyPods": pods}), &expected)?;
        reads_as(&json!({"notReadyPods": pods.iter().map(as_text).collect::<Vec<_>>()}), &expected)?;
        let backend = PodBackend { pod: pods[0].clone(), port: BackendPort::default() };
        reads_as(&json!({"pod": as_text(&pods[0]), "port": {}}), &backend)?;
    }

    #[test]
    fn b152_empty_maps_may_be_null_or_absent(request in map().prop_map(|parameters| -> EnsureBackend {
        EnsureBackend { parameters, ..Default::default() }
    })) {
        let mut wire = serde_json::to_value(&request).unwrap();
        let fields = wire.as_object_mut().unwrap();
        fields.retain(|_, value| !value.is_null() && *value != json!("") && *value != json!(false));
        reads_as(&wire, &request)?;
        let all = ["recordID", "retryID", "dryRun", "lbInfo", "backendAddr", "injectedInfo"];
        for name in all {
            wire[name] = Value::Null;
        }
        reads_as(&wire, &request)?;
    }

    #[test]
    fn b150_field_names_are_read_in_any_case(backend in service_backend(), bits in any::<u64>()) {
        let respelt = |name: &str| -> String {
            let letters = name.chars().enumerate();
            letters.map(|(at, letter)| match bits >> (at % 64) & 1 {
                1 => letter.to_ascii_uppercase(),
                _ => letter.to_ascii_lowercase(),
            }).collect()
        };
        let request: GenerateBackendAddr = GenerateBackendAddr {
            record_id: "r".into(), service_backend: Some(backend), ..Default::default()
        };
        let mut wire = serde_json::to_value(&request).unwrap();
        let respell = |value: &mut Value| {
            let fields = value.as_object_mut().unwrap();
            *fields = std::mem::take(fields).into_iter()
                .map(|(name, value)| (respelt(&name), value))
                .collect();
        };
        let backend = &mut wire["serviceBackend"];
        respell(&mut backend["port"]);
        respell(backend);
        respell(&mut wire);
        reads_as(&wire, &request)?;
    }
}
