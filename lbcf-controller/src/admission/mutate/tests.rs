use super::*;
use crate::admission::tests::fixture::{bind, driver, group, load_balancer, with};

/// What is stored; a second run must have nothing to change.
fn mutated(kind: Kind, operation: Operation, object: &Value, old: Option<&Value>) -> Value {
    let mut after = object.clone();
    let first = patch(kind, operation, object, old);
    json_patch::patch(&mut after, &first).unwrap();
    let again = patch(kind, operation, &after, old);
    assert!(again.0.is_empty(), "{again:?}");
    after
}

fn created(kind: Kind, object: &Value) -> Value {
    mutated(kind, Operation::Create, object, None)
}

fn with_spec(spec: Value) -> Value {
    json!({"metadata": {"name": "x", "namespace": "ns"}, "spec": spec})
}

fn group_with(spec: Value) -> Value {
    created(Kind::BackendGroup, &with_spec(spec))["spec"].take()
}

#[test]
fn b71_each_webhook_of_a_driver_gets_its_timeout() {
    let known = [
        "healthz",
        "validateLoadBalancer",
        "createLoadBalancer",
        "ensureLoadBalancer",
        "deleteLoadBalancer",
        "validateBackend",
        "generateBackendAddr",
        "ensureBackend",
        "deregisterBackend",
    ];
    for nothing in [json!(null), json!([])] {
        let with_nothing = with(driver("lbcf-d"), [("/spec/webhooks", nothing)]);
        let webhooks = created(Kind::Driver, &with_nothing)["spec"]["webhooks"].take();
        let expected: Vec<_> = known
            .iter()
            .map(|name| json!({"name": name, "timeout": "10s"}))
            .collect();
        assert_eq!(webhooks, json!(expected));
    }
    let named = json!([{"name": "ensureBackend", "timeout": "1m"}, {"name": "healthz"}]);
    let webhooks = created(
        Kind::Driver,
        &with(driver("d"), [("/spec/webhooks", named)]),
    )["spec"]["webhooks"]
        .take();
    assert_eq!(webhooks.as_array().unwrap().len(), known.len());
    assert_eq!(
        webhooks[0],
        json!({"name": "ensureBackend", "timeout": "1m"})
    );
    assert_eq!(webhooks[1], json!({"name": "healthz", "timeout": "10s"}));
}

#[test]
fn b77_b99_u33_the_finalizer_is_added_once_and_on_creation_only() {
    let finalizer = "lbcf.tkestack.io/delete-load-loadbalancer";
    for (kind, object) in [
        (Kind::LoadBalancer, load_balancer("lb")),
        (Kind::Bind, bind()),
    ] {
        let after = created(kind, &object);
        assert_eq!(after["metadata"]["finalizers"], json!([finalizer]));
        for (before, expected) in [
            (json!(["other"]), json!(["other", finalizer])),
            (json!([finalizer]), json!([finalizer])),
            (json!([]), json!([finalizer])),
        ] {
            let object = with(object.clone(), [("/metadata/finalizers", before)]);
            assert_eq!(created(kind, &object)["metadata"]["finalizers"], expected);
        }
        let updated = mutated(kind, Operation::Update, &object, Some(&object));
        assert!(updated["metadata"].get("finalizers").is_none());
    }
    assert!(
        created(Kind::BackendGroup, &group())["metadata"]
            .get("finalizers")
            .is_none()
    );
}

#[test]
fn b87_b88_a_group_is_labelled_with_its_load_balancers() {
    let object = with(
        with_spec(json!({"loadBalancers": ["a", "b"], "lbName": "c"})),
        [(
            "/metadata/labels",
            json!({"mine": "x", "lbcf.tkestack.io/lb-name": "old", "name.lb.lbcf.tkestack.io/gone": "True"}),
        )],
    );
    assert_eq!(
        created(Kind::BackendGroup, &object)["metadata"]["labels"],
        json!({
            "mine": "x",
            "lbcf.tkestack.io/lb-name": "a",
            "name.lb.lbcf.tkestack.io/a": "True",
            "name.lb.lbcf.tkestack.io/b": "True",
            "name.lb.lbcf.tkestack.io/c": "True",
            // Never taken away.
            "name.lb.lbcf.tkestack.io/gone": "True",
        })
    );
    let legacy = created(Kind::BackendGroup, &with_spec(json!({"lbName": "c"})));
    assert_eq!(
        legacy["metadata"]["labels"],
        json!({"lbcf.tkestack.io/lb-name": "c", "name.lb.lbcf.tkestack.io/c": "True"})
    );
}

#[test]
fn u22_d26_long_names_make_labels_that_kubernetes_takes() {
    let long = format!("{}.{}", "a".repeat(60), "b".repeat(60));
    let after = created(
        Kind::BackendGroup,
        &with_spec(json!({"loadBalancers": [long]})),
    );
    let labels = after["metadata"]["labels"].as_object().unwrap();
    assert_eq!(labels.len(), 2);
    for (key, value) in labels {
        let name = key.rsplit('/').next().unwrap();
        assert!(
            name.len() <= 63 && value.as_str().unwrap().len() <= 63,
            "{key}: {value}"
        );
        assert!(syntax::is_object_name(name), "{key}");
    }
    // The spec keeps the name, and what is no name gets no label.
    assert_eq!(after["spec"]["loadBalancers"], json!([long]));
    let none = created(
        Kind::BackendGroup,
        &with_spec(json!({"loadBalancers": ["A b", 7, ""]})),
    );
    assert!(none["metadata"].get("labels").is_none());
}

#[test]
fn b89_lb_name_moves_into_the_list() {
    for (spec, expected) in [
        (json!({"lbName": "a"}), json!(["a"])),
        (json!({"lbName": "a", "loadBalancers": null}), json!(["a"])),
        (
            json!({"lbName": "a", "loadBalancers": ["b"]}),
            json!(["b", "a"]),
        ),
        (
            json!({"lbName": "a", "loadBalancers": ["b", "a"]}),
            json!(["b", "a"]),
        ),
        (json!({"lbName": "", "loadBalancers": ["b"]}), json!(["b"])),
    ] {
        let after = group_with(spec);
        assert_eq!(after["loadBalancers"], expected);
        assert!(after.get("lbName").is_none());
    }
}

#[test]
fn b90_b81_the_port_moves_into_the_ports() {
    for (pods, expected) in [
        (
            json!({"port": {"portNumber": 80}}),
            json!([{"port": 80, "protocol": "TCP"}]),
        ),
        (
            json!({"port": {"port": 80, "protocol": "UDP"}, "ports": null}),
            json!([{"port": 80, "protocol": "UDP"}]),
        ),
        (
            json!({"port": {"port": 80}, "ports": [{"portNumber": 80}]}),
            json!([{"port": 80, "protocol": "TCP"}]),
        ),
        (
            json!({"port": {"port": 80}, "ports": [{"port": 80, "protocol": "UDP"}]}),
            json!([{"port": 80, "protocol": "UDP"}, {"port": 80, "protocol": "TCP"}]),
        ),
        (
            json!({"ports": [{"port": 0, "portNumber": 81}, {"port": 82, "portNumber": 83, "protocol": ""}]}),
            json!([{"port": 81, "protocol": "TCP"}, {"port": 82, "protocol": "TCP"}]),
        ),
    ] {
        let after = group_with(json!({"pods": pods}));
        assert_eq!(after["pods"], json!({"ports": expected}));
    }
}

#[test]
fn b91_a_services_port_is_brought_up_to_date() {
    let after = group_with(json!({"service": {"name": "s", "port": {"portNumber": 80}}}));
    assert_eq!(
        after["service"]["port"],
        json!({"port": 80, "protocol": "TCP"})
    );
}

#[test]
fn b92_the_deregister_policy_is_named() {
    for spec in [
        json!({}),
        json!({"deregisterPolicy": null}),
        json!({"deregisterPolicy": ""}),
    ] {
        assert_eq!(group_with(spec)["deregisterPolicy"], "IfNotReady");
    }
    let named = json!({"deregisterPolicy": "IfNotRunning"});
    assert_eq!(group_with(named)["deregisterPolicy"], "IfNotRunning");
}

#[test]
fn b18_an_empty_ensure_policy_is_the_default() {
    for kind in [Kind::LoadBalancer, Kind::BackendGroup, Kind::Bind] {
        for (policy, expected) in [
            ("", "IfNotSucc"),
            ("Always", "Always"),
            ("Nonsense", "Nonsense"),
        ] {
            let object = with_spec(json!({"ensurePolicy": {"policy": policy}}));
            assert_eq!(
                created(kind, &object)["spec"]["ensurePolicy"]["policy"],
                expected
            );
        }
    }
}

#[test]
fn d20_numbers_become_strings_and_nothing_else_does() {
    let map = json!({"weight": 50, "big": 18_446_744_073_709_551_615_u64, "minus": -1, "text": "1", "fraction": 1.5, "flag": true, "none": null});
    let expected = json!({"weight": "50", "big": "18446744073709551615", "minus": "-1", "text": "1", "fraction": 1.5, "flag": true, "none": null});
    let lb = with(
        load_balancer("lb"),
        [
            ("/spec/lbSpec", map.clone()),
            ("/spec/attributes", map.clone()),
        ],
    );
    let after = created(Kind::LoadBalancer, &lb);
    assert_eq!(after["spec"]["lbSpec"], expected);
    assert_eq!(after["spec"]["attributes"], expected);
    let group = with(group(), [("/spec/parameters", map.clone())]);
    assert_eq!(
        created(Kind::BackendGroup, &group)["spec"]["parameters"],
        expected
    );
    let bind = with(
        bind(),
        [
            ("/spec/parameters", map.clone()),
            ("/spec/loadBalancers/1/spec", map.clone()),
            ("/spec/loadBalancers/1/attributes", map),
        ],
    );
    let after = mutated(Kind::Bind, Operation::Update, &bind, Some(&bind));
    assert_eq!(after["spec"]["parameters"], expected);
    assert_eq!(after["spec"]["loadBalancers"][1]["spec"], expected);
    assert_eq!(after["spec"]["loadBalancers"][1]["attributes"], expected);
}

#[test]
fn b91_d77_the_port_of_a_binds_service_is_brought_up_to_date() {
    let of_service = |port: Value| {
        let service = json!({"name": "s", "port": port});
        with(
            bind(),
            [("/spec/pods", Value::Null), ("/spec/service", service)],
        )
    };
    for (port, expected) in [
        (
            json!({"portNumber": 80}),
            json!({"port": 80, "protocol": "TCP"}),
        ),
        (json!({"name": "http"}), json!({"name": "http"})),
    ] {
        let after = mutated(Kind::Bind, Operation::Create, &of_service(port), None);
        assert_eq!(after["spec"]["service"]["port"], expected);
    }
}

#[test]
fn d20_a_stored_identity_is_not_touched() {
    let old = with(load_balancer("lb"), [("/spec/lbSpec", json!({"port": 80}))]);
    let new = with(old.clone(), [("/spec/attributes", json!({"x": 1}))]);
    let after = mutated(Kind::LoadBalancer, Operation::Update, &new, Some(&old));
    assert_eq!(after["spec"]["lbSpec"], json!({"port": 80}));
    assert_eq!(after["spec"]["attributes"], json!({"x": "1"}));
    // A manifest that still has 80 where "80" is stored changes nothing.
    let stored = with(
        load_balancer("lb"),
        [("/spec/lbSpec", json!({"port": "80"}))],
    );
    assert_eq!(
        mutated(Kind::LoadBalancer, Operation::Update, &old, Some(&stored)),
        stored
    );
}

#[test]
fn u23_whatever_an_object_looks_like_mutation_does_not_fall_over() {
    let odd = [
        json!(null),
        json!(7),
        json!("x"),
        json!([]),
        json!({}),
        json!([null, 7, "x", [], {}]),
    ];
    for kind in [
        Kind::Driver,
        Kind::LoadBalancer,
        Kind::BackendGroup,
        Kind::Bind,
    ] {
        for value in &odd {
            created(kind, value);
            created(kind, &json!({"metadata": value, "spec": value}));
            for field in [
                "webhooks",
                "lbName",
                "loadBalancers",
                "pods",
                "service",
                "static",
                "parameters",
                "deregisterPolicy",
                "ensurePolicy",
                "lbSpec",
                "attributes",
            ] {
                created(kind, &with_spec(json!({ field: value })));
            }
            for field in ["port", "ports", "byLabel"] {
                created(
                    kind,
                    &with_spec(json!({"pods": {field: value}, "service": {field: value}})),
                );
            }
            for field in ["labels", "finalizers"] {
                created(
                    kind,
                    &json!({"metadata": {field: value}, "spec": {"lbName": "a"}}),
                );
            }
        }
    }
    // The original fell over this one.
    let after = group_with(json!({"pods": {"ports": [{}, {"protocol": "TCP"}]}}));
    assert_eq!(
        after["pods"]["ports"],
        json!([{"protocol": "TCP"}, {"protocol": "TCP"}])
    );
}

#[test]
fn d70_a_pod_has_the_gate_once() {
    let own = json!({"conditionType": names::READINESS_GATE});
    let other = json!({"conditionType": "example.com/warm"});
    for (gates, expected) in [
        (json!(null), json!([own])),
        (json!([]), json!([own])),
        (json!([other]), json!([other, own])),
        (json!([own, other]), json!([own, other])),
        (json!("wrong"), json!("wrong")),
    ] {
        let mut pod = json!({"spec": {"containers": [], "readinessGates": gates}});
        let added = add_readiness_gate(&pod);
        json_patch::patch(&mut pod, &added).unwrap();
        assert_eq!(pod["spec"]["readinessGates"], expected);
        assert!(add_readiness_gate(&pod).0.is_empty(), "again");
    }
    let mut pod = json!({"spec": {"containers": []}});
    let added = add_readiness_gate(&pod);
    json_patch::patch(&mut pod, &added).unwrap();
    assert_eq!(pod["spec"]["readinessGates"], json!([own]));
    for odd in [json!({}), json!({"spec": null}), json!("pod")] {
        assert!(add_readiness_gate(&odd).0.is_empty(), "{odd}");
    }
}
