//! Which requests are reviewed, and what reviews contain.

use serde_json::{Value, json};

use crate::fixture::{WIDGETS, call, cluster, quick, raw, widget};
use crate::webhook::{WebhookCall, Webhooks};

const ALL: &str =
    r#"[{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]"#;

fn all() -> Value {
    json!({"rules": serde_json::from_str::<Value>(ALL).unwrap()})
}

/// Operation, subresource, name and options of each call.
fn reviews(calls: &[WebhookCall]) -> Vec<(String, String, String, Value)> {
    calls
        .iter()
        .map(|call| {
            let word = |pointer| call.at(pointer).to_owned();
            let mut options = call.request["options"].clone();
            let given = options.as_object_mut().unwrap();
            assert_eq!(given.remove("apiVersion"), Some(json!("meta.k8s.io/v1")));
            (
                word("/operation"),
                word("/subResource"),
                word("/name"),
                options,
            )
        })
        .collect()
}

fn line(
    operation: &str,
    part: &str,
    name: &str,
    options: Value,
) -> (String, String, String, Value) {
    (
        operation.to_owned(),
        part.to_owned(),
        name.to_owned(),
        options,
    )
}

#[tokio::test]
async fn every_kind_of_write_is_reviewed() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    webhooks.validate(&cluster, "/v", all()).await;
    let one = format!("{WIDGETS}/a");
    let path = format!("{WIDGETS}?fieldManager=m&fieldValidation=Strict");
    let (_, created) = call(&cluster, "POST", &path, Some(widget("a"))).await;
    let mut next = created.clone();
    next["spec"]["colour"] = json!("blue");
    assert_eq!(call(&cluster, "PUT", &one, Some(next)).await.0, 200);
    let patch = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(call(&cluster, "PATCH", &one, Some(patch)).await.0, 200);
    let status = json!({"status": {"ready": true}});
    let path = format!("{one}/status");
    assert_eq!(call(&cluster, "PATCH", &path, Some(status)).await.0, 200);
    let apply = |name: &str| {
        let mut body = widget(name);
        body["spec"]["size"] = json!(3);
        body.to_string().into_bytes()
    };
    for (name, code) in [("a", 200), ("b", 201)] {
        let path = format!("{WIDGETS}/{name}?fieldManager=applier&force=true");
        let media_type = "application/apply-patch+yaml";
        let (status, _) = raw(&cluster, "PATCH", &path, media_type, apply(name)).await;
        assert_eq!(status, code);
    }
    let mut unnamed = widget("");
    unnamed["metadata"] = json!({"generateName": "w-"});
    let (_, generated) = call(&cluster, "POST", WIDGETS, Some(unnamed)).await;
    let generated = generated["metadata"]["name"].as_str().unwrap();
    let options = json!({"propagationPolicy": "Background", "preconditions": {"uid": created["metadata"]["uid"]}});
    assert_eq!(
        call(&cluster, "DELETE", &one, Some(options.clone()))
            .await
            .0,
        200
    );
    // Reads are not reviewed.
    call(&cluster, "GET", WIDGETS, None).await;

    let mut deleted = options;
    deleted["kind"] = json!("DeleteOptions");
    let create = json!({"kind": "CreateOptions"});
    let update = json!({"kind": "UpdateOptions"});
    let expected = [
        line(
            "CREATE",
            "",
            "a",
            json!({"kind": "CreateOptions", "fieldManager": "m", "fieldValidation": "Strict"}),
        ),
        line("UPDATE", "", "a", update.clone()),
        line("UPDATE", "", "a", update.clone()),
        line("UPDATE", "status", "a", update),
        line(
            "UPDATE",
            "",
            "a",
            json!({"kind": "UpdateOptions", "fieldManager": "applier"}),
        ),
        line(
            "CREATE",
            "",
            "b",
            json!({"kind": "CreateOptions", "fieldManager": "applier"}),
        ),
        line("CREATE", "", generated, create),
        line("DELETE", "", "a", deleted),
    ];
    let calls = webhooks.calls();
    assert_eq!(reviews(&calls), expected);
    let states = |index: usize| {
        let request = &calls[index].request;
        (request["oldObject"].clone(), request["object"].clone())
    };
    assert_eq!(states(0).0, Value::Null);
    assert_eq!(states(1).0, created);
    assert_eq!(states(1).1["spec"]["colour"], "blue");
    assert_eq!(
        states(2).0["metadata"]["resourceVersion"],
        states(2).1["metadata"]["resourceVersion"]
    );
    assert_eq!(states(3).1["status"], json!({"ready": true}));
    assert_eq!(states(4).1["spec"]["size"], 3);
    assert_eq!(states(7).1, Value::Null);
    assert_eq!(states(7).0["spec"]["size"], 3);
    for call in &calls {
        assert_eq!(call.at("/namespace"), "default");
        assert_eq!(call.request["dryRun"], false);
        assert_eq!(call.at("/userInfo/username"), "system:admin");
    }
}

#[tokio::test]
async fn a_rule_for_the_object_does_not_match_its_status() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.allow()).await;
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    webhooks.validate(&cluster, "/main", json!({})).await;
    let rule = json!({
        "operations": ["UPDATE"], "apiGroups": ["*"], "apiVersions": ["*"],
        "resources": ["widgets/status"],
    });
    let status_only = json!({"rules": [rule]});
    webhooks.mutate(&cluster, "/status", status_only).await;
    let one = format!("{WIDGETS}/a");
    let status = json!({"status": {"ready": true}});
    let path = format!("{one}/status");
    call(&cluster, "PATCH", &path, Some(status)).await;
    let main = json!({"spec": {"size": 2}});
    call(&cluster, "PATCH", &one, Some(main)).await;
    let paths: Vec<String> = webhooks.calls().iter().map(|c| c.path.clone()).collect();
    assert_eq!(paths, ["/status", "/main"]);
}

#[tokio::test]
async fn a_dry_run_is_reviewed_and_stores_nothing() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| match call.path.as_str() {
        "/m" if call.at("/operation") == "CREATE" => {
            call.patch(json!([{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]))
        }
        "/v" if call.at("/object/metadata/name") == "bad" => call.deny(json!({})),
        _ => call.allow(),
    })
    .await;
    webhooks.mutate(&cluster, "/m", json!({})).await;
    let quiet = json!({"sideEffects": "NoneOnDryRun"});
    webhooks.validate(&cluster, "/v", quiet).await;
    let path = format!("{WIDGETS}?dryRun=All");
    let (status, shown) = call(&cluster, "POST", &path, Some(widget("a"))).await;
    assert_eq!(
        (status.as_u16(), &shown["metadata"]["labels"]),
        (201, &json!({"a": "b"}))
    );
    assert_eq!(
        call(&cluster, "POST", &path, Some(widget("bad"))).await.0,
        400
    );
    let one = format!("{WIDGETS}/a");
    assert_eq!(call(&cluster, "GET", &one, None).await.0, 404);
    call(&cluster, "POST", WIDGETS, Some(widget("a"))).await;
    webhooks.take();
    let dry = format!("{one}?dryRun=All");
    assert_eq!(call(&cluster, "DELETE", &dry, None).await.0, 200);
    let patch = json!({"spec": {"size": 9}});
    let (_, patched) = call(&cluster, "PATCH", &dry, Some(patch)).await;
    assert_eq!(patched["spec"]["size"], 9);
    let calls = webhooks.calls();
    assert_eq!(calls.len(), 4);
    for call in calls {
        assert_eq!(call.request["dryRun"], true);
        assert_eq!(call.request["options"]["dryRun"], json!(["All"]));
    }
    let (_, still) = call(&cluster, "GET", &one, None).await;
    assert_eq!(still["spec"]["size"], 1);
}

#[tokio::test]
async fn selectors_match_namespaces_and_objects() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.deny(json!({}))).await;
    for (name, labels) in [("on", json!({"review": "yes"})), ("off", json!({}))] {
        let namespace = json!({"metadata": {"name": name, "labels": labels}});
        call(&cluster, "POST", "/api/v1/namespaces", Some(namespace)).await;
    }
    let selectors = json!({
        "namespaceSelector": {"matchLabels": {"review": "yes"}},
        "objectSelector": {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold"]}]},
    });
    webhooks.validate(&cluster, "/v", selectors).await;
    let create = |namespace: &str, name: &str, tier: &str| {
        let mut body = widget(name);
        body["metadata"]["labels"] = json!({"tier": tier});
        let path = format!("/apis/example.com/v1/namespaces/{namespace}/widgets");
        let cluster = &cluster;
        async move { call(cluster, "POST", &path, Some(body)).await.0.as_u16() }
    };
    assert_eq!(create("on", "a", "gold").await, 400);
    assert_eq!(create("on", "a", "iron").await, 201);
    assert_eq!(create("off", "a", "gold").await, 201);
    // The object before or after the write matches.
    let one = "/apis/example.com/v1/namespaces/on/widgets/a";
    let label = |tier: &str| json!({"metadata": {"labels": {"tier": tier}}});
    assert_eq!(
        call(&cluster, "PATCH", one, Some(label("gold"))).await.0,
        400
    );
    assert_eq!(
        call(&cluster, "PATCH", one, Some(label("tin"))).await.0,
        200
    );
    assert_eq!(call(&cluster, "DELETE", one, None).await.0, 200);
}

#[tokio::test]
async fn a_namespace_is_matched_by_its_own_labels() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.deny(json!({}))).await;
    let rule = json!({
        "operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["namespaces"],
        "scope": "Cluster",
    });
    let change = json!({"rules": [rule], "namespaceSelector": {"matchLabels": {"review": "yes"}}});
    webhooks.validate(&cluster, "/v", change).await;
    let create = |name: &str, labels: Value| {
        let body = json!({"metadata": {"name": name, "labels": labels}});
        let cluster = &cluster;
        async move {
            let path = "/api/v1/namespaces";
            call(cluster, "POST", path, Some(body)).await.0.as_u16()
        }
    };
    assert_eq!(create("a", json!({"review": "yes"})).await, 400);
    assert_eq!(create("a", json!({})).await, 201);
    let path = "/api/v1/namespaces/a";
    let label = json!({"metadata": {"labels": {"review": "yes"}}});
    assert_eq!(call(&cluster, "PATCH", path, Some(label)).await.0, 400);
    assert_eq!(call(&cluster, "DELETE", path, None).await.0, 200);
    assert_eq!(webhooks.calls()[0].at("/namespace"), "a");
}

#[tokio::test]
async fn an_equivalent_kind_is_reviewed_in_the_version_of_the_rule() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| {
        call.patch(json!([{"op": "replace", "path": "/note", "value": "changed"}]))
    })
    .await;
    let rule = json!({
        "operations": ["CREATE"], "apiGroups": ["events.k8s.io"], "apiVersions": ["v1"],
        "resources": ["events"],
    });
    let rules = json!({"rules": [rule]});
    webhooks.mutate(&cluster, "/m", rules.clone()).await;
    let mut exact = rules;
    exact["matchPolicy"] = json!("Exact");
    webhooks.validate(&cluster, "/exact", exact).await;
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"},
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "message": "first", "reason": "R", "type": "Normal",
    });
    let path = "/api/v1/namespaces/default/events";
    let (status, created) = call(&cluster, "POST", path, Some(event)).await;
    assert_eq!(
        (status.as_u16(), &created["message"]),
        (201, &json!("changed"))
    );
    let calls = webhooks.calls();
    assert_eq!(calls.len(), 1);
    let request = &calls[0].request;
    assert_eq!(request["object"]["note"], "first");
    assert_eq!(request["object"]["apiVersion"], "events.k8s.io/v1");
    assert_eq!(request["resource"]["group"], "events.k8s.io");
    assert_eq!(request["requestResource"]["group"], "");
}

#[tokio::test]
async fn webhook_configurations_are_not_reviewed() {
    let cluster = cluster(quick()).await;
    let webhooks = Webhooks::start(|call| call.deny(json!({}))).await;
    webhooks.validate(&cluster, "/v", all()).await;
    webhooks.mutate(&cluster, "/m", all()).await;
    let pods = "/api/v1/namespaces/default/configmaps";
    let map = json!({"metadata": {"name": "m"}});
    assert_eq!(call(&cluster, "POST", pods, Some(map.clone())).await.0, 400);
    webhooks.take();
    for (which, name) in [("Validating", "validate"), ("Mutating", "mutate")] {
        let path = format!("{}/{name}", crate::webhook::configurations(which));
        assert_eq!(call(&cluster, "DELETE", &path, None).await.0, 200);
    }
    assert!(webhooks.calls().is_empty());
    assert_eq!(call(&cluster, "POST", pods, Some(map)).await.0, 201);
}
