//! Discovery and content negotiation.

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use local_cluster::LocalCluster;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::fixture::{WIDGETS, call, cluster, eventually, quick, widget, widget_crd};

pub(crate) const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Sends a request with these headers; returns headers and body.
pub(crate) async fn fetch(
    cluster: &LocalCluster,
    path: &str,
    headers: &[(&str, &str)],
) -> (StatusCode, HeaderMap, String) {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).unwrap();
    let response = cluster.router().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    (parts.status, parts.headers, text)
}

#[tokio::test]
async fn health_checks_have_details() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    for endpoint in ["healthz", "livez", "readyz"] {
        let (status, headers, body) = fetch(&cluster, &format!("/{endpoint}"), &[]).await;
        assert_eq!((status, body.as_str()), (StatusCode::OK, "ok"));
        assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
        let ping = fetch(&cluster, &format!("/{endpoint}/ping"), &[]).await;
        assert_eq!(ping.2, "ok");
        let query = format!("/{endpoint}?verbose&exclude=etcd&exclude=odd");
        let (_, _, body) = fetch(&cluster, &query, &[]).await;
        assert!(body.starts_with("[+]ping ok\n"), "{body}");
        assert!(body.contains("[+]etcd excluded: ok\n"), "{body}");
        assert!(
            body.contains("warn: some health checks cannot be excluded: no matches for \"odd\"\n")
        );
        assert!(
            body.ends_with(&format!("{endpoint} check passed\n")),
            "{body}"
        );
        let unknown = fetch(&cluster, &format!("/{endpoint}/nope"), &[]).await;
        assert_eq!(unknown.0, 404);
    }
    let (status, root) = call(&cluster, "GET", "/", None).await;
    assert_eq!(status, 200);
    assert!(
        root["paths"]
            .as_array()
            .unwrap()
            .contains(&json!("/apis/apps/v1"))
    );
    assert_eq!(call(&cluster, "POST", "/version", None).await.0, 405);
}

#[tokio::test]
async fn tables_include_what_the_parameter_selects() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let one = format!("{WIDGETS}/a");
    for path in [WIDGETS, &one] {
        for (include, kind) in [
            ("None", Value::Null),
            ("Metadata", json!("PartialObjectMetadata")),
            ("", json!("PartialObjectMetadata")),
            ("Object", json!("Widget")),
        ] {
            let path = format!("{path}?includeObject={include}");
            let (status, _, body) = fetch(&cluster, &path, &[("accept", TABLE)]).await;
            let table: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(status, 200);
            assert_eq!(table["rows"][0]["object"]["kind"], kind, "{path}");
        }
        let path = format!("{path}?includeObject=All");
        let (status, _, body) = fetch(&cluster, &path, &[("accept", TABLE)]).await;
        assert_eq!(status, 400);
        assert!(
            body.contains("Unable to convert to Table as requested: includeObject: Invalid value: \\\"All\\\": must be 'Metadata', 'Object', 'None', or empty"),
            "{body}"
        );
        assert_eq!(fetch(&cluster, &path, &[]).await.0, 200);
    }
}

#[tokio::test]
async fn errors_have_the_accepted_format() {
    let cluster = cluster(quick()).await;
    let missing = format!("{WIDGETS}/nope");
    let yaml = [("accept", "application/yaml")];
    let (status, headers, body) = fetch(&cluster, &missing, &yaml).await;
    assert_eq!(
        (status.as_u16(), headers["content-type"].to_str().unwrap()),
        (404, "application/yaml")
    );
    assert!(body.contains("reason: NotFound\n"), "{body}");
    let both = [(
        "accept",
        "application/vnd.kubernetes.protobuf,application/json",
    )];
    let (status, headers, _) = fetch(&cluster, &missing, &both).await;
    assert_eq!(
        (status.as_u16(), headers["content-type"].to_str().unwrap()),
        (404, "application/json")
    );
    let (status, headers, _) = fetch(&cluster, WIDGETS, &[("accept", "text/html")]).await;
    assert_eq!(
        (status.as_u16(), headers["content-type"].to_str().unwrap()),
        (406, "application/json")
    );
    for path in ["/apis", "/apis/apps", "/apis/apps/v1"] {
        assert_eq!(
            fetch(&cluster, path, &yaml).await.1["content-type"],
            "application/yaml"
        );
    }
}

#[tokio::test]
async fn reviews_are_served_and_not_stored() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let group = "/apis/authorization.k8s.io/v1";
    let own = format!("{group}/selfsubjectaccessreviews");
    let local = format!("{group}/namespaces/default/localsubjectaccessreviews");
    let pods = json!({"verb": "get", "resource": "pods", "namespace": "default"});
    let review = |kind: &str, spec: Value| json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec});
    let reviewed = review(
        "SelfSubjectAccessReview",
        json!({"resourceAttributes": pods}),
    );
    let (status, response) = call(&cluster, "POST", &own, Some(reviewed.clone())).await;
    assert_eq!(status, 201);
    let mut expected = reviewed.clone();
    expected["metadata"] = json!({});
    expected["status"] = json!({"allowed": true});
    assert_eq!(response, expected);
    let spec = json!({"resourceAttributes": pods, "user": "u"});
    let asked_locally = review("LocalSubjectAccessReview", spec);
    let (status, response) = call(&cluster, "POST", &local, Some(asked_locally)).await;
    assert_eq!(
        (status.as_u16(), &response["status"]["allowed"]),
        (201, &json!(true))
    );

    let elsewhere = format!("{group}/namespaces/default/selfsubjectaccessreviews");
    let nowhere = format!("{group}/localsubjectaccessreviews");
    let wrong_kind = review("SubjectAccessReview", json!({}));
    let wrong_type = review("SelfSubjectAccessReview", json!({"resourceAttributes": 1}));
    for (method, path, body, expected) in [
        ("GET", &own, None, 405),
        ("DELETE", &own, None, 405),
        ("GET", &format!("{own}/x"), None, 404),
        ("POST", &elsewhere, Some(reviewed.clone()), 404),
        ("POST", &nowhere, Some(reviewed), 404),
        ("POST", &own, Some(wrong_kind), 400),
        ("POST", &own, Some(wrong_type), 400),
        ("POST", &own, Some(json!([])), 400),
    ] {
        let (status, response) = call(&cluster, method, path, body).await;
        assert_eq!(status.as_u16(), expected, "{method} {path}: {response}");
    }
}

#[tokio::test]
async fn partial_metadata_of_an_object_is_no_list() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let one = format!("{WIDGETS}/a");
    let (object, list) = ("PartialObjectMetadata", "PartialObjectMetadataList");
    for (path, of, expected) in [
        (one.as_str(), object, ""),
        (WIDGETS, list, ""),
        (
            WIDGETS,
            object,
            "but the requested object is a list (*unstructured.UnstructuredList)",
        ),
        (
            "/api/v1/pods",
            object,
            "but the requested object is a list (*core.PodList)",
        ),
        (
            "/api/v1/namespaces/default",
            list,
            "but the requested object is not a list (*core.Namespace)",
        ),
    ] {
        let accept = format!("application/json;as={of};v=v1;g=meta.k8s.io");
        let (status, _, body) = fetch(&cluster, path, &[("accept", &accept)]).await;
        let response: Value = serde_json::from_str(&body).unwrap();
        if expected.is_empty() {
            assert_eq!(
                (status.as_u16(), &response["kind"]),
                (200, &json!(of)),
                "{path}"
            );
        } else {
            let message = format!("you requested {of}, {expected}");
            assert_eq!(
                (status.as_u16(), &response["message"]),
                (406, &json!(message)),
                "{path}"
            );
        }
        let or_whole = format!("application/json;as={of};v=v9;g=meta.k8s.io,application/json");
        assert_eq!(fetch(&cluster, path, &[("accept", &or_whole)]).await.0, 200);
    }
    let table = fetch(&cluster, "/api/v1", &[("accept", TABLE)]).await;
    assert_eq!(table.0, 406, "discovery makes no tables");
    let group = fetch(&cluster, "/apis/apps", &[("accept", AGGREGATED)]).await;
    assert_eq!(group.0, 406, "a group is not aggregated");
    let beta = AGGREGATED.replace("v=v2", "v=v2beta1");
    assert_eq!(fetch(&cluster, "/apis", &[("accept", &beta)]).await.0, 406);
    let or_plain = format!("{beta},application/json");
    let (_, headers, _) = fetch(&cluster, "/apis", &[("accept", &or_plain)]).await;
    assert_eq!(headers["content-type"], "application/json");
}

#[tokio::test]
async fn all_versions_of_a_resource_share_their_storage() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let mut definition = widget_crd();
    let mut older = definition["spec"]["versions"][0].clone();
    older["name"] = "v1beta1".into();
    older["storage"] = false.into();
    definition["spec"]["versions"]
        .as_array_mut()
        .unwrap()
        .push(older);
    let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(call(&cluster, "POST", crds, Some(definition)).await.0, 201);
    let hash = async |version: &str| {
        let path = format!("/apis/example.com/{version}");
        let fetch = || async {
            let (status, list) = call(&cluster, "GET", &path, None).await;
            (status == 200).then(|| list["resources"][0]["storageVersionHash"].clone())
        };
        eventually("widgets are served", fetch).await
    };
    let newest = hash("v1").await;
    assert!(newest.is_string());
    assert_eq!(newest, hash("v1beta1").await);
    let (_, group) = call(&cluster, "GET", "/apis/example.com", None).await;
    assert_eq!(group["preferredVersion"]["version"], "v1");
    assert_eq!(group["versions"][1]["groupVersion"], "example.com/v1beta1");
}
