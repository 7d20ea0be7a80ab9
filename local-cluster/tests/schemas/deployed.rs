//! The definitions that this project deploys: each rule refuses what it should.

use http::StatusCode;
use local_cluster::LocalCluster;
use serde_json::{Value, json};

use super::{CRDS, served};
use crate::fixture::{call, quick, raw};

const GROUP: &str = "/apis/lbcf.tkestack.io";

async fn cluster() -> LocalCluster {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/crds");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        // It names the others, for kubectl.
        if path.ends_with("kustomization.yaml") {
            continue;
        }
        let text = std::fs::read(path).unwrap();
        let (status, made) = raw(&cluster, "POST", CRDS, "application/yaml", text).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        let plural = made["spec"]["names"]["plural"].as_str().unwrap();
        let version = made["spec"]["versions"][0]["name"].as_str().unwrap();
        let path = format!("{GROUP}/{version}/namespaces/default/{plural}");
        served(&cluster, &path).await;
        count += 1;
    }
    assert!(count > 0);
    cluster
}

/// The messages of refused creates, and of refused updates of an object created from `good`.
struct Case {
    kind: &'static str,
    version: &'static str,
    good: Value,
    /// A merge patch and the expected message.
    bad: Vec<(Value, &'static str)>,
    /// Merge patches that must be accepted.
    fine: Vec<Value>,
    /// Whether the rules are transition rules.
    update: bool,
}

async fn check(cluster: &LocalCluster, case: Case) {
    let plural = format!("{}s", case.kind.to_lowercase());
    let path = format!("{GROUP}/{}/namespaces/default/{plural}", case.version);
    let object = |name: &str, spec: &Value| json!({"apiVersion": format!("lbcf.tkestack.io/{}", case.version), "kind": case.kind, "metadata": {"name": name}, "spec": spec});
    let name = if case.update { "changes" } else { "news" };
    let mut good = object(name, &case.good);
    if let Some(meta) = case.good.get("metadata") {
        good = object(name, &case.good["spec"]);
        good["metadata"] = meta.clone();
    }
    let (status, made) = call(cluster, "POST", &path, Some(good.clone())).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    let one = format!("{path}/{}", made["metadata"]["name"].as_str().unwrap());
    for (patch, message) in case.bad {
        let (status, refused) = if case.update {
            call(cluster, "PATCH", &one, Some(patch.clone())).await
        } else {
            let mut bad = good.clone();
            json_patch::merge(&mut bad, &patch);
            call(cluster, "POST", &path, Some(bad)).await
        };
        assert_eq!(
            status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{patch}: {refused}"
        );
        let body = refused["message"].as_str().unwrap();
        assert!(body.contains(message), "{patch}: {body}");
    }
    for patch in case.fine {
        let (status, body) = call(cluster, "PATCH", &one, Some(patch.clone())).await;
        assert_eq!(status, StatusCode::OK, "{patch}: {body}");
    }
}

#[tokio::test]
async fn every_rule_refuses_invalid_objects() {
    let cluster = cluster().await;
    let group = json!({"lbName": "a", "pods": {"byLabel": {"selector": {"app": "a"}}, "ports": [{"port": 80}]}});
    let service = json!({"name": "s", "port": {"port": 80}});
    let webhook = "spec: Invalid value: deregisterWebhook is required with deregisterPolicy Webhook; it names a LoadBalancerDriver";
    let label = "pods.byLabel: Invalid value: selector is required; labels belong into it, as in byLabel: {selector: {app: my-web-server}}";
    let one = "spec: Invalid value: only one of pods, service and static can be set";
    check(&cluster, Case {
        kind: "BackendGroup", version: "v1beta1", good: group, update: false,
        bad: vec![
            (json!({"spec": {"pods": {"byLabel": {"selector": null}}}}), label),
            (json!({"spec": {"pods": {"byLabel": {"selector": null, "app": "a"}}}}), label),
            (json!({"spec": {"service": service}}), one),
            (json!({"spec": {"static": ["1.2.3.4"]}}), one),
            (json!({"spec": {"pods": null, "service": service, "static": ["1.2.3.4"]}}), one),
            (json!({"spec": {"deregisterPolicy": "Webhook"}}), webhook),
            (json!({"spec": {"deregisterPolicy": "Sometimes"}}), "spec.deregisterPolicy: Unsupported value: \"Sometimes\""),
        ],
        fine: vec![
            json!({"spec": {"static": []}}),
            json!({"spec": {"deregisterPolicy": "Webhook", "deregisterWebhook": {"driverName": "d"}}}),
            json!({"spec": {"parameters": {"weight": 5, "mode": "x"}}}),
        ],
    }).await;
    let bind = json!({"loadBalancers": [{"name": "l", "driver": "d", "spec": {"id": "x"}}],
        "pods": {"byLabel": {"selector": {"app": "a"}}, "ports": [{"port": 80}]}});
    check(&cluster, Case {
        kind: "Bind", version: "v1", good: bind, update: false,
        bad: vec![
            (json!({"spec": {"pods": {"byLabel": {"selector": null}}}}), label),
            (json!({"spec": {"deregisterPolicy": "Webhook"}}), webhook),
            (json!({"spec": {"loadBalancers": [{"name": "l", "driver": "d", "spec": {"id": true}}]}}), "spec.loadBalancers[0].spec.id: Invalid value: \"boolean\": spec.loadBalancers[0].spec.id in body must be of type integer,string: \"boolean\""),
        ],
        fine: vec![json!({"spec": {"deregisterPolicy": "IfNotRunning"}})],
    }).await;
    check(
        &cluster,
        Case {
            kind: "LoadBalancerDriver",
            version: "v1beta1",
            good: json!({"driverType": "Webhook", "url": "http://a"}),
            update: false,
            bad: vec![(
                json!({"spec": {"driverType": "Plugin"}}),
                "spec: Invalid value: driverType must be Webhook",
            )],
            fine: vec![json!({"spec": {"acceptDryRunCall": true}})],
        },
    )
    .await;
    let scope = "Invalid value: spec.scope is only allowed where the name starts with \"lbcf-\"";
    check(
        &cluster,
        Case {
            kind: "LoadBalancer",
            version: "v1beta1",
            good: json!({"lbDriver": "d", "lbSpec": {"id": "x", "n": 1}}),
            update: false,
            bad: vec![(json!({"spec": {"scope": ["*"]}}), scope)],
            fine: vec![
                json!({"spec": {"scope": []}}),
                json!({"spec": {"attributes": {"a": "b"}}}),
            ],
        },
    )
    .await;
    let scoped = json!({"metadata": {"name": "lbcf-x"}, "spec": {"lbDriver": "d", "lbSpec": {}, "scope": ["*"]}});
    check(
        &cluster,
        Case {
            kind: "LoadBalancer",
            version: "v1beta1",
            good: scoped,
            update: true,
            bad: vec![],
            fine: vec![],
        },
    )
    .await;
}

#[tokio::test]
async fn transition_rules_refuse_changes() {
    let cluster = cluster().await;
    let kind = |kind: &str| -> &'static str {
        match kind {
            "pods" => {
                "spec: Invalid value: the type of backends cannot be changed from pods; create a new BackendGroup"
            }
            "service" => {
                "spec: Invalid value: the type of backends cannot be changed from service; create a new BackendGroup"
            }
            _ => {
                "spec: Invalid value: the type of backends cannot be changed from static; create a new BackendGroup"
            }
        }
    };
    let service = json!({"name": "s", "port": {"port": 80}});
    let pods = json!({"byName": ["p"], "ports": [{"port": 80}]});
    for (good, bad) in [
        (
            json!({"lbName": "a", "pods": pods}),
            (
                json!({"spec": {"pods": null, "service": service}}),
                kind("pods"),
            ),
        ),
        (
            json!({"lbName": "a", "service": service}),
            (
                json!({"spec": {"service": null, "pods": pods}}),
                kind("service"),
            ),
        ),
        (
            json!({"lbName": "a", "static": ["1.2.3.4"]}),
            (
                json!({"spec": {"static": null, "pods": pods}}),
                kind("static"),
            ),
        ),
    ] {
        let cluster = crate::schemas::deployed::cluster().await;
        check(
            &cluster,
            Case {
                kind: "BackendGroup",
                version: "v1beta1",
                good,
                update: true,
                bad: vec![bad],
                fine: vec![json!({"spec": {"lbName": "b"}})],
            },
        )
        .await;
    }
    check(
        &cluster,
        Case {
            kind: "LoadBalancerDriver",
            version: "v1beta1",
            good: json!({"driverType": "Webhook", "url": "http://a"}),
            update: true,
            bad: vec![(
                json!({"spec": {"url": "http://b"}}),
                "spec: Invalid value: url is immutable; webhooks, acceptDryRunCall and serviceClass can be changed",
            )],
            fine: vec![json!({"spec": {"webhooks": [{"name": "ensureBackend", "timeout": "5s"}]}})],
        },
    )
    .await;
    check(&cluster, Case {
        kind: "LoadBalancer", version: "v1beta1", good: json!({"lbDriver": "d", "lbSpec": {"id": "x", "n": 1}}), update: true,
        bad: vec![
            (json!({"spec": {"lbDriver": "e"}}), "spec: Invalid value: lbDriver is immutable; attributes, ensurePolicy and scope can be changed"),
            (json!({"spec": {"lbSpec": {"id": "y"}}}), "spec: Invalid value: lbSpec is immutable; attributes, ensurePolicy and scope can be changed"),
            (json!({"spec": {"lbSpec": {"n": "1"}}}), "lbSpec is immutable"),
            (json!({"spec": {"lbSpec": {"more": "1"}}}), "lbSpec is immutable"),
        ],
        fine: vec![json!({"spec": {"attributes": {"a": 1}}})],
    }).await;
}
