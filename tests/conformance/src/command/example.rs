//! The sample exchanges of `explain`.

use crate::classification::Group;

/// A call and a valid response.
#[derive(Debug, Clone, Copy)]
pub(super) struct Example {
    pub(super) webhook: &'static str,
    pub(super) request: &'static str,
    pub(super) response: &'static str,
}

/// A typical exchange of groups. Bad input, life cycles and latency have none.
const EXAMPLES: [(&[Group], Example); 13] = [
    (
        &[Group::Hlth],
        Example {
            webhook: "healthz",
            request: "{}",
            response: r#"{"healthy":true}"#,
        },
    ),
    (
        &[Group::Vlb],
        Example {
            webhook: "validateLoadBalancer",
            request: r#"{"lbSpec":{"vpc":"vpc-1"},"operation":"Create","attributes":null,"oldAttributes":null,"dryRun":false}"#,
            response: r#"{"succ":true,"msg":""}"#,
        },
    ),
    (
        &[Group::Wire, Group::Clb],
        Example {
            webhook: "createLoadBalancer",
            request: r#"{"recordID":"createLoadBalancer(5ba2)","retryID":"0f6c","lbSpec":{"vpc":"vpc-1"},"attributes":null,"dryRun":false}"#,
            response: r#"{"status":"Succ","msg":"","lbInfo":{"lbID":"lb-17"}}"#,
        },
    ),
    (
        &[Group::Asyn],
        Example {
            webhook: "createLoadBalancer",
            request: r#"{"recordID":"createLoadBalancer(5ba2)","retryID":"0f6c","lbSpec":{"vpc":"vpc-1"},"attributes":null,"dryRun":false}"#,
            response: r#"{"status":"Running","msg":"being created","minRetryDelayInSeconds":5}"#,
        },
    ),
    (
        &[Group::Elb],
        Example {
            webhook: "ensureLoadBalancer",
            request: r#"{"recordID":"ensureLoadBalancer(5ba2)","retryID":"91d0","lbInfo":{"lbID":"lb-17"},"attributes":{"bandwidth":"10"},"dryRun":false}"#,
            response: r#"{"status":"Succ","msg":""}"#,
        },
    ),
    (
        &[Group::Dlb],
        Example {
            webhook: "deleteLoadBalancer",
            request: r#"{"recordID":"deleteLoadBalancer(5ba2)","retryID":"c27e","lbInfo":null,"attributes":null,"dryRun":false}"#,
            response: r#"{"status":"Succ","msg":""}"#,
        },
    ),
    (
        &[Group::Vbe],
        Example {
            webhook: "validateBackend",
            request: r#"{"backendType":"Pod","lbInfo":null,"operation":"Update","parameters":{"weight":"80"},"OldParameters":{"weight":"50"},"dryRun":false}"#,
            response: r#"{"succ":true,"msg":""}"#,
        },
    ),
    (
        &[Group::Gen],
        Example {
            webhook: "generateBackendAddr",
            request: r#"{"recordID":"generateBackendAddr(77aa)","retryID":"e5b1","lbInfo":{"lbID":"lb-17"},"lbAttributes":null,"parameters":null,"podBackend":{"pod":{"metadata":{"name":"web-0"},"status":{"podIP":"10.0.0.7"}},"port":{"port":8080,"protocol":"TCP"}},"dryRun":false}"#,
            response: r#"{"status":"Succ","msg":"","backendAddr":"10.0.0.7:8080"}"#,
        },
    ),
    (
        &[Group::Ens, Group::Rtry, Group::Conc],
        Example {
            webhook: "ensureBackend",
            request: r#"{"recordID":"ensureBackend(77aa)","retryID":"3c44","lbInfo":{"lbID":"lb-17"},"backendAddr":"10.0.0.7:8080","parameters":{"weight":"50"},"injectedInfo":null,"dryRun":false}"#,
            response: r#"{"status":"Succ","msg":"","injectedInfo":{"bindingID":"b-3"}}"#,
        },
    ),
    (
        &[Group::Dry],
        Example {
            webhook: "ensureBackend",
            request: r#"{"recordID":"ensureBackend(77aa)","retryID":"3c44","lbInfo":{"lbID":"lb-17"},"backendAddr":"10.0.0.7:8080","parameters":{"weight":"50"},"injectedInfo":null,"dryRun":true}"#,
            response: r#"{"status":"Succ","msg":"dry run: nothing was changed"}"#,
        },
    ),
    (
        &[Group::Drg],
        Example {
            webhook: "deregisterBackend",
            request: r#"{"recordID":"deregisterBackend(77aa)","retryID":"8d02","lbInfo":{"lbID":"lb-17"},"backendAddr":"10.0.0.7:8080","parameters":null,"injectedInfo":null,"dryRun":false}"#,
            response: r#"{"status":"Succ","msg":""}"#,
        },
    ),
    (
        &[Group::Jpd],
        Example {
            webhook: "judgePodDeregister",
            request: r#"{"dryRun":false,"notReadyPods":[{"metadata":{"name":"web-0","namespace":"shop"}}]}"#,
            response: r#"{"succ":true,"msg":"","doNotDeregister":[{"metadata":{"name":"web-0","namespace":"shop"}}]}"#,
        },
    ),
    (
        &[Group::Lst],
        Example {
            webhook: "listBackends",
            request: r#"{"recordID":"listBackends(90fe)","retryID":"b7a3","lbInfo":{"lbID":"lb-17"},"dryRun":false}"#,
            response: r#"{"status":"Succ","msg":"","backends":[{"backendAddr":"10.0.0.7:8080","parameters":{"weight":"50"},"recordID":"ensureBackend(77aa)"}]}"#,
        },
    ),
];

/// A typical exchange of a group; `None` for groups without one.
pub(super) fn of(group: Group) -> Option<Example> {
    let mut examples = EXAMPLES.iter();
    examples
        .find(|(groups, _)| groups.contains(&group))
        .map(|(_, example)| *example)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lbcf_driver_sdk::webhook;
    use serde_json::Value;

    #[test]
    fn examples_are_calls_of_the_specification() {
        for group in Group::ALL {
            let Some(example) = of(group) else { continue };
            assert!(
                webhook::ALL
                    .iter()
                    .any(|known| known.name == example.webhook),
                "{group:?}"
            );
            let request: Value = serde_json::from_str(example.request).unwrap();
            let response: Value = serde_json::from_str(example.response).unwrap();
            if let Some(status) = response.get("status") {
                let record_id = request["recordID"].as_str().unwrap();
                assert!(
                    record_id.starts_with(&format!("{}(", example.webhook)),
                    "{group:?}"
                );
                assert!(["Succ", "Running"].contains(&status.as_str().unwrap()));
            }
            read(example.webhook, request);
        }
    }

    /// Panics unless the SDK accepts the request.
    fn read(webhook: &str, request: Value) {
        use webhook::*;
        let wrong = match webhook {
            "healthz" => None,
            "validateLoadBalancer" => {
                serde_json::from_value::<ValidateLoadBalancerRequest>(request).err()
            }
            "createLoadBalancer" => {
                serde_json::from_value::<CreateLoadBalancerRequest>(request).err()
            }
            "ensureLoadBalancer" => {
                serde_json::from_value::<EnsureLoadBalancerRequest>(request).err()
            }
            "deleteLoadBalancer" => {
                serde_json::from_value::<DeleteLoadBalancerRequest>(request).err()
            }
            "validateBackend" => serde_json::from_value::<ValidateBackendRequest>(request).err(),
            "generateBackendAddr" => {
                serde_json::from_value::<GenerateBackendAddrRequest>(request).err()
            }
            "ensureBackend" => serde_json::from_value::<EnsureBackendRequest>(request).err(),
            "deregisterBackend" => {
                serde_json::from_value::<DeregisterBackendRequest>(request).err()
            }
            "judgePodDeregister" => {
                serde_json::from_value::<JudgePodDeregisterRequest>(request).err()
            }
            "listBackends" => serde_json::from_value::<ListBackendsRequest>(request).err(),
            other => panic!("{other}"),
        };
        assert!(wrong.is_none(), "{webhook}: {wrong:?}");
    }
}
