//! Bodies as Go clients encode them.

use std::io::Write as _;
use std::process::Command;

use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A namespace `demo`, as kubectl encodes it.
const BODY: &[u8] = b"k8s\0\n\x0f\n\x02v1\x12\tNamespace\x12\x1c\n\x14\n\x04demo\x12\0\x1a\0\"\0*\x002\08\0B\0\x12\0\x1a\x02\n\0\x1a\0\"\0";

fn message(bytes: &[u8], section: &str, name: &str) -> Option<Value> {
    let mut decoder = Decoder {
        messages: MAX_MESSAGES,
        levels: MAX_DEPTH,
    };
    let mut object = decoder.message(bytes, section, name)?;
    normalise_message(&mut object, section, name, "", &mut Vec::new());
    Some(Value::Object(object))
}

/// A field with bytes.
fn nested(number: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        field.push((length & 0x7f) as u8 | 0x80);
        length >>= 7;
    }
    field.push(length as u8);
    field.extend(content);
    field
}

#[test]
fn a_namespace_is_read() {
    let expected = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "demo"},
        "spec": {}, "status": {}});
    assert_eq!(Value::Object(decode(BODY, "", "").unwrap()), expected);
}

#[test]
fn the_kind_may_be_left_to_the_path() {
    let body = [MAGIC, &nested(1, b""), &nested(2, b"")].concat();
    let object = Value::Object(decode(&body, "v1", "ConfigMap").unwrap());
    let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}});
    assert_eq!(object, expected);
    assert_eq!(decode(&body, "v1", "Widget"), None);
    assert_eq!(decode(&body, "example.com/v1", "ConfigMap"), None);
}

#[test]
fn a_grace_period_of_zero_is_kept() {
    let options = b"\x08\x00\x12\x03\n\x01u\x22\nForeground";
    let head = nested(
        1,
        &[nested(1, b"apps/v1"), nested(2, b"DeleteOptions")].concat(),
    );
    let body = [MAGIC, &head, &nested(2, options)].concat();
    let expected = json!({
        "apiVersion": "apps/v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u"}, "propagationPolicy": "Foreground",
    });
    assert_eq!(Value::Object(decode(&body, "", "").unwrap()), expected);
}

#[test]
fn what_is_not_set_is_as_go_encodes_it() {
    let container = json!({"name": "", "resources": {}});
    assert_eq!(message(b"", "v1", "Container"), Some(container));
    let role = json!({"metadata": {}, "rules": null});
    assert_eq!(
        message(b"", "rbac.authorization.k8s.io/v1", "Role"),
        Some(role)
    );
    let event = message(b"", "v1", "Event").unwrap();
    assert_eq!(
        (&event["eventTime"], &event["reportingComponent"]),
        (&Value::Null, &json!(""))
    );
    // Sent, and empty.
    let volume = nested(2, &nested(2, b""));
    assert_eq!(
        message(&volume, "v1", "Volume"),
        Some(json!({"name": "", "emptyDir": {}}))
    );
}

#[test]
fn malformed_bodies_are_refused_at_every_length() {
    for end in 0..BODY.len() {
        // It may decode or not; it must not panic.
        let _ = decode(&BODY[..end], "", "");
    }
    for body in [
        &b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"[..],
        b"k8s\0junk",
        b"",
    ] {
        assert_eq!(decode(body, "v1", "Pod"), None);
    }
    // No UTF-8, a number for a text, a text for a number.
    for data in [&b"\x12\x01\xff"[..], b"\x10\x01", b"\x1a\x01x"] {
        let secret = message(data, "v1", "ServicePort");
        assert_eq!(secret, None);
    }
}

#[test]
fn depth_and_number_of_messages_are_limited() {
    let schema = |depth: usize| {
        let not = (1..depth).fold(Vec::new(), |inner, _| {
            let mut outer = vec![0xe2, 0x01];
            outer.extend(&nested(0, &inner)[1..]);
            outer
        });
        message(&not, "apiextensions.k8s.io/v1", "JSONSchemaProps")
    };
    assert!(schema(MAX_DEPTH).unwrap()["not"]["not"].is_object());
    assert_eq!(schema(MAX_DEPTH + 1), None);
    assert_eq!(schema(5000), None);
    let raw = |depth: usize| {
        let json = [b"[".repeat(depth), b"]".repeat(depth)].concat();
        let revision = nested(2, &nested(1, &json));
        let body = [MAGIC, &nested(1, b""), &nested(2, &revision)].concat();
        decode(&body, "apps/v1", "ControllerRevision")
    };
    assert!(raw(MAX_DEPTH - 1).is_some());
    assert_eq!(raw(MAX_DEPTH), None);
    assert_eq!(raw(100_000), None);
    let containers = |count: usize| message(&nested(2, b"").repeat(count), "v1", "PodSpec");
    let few = containers(1000).unwrap();
    assert_eq!(few["containers"].as_array().unwrap().len(), 1000);
    assert_eq!(containers(MAX_MESSAGES), None);
}

/// Runs the program that writes `messages.json`; `None` where Go or the program's modules are missing.
fn messages(arguments: &[&str]) -> Option<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/real-cluster");
    let run = Command::new("go")
        .args(["run", "-trimpath", "-buildvcs=false", "./messages"])
        .args(arguments)
        .current_dir(folder)
        .envs([
            ("CGO_ENABLED", "0"),
            ("GOPROXY", "off"),
            ("GOTOOLCHAIN", "local"),
        ])
        .output();
    let why = match run {
        Ok(output) if output.status.success() => return String::from_utf8(output.stdout).ok(),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    let missing = ["GOPROXY=off", "GOTOOLCHAIN=local", "No such file"];
    assert!(missing.iter().any(|cause| why.contains(cause)), "{why}");
    let line = format!("SKIPPED: comparing protobuf with Go, as it does not run: {why}\n");
    // Not a macro, because macros' output is hidden for tests that pass.
    let _ = std::io::stderr().write_all(line.as_bytes());
    None
}

#[test]
fn the_fields_are_those_of_gos_types() {
    if let Some(expected) = messages(&[]) {
        let file = include_str!("../../messages.json");
        assert!(
            file == expected,
            "write it again: go run ./messages, in tests/real-cluster"
        );
    }
}

#[test]
fn every_kind_is_read_as_go_encodes_it_in_json() {
    let Some(examples) = messages(&["examples"]) else {
        return;
    };
    let (mut wrong, mut kinds) = (Vec::new(), std::collections::BTreeSet::new());
    for line in examples.lines() {
        let (body, expected): (String, Object) = serde_json::from_str(line).unwrap();
        let found = decode(&STANDARD.decode(body).unwrap(), "", "");
        let kind = format!("{} {}", expected["apiVersion"], expected["kind"]);
        if found.as_ref() != Some(&expected) {
            let found = serde_json::to_string(&found).unwrap();
            wrong.push(format!("{kind}\n  {found}\n  {}", Value::Object(expected)));
        }
        kinds.insert(kind);
    }
    assert!(
        wrong.is_empty(),
        "{} wrong, such as {}",
        wrong.len(),
        wrong[0]
    );
    let registry = crate::resources::Registry::new();
    let mut served = registry.all();
    served.extend(registry.reviews().iter().cloned());
    let names = served
        .iter()
        .map(|kind| format!("{:?} {:?}", kind.api_version(), kind.kind));
    let missing: Vec<String> = names.filter(|name| !kinds.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
