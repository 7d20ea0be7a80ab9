use super::*;
use crate::admission::tests::fixture::{group, with};
use crate::api::BackendGroupSpec;
use lbcf_driver_sdk::webhook::BackendType;
use serde_json::json;

fn check(new: &Value, old: Option<&Value>) -> Vec<String> {
    let new = spec(Kind::BackendGroup, new);
    let old = old.map(|old| spec(Kind::BackendGroup, old));
    let errors = validate_backend_group(&new, old.as_ref());
    texts(&errors)
}

fn with_spec<const N: usize>(changes: [(&str, Value); N]) -> Value {
    let mut object = group();
    for (field, value) in changes {
        object = with(object, [(&format!("/spec/{field}"), value)]);
    }
    object
}

fn with_backends(kind: &str, backends: Value) -> Value {
    with_spec([("pods", Value::Null), (kind, backends)])
}

fn service() -> Value {
    json!({"name": "s", "port": {"port": 80}})
}

#[test]
fn b79_a_group_names_load_balancers() {
    assert_eq!(check(&group(), None), [""; 0]);
    for nothing in [json!(null), json!([])] {
        let object = with_spec([("loadBalancers", nothing)]);
        assert_refused(
            &check(&object, None),
            "spec.loadBalancers",
            &["my-load-balancer"],
        );
    }
    let legacy = with_spec([("loadBalancers", Value::Null), ("lbName", json!("lb"))]);
    assert_eq!(check(&legacy, None), [""; 0]);
    let bad = with_spec([("loadBalancers", json!(["ok", "../x"]))]);
    assert_refused(
        &check(&bad, None),
        "spec.loadBalancers[1]",
        &["../x", "a-z"],
    );
}

#[test]
fn b21_u26_exactly_one_kind_of_backends() {
    for (kind, backends) in [("service", service()), ("static", json!(["1.1.1.1:80"]))] {
        assert_eq!(
            check(&with_backends(kind, backends.clone()), None),
            [""; 0],
            "{kind}"
        );
        let two = with_spec([(kind, backends)]);
        assert_refused(&check(&two, None), "spec", &["pods", kind, "only one"]);
    }
    for nothing in [json!(null), json!([])] {
        let none = with_backends("static", nothing);
        assert_refused(
            &check(&none, None),
            "spec",
            &["is required", "pods, service and static"],
        );
    }
}

#[test]
fn b80_a_services_port_and_nodes() {
    for (change, field, says) in [
        (
            json!({"name": "", "port": {"port": 80}}),
            "spec.service.name",
            &["\"\""][..],
        ),
        (
            json!({"name": "s", "port": {"port": 65536}}),
            "spec.service.port.port",
            &["65536", "65535"],
        ),
        (
            json!({"name": "s", "port": {"port": -1}}),
            "spec.service.port.port",
            &["1 to 65535"],
        ),
        (
            json!({"name": "s", "port": {}}),
            "spec.service.port.port",
            &["required", "65535"],
        ),
        (
            json!({"name": "s", "port": {"port": 80, "protocol": "tcp"}}),
            "spec.service.port.protocol",
            &["\"tcp\"", "TCP or UDP"],
        ),
        (
            json!({"name": "s", "port": {"port": 80, "protocol": "SCTP"}}),
            "spec.service.port.protocol",
            &["\"SCTP\""],
        ),
        (
            json!({"name": "s", "port": {"port": 80}, "nodeSelector": {"a b": "c"}}),
            "spec.service.nodeSelector",
            &["a b", "key"],
        ),
        (
            json!({"name": "s", "port": {"port": 80}, "nodeSelector": {"a": "c d"}}),
            "spec.service.nodeSelector[a]",
            &["c d", "value"],
        ),
    ] {
        assert_refused(&check(&with_backends("service", change), None), field, says);
    }
    let all = json!({"name": "s", "port": {"portNumber": 80}, "nodeSelector": {"zone/a": ""}});
    assert_eq!(check(&with_backends("service", all), None), [""; 0]);
}

#[test]
fn d60_d63_d65_what_is_registered_of_a_service() {
    let service = |changes: Value| {
        let mut service = service();
        let fields = changes.as_object().unwrap().clone();
        service.as_object_mut().unwrap().extend(fields);
        with_backends("service", service)
    };
    for (changes, field, says) in [
        (
            json!({"port": {"name": "Http"}}),
            "spec.service.port.name",
            &["\"Http\"", "a-z"][..],
        ),
        (
            json!({"port": {"name": "http", "port": 80}}),
            "spec.service.port",
            &["only alone"],
        ),
        (
            json!({"port": {"name": "http", "protocol": "TCP"}}),
            "spec.service.port",
            &["only alone"],
        ),
        (
            json!({"addressFamilies": ["IPv6"]}),
            "spec.service.addressFamilies",
            &["mode Endpoints"],
        ),
        (
            json!({"zones": ["a"]}),
            "spec.service.zones",
            &["mode Endpoints"],
        ),
        (
            json!({"mode": "Endpoints", "zones": ["a", ""]}),
            "spec.service.zones[1]",
            &["\"\"", "name of a zone"],
        ),
        (
            json!({"mode": "Endpoints", "nodeSelector": {"a": "b"}}),
            "spec.service.nodeSelector",
            &["mode NodePort"],
        ),
        (
            json!({"mode": "Endpoints", "port": {"port": 80, "protocol": "sctp"}}),
            "spec.service.port.protocol",
            &["\"sctp\"", "TCP, UDP or SCTP"],
        ),
    ] {
        assert_refused(&check(&service(changes), None), field, says);
    }
    for good in [
        json!({"mode": "NodePort", "nodeSelector": {"a": "b"}}),
        json!({"port": {"name": "http"}}),
        json!({"mode": "Endpoints", "port": {"name": "", "port": 80, "protocol": "SCTP"},
            "addressFamilies": ["IPv4", "IPv6", "FQDN"], "zones": ["zone-a"]}),
        json!({"mode": null, "addressFamilies": null, "zones": null}),
    ] {
        let good = service(good);
        assert_eq!(check(&good, None), [""; 0], "{good}");
        // The mode may change: the records are replaced.
        let other = service(json!({"mode": "Endpoints"}));
        assert_eq!(check(&good, Some(&other)), [""; 0], "{good}");
    }
    let unknown = service(json!({"mode": "Pods"}));
    let error = Spec::<BackendGroupSpec>::read(Kind::BackendGroup, &unknown).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("spec.service.mode: unknown variant `Pods`"),
        "{error}"
    );
}

#[test]
fn d66_endpoints_are_validated_as_pods_are() {
    let on_the_wire = |mode: &str| {
        let mut service = service();
        service["mode"] = json!(mode);
        let object = with_backends("service", service);
        let group = spec::<BackendGroupSpec>(Kind::BackendGroup, &object).read;
        backend_type_on_the_wire(group.pods.as_ref(), group.service.as_ref())
    };
    assert_eq!(on_the_wire("Endpoints"), Some(BackendType::Pod));
    assert_eq!(on_the_wire("NodePort"), Some(BackendType::Service));
}

#[test]
fn b80_b81_d21_which_pods_and_ports() {
    let ports = json!([{"port": 80}]);
    let by_label = json!({"selector": {"app": "web"}});
    for (pods, field, says) in [
        (
            json!({"byLabel": by_label}),
            "spec.pods.ports",
            &["port: 80"][..],
        ),
        (
            json!({"ports": [], "byLabel": by_label}),
            "spec.pods.ports",
            &["port: 80"],
        ),
        (
            json!({"ports": [{"port": 80}, {"port": 0}], "byLabel": by_label}),
            "spec.pods.ports[1].port",
            &["0", "65535"],
        ),
        (
            json!({"ports": [{}], "byLabel": by_label}),
            "spec.pods.ports[0].port",
            &["required"],
        ),
        (
            json!({"port": {"port": 70000}, "byLabel": by_label}),
            "spec.pods.ports[0].port",
            &["70000"],
        ),
        (
            json!({"ports": ports}),
            "spec.pods",
            &["is required", "byLabel: {selector:", "byName: ["],
        ),
        (
            json!({"ports": ports, "byName": []}),
            "spec.pods",
            &["is required"],
        ),
        (
            json!({"ports": ports, "byName": ["a"], "byLabel": by_label}),
            "spec.pods.byName",
            &["\"a\"", "not both"],
        ),
        (
            json!({"ports": ports, "byName": ["a", ""]}),
            "spec.pods.byName[1]",
            &["\"\""],
        ),
        (
            json!({"ports": ports, "byLabel": {}}),
            "spec.pods.byLabel.selector",
            &["byLabel: {selector: {app: my-web-server}}"],
        ),
        (
            json!({"ports": ports, "byLabel": {"selector": null}}),
            "spec.pods.byLabel.selector",
            &["at least one label"],
        ),
        (
            json!({"ports": ports, "byLabel": {"selector": {"app": "a/b"}}}),
            "spec.pods.byLabel.selector[app]",
            &["a/b"],
        ),
        // The documents' second example: labels beside `except`.
        (
            json!({"ports": ports, "byLabel": {"app": "my-web-server", "except": ["my-pod-3"]}}),
            "spec.pods.byLabel",
            &["[\"app\"]", "byLabel: {selector: {app: my-web-server}}"],
        ),
        (
            json!({"ports": ports, "byLabel": {"selector": {"a": "b"}, "expect": ["x"]}}),
            "spec.pods.byLabel",
            &["expect", "except"],
        ),
    ] {
        assert_refused(&check(&with_spec([("pods", pods)]), None), field, says);
    }
    for good in [
        json!({"ports": ports, "byLabel": {"selector": {"app": "web"}, "except": ["a"]}}),
        json!({"port": {"portNumber": 80}, "byName": ["a"]}),
        json!({"ports": [{"port": 80}, {"port": 80, "protocol": "UDP"}], "byName": ["a"], "byLabel": null}),
    ] {
        assert_eq!(check(&with_spec([("pods", good)]), None), [""; 0]);
    }
}

#[test]
fn b26_static_addresses_are_not_empty() {
    let object = with_backends("static", json!(["a", " "]));
    assert_refused(&check(&object, None), "spec.static[1]", &["\" \""]);
}

#[test]
fn b28_b79_the_policy_webhook_needs_a_webhook() {
    for (policy, webhook, refused) in [
        (json!("Webhook"), json!({"driverName": "d"}), None),
        (
            json!("Webhook"),
            json!({"driverName": "d", "failurePolicy": "IfNotRunning"}),
            None,
        ),
        (
            json!("Webhook"),
            json!(null),
            Some("spec.deregisterWebhook"),
        ),
        (
            json!("Webhook"),
            json!({"driverName": ""}),
            Some("spec.deregisterWebhook.driverName"),
        ),
        (json!("IfNotRunning"), json!(null), None),
        (json!(null), json!(null), None),
        // It has no effect then, and was always let pass.
        (json!("IfNotReady"), json!({"driverName": ""}), None),
    ] {
        let object = with_spec([("deregisterPolicy", policy), ("deregisterWebhook", webhook)]);
        match refused {
            None => assert_eq!(check(&object, None), [""; 0], "{object}"),
            Some(field) => assert_refused(&check(&object, None), field, &[]),
        }
    }
}

#[test]
fn b73_b79_a_groups_ensure_policy() {
    let object = with_spec([(
        "ensurePolicy",
        json!({"policy": "Always", "minPeriod": "10s"}),
    )]);
    assert_refused(
        &check(&object, None),
        "spec.ensurePolicy.minPeriod",
        &["10s", "30s"],
    );
}

#[test]
fn b82_the_kind_of_backends_stays() {
    let kinds = [
        ("pods", group()),
        ("service", with_backends("service", service())),
        ("static", with_backends("static", json!(["a"]))),
        ("none", with_spec([("pods", Value::Null)])),
    ];
    for (old_name, old) in &kinds {
        for (name, new) in &kinds {
            let errors = check(new, Some(old));
            // The original's groups without backends may get some, and a list may become empty.
            let is_good =
                old_name == name || *old_name == "none" || (*old_name, *name) == ("static", "none");
            if is_good {
                assert_eq!(errors, [""; 0], "{old_name} -> {name}");
            } else {
                assert_refused(&errors, "spec", &[old_name, name, "cannot be changed"]);
            }
        }
    }
}

#[test]
fn b82_everything_else_may_change() {
    let new = with_spec([
        ("loadBalancers", json!(["other"])),
        ("pods", json!({"ports": [{"port": 81}], "byName": ["a"]})),
        ("parameters", json!({"weight": "1"})),
        ("ensurePolicy", json!({"policy": "Always"})),
        ("deregisterPolicy", json!("IfNotRunning")),
    ]);
    assert_eq!(check(&new, Some(&group())), [""; 0]);
}

#[test]
fn the_last_pods_name_can_be_taken_away() {
    let pods =
        |names: Value| with_spec([("pods", json!({"ports": [{"port": 80}], "byName": names}))]);
    let (some, none) = (pods(json!(["a"])), pods(json!([])));
    assert_eq!(check(&none, Some(&some)), [""; 0]);
    assert_eq!(check(&some, Some(&none)), [""; 0]);
    assert_refused(&check(&none, Some(&group())), "spec.pods", &["is required"]);
}

#[test]
fn what_the_original_let_pass_does_not_keep_parameters_from_changing() {
    let old = with_spec([
        (
            "pods",
            json!({"ports": [{"port": 80}], "byLabel": {"selector": {"a": "b"}, "app": "stray"}}),
        ),
        ("loadBalancers", json!(["A b"])),
    ]);
    let new = with(old.clone(), [("/spec/parameters", json!({"weight": "1"}))]);
    assert_eq!(check(&new, Some(&old)), [""; 0]);
    let worse = with(
        new,
        [(
            "/spec/ensurePolicy",
            json!({"policy": "IfNotSucc", "minPeriod": "1m"}),
        )],
    );
    assert_refused(
        &check(&worse, Some(&old)),
        "spec.ensurePolicy.minPeriod",
        &[],
    );
}
