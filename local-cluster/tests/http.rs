//! Bad requests: every error is a `Status`, and the cluster continues to serve.

use http::StatusCode;
use serde_json::{Value, json};

use crate::fixture::{WIDGETS, call, cluster, quick, raw, widget};

const PODS: &str = "/api/v1/namespaces/default/pods";

#[tokio::test]
async fn every_bad_request_gets_a_status() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let one = format!("{WIDGETS}/a");
    let json_type = "application/json";
    let merge = "application/merge-patch+json";
    let json_patch = "application/json-patch+json";
    let deep_json = "[".repeat(100_000);
    let deep_yaml = "[".repeat(10_000);
    let cases: Vec<(&str, String, &str, &str, u16)> = vec![
        ("POST", WIDGETS.into(), json_type, "", 400),
        ("POST", WIDGETS.into(), json_type, "{", 400),
        ("POST", WIDGETS.into(), json_type, "not json", 400),
        ("POST", WIDGETS.into(), json_type, "[]", 400),
        ("POST", WIDGETS.into(), json_type, "null", 400),
        ("POST", WIDGETS.into(), json_type, "{}", 400),
        ("POST", WIDGETS.into(), json_type, r#"{"kind": 1}"#, 400),
        ("POST", WIDGETS.into(), json_type, &deep_json, 400),
        ("POST", WIDGETS.into(), "application/yaml", &deep_yaml, 400),
        ("POST", WIDGETS.into(), "application/yaml", "a: *b", 400),
        ("POST", WIDGETS.into(), "text/plain", "x", 415),
        (
            "POST",
            WIDGETS.into(),
            "application/vnd.kubernetes.protobuf",
            "k8s\0junk",
            415,
        ),
        (
            "POST",
            WIDGETS.into(),
            json_type,
            r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":"x"}"#,
            400,
        ),
        (
            "POST",
            WIDGETS.into(),
            json_type,
            r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":1}}"#,
            400,
        ),
        (
            "POST",
            WIDGETS.into(),
            json_type,
            r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"labels":{"a":[]}}}"#,
            400,
        ),
        (
            "POST",
            WIDGETS.into(),
            json_type,
            r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"My_Widget"},"spec":{"colour":"red"}}"#,
            422,
        ),
        (
            "POST",
            WIDGETS.into(),
            json_type,
            r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x","namespace":"other"}}"#,
            400,
        ),
        (
            "POST",
            WIDGETS.into(),
            json_type,
            r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x"},"spec":[]}"#,
            422,
        ),
        (
            "POST",
            format!("{WIDGETS}?dryRun=Some"),
            json_type,
            "{}",
            400,
        ),
        (
            "POST",
            "/apis/example.com/v1/namespaces/missing/widgets".into(),
            json_type,
            r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x"},"spec":{"colour":"red"}}"#,
            404,
        ),
        (
            "POST",
            PODS.into(),
            json_type,
            r#"{"metadata":{"name":"p"},"spec":"x"}"#,
            400,
        ),
        (
            "POST",
            PODS.into(),
            json_type,
            r#"{"metadata":{"name":"p"},"spec":{"containers":[{"name":1}]}}"#,
            400,
        ),
        (
            "POST",
            PODS.into(),
            json_type,
            r#"{"metadata":{"name":"p"},"spec":{"containers":[]}}"#,
            422,
        ),
        ("PUT", one.clone(), json_type, "{", 400),
        ("PUT", WIDGETS.into(), json_type, "{}", 405),
        ("PATCH", one.clone(), json_type, "{}", 415),
        (
            "PATCH",
            one.clone(),
            "application/strategic-merge-patch+json",
            "{}",
            415,
        ),
        ("PATCH", one.clone(), merge, "[]", 400),
        ("PATCH", one.clone(), merge, "{", 400),
        ("PATCH", one.clone(), merge, r#"{"spec":null}"#, 422),
        ("PATCH", one.clone(), merge, r#"{"kind":"Other"}"#, 422),
        (
            "PATCH",
            one.clone(),
            merge,
            r#"{"metadata":{"name":"b"}}"#,
            400,
        ),
        (
            "PATCH",
            one.clone(),
            merge,
            r#"{"metadata":{"resourceVersion":"x"}}"#,
            422,
        ),
        ("PATCH", one.clone(), json_patch, "{}", 400),
        ("PATCH", one.clone(), json_patch, r#"[{"op":"nope"}]"#, 400),
        (
            "PATCH",
            one.clone(),
            json_patch,
            r#"[{"op":"remove","path":"/nope"}]"#,
            422,
        ),
        (
            "PATCH",
            one.clone(),
            json_patch,
            r#"[{"op":"replace","path":"","value":1}]"#,
            400,
        ),
        ("DELETE", one.clone(), json_type, "[]", 400),
        (
            "DELETE",
            one.clone(),
            json_type,
            r#"{"gracePeriodSeconds":"x"}"#,
            400,
        ),
        (
            "DELETE",
            one.clone(),
            json_type,
            r#"{"propagationPolicy":"Sideways"}"#,
            422,
        ),
        (
            "DELETE",
            one.clone(),
            json_type,
            r#"{"preconditions":{"uid":"other"}}"#,
            409,
        ),
        (
            "DELETE",
            format!("{one}?gracePeriodSeconds=x"),
            json_type,
            "",
            400,
        ),
        ("DELETE", "/api/v1/namespaces".into(), json_type, "", 405),
        (
            "GET",
            format!("{WIDGETS}?labelSelector=a%20b"),
            json_type,
            "",
            400,
        ),
        (
            "GET",
            format!("{WIDGETS}?fieldSelector=spec.colour%3Dred"),
            json_type,
            "",
            400,
        ),
        ("GET", format!("{WIDGETS}?limit=x"), json_type, "", 400),
        (
            "GET",
            format!("{WIDGETS}?resourceVersion=x"),
            json_type,
            "",
            400,
        ),
        (
            "GET",
            format!("{WIDGETS}?continue=junk"),
            json_type,
            "",
            400,
        ),
        (
            "GET",
            format!("{WIDGETS}?watch=true&resourceVersion=x"),
            json_type,
            "",
            500,
        ),
        (
            "GET",
            format!("{WIDGETS}?watch=true&timeoutSeconds=x"),
            json_type,
            "",
            400,
        ),
        ("GET", format!("{WIDGETS}/missing"), json_type, "", 404),
        ("OPTIONS", one.clone(), json_type, "", 405),
        ("TRACE", WIDGETS.into(), json_type, "", 405),
        ("POST", "/version".into(), json_type, "", 405),
        ("POST", format!("{one}/status"), json_type, "{}", 405),
        ("DELETE", format!("{one}/status"), json_type, "", 405),
    ];
    for (method, path, media_type, body, expected) in cases {
        let shown: String = body.chars().take(80).collect();
        let (status, response) = raw(&cluster, method, &path, media_type, body.into()).await;
        let what = format!("{method} {path} {media_type} {shown}: {response}");
        assert_eq!(status.as_u16(), expected, "{what}");
        assert_eq!(response["kind"], "Status", "{what}");
        assert_eq!(response["code"], expected, "{what}");
        assert!(
            response["message"].as_str().is_some_and(|m| !m.is_empty()),
            "{what}"
        );
    }
    for path in [
        "/nope",
        "/api/v1/nope",
        "/apis/nope/v1/x",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/pods/p",
        "/api/v1/%zz",
        "/openapi/v3/nope",
    ] {
        let (status, _) = call(&cluster, "GET", path, None).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
    let (_, widget) = call(&cluster, "GET", &one, None).await;
    assert_eq!(widget["spec"]["colour"], "red");
}

#[tokio::test]
async fn a_body_over_the_limit_is_413() {
    let cluster = cluster(quick()).await;
    let body = vec![b' '; 3 * 1024 * 1024 + 1];
    let (status, response) = raw(&cluster, "POST", PODS, "application/json", body).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(response["reason"], "RequestEntityTooLarge");
}

#[tokio::test]
async fn discovery_names_what_is_served() {
    let cluster = cluster(quick()).await;
    let (_, groups) = call(&cluster, "GET", "/apis", None).await;
    let names: Vec<&str> = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|g| g["name"].as_str())
        .collect();
    assert!(names.contains(&"example.com") && names.contains(&"coordination.k8s.io"));
    let (_, resources) = call(&cluster, "GET", "/apis/example.com/v1", None).await;
    assert_eq!(resources["resources"][0]["shortNames"], json!(["wd"]));
    assert_eq!(resources["resources"][1]["name"], "widgets/status");
    for path in [
        "/api",
        "/api/v1",
        "/version",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/api/v1",
    ] {
        let (status, body) = call(&cluster, "GET", path, None).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert!(body.is_object(), "{path}");
    }
    let (status, ok) = call(&cluster, "GET", "/readyz", None).await;
    assert_eq!((status, ok), (StatusCode::OK, Value::from("ok")));
}
