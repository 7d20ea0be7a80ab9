//! Malformed bodies.

use serde_json::json;

use super::{MAPS, is_status, served, still_serves};
use crate::fixture::{WIDGETS, call, cluster, quick, raw};
use crate::tables::json;

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";

/// An object with a generated name, so that the next one does not conflict.
fn around(path: &str, inside: &str) -> String {
    let (version, kind) = if path == MAPS {
        ("v1", "ConfigMap")
    } else {
        ("example.com/v1", "Widget")
    };
    format!(
        r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"generateName":"x-"}},{inside}}}"#
    )
}

#[tokio::test]
async fn malformed_bodies_are_refused_with_a_status() {
    let cluster = cluster(quick()).await;
    call(
        &cluster,
        "POST",
        MAPS,
        Some(json!({"metadata": {"name": "m"}})),
    )
    .await;
    let deep = |open: &str, close: &str, depth: usize| {
        format!("{}{}", open.repeat(depth), close.repeat(depth))
    };
    let bodies: Vec<(&str, Vec<u8>, u16)> = vec![
        ("nothing", vec![], 400),
        ("null", b"null".to_vec(), 400),
        ("a number", b"1e999".to_vec(), 400),
        ("a text", b"\"x\"".to_vec(), 400),
        ("a list", b"[{\"kind\":\"ConfigMap\"}]".to_vec(), 400),
        ("two objects", b"{}{}".to_vec(), 400),
        ("half an object", b"{\"metadata\":{".to_vec(), 400),
        ("a comma too many", b"{\"metadata\":{},}".to_vec(), 400),
        ("single quotes", b"{'metadata':{}}".to_vec(), 400),
        (
            "a name that is a number",
            br#"{"metadata":{"name":7}}"#.to_vec(),
            400,
        ),
        (
            "labels that are a list",
            br#"{"metadata":{"name":"x","labels":[]}}"#.to_vec(),
            400,
        ),
        (
            "metadata that is a text",
            br#"{"metadata":"x"}"#.to_vec(),
            400,
        ),
        (
            "no text",
            b"{\"metadata\":{\"name\":\"\xff\xfe\"}}".to_vec(),
            400,
        ),
        (
            "half a surrogate",
            br#"{"metadata":{"name":"\ud800"}}"#.to_vec(),
            400,
        ),
        (
            "a zero byte",
            b"{\"metadata\":{\"name\":\"x\0\"}}".to_vec(),
            400,
        ),
        ("deep lists", deep("[", "]", 100_000).into_bytes(), 400),
        (
            "deep objects",
            deep("{\"a\":", "}", 100_000).into_bytes(),
            400,
        ),
        ("unclosed lists", "[".repeat(1_000_000).into_bytes(), 400),
        ("too much", vec![b' '; 3 * 1024 * 1024 + 1], 413),
    ];
    for (what, body, expected) in bodies {
        for (method, path) in [
            ("POST", MAPS.to_owned()),
            ("PUT", format!("{MAPS}/m")),
            ("POST", WIDGETS.to_owned()),
        ] {
            let (code, response) = raw(&cluster, method, &path, JSON, body.clone()).await;
            // Null is an object of a built-in kind, without a name.
            let is_unnamed = (method, path.as_str(), body.as_slice()) == ("POST", MAPS, b"null");
            let expected = if is_unnamed { 422 } else { expected };
            assert_eq!(
                code.as_u16(),
                expected,
                "{method} {path}: {what}: {response}"
            );
            assert!(
                is_status(expected, &response),
                "{method} {path}: {what}: {response}"
            );
        }
        let path = format!("{MAPS}/m");
        for media_type in [
            MERGE,
            "application/strategic-merge-patch+json",
            "application/json-patch+json",
        ] {
            let (code, response) = raw(&cluster, "PATCH", &path, media_type, body.clone()).await;
            // Null is a JSON patch without operations; other well-formed bodies may be refused by validation.
            if (media_type, body.as_slice()) == ("application/json-patch+json", b"null") {
                assert_eq!(code.as_u16(), 200, "{response}");
                continue;
            }
            let is_refused = code.as_u16() == expected || (expected == 400 && code.as_u16() == 422);
            assert!(is_refused, "{media_type}: {what}: {code} {response}");
            assert!(
                is_status(code.as_u16(), &response),
                "{media_type}: {what}: {response}"
            );
        }
    }
    let (_, map) = call(&cluster, "GET", &format!("{MAPS}/m"), None).await;
    assert_eq!(map["metadata"]["name"], "m");
}

#[tokio::test]
async fn too_large_or_too_deep_bodies_are_refused_in_kubernetes_words() {
    let cluster = cluster(quick()).await;
    let too_large = vec![b' '; 3 * 1024 * 1024 + 1];
    let (_, response) = raw(&cluster, "POST", MAPS, JSON, too_large).await;
    let expected = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "Request entity too large: limit is 3145728",
        "reason": "RequestEntityTooLarge", "details": {}, "code": 413,
    });
    assert_eq!(response, expected);
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for media_type in [JSON, "application/yaml"] {
        let body = around(MAPS, &format!(r#""data":{deep}"#));
        let (_, response) = raw(&cluster, "POST", MAPS, media_type, body.into_bytes()).await;
        let message = response["message"].as_str().unwrap();
        let named = message.contains("exceeded max depth") || message.contains("depth");
        assert!(
            named && !message.contains("looking for beginning of value"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn patches_cannot_nest_objects_too_deeply() {
    let (cluster, server) = served().await;
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"colour": "red"}});
    call(&cluster, "POST", WIDGETS, Some(widget)).await;
    let path = format!("{WIDGETS}/w/status");
    let status = |depth: usize| {
        format!(
            r#"{{"status":{}1{}}}"#,
            r#"{"a":"#.repeat(depth),
            "}".repeat(depth)
        )
    };
    let (code, _) = raw(&cluster, "PATCH", &path, MERGE, status(100).into()).await;
    assert_eq!(code.as_u16(), 200);
    // Each of these would add a hundred levels.
    let mut refused = false;
    let mut pointer = format!("/status{}", "/a".repeat(100));
    for _ in 0..20 {
        let value = json(&status(100));
        let patch = json!([{"op": "add", "path": pointer, "value": value["status"]}]);
        let (code, _) = raw(
            &cluster,
            "PATCH",
            &path,
            "application/json-patch+json",
            patch.to_string().into(),
        )
        .await;
        refused |= code.as_u16() == 422;
        pointer.push_str(&"/a".repeat(100));
    }
    assert!(refused);
    still_serves(&cluster, &server).await;
}

#[tokio::test]
async fn the_last_of_duplicate_keys_wins() {
    let cluster = cluster(quick()).await;
    for (media_type, body) in [
        (JSON, around(MAPS, r#""data":{"a":"1","a":"2"},"data":{"a":"3","a":"4"}"#)),
        ("application/yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: x-}\ndata:\n  a: '1'\n  a: '4'\n".to_owned()),
    ] {
        let (code, made) = raw(&cluster, "POST", MAPS, media_type, body.into()).await;
        assert_eq!((code.as_u16(), &made["data"]), (201, &json!({"a": "4"})), "{made}");
    }
}

#[tokio::test]
async fn media_types_are_normalised_and_unknown_ones_refused() {
    let cluster = cluster(quick()).await;
    for (media_type, expected) in [
        ("application/json", 201),
        ("Application/JSON; charset=utf-8", 201),
        ("application/yaml", 201),
        ("", 201),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/merge-patch+json", 415),
        ("json", 415),
        (";", 415),
        ("application/json2", 415),
    ] {
        let body = around(MAPS, r#""data":{}"#);
        let (code, response) = raw(&cluster, "POST", MAPS, media_type, body.into()).await;
        assert_eq!(code.as_u16(), expected, "{media_type}: {response}");
        assert!(
            expected == 201 || is_status(415, &response),
            "{media_type}: {response}"
        );
    }
    // Some proxies remove the header.
    let request = http::Request::post(MAPS)
        .body(axum::body::Body::from(around(MAPS, r#""data":{}"#)))
        .unwrap();
    let response = tower::ServiceExt::oneshot(cluster.router(), request)
        .await
        .unwrap();
    assert_eq!(response.status().as_u16(), 201);
    let request = http::Request::post(MAPS)
        .header(
            "content-type",
            http::HeaderValue::from_bytes(b"application/\xff").unwrap(),
        )
        .body(axum::body::Body::from(around(MAPS, r#""data":{}"#)))
        .unwrap();
    let response = tower::ServiceExt::oneshot(cluster.router(), request)
        .await
        .unwrap();
    assert_eq!(response.status().as_u16(), 415);
}
