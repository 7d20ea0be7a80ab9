//! Managed fields, as clients see them.

use http::StatusCode;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use local_cluster::LocalCluster;
use serde_json::{Value, json};

use crate::fixture::{WIDGETS, call, cluster, quick, raw, widget};
use crate::webhook::Webhooks;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn apply(cluster: &LocalCluster, path: &str, body: Value) -> (StatusCode, Value) {
    let media_type = "application/apply-patch+yaml";
    raw(cluster, "PATCH", path, media_type, body.to_string().into()).await
}

fn map(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": data})
}

/// Manager, operation and fields of all entries.
fn managers(object: &Value) -> Vec<(String, String, Value)> {
    let entries = object["metadata"]["managedFields"].as_array();
    let word = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    entries
        .into_iter()
        .flatten()
        .map(|e| {
            (
                word(e, "manager"),
                word(e, "operation"),
                e["fieldsV1"].clone(),
            )
        })
        .collect()
}

fn entry(manager: &str, operation: &str, fields: Value) -> (String, String, Value) {
    (manager.to_owned(), operation.to_owned(), fields)
}

#[tokio::test]
async fn every_write_has_a_manager() {
    let cluster = cluster(quick()).await;
    let path = format!("{MAPS}?fieldManager=kubectl-create");
    let (_, made) = call(&cluster, "POST", &path, Some(map(json!({"a": "1"})))).await;
    let of_data = |data: Value| json!({"f:data": data});
    assert_eq!(
        managers(&made),
        [entry(
            "kubectl-create",
            "Update",
            of_data(json!({".": {}, "f:a": {}}))
        )]
    );
    assert_eq!(made["metadata"]["managedFields"][0]["apiVersion"], "v1");
    assert!(made["metadata"]["managedFields"][0]["time"].is_string());

    // The default manager is the product of the `User-Agent` header.
    let maps: Api<k8s_openapi::api::core::v1::ConfigMap> =
        Api::default_namespaced(cluster.client_as("controller/v1.2 (linux)"));
    let patch = json!({"data": {"a": "2", "b": "2"}});
    let patched = maps
        .patch("m", &PatchParams::default(), &Patch::Merge(patch))
        .await
        .unwrap();
    let patched = serde_json::to_value(&patched).unwrap();
    assert_eq!(
        managers(&patched),
        [
            entry(
                "controller",
                "Update",
                of_data(json!({"f:a": {}, "f:b": {}}))
            ),
            entry("kubectl-create", "Update", of_data(json!({}))),
        ]
    );

    // Removed fields have no manager, and unchanged fields keep theirs.
    let one = format!("{MAPS}/m?fieldManager=x");
    let (_, removed) = call(&cluster, "PATCH", &one, Some(json!({"data": {"b": null}}))).await;
    assert_eq!(
        managers(&removed)[0],
        entry("controller", "Update", of_data(json!({"f:a": {}})))
    );
    let (_, same) = call(&cluster, "PATCH", &one, Some(json!({"data": {"a": "2"}}))).await;
    assert_eq!(same, removed);
}

#[tokio::test]
async fn applies_conflict_with_updates() {
    let cluster = cluster(quick()).await;
    let path = format!("{MAPS}?fieldManager=kubectl-client-side-apply");
    call(
        &cluster,
        "POST",
        &path,
        Some(map(json!({"a": "1", "b": "1"}))),
    )
    .await;
    let one = format!("{MAPS}/m?fieldManager=mine");
    let (status, refused) = apply(&cluster, &one, map(json!({"a": "2"}))).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(
        refused["message"],
        "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.a"
    );
    assert_eq!(
        refused["details"]["causes"],
        json!([{"reason": "FieldManagerConflict", "field": ".data.a",
                "message": "conflict with \"kubectl-client-side-apply\" using v1"}])
    );
    let (status, forced) = apply(
        &cluster,
        &format!("{one}&force=true"),
        map(json!({"a": "2"})),
    )
    .await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        managers(&forced),
        [
            entry("mine", "Apply", json!({"f:data": {"f:a": {}}})),
            entry(
                "kubectl-client-side-apply",
                "Update",
                json!({"f:data": {".": {}, "f:b": {}}})
            ),
        ]
    );
    let (_, same) = apply(&cluster, &one, map(json!({"a": "2"}))).await;
    assert_eq!(same, forced);
    // No other manager owns it, so it is removed; updated fields stay.
    let (_, less) = apply(&cluster, &one, map(json!({}))).await;
    assert_eq!(less["data"], json!({"b": "1"}));
}

#[tokio::test]
async fn status_is_managed_separately() {
    let cluster = cluster(quick()).await;
    let path = format!("{WIDGETS}?fieldManager=user");
    let mut body = widget("a");
    body["status"] = json!({"x": 1});
    call(&cluster, "POST", &path, Some(body)).await;
    let status = format!("{WIDGETS}/a/status?fieldManager=user");
    let patch =
        json!({"status": {"x": 1}, "metadata": {"labels": {"a": "b"}}, "spec": {"size": 2}});
    let (_, patched) = call(&cluster, "PATCH", &status, Some(patch)).await;
    assert_eq!(
        managers(&patched),
        [
            entry(
                "user",
                "Update",
                json!({"f:spec": {".": {}, "f:colour": {}, "f:size": {}}})
            ),
            entry("user", "Update", json!({"f:status": {".": {}, "f:x": {}}})),
        ]
    );
    assert_eq!(
        patched["metadata"]["managedFields"][1]["subresource"],
        "status"
    );
    let mut expected = widget("a");
    expected["status"] = json!({"x": 2});
    let status = format!("{WIDGETS}/a/status?fieldManager=other");
    let (_, refused) = apply(&cluster, &status, expected).await;
    assert_eq!(
        refused["message"],
        "Apply failed with 1 conflict: conflict with \"user\" with subresource \"status\" using example.com/v1: .status.x"
    );
}

#[tokio::test]
async fn clients_can_write_managed_fields() {
    let cluster = cluster(quick()).await;
    let path = format!("{MAPS}?fieldManager=kubectl-client-side-apply");
    call(&cluster, "POST", &path, Some(map(json!({"a": "1"})))).await;
    let one = format!("{MAPS}/m?fieldManager=kubectl");
    // As kubectl migrates to server-side apply.
    let mine = json!([{"manager": "kubectl", "operation": "Apply", "apiVersion": "v1",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}}}]);
    let patch = json!([{"op": "replace", "path": "/metadata/managedFields", "value": mine}]);
    let media_type = "application/json-patch+json";
    let body = patch.to_string().into_bytes();
    let (_, moved) = raw(&cluster, "PATCH", &one, media_type, body).await;
    assert_eq!(moved["metadata"]["managedFields"], mine);
    let (_, applied) = apply(&cluster, &one, map(json!({"b": "2"}))).await;
    assert_eq!(applied["data"], json!({"b": "2"}));

    let forget = json!({"metadata": {"managedFields": [{}]}});
    let (_, forgotten) = call(&cluster, "PATCH", &one, Some(forget)).await;
    assert_eq!(managers(&forgotten), []);
    let (_, refused) = apply(&cluster, &one, map(json!({"b": "3"}))).await;
    assert_eq!(
        refused["message"],
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.b"
    );
    let junk = json!({"metadata": {"managedFields": "x"}});
    let (status, _) = call(&cluster, "PATCH", &one, Some(junk)).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn pods_and_services_are_merged_by_the_keys_of_kubernetes() {
    let cluster = cluster(quick()).await;
    let services = "/api/v1/namespaces/default/services/s";
    let service = |ports: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": ports}});
    let path = |manager: &str| format!("{services}?fieldManager={manager}");
    let tcp = service(json!([{"name": "a", "port": 53}]));
    assert_eq!(
        apply(&cluster, &path("a"), tcp).await.0,
        StatusCode::CREATED
    );
    let udp = service(json!([{"name": "b", "port": 53, "protocol": "UDP"}]));
    let (_, both) = apply(&cluster, &path("b"), udp).await;
    assert_eq!(both["spec"]["ports"].as_array().unwrap().len(), 2);
    assert_eq!(
        managers(&both)[1].2,
        json!({"f:spec": {"f:ports": {"k:{\"port\":53,\"protocol\":\"UDP\"}":
            {".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}}}}})
    );
}

#[tokio::test]
async fn unknown_fields_cannot_be_applied() {
    let cluster = cluster(quick()).await;
    let mut expected = widget("a");
    expected["metadata"]["namespace"] = json!("default");
    expected["spec"]["colr"] = json!("x");
    let path = format!("{WIDGETS}/a?fieldManager=m");
    let (status, refused) = apply(&cluster, &path, expected).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(
        refused["message"],
        "failed to create typed patch object (default/a; example.com/v1, Kind=Widget): .spec.colr: field not declared in schema"
    );
}

#[tokio::test]
async fn names_of_managers_are_validated() {
    let cluster = cluster(quick()).await;
    let long = "x".repeat(129);
    let path = format!("{MAPS}?fieldManager={long}");
    let (status, refused) = call(&cluster, "POST", &path, Some(map(json!({})))).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        refused["message"],
        "CreateOptions.meta.k8s.io \"\" is invalid: fieldManager: Too long: may not be more than 128 bytes"
    );
    let path = format!("{MAPS}/m?fieldManager=m&force=true");
    let (status, refused) = call(&cluster, "PATCH", &path, Some(json!({}))).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        refused["message"],
        "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch"
    );
}

#[tokio::test]
async fn kubes_clients_apply() {
    let cluster = cluster(quick()).await;
    let maps: Api<k8s_openapi::api::core::v1::ConfigMap> =
        Api::default_namespaced(cluster.client());
    let expected = |value: &str| k8s_openapi::api::core::v1::ConfigMap {
        metadata: ObjectMeta {
            name: Some("m".into()),
            ..ObjectMeta::default()
        },
        data: Some([("a".to_owned(), value.to_owned())].into()),
        ..Default::default()
    };
    maps.create(&PostParams::default(), &expected("1"))
        .await
        .unwrap();
    let params = PatchParams::apply("mine");
    let refused = maps.patch("m", &params, &Patch::Apply(expected("2"))).await;
    assert!(refused.unwrap_err().to_string().contains("conflict with"));
    let forced = params.force();
    let applied = maps.patch("m", &forced, &Patch::Apply(expected("2"))).await;
    assert_eq!(applied.unwrap().data.unwrap()["a"], "2");
}

#[tokio::test]
async fn webhooks_cannot_corrupt_managed_fields() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| {
        call.patch(json!([
            {"op": "add", "path": "/metadata/managedFields/0/operation", "value": "Guess"},
            {"op": "add", "path": "/metadata/labels", "value": {"by": "webhook"}},
        ]))
    })
    .await;
    webhooks.mutate(&cluster, "/m", json!({})).await;
    let path = format!("{WIDGETS}?fieldManager=user");
    let (status, made) = call(&cluster, "POST", &path, Some(widget("a"))).await;
    assert_eq!(
        (status, &made["metadata"]["labels"]["by"]),
        (StatusCode::CREATED, &json!("webhook"))
    );
    // Fields that a webhook adds have no manager.
    let fields = json!({"f:spec": {".": {}, "f:colour": {}, "f:size": {}}});
    assert_eq!(managers(&made), [entry("user", "Update", fields)]);
}

#[tokio::test]
async fn built_in_kinds_take_labels_with_their_status() {
    let cluster = cluster(quick()).await;
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"metadata": {"name": "p"}, "spec": {"nodeName": "none",
        "containers": [{"name": "c", "image": "i"}]}});
    call(
        &cluster,
        "POST",
        &format!("{pods}?fieldManager=user"),
        Some(pod),
    )
    .await;
    let owners = json!([{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}]);
    let patch = json!({"metadata": {"labels": {"a": "b"}, "ownerReferences": owners},
        "spec": {"hostname": "h"}, "status": {"message": "m"}});
    let path = format!("{pods}/p/status?fieldManager=node");
    let (_, patched) = call(&cluster, "PATCH", &path, Some(patch)).await;
    assert_eq!(patched["metadata"]["labels"], json!({"a": "b"}));
    assert_eq!(patched["metadata"]["ownerReferences"], Value::Null);
    assert_eq!(patched["spec"]["hostname"], Value::Null);
    let of_node = managers(&patched)
        .into_iter()
        .find(|(name, ..)| name == "node");
    assert_eq!(
        of_node.unwrap().2,
        json!({"f:metadata": {"f:labels": {".": {}, "f:a": {}}}, "f:status": {"f:message": {}}})
    );
}
