//! Discovery and OpenAPI documents, which clients cache.

use http::StatusCode;
use local_cluster::LocalCluster;
use serde_json::{Value, json};

use crate::discovery::{AGGREGATED, fetch};
use crate::fixture::{call, cluster, eventually, quick, widget_crd};

async fn tag(cluster: &LocalCluster, path: &str, accept: &str) -> String {
    let (status, headers, _) = fetch(cluster, path, &[("accept", accept)]).await;
    assert_eq!(status, 200, "{path}");
    headers["etag"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn unchanged_documents_are_not_sent_again() {
    let cluster = cluster(quick()).await;
    for (path, accept) in [
        ("/api", AGGREGATED),
        ("/apis", AGGREGATED),
        ("/openapi/v2", "application/json"),
        (
            "/openapi/v2",
            "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
        ),
        ("/openapi/v3", "application/json"),
        ("/openapi/v3/api/v1", "application/json"),
        ("/openapi/v3/apis/example.com/v1", "application/json"),
        ("/openapi/v3/version", "*/*"),
    ] {
        let known = tag(&cluster, path, accept).await;
        let hash = known.trim_matches('"');
        let digits = hash
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b));
        assert!(hash.len() == 128 && digits, "{known}");
        let headers = [("accept", accept), ("if-none-match", &known)];
        let (status, headers, body) = fetch(&cluster, path, &headers).await;
        assert_eq!(
            (status, body.as_str()),
            (StatusCode::NOT_MODIFIED, ""),
            "{path}"
        );
        assert_eq!(headers["etag"], known.as_str());
        let headers = [("accept", accept), ("if-none-match", "\"AB\"")];
        assert_eq!(fetch(&cluster, path, &headers).await.0, 200, "{path}");
    }
}

#[tokio::test]
async fn a_definition_changes_only_its_own_documents() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let paths = [
        ("/apis", AGGREGATED),
        ("/openapi/v3", "*/*"),
        ("/api", AGGREGATED),
        ("/openapi/v3/apis/apps/v1", "*/*"),
    ];
    let tags = || async {
        let mut found = Vec::new();
        for (path, accept) in paths {
            found.push(tag(&cluster, path, accept).await);
        }
        found
    };
    let before = tags().await;
    let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(
        call(&cluster, "POST", crds, Some(widget_crd())).await.0,
        201
    );
    let described = "/openapi/v3/apis/example.com/v1";
    let is_there = || async { (fetch(&cluster, described, &[]).await.0 == 200).then_some(()) };
    eventually("widgets are described", is_there).await;
    let with = tags().await;
    let one = format!("{crds}/widgets.example.com");
    assert_eq!(call(&cluster, "DELETE", &one, None).await.0, 200);
    let is_gone = || async { (fetch(&cluster, described, &[]).await.0 == 404).then_some(()) };
    eventually("widgets are not described", is_gone).await;
    assert_eq!(tags().await, before, "the same content has the same tag");
    assert!(with[0] != before[0] && with[1] != before[1]);
    assert_eq!(with[2..], before[2..]);
}

#[tokio::test]
async fn a_url_with_a_hash_is_immutable() {
    let cluster = cluster(quick()).await;
    let (_, _, list) = fetch(&cluster, "/openapi/v3", &[]).await;
    let list: Value = serde_json::from_str(&list).unwrap();
    for (name, found) in list["paths"].as_object().unwrap() {
        let url = found["serverRelativeURL"].as_str().unwrap();
        let (status, headers, body) = fetch(&cluster, url, &[]).await;
        assert_eq!(status, 200, "{url}");
        assert_eq!(headers["cache-control"], "public, immutable");
        assert!(headers.contains_key("expires") && headers["vary"] == "Accept");
        let document: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(document["openapi"], "3.0.0");
        // Every reference in a document has its schema.
        let text = document.to_string();
        for reference in text.split("#/components/schemas/").skip(1) {
            let schema = reference.split('"').next().unwrap();
            let known = document["components"]["schemas"].get(schema);
            assert!(known.is_some(), "{name}: {schema}");
        }
        let old = format!("/openapi/v3/{name}?hash=AB");
        let (status, headers, _) = fetch(&cluster, &old, &[]).await;
        assert_eq!(
            (status, headers["location"].to_str().unwrap()),
            (StatusCode::MOVED_PERMANENTLY, url)
        );
        let plain = fetch(&cluster, &format!("/openapi/v3/{name}"), &[]).await;
        assert!(!plain.1.contains_key("cache-control"));
    }
    let odd = [("accept", "text/html")];
    assert_eq!(fetch(&cluster, "/openapi/v3/api/v1", &odd).await.0, 406);
    assert_eq!(fetch(&cluster, "/openapi/v2", &odd).await.0, 406);
    for unknown in [
        "api/v2",
        "apis/nope/v1",
        "apis/nope",
        "nope",
        "apis/apps/v1/x",
    ] {
        let path = format!("/openapi/v3/{unknown}");
        assert_eq!(fetch(&cluster, &path, &[]).await.0, 404, "{unknown}");
    }
}

#[tokio::test]
async fn documents_describe_how_lists_are_merged() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let (_, core) = call(&cluster, "GET", "/openapi/v3/api/v1", None).await;
    let schemas = &core["components"]["schemas"];
    let property = |schema: &str, field: &str| {
        let name = format!("io.k8s.api.core.v1.{schema}");
        schemas[&name]["properties"][field].clone()
    };
    for (schema, field, key) in [
        ("PodSpec", "containers", "name"),
        ("Container", "env", "name"),
        ("Container", "ports", "containerPort"),
        ("Container", "volumeMounts", "mountPath"),
        ("ServiceSpec", "ports", "port"),
        ("PodStatus", "conditions", "type"),
    ] {
        let found = property(schema, field);
        assert_eq!(
            found["x-kubernetes-patch-merge-key"], key,
            "{schema}.{field}"
        );
        assert_eq!(found["x-kubernetes-patch-strategy"], "merge");
        let keys = match field {
            "ports" => json!([key, "protocol"]),
            _ => json!([key]),
        };
        assert_eq!(found["x-kubernetes-list-map-keys"], keys);
    }
    let args = property("Container", "args");
    assert_eq!(args["x-kubernetes-list-type"], "atomic");
    assert!(args.get("x-kubernetes-patch-strategy").is_none());
    let pod = &schemas["io.k8s.api.core.v1.Pod"];
    assert_eq!(
        pod["x-kubernetes-group-version-kind"],
        json!([{"group": "", "version": "v1", "kind": "Pod"}])
    );
    assert!(pod.get("required").is_none() && pod["description"].is_string());
    let patch = &core["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"];
    let parameters = patch["parameters"].as_array().unwrap();
    assert!(parameters.iter().any(|p| p["name"] == "fieldValidation"));
    let strategic = "application/strategic-merge-patch+json";
    assert!(patch["requestBody"]["content"].get(strategic).is_some());
}
