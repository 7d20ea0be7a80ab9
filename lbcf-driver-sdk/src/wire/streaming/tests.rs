//! Which bodies the fast path reads. `tests/wire_agreement.rs` tests that both paths read the same.

use super::read;
use crate::webhook::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn pod() -> Value {
    serde_json::from_str(include_str!("../../../tests/data/pod.json")).unwrap()
}

fn is_read<T: serde::de::DeserializeOwned>(body: &Value) -> bool {
    read::<T>(body.to_string().as_bytes()).is_some()
}

#[test]
fn requests_of_controllers_take_the_fast_path() {
    assert!(is_read::<EnsureBackend>(&json!({
        "recordID": "ensureBackend(1)", "retryID": "1", "dryRun": false, "lbInfo": {"id": "1"},
        "backendAddr": "10.0.0.1:80", "parameters": {"weight": "1"}, "injectedInfo": null,
        "later": [{"edition": [1.5, null, true, "x"]}],
    })));
    let port = json!({"port": 80, "portNumber": 80, "protocol": "TCP"});
    let backend = |pod| json!({"podBackend": {"pod": pod, "port": port}, "serviceBackend": null});
    assert!(is_read::<GenerateBackendAddr>(&backend(pod())));
    // As in the original documents; controllers send objects.
    let text = pod().to_string().into();
    assert!(!is_read::<GenerateBackendAddr>(&backend(text)));
    assert!(is_read::<GenerateBackendAddr>(&json!({
        "serviceBackend": {
            "service": {"metadata": {"name": "s"}}, "port": port, "nodeName": "n",
            "nodeAddresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
        },
    })));
    let pods = json!({"dryRun": false, "notReadyPods": [pod(), pod()]});
    assert!(is_read::<JudgePodDeregister>(&pods));
    let none = json!({"dryRun": false, "notReadyPods": null});
    assert!(is_read::<JudgePodDeregister>(&none));
    assert!(is_read::<ValidateLoadBalancer>(&json!({
        "dryRun": false, "lbSpec": {"a": "b"}, "operation": "Update", "attributes": null,
        "oldAttributes": {"c": "d"},
    })));
    for seconds in [json!(3), json!("3"), Value::Null] {
        let body = json!({"status": "Running", "msg": "", "minRetryDelayInSeconds": seconds});
        assert!(is_read::<EnsureBackendResponse>(&body), "{body}");
    }
    assert!(read::<Healthz>(b" \n{}\t").is_some());
}

#[test]
fn ambiguous_and_invalid_bodies_take_the_slow_path() {
    let refused: [&[u8]; 16] = [
        br#"{"recordId": "1"}"#,
        br#"{"recordID": "1", "recordID": "2"}"#,
        br#"{"lbInfo": []}"#,
        br#"{"unknown": 1e999}"#,
        b"{\"unknown\": \"\xff\"}",
        b"{\"\xff\": 1}",
        br#"{"unknown": "\ud800"}"#,
        br#"{"unknown": {"a": tru}}"#,
        br#"{} {}"#,
        br#"{"#,
        b"",
        b"null",
        b"[]",
        // Serde would read a struct from it.
        br#"["", "", false, {}, "", {}, {}]"#,
        b"\xef\xbb\xbf{}",
        b"\x0c{}",
    ];
    for body in refused {
        let text = String::from_utf8_lossy(body);
        assert!(read::<EnsureBackend>(body).is_none(), "{text}");
    }
    let deep = format!("{{\"unknown\": {}{}}}", "[".repeat(127), "]".repeat(127));
    assert!(read::<EnsureBackend>(deep.as_bytes()).is_none());
    let less_deep = format!("{{\"unknown\": {}{}}}", "[".repeat(126), "]".repeat(126));
    assert!(read::<EnsureBackend>(less_deep.as_bytes()).is_some());
}

#[test]
fn the_fields_of_pods_are_spelled_as_declared() {
    let read = |pod| {
        let body = json!({"podBackend": {"pod": pod, "port": {"port": 80}}}).to_string();
        let request = read::<GenerateBackendAddr>(body.as_bytes());
        request.and_then(|request| request.pod_backend).unwrap().pod
    };
    assert_eq!(read(json!({"metadata": {"Name": "p"}})).name, "");
    assert_eq!(read(json!({"Status": 1})).phase, "");
}

#[test]
fn the_last_one_of_equal_fields_of_pods_counts_on_both_paths() {
    for pod in [
        r#"{"metadata": {"name": "a", "uid": "u"}, "metadata": {"name": "b"}}"#,
        r#"{"metadata": {"name": "a", "name": "b"}, "spec": {"nodeName": "n"}, "spec": null}"#,
        r#"{"metadata": {"labels": {"a": "1", "a": "2"}}, "kind": "Pod", "kind": "Pod"}"#,
        r#"{"spec": {"containers": [{"name": "c"}], "containers": []}}"#,
        r#"{"status": {"conditions": [{"type": "A", "status": "1", "type": "B"}]}}"#,
    ] {
        let body = format!(r#"{{"podBackend": {{"pod": {pod}, "port": {{"port": 80}}}}}}"#);
        let bytes = crate::wire::from_slice::<GenerateBackendAddr>(body.as_bytes());
        let value = serde_json::from_str(&body).unwrap();
        let slow = crate::wire::from_value::<GenerateBackendAddr>(value).unwrap();
        assert_eq!(bytes.unwrap(), slow, "{body}");
    }
}

/// Types that use more of serde than those of the specification.
mod odd {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Holder<T> {
        it: T,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    enum Sum {
        Unit,
        Named { field: u8 },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Named { field: u8 },
        Anything(Value),
    }

    /// Whether the fast path reads the body, and then the same value as the slow one.
    #[track_caller]
    fn agree<T>(body: &str, fast: bool)
    where
        T: serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
    {
        let value = serde_json::from_str(body).unwrap();
        let slow = crate::wire::from_value::<Holder<T>>(value).ok();
        let read = read::<Holder<T>>(body.as_bytes());
        assert_eq!(read.is_some(), fast, "{body}");
        if fast {
            assert_eq!(read, slow, "{body}");
        }
    }

    #[test]
    fn enums_with_content_take_the_slow_path() {
        agree::<Sum>(r#"{"it": "Unit"}"#, true);
        agree::<Sum>(r#"{"it": {"Unit": null}}"#, false);
        agree::<Sum>(r#"{"it": {"Named": {"field": 1}}}"#, false);
    }

    #[test]
    fn keys_of_maps_are_texts() {
        agree::<BTreeMap<String, u8>>(r#"{"it": {"1": 2, "1": 3}}"#, true);
        agree::<BTreeMap<u8, u8>>(r#"{"it": {"1": 2}}"#, false);
    }

    #[test]
    fn untyped_values_get_each_key_once() {
        agree::<Either>(r#"{"it": {"field": 1, "field": 2}}"#, true);
        agree::<Either>(r#"{"it": {"FIELD": 1}}"#, true);
        agree::<Value>(r#"{"it": [{"b": 1, "a": [2], "b": null}, -1, 1.5]}"#, true);
        agree::<i128>(r#"{"it": 18446744073709551616}"#, false);
        agree::<Vec<u8>>(r#"{"it": [1, 2]}"#, true);
    }

    #[test]
    fn tuples_take_the_slow_path() {
        agree::<(u8, String)>(r#"{"it": [1, "a"]}"#, false);
        agree::<(u8, u8)>(r#"{"it": [1, 2, 3]}"#, false);
    }
}
