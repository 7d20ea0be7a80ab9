//! Writes and their errors.

use http::StatusCode;
use serde_json::{Value, json};

use crate::fixture::{WIDGETS, call, cluster, quick, raw, widget};

#[tokio::test]
async fn custom_resources_are_validated_defaulted_and_pruned() {
    let cluster = cluster(quick()).await;
    let mut body = widget("a");
    body["spec"]["odd"] = json!(1);
    body["status"] = json!({"ignored": true});
    let (status, made) = call(&cluster, "POST", WIDGETS, Some(body.clone())).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(made["spec"], json!({"colour": "red", "size": 1}));
    assert_eq!(made["status"], Value::Null);
    assert_eq!(made["metadata"]["generation"], 1);

    let (status, again) = call(&cluster, "POST", WIDGETS, Some(body.clone())).await;
    assert_eq!(
        (status, again["reason"].as_str()),
        (StatusCode::CONFLICT, Some("AlreadyExists"))
    );

    body["metadata"]["name"] = json!("b");
    let strict = format!("{WIDGETS}?fieldValidation=Strict");
    let (status, refused) = call(&cluster, "POST", &strict, Some(body)).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(
        refused["message"],
        "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field \"spec.odd\""
    );

    let mut green = widget("b");
    green["spec"] = json!({"colour": "green", "size": "big"});
    let (status, refused) = call(&cluster, "POST", WIDGETS, Some(green)).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(refused["details"]["causes"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn status_and_spec_are_written_separately() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let one = format!("{WIDGETS}/a");
    let (_, main) = call(&cluster, "PATCH", &one, Some(json!({"status": {"x": 1}}))).await;
    assert_eq!(main["status"], Value::Null);
    let status_path = format!("{one}/status");
    let patch =
        json!({"spec": {"colour": "blue"}, "status": {"x": 1}, "metadata": {"labels": {"l": "v"}}});
    let (_, status) = call(&cluster, "PATCH", &status_path, Some(patch)).await;
    assert_eq!(
        (&status["status"]["x"], &status["spec"]["colour"]),
        (&json!(1), &json!("red"))
    );
    assert_eq!(status["metadata"]["labels"], Value::Null);
    assert_eq!(status["metadata"]["generation"], 1);

    // Writes without changes are not stored.
    let (_, same) = call(
        &cluster,
        "PATCH",
        &one,
        Some(json!({"spec": {"colour": "red"}})),
    )
    .await;
    assert_eq!(same, status);
}

#[tokio::test]
async fn updates_need_the_current_version() {
    let cluster = cluster(quick()).await;
    let (_, first) = call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let one = format!("{WIDGETS}/a");
    let mut next = first.clone();
    next["spec"]["colour"] = json!("blue");
    let (status, second) = call(&cluster, "PUT", &one, Some(next.clone())).await;
    assert_eq!(
        (status, &second["metadata"]["generation"]),
        (StatusCode::OK, &json!(2))
    );
    next["spec"]["colour"] = json!("red");
    let (status, refused) = call(&cluster, "PUT", &one, Some(next)).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(
        refused["message"],
        "Operation cannot be fulfilled on widgets.example.com \"a\": the object has been modified; please apply your changes to the latest version and try again"
    );
}

#[tokio::test]
async fn finalizers_delay_deletion_until_the_last_is_removed() {
    let cluster = cluster(quick()).await;
    let mut held = widget("a");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    call(&cluster, "POST", WIDGETS, Some(held)).await;
    let one = format!("{WIDGETS}/a");
    let (status, deleting) = call(&cluster, "DELETE", &one, None).await;
    assert_eq!(status, StatusCode::OK);
    assert!(deleting["metadata"]["deletionTimestamp"].is_string());
    let (_, again) = call(&cluster, "DELETE", &one, None).await;
    assert_eq!(again, deleting);
    let (status, _) = call(
        &cluster,
        "PATCH",
        &one,
        Some(json!({"metadata": {"finalizers": null}})),
    )
    .await;
    assert_eq!(status, StatusCode::OK);
    let (status, _) = call(&cluster, "GET", &one, None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_pods_conditions_are_merged_strategically() {
    let cluster = cluster(quick()).await;
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({"metadata": {"name": "p"}, "spec": {"nodeName": "none", "containers": [{"name": "c", "image": "i"}]}});
    let (status, _) = call(&cluster, "POST", pods, Some(pod)).await;
    assert_eq!(status, StatusCode::CREATED);
    let patch = |status: &str| json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": status}]}});
    let media_type = "application/strategic-merge-patch+json";
    for status in ["True", "False"] {
        let path = format!("{pods}/p/status");
        let body = patch(status).to_string().into_bytes();
        let (code, pod) = raw(&cluster, "PATCH", &path, media_type, body).await;
        assert_eq!(code, StatusCode::OK);
        let ready: Vec<&Value> = pod["status"]["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|c| c["type"] == "Ready")
            .collect();
        assert_eq!(ready.len(), 1);
        assert_eq!(ready[0]["status"], status);
    }
}

#[tokio::test]
async fn dry_runs_store_nothing() {
    let cluster = cluster(quick()).await;
    let dry = |path: &str| format!("{path}?dryRun=All");
    let (status, made) = call(&cluster, "POST", &dry(WIDGETS), Some(widget("a"))).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(made["metadata"]["resourceVersion"], Value::Null);
    // Only the storage refuses a version.
    let mut versioned = widget("a");
    versioned["metadata"]["resourceVersion"] = json!("1");
    let (status, _) = call(&cluster, "POST", &dry(WIDGETS), Some(versioned)).await;
    assert_eq!(status, StatusCode::CREATED);
    let one = format!("{WIDGETS}/a");
    assert_eq!(
        call(&cluster, "GET", &one, None).await.0,
        StatusCode::NOT_FOUND
    );
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let (_, changed) = call(
        &cluster,
        "PATCH",
        &dry(&one),
        Some(json!({"spec": {"size": 5}})),
    )
    .await;
    assert_eq!(changed["spec"]["size"], 5);
    assert_eq!(
        call(&cluster, "DELETE", &dry(&one), None).await.0,
        StatusCode::OK
    );
    assert_eq!(call(&cluster, "GET", &one, None).await.1["spec"]["size"], 1);
}

#[tokio::test]
async fn an_event_is_visible_in_both_apis() {
    let cluster = cluster(quick()).await;
    let event = json!({
        "metadata": {"name": "e"}, "eventTime": "2026-01-01T00:00:00.000000Z", "action": "Create",
        "reportingController": "c", "reportingInstance": "i", "reason": "Made", "type": "Normal",
        "note": "made it", "regarding": {"kind": "Widget", "name": "a", "namespace": "default"},
    });
    let new = "/apis/events.k8s.io/v1/namespaces/default/events";
    let (status, _) = call(&cluster, "POST", new, Some(event)).await;
    assert_eq!(status, StatusCode::CREATED);
    let old = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Da";
    let (_, list) = call(&cluster, "GET", old, None).await;
    assert_eq!(list["items"][0]["message"], "made it");
    let patch = json!({"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:10.000000Z"}});
    let (status, patched) = call(&cluster, "PATCH", &format!("{new}/e"), Some(patch)).await;
    assert_eq!(
        (status, &patched["note"]),
        (StatusCode::OK, &json!("made it"))
    );
    let (_, list) = call(&cluster, "GET", old, None).await;
    assert_eq!(list["items"][0]["series"]["count"], 2);
}

#[tokio::test]
async fn a_continued_list_keeps_its_version() {
    let cluster = cluster(quick()).await;
    for name in ["a", "b", "c", "d"] {
        call(&cluster, "POST", WIDGETS, Some(widget(name))).await;
    }
    let (_, first) = call(&cluster, "GET", &format!("{WIDGETS}?limit=2"), None).await;
    assert_eq!(first["metadata"]["remainingItemCount"], 2);
    call(&cluster, "DELETE", &format!("{WIDGETS}/c"), None).await;
    call(&cluster, "POST", WIDGETS, Some(widget("e"))).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let (_, second) = call(
        &cluster,
        "GET",
        &format!("{WIDGETS}?limit=9&continue={token}"),
        None,
    )
    .await;
    let names: Vec<&str> = second["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|i| i["metadata"]["name"].as_str())
        .collect();
    assert_eq!(names, ["c", "d"]);
    assert_eq!(
        second["metadata"]["resourceVersion"],
        first["metadata"]["resourceVersion"]
    );
}

#[tokio::test]
async fn built_in_kinds_are_validated() {
    let cluster = cluster(quick()).await;
    let refused = |response: (StatusCode, Value), expected: &str| {
        let message = response.1["message"].as_str().unwrap_or_default();
        assert!(
            response.0 == StatusCode::UNPROCESSABLE_ENTITY && message.starts_with(expected),
            "{message}"
        );
    };
    let all = "/api/v1/namespaces/default";
    let pods = format!("{all}/pods");
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    call(&cluster, "POST", &pods, Some(pod)).await;
    let patch = json!({"spec": {"hostname": "h"}});
    refused(
        call(&cluster, "PATCH", &format!("{pods}/p"), Some(patch)).await,
        "Pod \"p\" is invalid: spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,",
    );
    let patch = json!({"spec": {"containers": [{"name": "c", "image": "j"}]}});
    let (status, _) = call(&cluster, "PATCH", &format!("{pods}/p"), Some(patch)).await;
    assert_eq!(status, StatusCode::OK);

    let services = format!("{all}/services");
    let service = |name: &str| {
        json!({"metadata": {"name": name}, "spec": {"type": "NodePort",
            "ports": [{"port": 80, "nodePort": 30080}]}})
    };
    let (_, made) = call(&cluster, "POST", &services, Some(service("a"))).await;
    refused(
        call(&cluster, "POST", &services, Some(service("b"))).await,
        "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated",
    );
    let one = format!("{services}/a");
    let patch = json!({"spec": {"clusterIP": "10.96.7.7"}});
    refused(
        call(&cluster, "PATCH", &one, Some(patch)).await,
        "Service \"a\" is invalid: spec.clusterIPs[0]: Invalid value: [\"10.96.7.7\"]: may not change once set",
    );
    let patch = json!({"spec": {"type": "ClusterIP"}});
    let (_, inside) = call(&cluster, "PATCH", &one, Some(patch)).await;
    assert_eq!(inside["spec"]["ports"][0].get("nodePort"), None);
    assert_eq!(inside["spec"]["clusterIP"], made["spec"]["clusterIP"]);

    // Typed Go clients send an integer in place of an unset one.
    let service =
        json!({"metadata": {"name": "t"}, "spec": {"ports": [{"port": 80, "targetPort": 0}]}});
    let (_, made) = call(&cluster, "POST", &services, Some(service)).await;
    assert_eq!(made["spec"]["ports"][0]["targetPort"], 80);

    let maps = format!("{all}/configmaps");
    let map = json!({"metadata": {"name": "m"}, "immutable": true, "data": {"a": "1"}});
    call(&cluster, "POST", &maps, Some(map)).await;
    refused(
        call(
            &cluster,
            "PATCH",
            &format!("{maps}/m"),
            Some(json!({"data": {"a": "2"}})),
        )
        .await,
        "ConfigMap \"m\" is invalid: data: Forbidden: field is immutable when `immutable` is set",
    );
    let secrets = format!("{all}/secrets");
    call(
        &cluster,
        "POST",
        &secrets,
        Some(json!({"metadata": {"name": "s"}})),
    )
    .await;
    refused(
        call(
            &cluster,
            "PATCH",
            &format!("{secrets}/s"),
            Some(json!({"type": "x"})),
        )
        .await,
        "Secret \"s\" is invalid: type: Invalid value: \"x\": field is immutable",
    );
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let deployment = json!({"metadata": {"name": "d"}, "spec": {
        "selector": {"matchLabels": {"app": "a"}}, "template": {"metadata": {"labels": {"app": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    refused(
        call(&cluster, "POST", deployments, Some(deployment)).await,
        "Deployment.apps \"d\" is invalid: spec.template.metadata.labels: Invalid value: {\"app\":\"b\"}: `selector` does not match template `labels`",
    );
}

#[tokio::test]
async fn strict_validation_shows_the_patch() {
    let cluster = cluster(quick()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    let path = format!("{WIDGETS}/a?fieldValidation=Strict");
    let (status, refused) =
        call(&cluster, "PATCH", &path, Some(json!({"spec": {"colr": 1}}))).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let message = refused["message"].as_str().unwrap();
    assert!(
        message.starts_with(" \"\" is invalid: patch: Invalid value: \"{")
            && message.ends_with("}\": strict decoding error: unknown field \"spec.colr\""),
        "{message}"
    );
    assert_eq!(refused["details"]["causes"][0]["field"], "patch");
    assert_eq!(refused["details"]["kind"], Value::Null);
}

#[tokio::test]
async fn names_of_roles_are_path_segments() {
    let cluster = cluster(quick()).await;
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let role = |name: &str| Some(json!({"metadata": {"name": name}, "rules": []}));
    let (status, _) = call(&cluster, "POST", roles, role("system:Node")).await;
    assert_eq!(status, StatusCode::CREATED);
    let path = format!("{roles}/system:Node");
    assert_eq!(call(&cluster, "GET", &path, None).await.0, StatusCode::OK);
    for (name, why) in [("a/b%", "may not contain '/'"), ("..", "may not be '..'")] {
        let (status, refused) = call(&cluster, "POST", roles, role(name)).await;
        let message = refused["message"].as_str().unwrap();
        assert!(
            status == StatusCode::UNPROCESSABLE_ENTITY && message.contains(why),
            "{message}"
        );
    }
}
