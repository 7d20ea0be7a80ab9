//! The sample exchanges of `explain`.

use crate::classification::Group;

/// A call and a valid response.
#[derive(Debug, Clone, Copy)]
pub(super) struct Example {
    pub(super) webhook: &'static str,
    pub(super) request: &'static str,
    pub(super) response: &'static str,
}

/// A typical exchange of a group; `None` for groups without one.
pub(super) const fn of(group: Group) -> Option<Example> {
    let (webhook, request, response) = match group {
        Group::Hlth => ("healthz", "{}", r#"{"healthy":true}"#),
        Group::Vlb => (
            "validateLoadBalancer",
            r#"{"lbSpec":{"vpc":"vpc-1"},"operation":"Create","attributes":null,"oldAttributes":null,"dryRun":false}"#,
            r#"{"succ":true,"msg":""}"#,
        ),
        Group::Wire | Group::Clb => (
            "createLoadBalancer",
            r#"{"recordID":"createLoadBalancer(5ba2)","retryID":"0f6c","lbSpec":{"vpc":"vpc-1"},"attributes":null,"dryRun":false}"#,
            r#"{"status":"Succ","msg":"","lbInfo":{"lbID":"lb-17"}}"#,
        ),
        Group::Asyn => (
            "createLoadBalancer",
            r#"{"recordID":"createLoadBalancer(5ba2)","retryID":"0f6c","lbSpec":{"vpc":"vpc-1"},"attributes":null,"dryRun":false}"#,
            r#"{"status":"Running","msg":"being created","minRetryDelayInSeconds":5}"#,
        ),
        Group::Elb => (
            "ensureLoadBalancer",
            r#"{"recordID":"ensureLoadBalancer(5ba2)","retryID":"91d0","lbInfo":{"lbID":"lb-17"},"attributes":{"bandwidth":"10"},"dryRun":false}"#,
            r#"{"status":"Succ","msg":""}"#,
        ),
        Group::Dlb => (
            "deleteLoadBalancer",
            r#"{"recordID":"deleteLoadBalancer(5ba2)","retryID":"c27e","lbInfo":null,"attributes":null,"dryRun":false}"#,
            r#"{"status":"Succ","msg":""}"#,
        ),
        Group::Vbe => (
            "validateBackend",
            r#"{"backendType":"Pod","lbInfo":null,"operation":"Update","parameters":{"weight":"80"},"OldParameters":{"weight":"50"},"dryRun":false}"#,
            r#"{"succ":true,"msg":""}"#,
        ),
        Group::Gen => (
            "generateBackendAddr",
            r#"{"recordID":"generateBackendAddr(77aa)","retryID":"e5b1","lbInfo":{"lbID":"lb-17"},"lbAttributes":null,"parameters":null,"podBackend":{"pod":{"metadata":{"name":"web-0"},"status":{"podIP":"10.0.0.7"}},"port":{"port":8080,"protocol":"TCP"}},"dryRun":false}"#,
            r#"{"status":"Succ","msg":"","backendAddr":"10.0.0.7:8080"}"#,
        ),
        Group::Ens | Group::Rtry | Group::Conc => (
            "ensureBackend",
            r#"{"recordID":"ensureBackend(77aa)","retryID":"3c44","lbInfo":{"lbID":"lb-17"},"backendAddr":"10.0.0.7:8080","parameters":{"weight":"50"},"injectedInfo":null,"dryRun":false}"#,
            r#"{"status":"Succ","msg":"","injectedInfo":{"bindingID":"b-3"}}"#,
        ),
        Group::Dry => (
            "ensureBackend",
            r#"{"recordID":"ensureBackend(77aa)","retryID":"3c44","lbInfo":{"lbID":"lb-17"},"backendAddr":"10.0.0.7:8080","parameters":{"weight":"50"},"injectedInfo":null,"dryRun":true}"#,
            r#"{"status":"Succ","msg":"dry run: nothing was changed"}"#,
        ),
        Group::Drg => (
            "deregisterBackend",
            r#"{"recordID":"deregisterBackend(77aa)","retryID":"8d02","lbInfo":{"lbID":"lb-17"},"backendAddr":"10.0.0.7:8080","parameters":null,"injectedInfo":null,"dryRun":false}"#,
            r#"{"status":"Succ","msg":""}"#,
        ),
        Group::Jpd => (
            "judgePodDeregister",
            r#"{"dryRun":false,"notReadyPods":[{"metadata":{"name":"web-0","namespace":"shop"}}]}"#,
            r#"{"succ":true,"msg":"","doNotDeregister":[{"metadata":{"name":"web-0","namespace":"shop"}}]}"#,
        ),
        Group::Lst => (
            "listBackends",
            r#"{"recordID":"listBackends(90fe)","retryID":"b7a3","lbInfo":{"lbID":"lb-17"},"dryRun":false}"#,
            r#"{"status":"Succ","msg":"","backends":[{"backendAddr":"10.0.0.7:8080","parameters":{"weight":"50"},"recordID":"ensureBackend(77aa)"}]}"#,
        ),
        Group::Bad | Group::Life | Group::Lat => return None,
    };
    Some(Example {
        webhook,
        request,
        response,
    })
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
