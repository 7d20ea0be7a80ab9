//! Subresources besides the status.

use http::StatusCode;
use http_body_util::BodyExt as _;
use local_cluster::{LocalCluster, LocalClusterOptions};
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::fixture::{call, cluster, eventually, quick, raw, widget_crd};

const FLEETS: &str = "/apis/example.com/v1/namespaces/default/fleets";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// A cluster with a kind that has a scale subresource.
async fn with_fleets() -> LocalCluster {
    let cluster = cluster(quick()).await;
    let mut crd = widget_crd();
    crd["metadata"]["name"] = json!("fleets.example.com");
    crd["spec"]["names"] = json!({"kind": "Fleet", "plural": "fleets"});
    let version = &mut crd["spec"]["versions"][0];
    version["subresources"]["scale"] = json!({
        "specReplicasPath": ".spec.ships", "statusReplicasPath": ".status.ships",
        "labelSelectorPath": ".status.selector",
    });
    version["schema"]["openAPIV3Schema"] =
        json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    call(&cluster, "POST", crds, Some(crd)).await;
    let served = || async {
        let (status, _) = call(&cluster, "GET", FLEETS, None).await;
        (status == StatusCode::OK).then_some(())
    };
    eventually("fleets are served", served).await;
    cluster
}

async fn new_fleet(cluster: &LocalCluster) -> Value {
    let fleet = json!({"apiVersion": "example.com/v1", "kind": "Fleet",
        "metadata": {"name": "f"}, "spec": {"ships": 2, "colour": "red"}});
    let path = format!("{FLEETS}?fieldManager=maker");
    let (status, fleet) = call(cluster, "POST", &path, Some(fleet)).await;
    assert_eq!(status, StatusCode::CREATED);
    let status = json!({"status": {"ships": 1, "selector": "app=f"}});
    call(
        cluster,
        "PATCH",
        &format!("{FLEETS}/f/status"),
        Some(status),
    )
    .await;
    fleet
}

#[tokio::test]
async fn custom_resources_are_scaled() {
    let cluster = with_fleets().await;
    let fleet = new_fleet(&cluster).await;
    let scale_of = format!("{FLEETS}/f/scale");
    let (status, mut scale) = call(&cluster, "GET", &scale_of, None).await;
    assert_eq!(status, StatusCode::OK);
    let shown = json!({"replicas": 1, "selector": "app=f"});
    assert_eq!(
        (&scale["kind"], &scale["status"]),
        (&json!("Scale"), &shown)
    );
    assert_eq!(scale["spec"], json!({"replicas": 2}));
    assert_eq!(scale["metadata"]["uid"], fleet["metadata"]["uid"]);

    scale["spec"]["replicas"] = json!(5);
    let path = format!("{scale_of}?fieldManager=scaler");
    let (status, scaled) = call(&cluster, "PUT", &path, Some(scale.clone())).await;
    assert_eq!(
        (status, &scaled["spec"]),
        (StatusCode::OK, &json!({"replicas": 5}))
    );
    // The resourceVersion is a precondition.
    let (status, _) = call(&cluster, "PUT", &path, Some(scale)).await;
    assert_eq!(status, StatusCode::CONFLICT);
    let patch = Some(json!({"spec": {"replicas": 7}}));
    let (_, scaled) = call(&cluster, "PATCH", &path, patch).await;
    assert_eq!(scaled["spec"]["replicas"], 7);

    let (_, fleet) = call(&cluster, "GET", &format!("{FLEETS}/f"), None).await;
    assert_eq!(fleet["spec"], json!({"ships": 7, "colour": "red"}));
    assert_eq!(fleet["metadata"]["generation"], 3);
    let managers = fleet["metadata"]["managedFields"].as_array().unwrap();
    let by = |name: &str| managers.iter().find(|e| e["manager"] == name).unwrap();
    assert_eq!(by("scaler")["subresource"], "scale");
    assert_eq!(by("scaler")["fieldsV1"], json!({"f:spec": {"f:ships": {}}}));
    assert_eq!(by("scaler")["apiVersion"], "example.com/v1");
    assert_eq!(
        by("maker")["fieldsV1"],
        json!({"f:spec": {".": {}, "f:colour": {}}})
    );
}

#[tokio::test]
async fn bad_scales_are_refused() {
    let cluster = with_fleets().await;
    new_fleet(&cluster).await;
    let scale_of = format!("{FLEETS}/f/scale");
    for (patch, code, why) in [
        (
            json!({"spec": {"replicas": -1}}),
            422,
            "should be a non-negative integer",
        ),
        (json!({"spec": {"replicas": "many"}}), 422, "of type int32"),
        (
            json!({"kind": "Widget"}),
            400,
            "cannot be handled as a Scale",
        ),
        (
            json!({"metadata": {"name": "other"}}),
            400,
            "does not match the name on the URL",
        ),
    ] {
        let (status, refused) = call(&cluster, "PATCH", &scale_of, Some(patch)).await;
        let message = refused["message"].as_str().unwrap();
        assert!(
            status == code && message.contains(why),
            "{status} {message}"
        );
    }
    let missing = format!("{FLEETS}/none/scale");
    let patch = Some(json!({"spec": {"replicas": 1}}));
    assert_eq!(call(&cluster, "PATCH", &missing, patch).await.0, 404);
    assert_eq!(call(&cluster, "DELETE", &scale_of, None).await.0, 405);
    // Widgets have no scale subresource.
    let widgets = format!("{}/x/scale", crate::fixture::WIDGETS);
    assert_eq!(call(&cluster, "GET", &widgets, None).await.0, 404);
}

#[tokio::test]
async fn a_scale_can_be_applied() {
    let cluster = with_fleets().await;
    new_fleet(&cluster).await;
    let expected = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "f"}, "spec": {"replicas": 4}});
    let apply = |query: &str| {
        let path = format!("{FLEETS}/f/scale?fieldManager=a{query}");
        let body = expected.to_string().into_bytes();
        let cluster = &cluster;
        async move {
            raw(
                cluster,
                "PATCH",
                &path,
                "application/apply-patch+yaml",
                body,
            )
            .await
        }
    };
    let (status, refused) = apply("").await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(
        refused["message"],
        "Apply failed with 1 conflict: conflict with \"maker\" using autoscaling/v1: .spec.replicas"
    );
    let (status, scale) = apply("&force=true").await;
    assert_eq!(
        (status, &scale["spec"]["replicas"]),
        (StatusCode::OK, &json!(4))
    );
}

#[tokio::test]
async fn deployments_are_scaled() {
    let cluster = cluster(quick()).await;
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let labels = json!({"app": "web"});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web"}, "spec": {"replicas": 1, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels},
                     "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    let (status, made) = call(&cluster, "POST", deployments, Some(deployment)).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let patch = Some(json!({"spec": {"replicas": 3}}));
    let path = format!("{deployments}/web/scale");
    let (status, scale) = call(&cluster, "PATCH", &path, patch).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(scale["status"]["selector"], "app=web");
    let (_, web) = call(&cluster, "GET", &format!("{deployments}/web"), None).await;
    assert_eq!(web["spec"]["replicas"], 3);
    let (_, list) = call(&cluster, "GET", "/apis/apps/v1", None).await;
    let entries = list["resources"].as_array().unwrap();
    let scale = entries.iter().find(|e| e["name"] == "deployments/scale");
    assert_eq!(scale.unwrap()["group"], "autoscaling");
}

fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"schedulerName": "mine",
        "containers": [{"name": "c", "image": "i"}]}})
}

#[tokio::test]
async fn pods_are_evicted() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", PODS, Some(pod("p"))).await;
    let evict = |body: Value| {
        let path = format!("{PODS}/p/eviction");
        let cluster = &cluster;
        async move { call(cluster, "POST", &path, Some(body)).await }
    };
    let eviction = |uid: &str| {
        json!({"apiVersion": "policy/v1", "kind": "Eviction",
        "metadata": {"name": "p"}, "deleteOptions": {"gracePeriodSeconds": 0,
        "preconditions": {"uid": uid}}})
    };
    assert_eq!(evict(eviction("other")).await.0, StatusCode::CONFLICT);
    assert_eq!(
        evict(json!({"kind": "Eviction"})).await.0,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(
        evict(json!({"kind": "Pod"})).await.0,
        StatusCode::BAD_REQUEST
    );
    let (_, there) = call(&cluster, "GET", &format!("{PODS}/p"), None).await;
    let uid = there["metadata"]["uid"].as_str().unwrap();
    let path = format!("{PODS}/p/eviction?dryRun=All");
    let (status, _) = call(&cluster, "POST", &path, Some(eviction(uid))).await;
    assert_eq!(status, StatusCode::CREATED);
    // As typed Go clients send it, without deletion options.
    let metadata = b"k8s\0\x0a\x15\x0a\x09policy/v1\x12\x08Eviction\x12\x05\x0a\x03\x0a\x01p";
    let protobuf = "application/vnd.kubernetes.protobuf";
    let (status, _) = raw(&cluster, "POST", &path, protobuf, metadata.to_vec()).await;
    assert_eq!(status, StatusCode::CREATED);
    let (_, there) = call(&cluster, "GET", &format!("{PODS}/p"), None).await;
    assert_eq!(there["metadata"]["deletionTimestamp"], Value::Null);
    let (status, done) = evict(eviction(uid)).await;
    assert_eq!(
        (status, &done["status"]),
        (StatusCode::CREATED, &json!("Success"))
    );
    let deleted = || async {
        let (status, _) = call(&cluster, "GET", &format!("{PODS}/p"), None).await;
        (status == StatusCode::NOT_FOUND).then_some(())
    };
    eventually("the pod is gone", deleted).await;
    assert_eq!(evict(eviction(uid)).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn clients_bind_no_pods() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", PODS, Some(pod("p"))).await;
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"},
        "target": {"kind": "Node", "name": "node-1"}});
    let all = "/api/v1/namespaces/default/bindings".to_owned();
    for path in [format!("{PODS}/p/binding"), all] {
        let (status, refused) = call(&cluster, "POST", &path, Some(binding.clone())).await;
        let message = refused["message"].as_str().unwrap();
        assert!(
            status == 500 && message.contains("clients do not bind pods here"),
            "{message}"
        );
        assert_eq!(call(&cluster, "GET", &path, None).await.0, 405);
    }
}

#[tokio::test]
async fn namespaces_are_finalized() {
    let cluster = cluster(quick()).await;
    let spaces = "/api/v1/namespaces";
    let space = json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "n"}, "spec": {"finalizers": ["kubernetes", "a.b/c"]}});
    let (_, mut space) = call(&cluster, "POST", spaces, Some(space)).await;
    let one = format!("{spaces}/n");
    // No controller removes these finalizers.
    let patch = json!({"spec": {"finalizers": []}});
    let (_, kept) = call(&cluster, "PATCH", &one, Some(patch)).await;
    assert_eq!(kept["spec"]["finalizers"], json!(["kubernetes", "a.b/c"]));
    call(&cluster, "DELETE", &one, None).await;
    space["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("resourceVersion");
    space["spec"]["finalizers"] = json!([]);
    let finalize = format!("{one}/finalize");
    assert_eq!(call(&cluster, "GET", &finalize, None).await.0, 405);
    let (status, _) = call(&cluster, "PUT", &finalize, Some(space)).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        call(&cluster, "GET", &one, None).await.0,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn subresources_of_containers_report_that_there_are_none() {
    let cluster = cluster(LocalClusterOptions {
        run_pods: false,
        ..quick()
    })
    .await;
    call(&cluster, "POST", PODS, Some(pod("waiting"))).await;
    let mut placed = pod("placed");
    placed["spec"]["nodeName"] = json!("node-1");
    call(&cluster, "POST", PODS, Some(placed)).await;
    let ask = async |method: &str, path: &str| {
        let (status, body) = call(&cluster, method, path, None).await;
        let message = body["message"].as_str().unwrap_or_default().to_owned();
        (status.as_u16(), message)
    };
    for part in ["exec", "attach", "portforward"] {
        for method in ["GET", "POST"] {
            let (code, why) = ask(method, &format!("{PODS}/placed/{part}")).await;
            assert_eq!(code, 500, "{method} {part}");
            assert_eq!(why, "Internal error occurred: pods run no containers here");
            let (code, why) = ask(method, &format!("{PODS}/waiting/{part}")).await;
            assert_eq!(code, 400, "{method} {part}");
            assert_eq!(why, "pod waiting does not have a host assigned");
        }
        assert_eq!(ask("PUT", &format!("{PODS}/placed/{part}")).await.0, 405);
        assert_eq!(ask("GET", &format!("{PODS}/none/{part}")).await.0, 404);
    }
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}});
    call(&cluster, "POST", accounts, Some(account)).await;
    let (code, why) = ask("POST", &format!("{accounts}/a/token")).await;
    assert!(
        code == 500 && why.contains("not issued here"),
        "{code} {why}"
    );
    assert_eq!(ask("PATCH", &format!("{PODS}/placed/resize")).await.0, 500);
    // Logs are empty.
    let log = request(&cluster, &format!("{PODS}/placed/log")).await;
    assert_eq!(log, (200, String::new()));
    let scale = "/api/v1/namespaces/default/configmaps/c/scale";
    assert_eq!(ask("GET", scale).await.0, 404);
}

async fn request(cluster: &LocalCluster, path: &str) -> (u16, String) {
    let request = http::Request::get(path)
        .body(axum::body::Body::empty())
        .unwrap();
    let response = cluster.router().oneshot(request).await.unwrap();
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn autoscalers_convert_between_both_versions() {
    let cluster = cluster(quick()).await;
    let old = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
    let new = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let scaler = json!({"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {"maxReplicas": 5, "scaleTargetRef": target, "targetCPUUtilizationPercentage": 80}});
    let (status, created) = call(&cluster, "POST", old, Some(scaler)).await;
    assert_eq!(status, 201, "{created}");
    let (_, newer) = call(&cluster, "GET", &format!("{new}/web"), None).await;
    let utilization = &newer["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"];
    assert_eq!(utilization, 80);
    assert_eq!(newer["apiVersion"], "autoscaling/v2");
    let (_, list) = call(&cluster, "GET", old, None).await;
    assert_eq!(
        list["items"][0]["spec"]["targetCPUUtilizationPercentage"],
        80
    );
}

#[tokio::test]
async fn read_only_resources_can_be_read() {
    let cluster = cluster(quick()).await;
    let all = "/api/v1/componentstatuses";
    let (status, list) = call(&cluster, "GET", all, None).await;
    assert!(status == 200 && list["items"] == json!([]), "{list}");
    let body = json!({"apiVersion": "v1", "kind": "ComponentStatus", "metadata": {"name": "x"}});
    assert_eq!(call(&cluster, "POST", all, Some(body)).await.0, 405);
}
