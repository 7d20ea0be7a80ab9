//! Bad requests: every error is a `Status`, and the cluster continues to serve.

use http::StatusCode;
use serde_json::{Value, json};

use crate::fixture::{WIDGETS, call, cluster, quick, raw, widget};
use crate::tables::rows;

const PODS: &str = "/api/v1/namespaces/default/pods";

#[tokio::test]
async fn every_bad_request_gets_a_status() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let table = r#"
        POST WIDGETS | json | - | 400
        POST WIDGETS | json | { | 400
        POST WIDGETS | json | not json | 400
        POST WIDGETS | json | [] | 400
        POST WIDGETS | json | null | 400
        POST WIDGETS | json | {} | 400
        POST WIDGETS | json | {"kind": 1} | 400
        POST WIDGETS | json | DEEP | 400
        POST WIDGETS | yaml | DEEP | 400
        POST WIDGETS | yaml | a: *b | 400
        POST WIDGETS | text/plain | x | 415
        POST WIDGETS | vnd.kubernetes.protobuf | k8s\0junk | 415
        POST PODS | vnd.kubernetes.protobuf | k8s\0junk | 400
        PATCH ONE | vnd.kubernetes.protobuf | k8s\0junk | 415
        POST WIDGETS | json | {"apiVersion":"example.com/v1","kind":"Widget","metadata":"x"} | 400
        POST WIDGETS | json | {"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":1}} | 400
        POST WIDGETS | json | {"apiVersion":"example.com/v1","kind":"Widget","metadata":{"labels":{"a":[]}}} | 400
        POST WIDGETS | json | {"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"My_Widget"},"spec":{"colour":"red"}} | 422
        POST WIDGETS | json | {"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x","namespace":"other"}} | 400
        POST WIDGETS | json | {"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x"},"spec":[]} | 422
        POST WIDGETS?dryRun=Some | json | {} | 422
        POST /apis/example.com/v1/namespaces/missing/widgets | json | {"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x"},"spec":{"colour":"red"}} | 404
        POST PODS | json | {"metadata":{"name":"p"},"spec":"x"} | 400
        POST PODS | json | {"metadata":{"name":"p","resourceVersion":"1"},"spec":{"containers":[{"name":"c","image":"i"}]}} | 500
        POST PODS | json | {"metadata":{"name":"p"},"spec":{"containers":[{"name":1}]}} | 400
        POST PODS | json | {"metadata":{"name":"p"},"spec":{"containers":[]}} | 422
        PUT ONE | json | { | 400
        PUT WIDGETS | json | {} | 405
        PATCH ONE | json | {} | 415
        PATCH ONE | strategic-merge-patch+json | {} | 415
        PATCH ONE | merge-patch+json | [] | 400
        PATCH ONE | merge-patch+json | { | 400
        PATCH ONE | merge-patch+json | {"spec":null} | 422
        PATCH ONE | merge-patch+json | {"kind":"Other"} | 422
        PATCH ONE | merge-patch+json | {"metadata":{"name":"b"}} | 400
        PATCH ONE | merge-patch+json | {"metadata":{"resourceVersion":"x"}} | 500
        PATCH ONE | json-patch+json | {} | 400
        PATCH ONE | json-patch+json | [{"op":"nope"}] | 422
        PATCH ONE | json-patch+json | [{"op":"remove","path":"/nope"}] | 422
        PATCH ONE | json-patch+json | [{"op":"replace","path":"","value":1}] | 400
        DELETE ONE | json | [] | 400
        DELETE ONE | json | {"gracePeriodSeconds":"x"} | 400
        DELETE ONE | json | {"propagationPolicy":"Sideways"} | 422
        DELETE ONE | json | {"preconditions":{"uid":"other"}} | 409
        DELETE ONE?gracePeriodSeconds=x | json | - | 400
        DELETE /api/v1/namespaces | json | - | 405
        GET WIDGETS?labelSelector=a%20b | json | - | 400
        GET WIDGETS?fieldSelector=spec.colour%3Dred | json | - | 400
        GET WIDGETS?limit=x | json | - | 400
        GET WIDGETS?resourceVersion=x | json | - | 400
        GET WIDGETS?continue=junk | json | - | 400
        GET WIDGETS?watch=true&resourceVersion=x | json | - | 500
        GET WIDGETS?watch=true&timeoutSeconds=x | json | - | 400
        GET WIDGETS/missing | json | - | 404
        OPTIONS ONE | json | - | 405
        TRACE WIDGETS | json | - | 405
        POST /version | json | - | 405
        POST ONE/status | json | {} | 405
        DELETE ONE/status | json | - | 405
    "#;
    for [request, media_type, body, expected] in rows(table) {
        let (method, path) = request.split_once(' ').unwrap();
        let path = path
            .replace("ONE", "WIDGETS/a")
            .replace("WIDGETS", WIDGETS)
            .replace("PODS", PODS);
        let media_type = match media_type.contains('/') {
            true => media_type.to_owned(),
            false => format!("application/{media_type}"),
        };
        let body = match body {
            "-" => String::new(),
            "DEEP" => "[".repeat(if media_type.ends_with("yaml") {
                10_000
            } else {
                100_000
            }),
            body => body.replace("\\0", "\0"),
        };
        let (status, response) = raw(&cluster, method, &path, &media_type, body.into()).await;
        let what = format!("{request} {media_type} {expected}: {response}");
        assert_eq!(status.as_str(), expected, "{what}");
        assert_eq!(response["kind"], "Status", "{what}");
        assert_eq!(response["code"], status.as_u16(), "{what}");
        let message = response["message"].as_str();
        assert!(message.is_some_and(|message| !message.is_empty()), "{what}");
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
    let (_, widget) = call(&cluster, "GET", &format!("{WIDGETS}/a"), None).await;
    assert_eq!(widget["spec"]["colour"], "red");
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
