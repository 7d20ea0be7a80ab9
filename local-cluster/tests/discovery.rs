//! What there is to ask for, and in which forms.

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

/// One request with these headers; the answer's headers and body as they are.
pub(crate) async fn ask(
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
async fn health_has_its_details() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    for endpoint in ["healthz", "livez", "readyz"] {
        let (status, headers, body) = ask(&cluster, &format!("/{endpoint}"), &[]).await;
        assert_eq!((status, body.as_str()), (StatusCode::OK, "ok"));
        assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
        let ping = ask(&cluster, &format!("/{endpoint}/ping"), &[]).await;
        assert_eq!(ping.2, "ok");
        let query = format!("/{endpoint}?verbose&exclude=etcd&exclude=odd");
        let (_, _, body) = ask(&cluster, &query, &[]).await;
        assert!(body.starts_with("[+]ping ok\n"), "{body}");
        assert!(body.contains("[+]etcd excluded: ok\n"), "{body}");
        assert!(
            body.contains("warn: some health checks cannot be excluded: no matches for \"odd\"\n")
        );
        assert!(
            body.ends_with(&format!("{endpoint} check passed\n")),
            "{body}"
        );
        let unknown = ask(&cluster, &format!("/{endpoint}/nope"), &[]).await;
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
async fn tables_bring_along_what_is_asked_for() {
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
            let (status, _, body) = ask(&cluster, &path, &[("accept", TABLE)]).await;
            let table: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(status, 200);
            assert_eq!(table["rows"][0]["object"]["kind"], kind, "{path}");
        }
        let path = format!("{path}?includeObject=All");
        let (status, _, body) = ask(&cluster, &path, &[("accept", TABLE)]).await;
        assert_eq!(status, 400);
        assert!(
            body.contains("Unable to convert to Table as requested: includeObject: Invalid value: \\\"All\\\": must be 'Metadata', 'Object', 'None', or empty"),
            "{body}"
        );
        assert_eq!(ask(&cluster, &path, &[]).await.0, 200);
    }
}

#[tokio::test]
async fn refusals_come_in_the_form_that_is_asked_for() {
    let cluster = cluster(quick()).await;
    let missing = format!("{WIDGETS}/nope");
    let yaml = [("accept", "application/yaml")];
    let (status, headers, body) = ask(&cluster, &missing, &yaml).await;
    assert_eq!(
        (status.as_u16(), headers["content-type"].to_str().unwrap()),
        (404, "application/yaml")
    );
    assert!(body.contains("reason: NotFound\n"), "{body}");
    let both = [(
        "accept",
        "application/vnd.kubernetes.protobuf,application/json",
    )];
    let (status, headers, _) = ask(&cluster, &missing, &both).await;
    assert_eq!(
        (status.as_u16(), headers["content-type"].to_str().unwrap()),
        (404, "application/json")
    );
    let (status, headers, _) = ask(&cluster, WIDGETS, &[("accept", "text/html")]).await;
    assert_eq!(
        (status.as_u16(), headers["content-type"].to_str().unwrap()),
        (406, "application/json")
    );
    for path in ["/apis", "/apis/apps", "/apis/apps/v1"] {
        assert_eq!(
            ask(&cluster, path, &yaml).await.1["content-type"],
            "application/yaml"
        );
    }
}

#[tokio::test]
async fn reviews_are_answered_and_not_kept() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let group = "/apis/authorization.k8s.io/v1";
    let own = format!("{group}/selfsubjectaccessreviews");
    let local = format!("{group}/namespaces/default/localsubjectaccessreviews");
    let pods = json!({"verb": "get", "resource": "pods", "namespace": "default"});
    let review = |kind: &str, spec: Value| json!({"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec});
    let asked = review(
        "SelfSubjectAccessReview",
        json!({"resourceAttributes": pods}),
    );
    let (status, answer) = call(&cluster, "POST", &own, Some(asked.clone())).await;
    assert_eq!(status, 201);
    let mut wanted = asked.clone();
    wanted["metadata"] = json!({});
    wanted["status"] = json!({"allowed": true});
    assert_eq!(answer, wanted);
    let spec = json!({"resourceAttributes": pods, "user": "u"});
    let asked_locally = review("LocalSubjectAccessReview", spec);
    let (status, answer) = call(&cluster, "POST", &local, Some(asked_locally)).await;
    assert_eq!(
        (status.as_u16(), &answer["status"]["allowed"]),
        (201, &json!(true))
    );

    let elsewhere = format!("{group}/namespaces/default/selfsubjectaccessreviews");
    let nowhere = format!("{group}/localsubjectaccessreviews");
    let wrong_kind = review("SubjectAccessReview", json!({}));
    let wrong_type = review("SelfSubjectAccessReview", json!({"resourceAttributes": 1}));
    let empty = review("SelfSubjectAccessReview", json!({}));
    for (method, path, body, wanted) in [
        ("GET", &own, None, 405),
        ("DELETE", &own, None, 405),
        ("GET", &format!("{own}/x"), None, 404),
        ("POST", &elsewhere, Some(asked.clone()), 404),
        ("POST", &nowhere, Some(asked), 404),
        ("POST", &own, Some(wrong_kind), 400),
        ("POST", &own, Some(wrong_type), 400),
        ("POST", &own, Some(empty), 422),
        ("POST", &own, Some(json!([])), 400),
    ] {
        let (status, answer) = call(&cluster, method, path, body).await;
        assert_eq!(status.as_u16(), wanted, "{method} {path}: {answer}");
    }
}

#[tokio::test]
async fn metadata_of_one_is_no_list() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let one = format!("{WIDGETS}/a");
    let (object, list) = ("PartialObjectMetadata", "PartialObjectMetadataList");
    for (path, of, wanted) in [
        (one.as_str(), object, ""),
        (WIDGETS, list, ""),
        (
            WIDGETS,
            object,
            "but the requested object is a list (*unstructured.UnstructuredList)",
        ),
        (
            &one,
            list,
            "but the requested object is not a list (*unstructured.Unstructured)",
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
        let (status, _, body) = ask(&cluster, path, &[("accept", &accept)]).await;
        let answer: Value = serde_json::from_str(&body).unwrap();
        if wanted.is_empty() {
            assert_eq!(
                (status.as_u16(), &answer["kind"]),
                (200, &json!(of)),
                "{path}"
            );
        } else {
            let message = format!("you requested {of}, {wanted}");
            assert_eq!(
                (status.as_u16(), &answer["message"]),
                (406, &json!(message)),
                "{path}"
            );
        }
        let or_whole = format!("application/json;as={of};v=v9;g=meta.k8s.io,application/json");
        assert_eq!(ask(&cluster, path, &[("accept", &or_whole)]).await.0, 200);
    }
    let table = ask(&cluster, "/api/v1", &[("accept", TABLE)]).await;
    assert_eq!(table.0, 406, "discovery makes no tables");
    let group = ask(&cluster, "/apis/apps", &[("accept", AGGREGATED)]).await;
    assert_eq!(group.0, 406, "a group is not aggregated");
    let beta = AGGREGATED.replace("v=v2", "v=v2beta1");
    assert_eq!(ask(&cluster, "/apis", &[("accept", &beta)]).await.0, 406);
    let or_plain = format!("{beta},application/json");
    let (_, headers, _) = ask(&cluster, "/apis", &[("accept", &or_plain)]).await;
    assert_eq!(headers["content-type"], "application/json");
}

#[tokio::test]
async fn all_versions_of_a_resource_are_stored_as_one() {
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
        let ask = || async {
            let (status, list) = call(&cluster, "GET", &path, None).await;
            (status == 200).then(|| list["resources"][0]["storageVersionHash"].clone())
        };
        eventually("widgets are served", ask).await
    };
    let newest = hash("v1").await;
    assert!(newest.is_string());
    assert_eq!(newest, hash("v1beta1").await);
    let (_, group) = call(&cluster, "GET", "/apis/example.com", None).await;
    assert_eq!(group["preferredVersion"]["version"], "v1");
    assert_eq!(group["versions"][1]["groupVersion"], "example.com/v1beta1");
}
